"""The table of the forms of text that are read, and the reading of a text that may be in several of them.

A ticket has words before a dump, and log lines after a table: each line goes to the first format that takes it, and what none
takes is counted. A format that joins broken lines takes what no other does, so it is last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from groups.texts.console_consumer import CONSOLE_CONSUMER
from groups.texts.dump_log import DUMP_LOG
from groups.texts.exported_entries import EXPORTED_ENTRIES
from groups.texts.found import Found, Remark, TextFormat
from groups.texts.group_tables import GROUP_TABLES
from groups.texts.log_lines import LOG_LINES
from groups.texts.requests import REQUEST_LOG

FORMATS: Final[tuple[TextFormat, ...]] = (
    REQUEST_LOG,
    LOG_LINES,
    GROUP_TABLES,
    EXPORTED_ENTRIES,
    CONSOLE_CONSUMER,
    DUMP_LOG,
)

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def formats_of(head: str) -> tuple[TextFormat, ...]:
    """The formats of a text, by its beginning; none if it is of no form that is read.

    >>> [each.name for each in formats_of("baseOffset: 0 lastOffset: 4 count: 5 baseSequence: 0")]
    ['kafka-dump-log text']
    >>> formats_of("offset: 5")
    ()
    """
    plain = _COLOURS.sub("", head)
    return tuple(each for each in FORMATS if each.recognised.search(plain) is not None)


def read_text(lines: Iterable[str], formats: Sequence[TextFormat], *, written_ms: int = 0) -> Iterator[Found]:
    """What is in the text, in its order; remarks on the whole of it come last. Colours of a terminal are taken off.

    ``written_ms``: when the file was written, for forms that have no times.
    """
    readers = [each.reader(written_ms) for each in formats]
    unread = first = 0
    for number, line in enumerate(lines, 1):
        text = _COLOURS.sub("", line).rstrip("\r\n") if "\x1b" in line else line.rstrip("\r\n")
        for reader in readers:
            found = reader.take(number, text)
            if found is not None:
                yield from found
                break
        else:
            if text.strip():
                unread, first = unread + 1, first or number
    for reader in readers:
        yield from reader.end()
    if unread:
        # A program logs much else.
        normal = LOG_LINES in formats or REQUEST_LOG in formats
        yield Remark(_passed_over(unread, first, " or ".join(each.name for each in formats)), normal)


def _passed_over(lines: int, first: int, names: str) -> str:
    if lines == 1:
        return f"line {first} is no part of {names}, and passed over"
    return f"{lines:,} lines are no part of {names} (the first is line {first}), and passed over"
