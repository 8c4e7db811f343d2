"""What sockets send of each kind of object, a class a kind: ``hello`` when one opens, ``tail`` every few seconds.

What is sent in between is announced where it is stored, as ready text (``groups.jobs.announce``).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from explorer.pages.clusters.describing import groups_of
from explorer.pages.timelines.notes import stamps
from explorer.push.together import announce_people
from groups.cluster_models import Cluster
from groups.history.replay.fold import FOLD_VERSION
from groups.imports.lifecycle import waits_for
from groups.jobs.leases import waits_of
from groups.models import Import, Timeline
from groups.storage import why_it_waits
from groups.watching.live_source import live_sources
from simulations.jobs import sweep_runs
from simulations.models import Sweep


class Messages(ABC):
    """``kind`` begins the name of a feed: ``timeline.<id>``. A feed that ``ends`` does so with the status of its object."""

    kind: ClassVar[str]
    ends: ClassVar[bool] = True

    @abstractmethod
    def hello(self, key: str) -> dict[str, Any] | None:
        """The socket's first message, from the database; null if the object does not exist."""

    @staticmethod
    @abstractmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The id of each object, and its last sequence or progress and its status; one query."""


class TimelineMessages(Messages):
    kind = "timeline"

    def hello(self, key: str) -> dict[str, Any] | None:
        found = Timeline.objects.filter(pk=key).values("last", "status").first()
        live = _live(live_sources([key]), key)
        return found and {"type": "hello", "fold_version": FOLD_VERSION, **found, **live}

    @staticmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = Timeline.objects.filter(pk__in=keys)
        live = live_sources(keys)
        for key, last, *state in rows.values_list("id", "last", "status", "source", "lease_owner"):
            yield key, {"last": last, "status": state[0]} | _waiting(why_it_waits(*state)) | _live(live, key)


class TogetherMessages(Messages):
    """Of those who look at a timeline together."""

    kind = "together"
    ends = False

    def hello(self, key: str) -> dict[str, Any] | None:
        found = Timeline.objects.filter(pk=key).exists()
        return {"type": "hello", "notes": stamps([key])[key]} if found else None

    @staticmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The windows of other processes are announced, too."""
        for key, notes in stamps(keys).items():
            announce_people(key)
            yield key, {"notes": notes}


class ImportMessages(Messages):
    kind = "import"

    def hello(self, key: str) -> dict[str, Any] | None:
        found = Import.objects.filter(pk=key).values("status", "progress").first()
        return found and {"type": "hello", **found}

    @staticmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        for found in Import.objects.filter(pk__in=keys).only("status", "options", "created"):
            yield found.id, {"status": found.status} | _waiting(waits_for(found))


class SweepMessages(Messages):
    kind = "sweep"

    def hello(self, key: str) -> dict[str, Any] | None:
        found = Sweep.objects.filter(pk=key).first()
        return None if found is None else sweep_runs.progress_message(found, "hello")

    @staticmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        for key, status, done in Sweep.objects.filter(pk__in=keys).values_list("id", "status", "done"):
            yield key, {"status": status, "done": done} | _waiting(waits_of(status))


class ClusterMessages(Messages):
    kind = "cluster"
    ends = False

    def hello(self, key: str) -> dict[str, Any] | None:
        found = Cluster.objects.filter(pk=key).first()
        if found is None:
            return None
        known = {"status": found.status, "problem": found.problem, "seen": found.seen}
        return {"type": "hello", **known, "groups": groups_of(found), "now_ms": _now_ms()}

    @staticmethod
    def tails(keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = Cluster.objects.filter(pk__in=keys).values_list("id", "status", "problem")
        for key, status, problem in rows:
            yield key, {"status": status, "problem": problem, "now_ms": _now_ms()}


KINDS: Final[dict[str, type[Messages]]] = {
    each.kind: each
    for each in (TimelineMessages, TogetherMessages, ImportMessages, SweepMessages, ClusterMessages)
}


def _waiting(why: str) -> dict[str, str]:
    return {"waits": why} if why else {}


def _live(sources: dict[str, Any], key: str) -> dict[str, Any]:
    return {"live": sources[key]} if key in sources else {}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
