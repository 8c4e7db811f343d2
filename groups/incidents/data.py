"""A timeline's entries as one file, to be taken in elsewhere under the same id: gzip of JSON Lines.

The first line contains the timeline and, as ``sha256``, the checksum of all lines after it, which are its entries in order (``groups.history.entries``).
The same timeline gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict, cast

import orjson

from groups.history.entries import ENTRY_FORMAT, EntryLine

FORMAT: Final = "rebalance-explorer timeline"
VERSION: Final = 1
"""Raised when a reader of the old form would misread the new one."""

BYTES_MOST: Final = 512 * 1024 * 1024
"""Bytes of a file once unpacked: a million entries. A small file can be made to unpack into any number of them."""

GZIP_MAGIC: Final = b"\x1f\x8b"


class Facts(TypedDict):
    """The timeline, in the first line of its file; ``protocol`` is the one from before the first entry."""

    id: str
    title: str
    group: str
    protocol: str | None
    source: str
    semantics: str
    seed: int | None
    scenario: str
    engine: str
    topic_names: dict[str, str]
    entry_format: int


class HandedNote(TypedDict):
    """What somebody wrote at entry ``at``, and replies with their authors; 0 is before the first entry."""

    at: int
    kind: str
    author: str
    text: str
    replies: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineData:
    """``lines``: the entries, a line of JSON each. ``notes`` are as the file has them: nobody has looked at their form."""

    facts: Facts
    lines: list[bytes]
    notes: object


class BadData(ValueError):
    """One line: what is wrong with the file, and what would be right."""


def packed(facts: Facts, entries: Iterable[EntryLine], notes: Sequence[HandedNote] = ()) -> bytes:
    """The file."""
    text = b"".join(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries)
    head = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(text).hexdigest(), **facts}
    if notes:
        head["notes"] = notes
    # Without the time of packing: the same timeline gives the same file.
    return gzip.compress(
        orjson.dumps(head, option=orjson.OPT_APPEND_NEWLINE) + text, compresslevel=9, mtime=0
    )


def is_data(content: bytes) -> bool:
    """Whether a file looks like one of these, packed or unpacked."""
    return content.startswith(GZIP_MAGIC) or content[:200].startswith(f'{{"format":"{FORMAT}"'.encode())


def unpacked(content: bytes) -> TimelineData:
    """The inverse of ``packed``; ``BadData`` for a file that is none, or of which a byte has changed."""
    text = _unzipped(content) if content.startswith(GZIP_MAGIC) else content
    head, _, rest = text.partition(b"\n")
    parsed = _head(head)
    found = hashlib.sha256(rest).hexdigest()
    if found != parsed.get("sha256"):
        raise BadData(
            f"the entries were changed or cut off after the file was written: their SHA-256 is {found}, the first line says {parsed.get('sha256')}"
        )
    facts = cast(Facts, {name: parsed[name] for name in Facts.__annotations__})
    if facts["entry_format"] != ENTRY_FORMAT:
        raise BadData(
            f"its entries are of format {facts['entry_format']}, this version reads format {ENTRY_FORMAT}"
        )
    return TimelineData(facts=facts, lines=rest.splitlines(), notes=parsed.get("notes", []))


def _unzipped(content: bytes) -> bytes:
    unzip = zlib.decompressobj(wbits=31)
    try:
        text = unzip.decompress(content, BYTES_MOST)
    except zlib.error as error:
        raise BadData(
            f"it is no gzip, or was changed after it was written ({error}); a file of `timeline export --format data` is"
        ) from None
    if unzip.unconsumed_tail:
        raise BadData(f"it unpacks into more than {BYTES_MOST} bytes, the most that is read")
    if not unzip.eof:
        raise BadData("it is cut off: the end of its gzip is missing")
    return text


def _head(line: bytes) -> dict[str, object]:
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadData(f"its first line is no JSON: {error}") from None
    if not isinstance(parsed, dict) or parsed.get("format") != FORMAT:
        raise BadData(f"its first line does not say that it is a {FORMAT!r}")
    if parsed.get("version") != VERSION:
        raise BadData(f"it is of version {parsed.get('version')!r}; this program reads version {VERSION}")
    expected = {**dict.fromkeys(("id", "title", "group", "source", "semantics", "scenario", "engine"), str)}
    wrong = [name for name, type_ in expected.items() if not isinstance(parsed.get(name), type_)]
    wrong += [name for name in ("protocol", "seed", "topic_names", "entry_format") if name not in parsed]
    if wrong:
        raise BadData(f"its first line does not tell {wrong[0]}")
    return parsed
