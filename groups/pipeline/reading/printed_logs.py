"""Text that Kafka's own tools print of a log, made segments again in a folder of the import's own."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple

from groups.pipeline.reading.entry_lines import ENTRIES_NAME, entry_line
from groups.pipeline.reading.sources import Gap, Problem
from groups.texts import telemetry
from groups.texts.dump_log import JOINED_CHARS_MOST
from groups.texts.formats import formats_of, read_text
from groups.texts.found import (
    LineProblem,
    LogEvent,
    MissingOffsets,
    NewFile,
    Remark,
    TextEntry,
    TextFormat,
)
from groups.texts.log_lines import LOG_LINES
from groups.wire.errors import RecordError
from groups.wire.logs.record_batch import RecordBatch, write_batch

LOOK_BYTES: Final = 64 * 1024
"""How far into a file the search goes for a line by which a text is recognised: a ticket has words before it."""

EVENTS_MOST: Final = 500_000
"""Events and entries of one text that are kept: lines of logs of a group that rebalances every second for days. A group's are sorted in
memory, half a kilobyte each."""

LISTED_MOST: Final = 20
"""Lines of one text that are listed with what is wrong with them; the others are counted."""

MISSING: Final = "these offsets are not in the text: their lines were left out, cut or not understood"


def formats_in(path: Path) -> tuple[TextFormat, ...]:
    """The forms of text that a file is in, by its content; none if it is no text that can be read here."""
    if not path.stat().st_size:
        # A named pipe, too, which waits for somebody who writes.
        return ()
    with path.open("rb") as opened:
        head = opened.read(LOOK_BYTES)
    if telemetry.is_binary(head):
        return (LOG_LINES,)
    return formats_of(head.decode(_encoding(head), errors="replace"))


class EntriesFile(NamedTuple):
    """Lines of ``entry_line``."""

    path: Path
    entries: int


@dataclass(slots=True)
class PrintedLogs:
    """Makes segments of the texts of one import, under ``folder``."""

    folder: Path
    made: int = 0

    def open(
        self, path: Path, shown: str, formats: tuple[TextFormat, ...]
    ) -> Iterator[Path | EntriesFile | Problem | Gap]:
        """The segments of a text, what of it is not understood, and which offsets it leaves out."""
        out: IO[bytes] | None = None
        segments: list[Path] = []
        folder, partition, listed, more = "", None, 0, 0
        entries: IO[bytes] | None = None
        kept, over = 0, 0
        try:
            written_ms = int(path.stat().st_mtime * 1000)
            for found in read_text(_lines(path), formats, written_ms=written_ms):
                match found:
                    case NewFile():
                        _close(out)
                        out = None
                        folder = found.folder
                        partition = int(folder.rpartition("-")[2]) if folder else None
                    case RecordBatch():
                        if out is None:
                            segments.append(self._next(folder))
                            out = segments[-1].open("wb")
                        try:
                            out.write(write_batch(found))
                        except RecordError as error:
                            yield Problem(file=shown, offset=found.base_offset, reason=str(error))
                    case MissingOffsets():
                        yield Gap(
                            partition=partition, from_offset=found.first, to_offset=found.last, reason=MISSING
                        )
                    case TextEntry() | LogEvent() if kept < EVENTS_MOST:
                        if entries is None:
                            entries = self._next("").with_name(ENTRIES_NAME).open("wb")
                        kept += 1
                        entries.write(entry_line(found))
                    case TextEntry() | LogEvent():
                        over += 1
                    case LineProblem() if listed < LISTED_MOST:
                        listed += 1
                        reason = f"line {found.line}: {found.reason}"
                        yield Problem(file=shown, offset=found.offset, reason=reason, records=1)
                    case LineProblem():
                        more += 1
                    case Remark():
                        yield Problem(file=shown, offset=None, reason=found.reason, normal=found.normal)
            if more:
                reason = f"{more:,} more lines of records are not understood"
                yield Problem(file=shown, offset=None, reason=reason)
            if over:
                reason = f"only its first {EVENTS_MOST:,} lines that say something of groups are used; {over:,} more are not"
                yield Problem(file=shown, offset=None, reason=reason)
        finally:
            _close(out)
            _close(entries)
        yield from segments
        if entries is not None:
            yield EntriesFile(Path(entries.name), kept)
            for form in formats:
                reason = f"{form.name} have {form.carries}; they lack {form.lacks}"
                yield Problem(file=shown, offset=None, reason=reason, normal=True)

    def _next(self, folder: str) -> Path:
        self.made += 1
        under = self.folder / f"text-{self.made}" / (folder or "file")
        under.mkdir(mode=0o700, parents=True)
        return under / "segment"


def _close(out: IO[bytes] | None) -> None:
    if out is not None:
        out.close()


def _encoding(head: bytes) -> str:
    """UTF-8, or what PowerShell writes where a tool's output is sent to a file."""
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as opened:
        head = opened.read(LOOK_BYTES)
        if telemetry.is_binary(head):
            opened.seek(0)
            yield from telemetry.lines(opened)
            return
        encoding = _encoding(head)
    with path.open(encoding=encoding, errors="replace", newline="\n") as text:
        # A file may be one line of gigabytes.
        while line := text.readline(JOINED_CHARS_MOST):
            yield line
