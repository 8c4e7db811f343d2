"""Targets: every kind of the inspector with its edits and sentences; guesses, and pasted text."""

from __future__ import annotations

import base64
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Final

import orjson

from groups.wire.codecs.schema import Message
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError, UnencodableError
from groups.wire.inspection import (
    Kind,
    Node,
    as_text,
    clients,
    differences,
    each_node,
    edit,
    guess,
    inspect,
    kinds,
    sentence_of,
)
from groups.wire.inspection.nodes import REST, TAG_COUNT
from groups.wire.inspection.printed import BadText
from groups.wire.inspection.text import bytes_from_text
from groups.wire.logs.record_batch import HEADER_BYTES
from tests.fuzz.batched import batch_seeds, sealed, segment_seeds, written_records
from tests.fuzz.messages import check_extents, made, message_of, messages
from tests.fuzz.oracle import MOST_LISTED_BYTES_FOR_A_BYTE, Target, expect
from tests.fuzz.recorded import request_seeds

MOST_SEEDS_OF_A_KIND: Final = 60

MADE_ANEW: Final = ("batchLength", "crc", "length")


def targets() -> Iterator[Target]:
    yield Target("guess", "guesses", check_guess, guess_seeds, inflates=True)
    yield Target("text", "texts", check_text, text_seeds)
    for kind in kinds().values():
        for name, family, check in (
            ("kind", "kinds", check_kind),
            ("edit", "edits", check_edit),
            ("tell", "sentences", check_told),
        ):
            yield Target(
                name=f"{name}:{kind.name}",
                family=family,
                check=partial(check_sealed, check, kind) if kind.name == "batch" else partial(check, kind),
                seeds=partial(kind_seeds, kind),
                bytes_for_a_byte=MOST_LISTED_BYTES_FOR_A_BYTE,
                inflates=kind.name in ("batch", "segment"),
            )


def check_sealed(check: Callable[[Kind, bytes], None], kind: Kind, data: bytes) -> None:
    check(kind, data if len(data) < HEADER_BYTES else sealed(data))


def check_kind(kind: Kind, data: bytes) -> None:
    listing = inspect(kind.name, data)
    expect(0 <= listing.read <= len(data), "says that it read more than there is", listing.read)
    if listing.problem is not None:
        offset = listing.problem.offset
        expect(
            offset is not None and 0 <= offset <= len(data), "a fault outside of the bytes", listing.problem
        )
    check_extents(listing.fields, 0, len(data))
    orjson.dumps(listing.to_json())
    version, value, end = kind.layout.read(data, None)
    if listing.problem is None:
        expect(end == len(data) or kind.layout.appends, "is listed though it has bytes too many", end)
    if kind.layout.versions and version is not None and version > kind.layout.versions[-1]:
        return  # read as the newest that is known, and cannot be written as what it is
    try:
        written = kind.layout.write(value, version)
    except UnencodableError as error:
        expect("is not edited" in error.sentence, "cannot be written", str(error))
        return  # a segment
    again = kind.layout.read(written, version)[1]
    expect(settled(again) == settled(value), "changes when it is written", value, again)


def settled(value: Any) -> Any:
    """The value without what is made anew when a batch is written."""
    if isinstance(value, dict):
        return {name: settled(inner) for name, inner in value.items() if name not in MADE_ANEW}
    return [settled(inner) for inner in value] if isinstance(value, list) else value


def check_edit(kind: Kind, data: bytes) -> None:
    """A field that is given the value that it has changes nothing, and nothing differs from itself."""
    listing = inspect(kind.name, data)
    expect(all(row["same"] for row in differences(listing, listing)), "differs from itself", listing.fields)
    if listing.problem is not None:
        return
    nodes = list(each_node(listing.fields))
    # An unknown tag that stands there twice has one path for both.
    times = Counter(path for path, _ in nodes)
    leaves = [(path, node) for path, node in nodes if may_be_edited(node) and times[path] == 1]
    if not leaves:
        return
    path, node = leaves[sum(data) % len(leaves)]
    version, value, _ = kind.layout.read(data, None)
    try:
        edited = edit(kind.name, version, data, path, node.value)
    except UnencodableError as error:
        expect("not edited" in error.sentence, "cannot be edited", str(error))
        return  # a segment, or inside a blob that is damaged
    again = kind.layout.read(edited, version)[1]
    expect(settled(again) == settled(value), f"changes by giving {path} its own value", value, edited)


