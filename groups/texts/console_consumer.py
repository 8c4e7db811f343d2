"""What ``kafka-console-consumer`` prints of the offsets topic through its two formatters, as batches of records again.

Kafka 4 prints JSON objects, without anything between them; earlier releases a line for each record::

    {"key":{"type":1,"data":{"group":…}},"value":{"version":4,"data":{"offset":5,…}}}{"key":…
    [checkout,orders,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1795782619725, …)
    checkout::GroupMetadata(groupId=checkout, generation=3, protocolType=Some(consumer), currentState=Stable, members=Map(…))

Neither prints offsets of the log nor times of records. A commit has its own time; a classic group's record has one in JSON; any
other record gets that of the record before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.texts.found import PASSED_OVER, Found, LineProblem, Remark, TextFormat
from groups.texts.printed_records import NotPrinted, offsets_pair
from groups.wire.errors import RecordError
from groups.wire.logs.record_batch import coordinator_batch

HELD_CHARS_MOST: Final = 8 * 1024 * 1024
"""An object that was broken into lines is put together up to this: twice what is read of a line at once."""

SORTED_MOST: Final = 200_000
"""Requests that are put in the order of their times before they are given out: two outputs may be pasted one after the other, and
each prints partition after partition. A request and its record take about half a kilobyte."""

HELD_LINES_MOST: Final = 200
"""An object that was broken into more lines than this is given up: each line has it read again."""

_OBJECT: Final = re.compile(r'\{"key":\s?(?:\{|null)')
_COMMIT: Final = re.compile(r",([^,\]\[]{1,249}),(\d{1,9})\]::")
_COMMITTED: Final = re.compile(
    r"offset=(-?\d{1,18}), leaderEpoch=(?:Optional\.empty|Optional\[(\d{1,9})\])?, metadata=(?>(.{0,4096}?), commitTimestamp=)(\d{1,15})"
)
_COMMITTED_EARLY: Final = re.compile(r"OffsetMetadata\[(-?\d{1,18}),(.{0,4096}?)\],\s?CommitTime (\d{1,15})")
_GROUP: Final = re.compile(r"::(GroupMetadata\(.*|NULL|<DELETE>)$")
_GENERATION: Final = re.compile(
    r"generation=(-?\d{1,9}), protocolType=(?:None|Some\((.{0,249}?)\)), currentState=(\w+), members=(.*)$"
)
_MEMBER: Final = re.compile(
    r"MemberMetadata\(memberId=(?>(.{0,999}?), (?:groupInstanceId=(?:None|Some\((.{0,999}?)\)), )?clientId=)"
    r"(?>(.{0,999}?), clientHost=)(?>(.{0,999}?), sessionTimeoutMs=)"
    r"(\d{1,9}), rebalanceTimeoutMs=(-?\d{1,9}), supportedProtocols=List\((.{0,999}?)\)"
)
_DELETED: Final = ("NULL", "<DELETE>")
_JSON: Final = json.JSONDecoder()
_OFFSET_KEY, _GROUP_KEY = 1, 2


@dataclass(slots=True)
class ConsoleReader:
    """Records in the order of their times. They get the offsets of one file, since none are printed."""

    at_ms: int
    """The time of the last record that had one; at first when the text was written."""
    held: str = ""
    held_lines: int = 0
    next_offset: int = 0
    requests: list[tuple[int, object, list[tuple[bytes | None, bytes | None]]]] = field(default_factory=list)
    """Time, group (null of a record that came alone), and records."""
    untimed: int = 0
    undated: int = 0
    """Those before the first one that has a time."""
    dated: bool = False
    without_assignments: int = 0

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        if self.held or _OBJECT.search(line) is not None:
            return self._objects(number, line)
        if (commit := _COMMIT.search(line)) is not None and (
            opened := line.find("[", 0, commit.start())
        ) >= 0:
            key = {
                "group": line[opened + 1 : commit.start()],
                "topic": commit[1],
                "partition": int(commit[2]),
            }
            return self._commit(number, key, line[commit.end() :])
        if (group := _GROUP.search(line)) is not None and (name := line[: group.start()].lstrip()):
            return self._group(number, name, group[1])
        return (
            PASSED_OVER
            if line.startswith(("Processed a total of", "org.apache.kafka.common.errors.Timeout"))
            else None
        )

    def end(self) -> Iterator[Found]:
        if self.held:
            yield LineProblem(self.held_lines, None, "the text ends within a record")
        yield from self._in_order()
        if self.undated:
            yield Remark(
                f"{self.undated:,} records come before any that has a time: they are placed at the time of the file, in their order; when they were written is not known"
            )
        if self.untimed:
            yield Remark(
                f"{self.untimed:,} records are printed without a time: each has that of the record before it",
                True,
            )
        if self.without_assignments:
            yield Remark(
                f"{self.without_assignments:,} records of groups are printed without what each member is assigned: Kafka 4's formatter prints it"
            )
        if self.next_offset:
            yield Remark(
                "a console consumer prints no records of the consumer protocol and no offsets: of its groups only commits are here, and gaps cannot be seen",
                True,
            )

    def _objects(self, number: int, line: str) -> list[Found]:
        text = self.held + line
        at, found = 0, list[Found]()
        while (start := _OBJECT.search(text, at)) is not None:
            following = _OBJECT.search(text, start.end())
            try:
                printed, at = _JSON.raw_decode(text, start.start())
            except (ValueError, RecursionError):
                if following is None:
                    break
                found.append(LineProblem(number, None, "a record is cut off, or is no JSON"))
                at = following.start()
                continue
            found += self._printed(number, printed)
        rest = text[start.start() :] if start is not None else ""
        self.held_lines = self.held_lines + 1 if rest and self.held else 1
        if len(rest) > HELD_CHARS_MOST or self.held_lines > HELD_LINES_MOST:
            found.append(LineProblem(number, None, "a record is cut off, or too long to be read"))
            rest = ""
        self.held = rest
        return found

    def _printed(self, number: int, printed: object) -> Iterator[Found]:
        key = printed.get("key") if isinstance(printed, Mapping) else None
        value = printed.get("value") if isinstance(printed, Mapping) else None
        if not isinstance(key, Mapping):
            yield LineProblem(number, None, "the record has no key that can be read")
            return
        fields = value.get("data") if isinstance(value, Mapping) else None
        times = fields if isinstance(fields, Mapping) else {}
        at_ms = times.get("commitTimestamp", times.get("currentStateTimestamp"))
        # 3.9 names the type of the key its version.
        named = {"type": key.get("type", key.get("version")), "data": key.get("data")}
        yield from self._record(number, named, value, at_ms if isinstance(at_ms, int) else None)

    def _commit(self, number: int, data: Mapping[str, object], printed: str) -> Iterable[Found]:
        key = {"type": _OFFSET_KEY, "data": data}
        if printed in _DELETED:
            return self._record(number, key, None, None)
        if (new := _COMMITTED.search(printed)) is not None:
            offset, epoch, metadata, at_ms = new.groups()
        elif (early := _COMMITTED_EARLY.search(printed)) is not None:
            offset, epoch, metadata, at_ms = early[1], None, early[2], early[3]
        else:
            return [LineProblem(number, None, "the commit is cut off, or of a form that is not read")]
        value = {
            "offset": int(offset),
            "leaderEpoch": int(epoch or -1),
            "metadata": metadata,
            "commitTimestamp": int(at_ms),
        }
        return self._record(number, key, {"version": 3, "data": value}, int(at_ms))

    def _group(self, number: int, name: str, printed: str) -> Iterable[Found]:
        key = {"type": _GROUP_KEY, "data": {"group": name}}
        if printed in _DELETED:
            return self._record(number, key, None, None)
        known = _GENERATION.search(printed)
        if known is None or not printed.endswith(")"):
            return [LineProblem(number, None, "the group is cut off, or of a form that is not read")]
        generation, protocol_type, _, members = known.groups()
        rows = [
            {
                "memberId": each[1],
                "groupInstanceId": each[2],
                "clientId": each[3],
                "clientHost": each[4],
                "sessionTimeout": int(each[5]),
                "rebalanceTimeout": int(each[6]),
                "subscription": "",
                "assignment": "",
            }
            for each in _MEMBER.finditer(members)
        ]
        self.without_assignments += bool(rows)
        protocols = {each[7] for each in _MEMBER.finditer(members)}
        value = {
            "protocolType": protocol_type or "",
            "generation": int(generation),
            "protocol": protocols.pop() if len(protocols) == 1 else None,
            "leader": None,
            "currentStateTimestamp": -1,
            "members": rows,
        }
        return self._record(number, key, {"version": 3, "data": value}, None)

    def _record(
        self, number: int, key: Mapping[str, object], value: object, at_ms: int | None
    ) -> Iterator[Found]:
        try:
            pair = offsets_pair(key, value)
        except (NotPrinted, RecordError) as error:
            yield LineProblem(number, None, str(error))
            return
        if at_ms is None or not 0 < at_ms < 2**53:
            self.untimed += self.dated
            self.undated += not self.dated
        else:
            self.at_ms, self.dated = at_ms, True
        data = key.get("data")
        # Commits of one group at one time came in one request.
        group = (
            data.get("group") if isinstance(data, Mapping) and "topic" in data and value is not None else None
        )
        if group is not None and self.requests and self.requests[-1][:2] == (self.at_ms, group):
            self.requests[-1][2].append(pair)
            return
        if len(self.requests) >= SORTED_MOST:
            yield from self._in_order()
        self.requests.append((self.at_ms, group, [pair]))

    def _in_order(self) -> Iterator[Found]:
        for at_ms, _, records in sorted(self.requests, key=lambda request: request[0]):
            yield coordinator_batch(base_offset=self.next_offset, timestamp_ms=at_ms, records=records)
            self.next_offset += len(records)
        self.requests = []


CONSOLE_CONSUMER: Final = TextFormat(
    name="console-consumer text",
    recognised=re.compile(
        r'\{"key":\s?\{"(?:type|version)":|,\d{1,9}\]::(?:\[?Offset|NULL)|::GroupMetadata\('
    ),
    reader=ConsoleReader,
    carries="commits, and the members and assignments of classic groups",
    lacks="groups of the consumer protocol, times of deletions, offsets of the log",
)
