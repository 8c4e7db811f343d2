"""What is found in a text, and the interface of those who find it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from groups.history.entries import Kind, Payload, Provenance
from groups.wire.logs.record_batch import RecordBatch


class NewFile(NamedTuple):
    """From here on records are of another segment; ``folder`` names its partition, empty where the text does not."""

    folder: str


class LineProblem(NamedTuple):
    """A line that is not understood. ``offset`` is that of its record, where it has one."""

    line: int
    offset: int | None
    reason: str


class MissingOffsets(NamedTuple):
    """Offsets that the log had and the text leaves out."""

    first: int
    last: int


class Remark(NamedTuple):
    """What is to be known of a whole text: a sentence. ``normal``: nothing is wrong, it is what the form cannot carry."""

    reason: str
    normal: bool = False


class TextEntry(NamedTuple):
    """An entry of a group's timeline, without its number. Entries up to one that is ``settled`` belong to one request."""

    group: str
    at_ms: int
    kind: Kind
    actor: str
    payload: Payload
    provenance: Provenance = Provenance.RECORDED
    settled: bool = True
    caused: bool = False
    """Whether the entry before its unit brought it about."""


class LogEvent(NamedTuple):
    """What happened in a group by a line of a log; entries are made of all of a group's lines together (``inferred``).

    ``source`` is whose clock the line has: ``broker`` or a client's name.
    """

    group: str
    at_ms: int
    source: str
    what: str
    fields: Mapping[str, str]


Found = NewFile | RecordBatch | LineProblem | MissingOffsets | Remark | TextEntry | LogEvent

PASSED_OVER: Final[tuple[Found, ...]] = ()
"""What ``take`` returns for a line that is the format's and adds nothing by itself."""


class TextReader(Protocol):
    """Reads one text of one format, line by line."""

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        """What this line completes; ``None`` if the line is not of this format."""
        ...

    def end(self) -> Iterable[Found]:
        """What is complete now that the text ends."""
        ...


class TextFormat(NamedTuple):
    """A form of text. ``recognised`` matches within its first lines; ``carries`` and ``lacks`` are for people.

    ``reader`` takes the time at which the text was written, for a form that has no times of its own.
    """

    name: str
    recognised: re.Pattern[str]
    reader: Callable[[int], TextReader]
    carries: str
    lacks: str