def check_told(kind: Kind, data: bytes) -> None:
    """What is said of bytes in a sentence, and what clients of every age read of them."""
    listing = inspect(kind.name, data)
    parts = sentence_of(listing)
    expect("\n" not in as_text(parts), "says more than a sentence", parts)
    seen = clients(kind.name, data)
    orjson.dumps([parts, seen])


def may_be_edited(node: Node) -> bool:
    return node.fields is None and node.problem is None and node.name not in (TAG_COUNT, REST)


@cache
def kind_seeds(kind: Kind) -> list[bytes]:
    """Of all valid bytes, what the kind reads to its end."""
    own = message_of(kind)
    rows: Iterable[bytes] = chain.from_iterable(
        headed(message) for message in messages().values() if own in (None, message)
    )
    if own is None:
        rows = chain(batch_seeds(), segment_seeds(), request_seeds(), written_records(), rows)
    return list(islice((row for row in rows if reads(kind, row)), MOST_SEEDS_OF_A_KIND))


def headed(message: Message) -> Iterator[bytes]:
    """Bodies, alone and behind whatever may stand in front."""
    numbers = [type_.number for type_ in RECORD_TYPES.values() if type_.key is message]
    for version in message.versions:
        for row in made(message, version)[:2]:
            yield row
            yield from (struct.pack(">h", number) + row for number in (version, *numbers))
            # Streams' blobs begin with their version, and mostly the newest that their writer knows.
            yield struct.pack(">i", version) + row[4:]
            yield struct.pack(">ii", version, 11) + row[8:]
            # Headers of responses: a correlation id, and no tagged fields.
            yield from (b"\0\0\0\7" + row, b"\0\0\0\7\0" + row)


def reads(kind: Kind, data: bytes) -> bool:
    try:
        return kind.layout.read(data, None)[2] == len(data)
    except RecordError:
        return False


def check_guess(data: bytes) -> None:
    found = guess(data)
    expect(bool(found), "no guess at all")
    orjson.dumps([each.to_json() for each in found])


def guess_seeds() -> list[bytes]:
    return [row for kind in kinds().values() for row in kind_seeds(kind)[:1]]


def check_text(data: bytes) -> None:
    text = data.decode(errors="replace")
    try:
        found, form = bytes_from_text(text)
    except BadText as error:
        expect(1 <= error.line <= text.count("\n") + 1, "a line outside of the text", str(error))
        expect(1 <= error.column <= len(text) + 1, "a column outside of the text", str(error))
        return
    expect(len(found) <= len(data), "more bytes than letters", form)
    expect(bytes_from_text(found.hex())[0] == found, "changes when it is written as hex", found)


def text_seeds() -> list[bytes]:
    some = bytes(range(0, 256, 7))
    dump = "\n".join(
        f"{at:08x}: {some[at : at + 16].hex(' ', 2)}  ................" for at in range(0, len(some), 16)
    )
    full = "\n".join(
        f"{at:08x}  {some[at : at + 16].hex(' ')}  |................|" for at in range(0, len(some), 16)
    )
    texts = [some.hex(), some.hex(" "), "0x" + some.hex(","), base64.b64encode(some).decode(), dump, full]
    texts += [
        repr(some),
        str(list(some)),
        f"<Buffer {some.hex(' ')}>",
        "[]byte{0x0, 0x7, 0xff}",
        '"\\x00\\u00e9\\377"',
    ]
    return [text.encode() for text in (*texts, base64.urlsafe_b64encode(some).decode().rstrip("="))]
