"""Keys and values that no decoder knows, or that end where they must not, in batches that are otherwise whole."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from groups.wire.records import encode_record
from tests.pipeline.broken.case import ANYTHING, Case, Place, batch, pairs, requests, three
from tests.pipeline.segments import FOO, Group

KEEPS: Final = ("before", "after")
UNREAD: Final = "kept as bytes|version|type|key|group|bytes|UTF-8|not known"


def cases() -> Iterator[Case]:
    yield from whole_keys()
    yield from whole_values()
    yield from names()


def one(place: Place, key: bytes | None, value: bytes | None) -> None:
    """The pair at offset 5, between two good batches."""
    before, _, after = three(place)
    place.put(before + pairs(5, (key, value)) + after)


def text(name: str | bytes) -> bytes:
    raw = name.encode() if isinstance(name, str) else name
    return struct.pack(">h", len(raw)) + raw


def group_key(number: int, name: str | bytes) -> bytes:
    return struct.pack(">h", number) + text(name)


def whole_keys() -> Iterator[Case]:
    keys: dict[str, bytes | None] = {
        "null": None,
        "empty": b"",
        "of-one-byte": b"\0",
        "of-its-type-alone": b"\0\3",
        "with-a-length-beyond-it": b"\0\3" + struct.pack(">h", 200) + b"orders",
        "with-a-negative-length": b"\0\3" + struct.pack(">h", -1),
        "with-the-least-length": b"\0\3" + struct.pack(">h", -(1 << 15)),
        "with-bytes-left-over": group_key(3, "orders") + b"more",
        "of-type-31": group_key(31, "orders"),
        "of-type-minus-one": group_key(-1, "orders"),
        "of-type-32767": group_key(32_767, "orders"),
        "of-a-string": b"user-17",
        "of-256-zeros": bytes(256),
        "of-a-member-without-its-id": group_key(5, "orders"),
        "of-a-commit-without-its-partition": group_key(1, "orders") + text("foo"),
    }
    for name, key in keys.items():
        yield Case(
            name=f"key-{name}",
            make=lambda place, key=key: one(place, key, b"\0\0\0\0\0\2\0"),
            reason=UNREAD,
            keeps=KEEPS,
        )


def whole_values() -> Iterator[Case]:
    for number, payload in enumerate(samples()):
        kind = payload_type(payload)
        key, value = payload
        assert key is not None
        assert value is not None
        broken = {
            "cut-short": value[: len(value) // 2],
            "one-byte-short": value[:-1],
            "one-byte-long": value + b"\x07",
            "empty": b"",
            "of-version-99": struct.pack(">h", 99) + value[2:],
            "of-version-minus-one": struct.pack(">h", -1) + value[2:],
            "of-random-bytes": struct.pack(">h", 0)
            + bytes((number * 37 + 11 * at) % 251 for at in range(60)),
        }
        for what, content in broken.items():
            yield Case(
                name=f"value-of-type-{kind}-{what}",
                make=lambda place, key=key, content=content: one(place, key, content),
                reason=ANYTHING if what == "of-random-bytes" else UNREAD,
                keeps=KEEPS,
            )
    key, _ = samples()[0]
    counts = {
        "array-of-two-billion": b"\xff\xff\xff\xff\x07",
        "array-count-of-six-bytes": b"\xff\xff\xff\xff\xff\x01",
        "tagged-fields-two-billion": b"\1" + b"\xff\xff\xff\xff\x07",
        "tagged-field-beyond-its-value": b"\1\1\x09\xff\x7f",
    }
    for what, content in counts.items():
        yield Case(
            name=f"value-with-{what}",
            make=lambda place, content=content: one(
                place, struct.pack(">h", 7) + text(place.name("hit")) + text("A"), b"\0\0" + content
            ),
            reason=UNREAD,
            keeps=KEEPS,
        )
    yield Case(
        name="subscription-and-assignment-of-random-bytes",
        make=garbled_classic,
        reason=None,
        keeps=("before", "hit", "after"),
    )


def samples() -> list[tuple[bytes | None, bytes | None]]:
    """A value of each type that the coordinator writes for consumer and classic groups."""
    group = Group("torn")
    payloads = [*requests(group), *group.commit(), *group.classic(3, ["A"])]
    regex = {
        "type": 16,
        "key": {"groupId": "torn", "regularExpression": "foo.*"},
        "version": 0,
        "value": {"topics": ["foo"], "version": 1, "timestamp": 1},
    }
    return [encode_record(payload) for payload in (*payloads, regex)]


def payload_type(pair: tuple[bytes | None, bytes | None]) -> int:
    assert pair[0] is not None
    return int.from_bytes(pair[0][:2], signed=True)


def garbled_classic(place: Place) -> None:
    (payload,) = place.group("hit").classic(3, ["A", "B"])
    payload["value"]["members"][0] |= {"subscription": "/////w==", "assignment": "AAH/////"}
    before, _, after = three(place)
    place.put(before + batch(5, payload) + after)


def names() -> Iterator[Case]:
    """Groups that can be stored, whatever they are called, and names that are no text."""
    odd = {
        "nul": "nul-\0-inside",
        "only-nul": "\0",
        "right-to-left": "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd",
        "emoji": "\U0001f680" * 20,
        "84-cjk-letters": "\u96c6" * 84,
        "32-kilobytes": "x" * 32_767,
        "newlines": "one\ntwo\r\n\tthree",
        "terminal-escapes": "\x1b[2J\x1b[31mred\x07",
        "markup": "<script>alert(1)</script>&\"'",
        "path": "../../../../etc/passwd",
        "template": "{{7*7}}${7*7}%s%n",
        "combining": "e" + "\u0301" * 300,
        "not-a-character": "\uffff\ufffe",
        "byte-order-mark": "\ufefforders",
        "spaces": "   ",
        "no-letters-at-all": "",
        "sql": "'; DROP TABLE groups_timeline; --",
    }
    for what, name in odd.items():
        yield Case(
            name=f"group-named-{what}",
            make=lambda place, name=name: one_group(place, name),
            reason=None,
            keeps=KEEPS,
        )
        yield Case(
            name=f"member-and-topic-named-{what}",
            make=lambda place, name=name: odd_member(place, name),
            reason=None,
            keeps=("before", "hit", "after"),
        )
    broken = {
        "a-lone-continuation": b"ab\x80",
        "an-overlong-nul": b"\xc0\x80",
        "a-surrogate": b"\xed\xa0\x80",
        "a-letter-cut-short": b"ab\xe9\x9b",
        "latin-1": b"caf\xe9",
    }
    for what, raw in broken.items():
        yield Case(
            name=f"group-name-with-{what}",
            make=lambda place, raw=raw: one(place, group_key(3, raw), b"\0\0\0\0\0\2\0"),
            reason=None,
            keeps=KEEPS,
        )


def one_group(place: Place, name: str) -> None:
    group = Group(name)
    before, _, after = three(place)
    place.put(before + batch(5, *requests(group)) + after)


def odd_member(place: Place, name: str) -> None:
    group = place.group("hit")
    payloads = group.join(name, {FOO: [0]})
    payloads[0]["value"] |= {
        "clientId": name,
        "clientHost": name,
        "instanceId": name,
        "rackId": name,
        "subscribedTopicNames": [name],
        "subscribedTopicRegex": name,
        "serverAssignor": name,
    }
    before, _, after = three(place)
    place.put(before + batch(5, *payloads) + after)
