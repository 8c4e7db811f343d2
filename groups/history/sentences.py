"""What sentences about groups of both protocols share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.names import Cast
from groups.history.state import State
from groups.history.steps import Key, Retarget
from groups.history.words import listed, partitions

COORDINATOR: Final = "coordinator"

LOWERED: Final = ("The ", "Group epoch", "Target ", "A member ", "Generation ")
"""Beginnings of sentences that begin small after another one; names keep their letters."""

TARGETS_NAMED_MAX: Final = 4
"""Receivers of partitions that one sentence names; beyond, moves are counted."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, the shape of its mark in the timeline, and whose doing it is."""

    shape: str
    actor: str
    says: str


def joined(sentences: Sequence[str]) -> str:
    """Sentences as one; the later ones begin small, unless with a name."""
    rest = (says[0].lower() + says[1:] if says.startswith(LOWERED) else says for says in sentences[1:])
    return "; ".join((sentences[0], *rest))


def named(cast: Cast, member_ids: Sequence[str]) -> str:
    return listed([cast.name(member_id) for member_id in member_ids])


def target_clause(state: State, retargets: Iterable[Retarget], cast: Cast) -> str:
    """``foo-1 goes to C``; what goes to nobody is not spoken of, unless nothing else does."""
    receivers: dict[str, set[Key]] = {}
    left: set[Key] = set()
    for retarget in retargets:
        if retarget.after is None:
            left.add(retarget.partition)
        else:
            receivers.setdefault(retarget.after, set()).add(retarget.partition)
    if len(receivers) > TARGETS_NAMED_MAX:
        total = sum(len(keys) for keys in receivers.values())
        return f"{total} partitions go to {len(receivers)} members"
    clauses = [
        f"{_names(state, keys)} {'goes' if len(keys) == 1 else 'go'} to {cast.name(member_id)}"
        for member_id, keys in receivers.items()
    ]
    if not clauses and left:
        clauses = [f"{_names(state, left)} {'goes' if len(left) == 1 else 'go'} to nobody"]
    return "; ".join(clauses)


def _names(state: State, keys: Iterable[Key]) -> str:
    return partitions((state.topic_name(topic), number) for topic, number in keys)
