"""A file of end offsets over time, which an import lacks: CSV, JSON lines, or what Kafka's tools printed again and again.

* CSV: ``time,topic,partition,end_offset``, and ``log_start`` as a fifth column where it is known; the names may be the first line;
* JSON lines with these names as keys;
* looks of ``kafka-get-offsets`` or ``kafka-consumer-groups --describe``, each after a line with its time (as ``date`` prints it).

A time is ISO 8601 (UTC if no zone is given), or milliseconds or seconds since 1970. Of several ends at one time the last one counts.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

import orjson

from groups.history.lag.samples import OffsetColumns
from groups.texts.line_time import MOST_MS, line_time

LINES_MOST: Final = 2_000_000
OFFSETS_MOST: Final = 10_000_000
"""Times × partitions of a topic, all topics together: where each line has a time of its own, that is far more than the lines."""

COLUMNS: Final = ("time", "topic", "partition", "end_offset", "log_start")
RIGHT: Final = "CSV time,topic,partition,end_offset[,log_start], JSON lines with these names, or times and output of kafka-get-offsets"
_OFFSET_MOST: Final = 2**63 - 1
_PARTITION_MOST: Final = 2**31 - 1
_TOPIC: Final = re.compile(r"[\w.-]{1,249}", re.ASCII)
_PRINTED: Final = re.compile(r"([\w.-]{1,249}):(\d{1,10}):(\S*)", re.ASCII)
_SINCE_1970: Final = re.compile(r"\d{10}|\d{13}", re.ASCII)
_S_DIGITS: Final = 10


class BadEndOffsets(ValueError):
    """One line: what is wrong, where, and what would be right."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why if line is None else f"line {line}: {why}")


class EndOffsets(NamedTuple):
    """By topic, the offsets after the last record and those of the first one."""

    ends: Mapping[str, OffsetColumns]
    starts: Mapping[str, OffsetColumns]


class _Line(NamedTuple):
    at_ms: int
    topic: str
    partition: int
    end: int
    start: int | None = None


def read_end_offsets(lines: Iterable[str]) -> EndOffsets:
    """What the file contains; ``BadEndOffsets`` with the line's number otherwise."""
    numbered = ((number, line.strip("\ufeff \t\r\n")) for number, line in enumerate(lines, 1))
    filled = ((number, line) for number, line in numbered if line)
    ends: dict[str, dict[int, dict[int, int]]] = {}
    starts: dict[str, dict[int, dict[int, int]]] = {}
    for one in _read(filled):
        ends.setdefault(one.topic, {}).setdefault(one.at_ms, {})[one.partition] = one.end
        if one.start is not None:
            starts.setdefault(one.topic, {}).setdefault(one.at_ms, {})[one.partition] = one.start
    if not ends:
        raise BadEndOffsets(f"no end offset is in it: {RIGHT} was expected")
    room = OFFSETS_MOST
    for some in chain(ends.values(), starts.values()):
        room -= len(some) * len({partition for look in some.values() for partition in look})
        if room < 0:
            raise BadEndOffsets(
                f"it has more than {OFFSETS_MOST:,} times × partitions: give the partitions of one look one time, or fewer looks"
            )
    return EndOffsets(*({topic: _columns(some) for topic, some in each.items()} for each in (ends, starts)))


def _columns(looks: Mapping[int, Mapping[int, int]]) -> OffsetColumns:
    columns = OffsetColumns(offsets={number: array("q") for look in looks.values() for number in look})
    for at_ms in sorted(looks):
        columns.add(at_ms, looks[at_ms])
    return columns


def _read(lines: Iterator[tuple[int, str]]) -> Iterator[_Line]:
    first = next(lines, None)
    if first is None:
        return
    number, line = first
    printed = _Printed()
    is_json, is_csv = line.startswith("{"), _is_csv(line)
    if not (is_csv and line.lower().startswith("time,")):
        lines = chain([first], lines)
    for number, line in lines:
        if number > LINES_MOST:
            raise BadEndOffsets(f"the file has more than {LINES_MOST:,} lines: leave some looks out", number)
        try:
            found = _of_json(line) if is_json else _of_csv(line) if is_csv else printed.take(line)
        except ValueError as error:
            raise BadEndOffsets(str(error), number) from error
        if found is not None:
            yield found


