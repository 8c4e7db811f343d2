"""Tables that ``kafka-consumer-groups --describe`` prints, with ``--members --verbose`` and ``--state`` or without, one or a series.

A table is a look at a group, as a poll of a live cluster is: entries are those of polls. A time on a line between tables is when the
next ones were printed. Columns are found by the header; without one by what the rows look like. Blanks in place of tabs do no harm.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind, Provenance
from groups.history.polls.description import (
    GROUP_ID_NOT_FOUND,
    GroupDescription,
    GroupKind,
    MemberDescription,
    Undescribed,
)
from groups.history.polls.recording import PolledGroup
from groups.history.words import counted
from groups.texts.found import PASSED_OVER, Found, LineProblem, Remark, TextEntry, TextFormat
from groups.texts.line_time import line_time
from groups.texts.one_axis import note
from groups.wire.embedded.consumer_protocol import encode_assignment

NEXT_TABLE_MS: Final = 1_000
"""Tables without a time between them are placed so far apart."""

LOOKS_MOST: Final = 50_000
"""Looks of one text that are kept until its end: of some thousand groups every few seconds for minutes. Each is some kilobytes."""

LAGS_NAMED_MOST: Final = 10
"""Partitions that the note of a look names, those with the greatest lag first."""

OFFSETS, MEMBERS, STATE = "offsets", "members", "state"

_COLUMN: Final = re.compile(r"COORDINATOR \(ID\)|[#A-Z][A-Z-]+")
_HEADERS: Final = {"CURRENT-OFFSET": OFFSETS, "#PARTITIONS": MEMBERS, "#MEMBERS": STATE}
_OFFSET_COLUMNS: Final = (
    "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID",
)  # fmt: skip
_OFFSET_ROW: Final = re.compile(
    r"^\s*\S+\s+[\w.-]+\s+\d{1,9}\s+(?:\d+|-)\s+(?:\d+|-)\s+(?:-?\d+|-)\s+\S+\s+(?:/\S+|-)\s+\S+\s*$"
)
_STATE_ROW: Final = re.compile(r"^\s*(\S+)\s+\S+\s+\(-?\d+\)\s+(?:(\S+)\s+)?([A-Z]\w+)\s+(\d{1,6})\s*$")
_NO_MEMBERS: Final = re.compile(r"Consumer group '(.{1,999}?)' has no active members")
_REBALANCING: Final = re.compile(r"Consumer group '(.{1,999}?)' is rebalancing")
_NO_GROUP: Final = re.compile(r"Consumer group '(.{1,999}?)' does not exist")
_COMMAND: Final = re.compile(r"kafka-consumer-groups\S{0,99}\s.{0,999}--group\s+(\S+)")
_GIVEN: Final = re.compile(r"(?<![\w.-])([\w.-]+)(?:\(([\d,\s]+)\)|:([\d,]+))")
_NONE: Final = "-"


@dataclass(slots=True)
class _Look:
    """What the tables of one moment say of one group."""

    at_ms: int
    tables: dict[str, int] = field(default_factory=dict)
    """Kind → the number of the table that it is from: another table of a kind is another look."""
    members: dict[str, MemberDescription] = field(default_factory=dict)
    given: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    target_epoch: int | None = None
    state: str = ""
    assignor: str = ""
    exists: bool = True
    lags: list[tuple[int, str]] = field(default_factory=list)
    """LAG of each partition, and its row in words."""


@dataclass(slots=True)
class TableReader:
    """Tables in the order in which they were printed."""

    written_ms: int
    at_ms: int | None = None
    columns: tuple[str, ...] = ()
    kind: str = ""
    group: str = ""
    """The group of a command line, for tables that have no column of it."""
    table: int = 0
    looks: dict[str, _Look] = field(default_factory=dict)
    """The look of each group that may still be added to."""
    whole: list[tuple[str, _Look]] = field(default_factory=list)
    undated: int = 0
    offsets: bool = False

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        columns = tuple(_COLUMN.findall(line)) if "CONSUMER-ID" in line or "COORDINATOR (ID)" in line else ()
        if columns:
            self.columns = columns
            self.kind = next((kind for name, kind in _HEADERS.items() if name in columns), MEMBERS)
            self.table += 1
            return PASSED_OVER
        if (command := _COMMAND.search(line)) is not None:
            self.group = command[1]
            return PASSED_OVER
        for pattern, state in ((_NO_MEMBERS, "Empty"), (_REBALANCING, "PreparingRebalance"), (_NO_GROUP, "")):
            if (found := pattern.search(line)) is not None:
                self._sentence(found[1], state)
                return PASSED_OVER
        if not line.strip():
            return None
        if self.kind != STATE and not self.columns and _OFFSET_ROW.match(line):
            self.columns, self.kind = _OFFSET_COLUMNS, OFFSETS
            self.table += 1
            return self._row(number, line)
        if (state_row := _STATE_ROW.match(line)) is not None and (self.kind == STATE or not self.columns):
            self._state(state_row)
            return PASSED_OVER
        if self.columns and self.kind != STATE and len(line.split()) >= len(self.columns) - 1:
            return self._row(number, line)
        time = line_time(line) if len(line) < 100 else None
        if time is not None:
            self.at_ms, self.columns, self.kind = time.at_ms, (), ""
            return PASSED_OVER
        if self.columns and self.kind != STATE and re.match(r"\s*[\w.-]+\s+[\w.-]+\s+\S+", line):
            return [
                LineProblem(
                    number, None, "the row of a table is cut off: it has fewer columns than the header"
                )
            ]
        return None

    def end(self) -> Iterator[Found]:
        self.whole += self.looks.items()
        polled: dict[str, PolledGroup] = {}
        modern = {group for group, look in self.whole if look.target_epoch is not None}
        for group, look in self.whole[:LOOKS_MOST]:
            known = polled.setdefault(group, PolledGroup(group=group))
            described = _described(
                group, look, known.last if group in modern else None, modern=group in modern
            )
            at_ms = max(look.at_ms, known.polled_ms or 0)
            yield from (_entry(group, each) for each in known.take(described, at_ms))
            if look.lags:
                yield note(group, at_ms, _lag_words(look.lags))
        if len(self.whole) > LOOKS_MOST:
            yield Remark(
                f"only the first {LOOKS_MOST:,} looks at groups are used; {len(self.whole) - LOOKS_MOST:,} more are not"
            )
        if self.undated:
            yield Remark(
                f"{self.undated:,} looks at groups have no time: they are placed a second apart, from when the text was written",
                True,
            )
        if self.offsets:
            yield Remark(
                "offsets and lag of the tables are notes of their looks: a table has no time at which they were committed",
                True,
            )

    def _of(self, group: str, kind: str) -> _Look:
        """The look of a group to which a row belongs; another one where it has a table of this kind already."""
        look = self.looks.get(group)
        if look is not None and look.tables.get(kind, self.table) != self.table:
            self.whole.append((group, look))
            look = None
        if look is None:
            at_ms = self.at_ms
            if at_ms is None:
                at_ms = self.written_ms + NEXT_TABLE_MS * self.undated
                self.undated += 1
            look = self.looks[group] = _Look(at_ms)
        look.tables[kind] = self.table
        return look

    def _sentence(self, group: str, state: str) -> None:
        self.table += 1
        look = self._of(group, "sentence")
        look.state, look.exists = state, bool(state)

    def _state(self, row: re.Match[str]) -> None:
        if self.kind != STATE:
            self.kind, self.table = STATE, self.table + 1
        look = self._of(row[1], STATE)
        look.assignor, look.state = (row[2] or "").strip(_NONE), row[3]

    def _row(self, number: int, line: str) -> list[Found]:
        words = line.split()
        last = len(self.columns) - 1
        # Topics of an assignment may have blanks between them.
        cells = dict(zip(self.columns, [*words[:last], " ".join(words[last:])], strict=False))
        group = cells.get("GROUP") or self.group
        if not group:
            return [
                LineProblem(
                    number,
                    None,
                    "the table has no column GROUP, and no command line before it names the group",
                )
            ]
        found = list[Found]()
        if self.kind == OFFSETS and not re.fullmatch(r"\d{1,9}|-", cells.get("PARTITION", "")):
            return [
                LineProblem(
                    number,
                    None,
                    f"PARTITION is {cells.get('PARTITION', '')!r:.40}, no number: a column is missing or cut",
                )
            ]
        look = self._of(group, self.kind)
        member_id = cells.get("CONSUMER-ID", _NONE)
        if self.kind == OFFSETS:
            self.offsets = True
            if cells["PARTITION"] != _NONE and re.fullmatch(r"-?\d{1,18}", cells.get("LAG", "")):
                row = f"{cells['TOPIC']}-{cells['PARTITION']} at {cells['CURRENT-OFFSET']} of {cells['LOG-END-OFFSET']}"
                look.lags.append((int(cells["LAG"]), row))
            if member_id == _NONE or cells["PARTITION"] == _NONE:
                return found
            given = look.given.setdefault(member_id, {})
            given.setdefault(cells["TOPIC"], []).append(int(cells["PARTITION"]))
        if member_id == _NONE:
            return found
        epoch, target = _epoch(cells.get("CURRENT-EPOCH")), _epoch(cells.get("TARGET-EPOCH"))
        known = look.members.get(member_id)
        look.target_epoch = target if look.target_epoch is None else max(look.target_epoch, target or 0)
        instance = cells.get("GROUP-INSTANCE-ID", _NONE)
        text = cells.get("CURRENT-ASSIGNMENT", cells.get("ASSIGNMENT"))
        if text is not None:
            look.given[member_id] = _partitions(text)
        aim = known.target if known is not None else None
        if target is not None:
            aim = _sorted(_partitions(cells.get("TARGET-ASSIGNMENT", "")))
        look.members[member_id] = MemberDescription(
            member_id=member_id,
            client_id=cells.get("CLIENT-ID", ""),
            host=cells.get("HOST", ""),
            instance_id=None if instance == _NONE else instance,
            epoch=epoch if epoch is not None or known is None else known.epoch,
            target=aim,
        )
        return found


def _lag_words(lags: list[tuple[int, str]]) -> str:
    """
    >>> _lag_words([(3, "orders-0 at 7 of 10"), (0, "orders-1 at 4 of 4")])
    'LAG is 3 in 2 partitions: orders-0 at 7 of 10'
    """
    behind = [row for lag, row in sorted(lags, reverse=True) if lag > 0]
    listed = "; ".join(behind[:LAGS_NAMED_MOST]) + ("; …" if len(behind) > LAGS_NAMED_MOST else "")
    total = f"LAG is {sum(lag for lag, _ in lags):,} in {counted(len(lags), 'partition')}"
    return f"{total}: {listed}" if listed else total


def _described(
    group: str, look: _Look, before: GroupDescription | None, *, modern: bool
) -> GroupDescription | Undescribed:
    """The look as a poll. Epochs that its tables lack are those of the look before."""
    if not look.exists:
        return Undescribed(group=group, code=GROUP_ID_NOT_FOUND)
    earlier = {member.member_id: member for member in before.members} if before is not None else {}
    epoch = look.target_epoch
    if modern and epoch is None:
        epoch = (before.group_epoch if before is not None else None) or 0
    members = []
    for member in look.members.values():
        given = _sorted(look.given.get(member.member_id, {}))
        rows = [{"topic": topic, "partitions": list(some)} for topic, some in given.items()]
        data = encode_assignment({"version": 0, "assignedPartitions": rows, "userData": None})
        members.append(
            MemberDescription(
                member_id=member.member_id,
                client_id=member.client_id,
                host=member.host,
                instance_id=member.instance_id,
                epoch=_known_epoch(member, earlier, epoch) if modern else None,
                subscribed=tuple(given) if modern else (),
                assignment=given,
                target=(given if member.target is None else member.target) if modern else None,
                assigned=base64.b64encode(data).decode(),
            )
        )
    return GroupDescription(
        group=group,
        kind=GroupKind.CONSUMER if modern else GroupKind.CLASSIC,
        state=look.state or ("Stable" if members else "Empty"),
        group_epoch=epoch if modern else None,
        assignment_epoch=epoch if modern else None,
        assignor=look.assignor,
        protocol_type="consumer",
        members=tuple(members),
    )


def _known_epoch(
    member: MemberDescription, earlier: Mapping[str, MemberDescription], epoch: int | None
) -> int | None:
    if member.epoch is not None:
        return member.epoch
    before = earlier.get(member.member_id)
    return before.epoch if before is not None else epoch


def _entry(group: str, entry: Entry) -> TextEntry:
    of_poll = entry.kind is Kind.RECORD and entry.provenance is Provenance.INFERRED
    return TextEntry(
        group, entry.at_ms, entry.kind, entry.actor, entry.payload, entry.provenance, entry.settled, of_poll
    )


def _epoch(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None


def _partitions(text: str) -> dict[str, list[int]]:
    """``orders:0,1;other:2`` of Kafka 4, ``orders(0,1), other(2)`` of earlier releases."""
    return {
        found[1]: [int(number) for number in re.findall(r"\d{1,9}", found[2] or found[3])]
        for found in _GIVEN.finditer(text)
    }


def _sorted(given: dict[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {topic: tuple(sorted(set(some))) for topic, some in sorted(given.items())}


GROUP_TABLES: Final = TextFormat(
    name="tables of kafka-consumer-groups",
    recognised=re.compile(
        r"CONSUMER-ID\s+HOST\s+CLIENT-ID|GROUP\s+COORDINATOR \(ID\)|Consumer group '.{1,999}?' (?:has no active members|is rebalancing)"
        r"|(?m:^[ \t]*\S+[ \t]+[\w.-]+[ \t]+\d{1,9}[ \t]+(?:\d+|-)[ \t]+(?:\d+|-)[ \t]+(?:-?\d+|-)[ \t]+\S+[ \t]+/\S+[ \t]+\S+\s*$)"
    ),
    reader=TableReader,
    carries="members, hosts and assignments at each look, epochs and the state where those tables are here",
    lacks="what happened between two looks, why a member went, commits, and without --members each member that has no partition",
)
