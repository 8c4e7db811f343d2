"""Moments of a group: what the broker said of it, with the end of its log at that very moment.

The end of the partition is asked before and after the description. Where both agree, nothing was written in between, and
the description is the state after the last record before that offset: it can be compared with one frame, and with no
other. A moment is kept when it says something new.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.generated.mixes import partition_for

from .comparison import BETWEEN_GENERATIONS, Frame, Said, comparable, said_of
from .described import describe_classic, describe_consumer
from .node import OFFSETS_PARTITIONS, Node
from .rpc import Connection

OFFSETS = "__consumer_offsets"
PAUSE_S = 0.02
"""Between two rounds: short, since states of a few milliseconds are the ones worth seeing."""

DEAD = "Dead"
"""What DescribeGroups says of a group that there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """``said`` holds for every record of ``partition`` below ``end_offset``."""

    group: str
    partition: int
    end_offset: int
    said: Said


@dataclass(slots=True)
class Moments:
    """Takes moments of ``groups`` on a thread of its own, for as long as the ``with`` lasts."""

    node: Node
    groups: Sequence[str]
    partitions: int = OFFSETS_PARTITIONS
    taken: list[Moment] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _problem: BaseException | None = None

    def __enter__(self) -> Moments:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        assert self._thread is not None
        self._thread.join()
        if self._problem is not None:
            raise self._problem

    def _watch(self) -> None:
        latest: dict[str, Said] = {}
        try:
            with self.node.connect("moments") as connection:
                while not self._ended.is_set():
                    for group in self.groups:
                        moment = moment_of(connection, group, self.partitions)
                        if moment is not None and latest.get(group) != moment.said:
                            latest[group] = moment.said
                            self.taken.append(moment)
                    self._ended.wait(PAUSE_S)
        except BaseException as problem:
            self._problem = problem


def moment_of(connection: Connection, group: str, partitions: int = OFFSETS_PARTITIONS) -> Moment | None:
    """The group now; ``None`` if it is not there, is between two generations, or was written to meanwhile."""
    partition = partition_for(group, partitions)
    before = connection.end_offset(OFFSETS, partition)
    said = describe_consumer(connection, group)
    if said["error"]:
        said = describe_classic(connection, group)
    if said["error"] or said["state"] in (DEAD, *BETWEEN_GENERATIONS):
        return None
    if connection.end_offset(OFFSETS, partition) != before:
        return None
    return Moment(group=group, partition=partition, end_offset=before, said=comparable(said))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record of a group stands in what was imported."""

    timeline: str
    sequence: int


class Imported:
    """The imported entries of a group by partition and offset, over all timelines that have its name."""

    def __init__(self, entries: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """``entries`` are those of each timeline, by its id."""
        self._places: dict[int, list[tuple[int, Place]]] = {}
        for timeline, rows in entries.items():
            for row in rows:
                if row["kind"] == "record" and row.get("offset") is not None:
                    place = Place(timeline, row["sequence"])
                    self._places.setdefault(row["partition"], []).append((row["offset"], place))
        for places in self._places.values():
            places.sort(key=lambda each: each[0])

    def before(self, moment: Moment) -> Place | None:
        """The last record that the broker had written when it said so."""
        found = None
        for offset, place in self._places.get(moment.partition, ()):
            if offset >= moment.end_offset:
                break
            found = place
        return found


def difference(moment: Moment, frame: Frame, deleted: frozenset[str] = frozenset()) -> str | None:
    """What a frame says otherwise than the broker did; ``None`` if they agree.

    The broker leaves out the partitions of topics that it does not have any more (``deleted``, topic ids), which a frame
    tells until the group gave them up: there, a partition may be in the frame alone.
    """
    seen = said_of(frame)
    for member_id, member in frame["members"].items():
        # A frame counts what an expression matches to what a member subscribes to; the broker tells names alone.
        matched = (frame.get("regexes") or {}).get(member.get("subscribed_regex"), ())
        if matched:
            told = seen["members"][member_id]
            told["subscribed"] = [name for name in told["subscribed"] if name not in matched]
    if seen == moment.said:
        return None
    if deleted and seen["protocol"] == "consumer":
        for member in seen["members"].values():
            for part in ("assignment", "target"):
                member[part] = {
                    name: partitions
                    for name, partitions in member[part].items()
                    if frame["topics"].get(name, {}).get("id", name) not in deleted
                }
        if seen == moment.said:
            return None
    return f"before offset {moment.end_offset} the broker said {moment.said}, the frame says {seen}"