def _is_csv(line: str) -> bool:
    """Whether the first line is one of CSV: a warning of a tool may have commas, too."""
    cells = line.split(",")
    return len(cells) in (4, 5) and (cells[0].lower() == "time" or cells[2].strip().isdigit())


def _of_csv(line: str) -> _Line:
    cells = [cell.strip().strip('"') for cell in line.split(",")]
    if not len(COLUMNS) - 1 <= len(cells) <= len(COLUMNS):
        raise ValueError(f"{len(cells)} columns, and {','.join(COLUMNS[:-1])}[,{COLUMNS[-1]}] was expected")
    return _line(*cells)


def _of_json(line: str) -> _Line:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error}") from error
    if not isinstance(value, dict) or not value.keys() >= set(COLUMNS[:-1]):
        raise ValueError(f"no object with {', '.join(COLUMNS[:-1])}")
    return _line(*("" if value.get(name) is None else str(value[name]) for name in COLUMNS))


def _line(time: str, topic: str, partition: str, end: str, start: str = "") -> _Line:
    at_ms = time_of(time)
    if at_ms is None:
        raise ValueError(
            f"{time!r:.60} is no time: 2026-11-22T10:30:00Z or milliseconds since 1970 was expected"
        )
    if not _TOPIC.fullmatch(topic):
        raise ValueError(f"{topic!r:.60} is no name of a topic")
    return _Line(
        at_ms,
        topic,
        _whole("partition", partition, _PARTITION_MOST),
        _whole("end_offset", end, _OFFSET_MOST),
        _whole("log_start", start, _OFFSET_MOST) if start else None,
    )


def _whole(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= most):
        raise ValueError(f"{name} {text!r:.40} is no whole number from 0 to {most:,}")
    return int(text)


def time_of(text: str) -> int | None:
    """Milliseconds since 1970 of a time; null where the text is none.

    >>> time_of("2026-11-22T10:30:00Z") == time_of("1795343400") == time_of("1795343400000")
    True
    """
    if _SINCE_1970.fullmatch(text):
        at_ms = int(text) * (1000 if len(text) == _S_DIGITS else 1)
        return at_ms if at_ms < MOST_MS else None
    found = line_time(text)
    return found.at_ms if found is not None else None


class _Printed:
    """The output of tools: lines that are no row and no time are passed over, since the tools print much else."""

    def __init__(self) -> None:
        self.at_ms: int | None = None
        self.places: tuple[int, int, int] | None = None

    def take(self, line: str) -> _Line | None:
        if (printed := _PRINTED.fullmatch(line)) and time_of(line) is None:
            return self._row(printed[1], printed[2], printed[3])
        words = line.split()
        if "LOG-END-OFFSET" in words:
            self.places = words.index("TOPIC"), words.index("PARTITION"), words.index("LOG-END-OFFSET")
            return None
        if self.places is not None and len(words) > self.places[1] and words[self.places[1]].isdigit():
            if len(words) <= max(self.places):
                raise ValueError("the row of a table is cut off: it has fewer columns than the header")
            topic, partition, end = (words[place] for place in self.places)
            return self._row(topic, partition, end)
        if (at_ms := time_of(line)) is not None:
            self.at_ms, self.places = at_ms, None
        return None

    def _row(self, topic: str, partition: str, end: str) -> _Line | None:
        """A row without an end offset has none: the leader did not answer."""
        if end in ("", "-"):
            return None
        if self.at_ms is None:
            raise ValueError(
                "no time is known of this look: print a line with the time before each (date -u +%FT%TZ)"
            )
        return _line(str(self.at_ms), topic, partition, end)
