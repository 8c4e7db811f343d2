"""What an address is about: who has made it, the cluster that it belongs to, and its name in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from django.apps import apps


class Target(NamedTuple):
    """What an address is about: the account that made it, and the cluster that it belongs to."""

    author: int | None
    cluster: str | None = None


OTHERS: Final = Target(None)
"""What somebody else has made, on no cluster."""


TARGETS: Final[Mapping[str, tuple[str, tuple[str, str]]]] = {
    "timeline_id": ("groups.Timeline", ("author_id", "cluster_id")),
    "import_id": ("groups.Import", ("author_id", "")),
    "sweep_id": ("simulations.Sweep", ("author_id", "")),
    "search_id": ("simulations.RemedySearch", ("author_id", "timeline__cluster_id")),
    "proof_id": ("simulations.Proof", ("author_id", "")),
    "link_id": ("sharing.Link", ("author_id", "timeline__cluster_id")),
    "rule_id": ("groups.AlertRule", ("author_id", "cluster_id")),
    "note_id": ("groups.Note", ("author_id", "timeline__cluster_id")),
    "cluster_id": ("groups.Cluster", ("author_id", "pk")),
}
"""By the name in an address: the model of its id, its author, and its cluster where it has one."""


def target_of(captured: Mapping[str, object]) -> Target | None:
    """What an address is about, by what Django's resolver captured; null for something new, and for what is not there."""
    for name, (model, columns) in TARGETS.items():
        if name in captured:
            rows = apps.get_model(model).objects.filter(pk=captured[name])
            row = rows.values_list(*filter(None, columns)).first()
            return None if row is None else Target(*row)
    return None


def subject_of(captured: Mapping[str, object]) -> str:
    """What an address is about in words, while it is still there; empty for something new."""
    for name, (model, _) in TARGETS.items():
        if name in captured:
            row = apps.get_model(model).objects.filter(pk=captured[name]).first()
            return f"{model.partition('.')[2].lower()} {row or captured[name]}"
    return ""
