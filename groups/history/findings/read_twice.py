"""Read twice: records that a member wanted to commit and was refused, and the next owner began at the commit before them.

Needs: records and commits, and the members' own OffsetCommit requests with their responses: a request log, or lines of clients.
Claims: who read them first and who again, of which partition, from which offset to which. Inferred: an owner begins at the committed
offset. Cannot know: whether their effects happened twice; what was read and never sent as a commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Declared, Row, Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.patterns.zombie import REFUSALS
from groups.history.replay.fields import Fields, mapping
from groups.history.replay.joining import REBALANCE_IN_PROGRESS
from groups.history.state.declared import row
from groups.history.state.group import State
from groups.history.story.events import ERROR_NAMES
from groups.history.words import counted

KEPT_MAX: Final = 50
REMEMBERED_MAX: Final = 2_000
"""Partitions of which is remembered who took them last, and members of which their last commit is."""


@row
@dataclass(slots=True)
class Refused:
    """``member`` had read up to ``to_offset``; ``taker``, empty until somebody is, began at ``from_offset``."""

    topic: str
    partition: int
    member: str
    error: int
    at_ms: int
    sequence: int
    from_offset: int
    to_offset: int
    taker: str = ""
    taken_sequence: int = 0


@dataclass(slots=True)
class Rereads(Watch):
    """Commits that were refused, with those who had or got their partitions."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD, Kind.REQUEST, Kind.RESPONSE})

    sent: dict[str, dict[str, int]] = field(default_factory=dict)
    """By member what its last OffsetCommit contains: an offset of each partition."""

    taken: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """By partition who took it last, at which committed offset, and at which step."""

    waiting: dict[str, Refused] = field(default_factory=dict)
    """By partition a refused commit whose member had it to the last."""

    kept: list[Refused] = field(default_factory=list)

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.kind is Kind.RECORD:
            for change in step.members:
                for key in sorted(change.gained):
                    self._takes(change.member_id, key, step.after)
        elif last.payload.get("api") == "OffsetCommit":
            if last.kind is Kind.REQUEST:
                if len(self.sent) < REMEMBERED_MAX or last.actor in self.sent:
                    offsets = _partitions(last, step.after, "committedOffset")
                    self.sent[last.actor] = {f"{topic}-{number}": offset for topic, number, offset in offsets}
            else:
                for place in _partitions(last, step.after, "errorCode"):
                    self._refused(last, place, step.after)

    def _takes(self, member: str, key: tuple[str, int], state: State) -> None:
        topic = state.names.get(key[0]) or state.former.get(key[0], key[0])
        place, known = f"{topic}-{key[1]}", state.offsets.get(topic, {}).get(key[1])
        if known is None:
            # A topic that was made again, or offsets that were deleted: what was read before is behind no commit.
            self.waiting.pop(place, None)
            self.taken.pop(place, None)
            return
        if len(self.taken) < REMEMBERED_MAX or place in self.taken:
            self.taken[place] = member, known.offset, state.sequence
        one = self.waiting.pop(place, None)
        if one is not None and known.offset < one.to_offset:
            one.from_offset, one.taker, one.taken_sequence = known.offset, member, state.sequence
            self._keep(one)

    def _refused(self, entry: Entry, place: tuple[str, int, int], state: State) -> None:
        topic, number, error = place
        member, name = str(entry.payload.get("to")), f"{topic}-{number}"
        offset = self.sent.get(member, {}).get(name)
        waiting = self.waiting.get(name)
        if not error and offset is not None and waiting is not None and waiting.to_offset <= offset:
            # Sent again, or one beyond it, and accepted: where offsets are reset later, that is the cause.
            del self.waiting[name]
        if offset is None or (error not in REFUSALS and error != REBALANCE_IN_PROGRESS):
            return
        one = Refused(topic, number, member, error, entry.at_ms, entry.sequence, 0, offset)
        taker, begun, sequence = self.taken.get(name, (member, 0, 0))
        if taker == member:
            # Where it asks again and is not refused, the next owner begins behind it. Responses may overtake each other.
            if waiting is None or waiting.member != member or waiting.to_offset <= offset:
                self.waiting[name] = one
        elif begun < offset:
            one.from_offset, one.taker, one.taken_sequence = begun, taker, sequence
            self._keep(one)

    def _keep(self, one: Refused) -> None:
        """A client may ask again and again: the last of its refused commits has all of the records."""
        self.kept = [
            each
            for each in self.kept
            if (each.topic, each.partition, each.member, each.taken_sequence)
            != (one.topic, one.partition, one.member, one.taken_sequence)
        ]
        if len(self.kept) < KEPT_MAX:
            self.kept.append(one)


def _partitions(entry: Entry, state: State, what: str) -> Iterator[tuple[str, int, int]]:
    """Topic by name, partition, and a field of each partition of a request or a response."""
    for topic in _each(mapping(entry.payload.get("body")).get("topics")):
        name = topic.get("name") or state.names.get(str(topic.get("topicId")))
        for one in _each(topic.get("partitions")):
            number, value = one.get("partitionIndex"), one.get(what)
            if isinstance(name, str) and isinstance(number, int) and isinstance(value, int):
                yield name, number, value


def _each(value: object) -> Iterator[Fields]:
    """Objects of a list; none of what is no list, as entries that somebody else wrote may have."""
    return map(mapping, value if isinstance(value, list | tuple) else ())


def found_twice(facts: Facts) -> Iterator[Finding]:
    """``read_twice``: each partition of each refused commit."""
    for one in facts.watch(Rereads).kept:
        name, giver, taker = (facts.partition(one.topic, one.partition), *map(facts.name, (one.member, one.taker)))  # fmt: skip
        again = "it began again" if one.taker == one.member else f"{taker} began"
        count, error = one.to_offset - one.from_offset, ERROR_NAMES.get(one.error, str(one.error))
        yield finding(
            "read_twice",
            f"{counted(count, 'record')} of {name} are read twice ({one.from_offset:,} to {one.to_offset - 1:,}): "
            f"{giver} had read them, its commit was refused ({error}), and {again} at {one.from_offset:,}",
            sorted({one.sequence, one.taken_sequence}),
            needs=["records", "commits", "requests"],
            severity="warning",
            certain=False,
            member=one.member,
            name=giver,
            taker=taker,
            error=error,
            at_ms=one.at_ms,
            partition=name,
            partitions=[name],
            from_offset=one.from_offset,
            to_offset=one.to_offset,
            count=count,
            cannot_know="whether their effects happened twice",
        )


FINDER: Final = Declared(
    place=114,
    find=found_twice,
    watch=Rereads,
    rows=(
        Row(
            kinds=("read_twice",),
            needs="records, commits and requests, or lines of clients that report refused commits",
            incident=True,
        ),
    ),
)
