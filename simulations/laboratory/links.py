"""A case as the query of an address, and back: the whole group is in the link.

    g=abcabc.a&t=12,6,3&s=same&from=range&e=join

===========  =========================================================================================================
key          meaning
===========  =========================================================================================================
``g``        members: ``6``, or a rack each (``abcabc``; ``-`` is none), or ``60abc``, racks in turn; newcomers behind ``.``
``t``        partitions of each topic; ``100x10`` is a hundred topics of ten
``s``        subscriptions: ``same``, ``disjoint``, ``nested``, or the topics of each member as a hexadecimal mask
``from``     how the group stood: ``range``, ``own``, or ``given``
``e``        the event: ``full``, ``stable``, ``join``, ``leave:2`` (places; ``leave:0-9.12``), ``grow:0.3`` (topic, by)
``seed``     of ``own``; 1 if left out
``b``        of ``given``: each partition's owner, topic after topic, one or two digits of base 62, ``.`` for nobody
``n``, ``i`` names and ids of members, where they have some of their own
``tn``       names of topics, where they have some of their own
===========  =========================================================================================================

Every case has one query, and every query that is taken is one case.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlencode

from simulations.laboratory.cases import (
    MEMBERS_MOST,
    NOBODY,
    PARTITIONS_MOST,
    RACKS,
    TOPICS_MOST,
    Before,
    Case,
    CaseError,
    CaseTopic,
    Event,
    Member,
)
from simulations.laboratory.presets import (
    Racks,
    Subscriptions,
    rack_of,
    subscription_of,
    subscriptions_in,
)

E = TypeVar("E", Event, Before)

QUERY_MOST: Final = 8_000
"""Letters of a query: servers and proxies take addresses of 8 KB."""

KEYS: Final = ("g", "t", "s", "from", "e", "seed", "b", "n", "i", "tn")
NEEDED: Final = ("g", "t")

DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
ONE_DIGIT: Final = len(DIGITS)
WRITTEN_OUT: Final = 12
"""Racks of as many members are written one by one; of more, in short where they are in turn."""

RUN: Final = 4
"""So many topics of one size are written as one."""

SIDE: Final = re.compile(r"([0-9]{1,9})(abc)?|([abc-]{1,1000})")
NUMBER: Final = re.compile(r"[0-9]{1,16}")


def query_of(case: Case) -> str:
    """The case's query; ``CaseError`` if it is longer than an address may be."""
    pairs = [
        ("g", _group(case)),
        ("t", _sizes(case.sizes_before)),
        ("s", _subscriptions(case)),
        ("from", str(case.before)),
        ("e", _event(case)),
    ]
    if case.before is Before.OWN and case.seed != 1:
        pairs.append(("seed", str(case.seed)))
    if case.given is not None:
        pairs.append(("b", _owners(case.given, len(case.members))))
    for key, text in (
        ("n", [member.name for member in case.everybody]),
        ("i", [member.member_id for member in case.everybody]),
        ("tn", [topic.name for topic in case.topics]),
    ):
        if any(text):
            pairs.append((key, ",".join(each or "" for each in text)))
    query = urlencode(pairs, safe=",.:-/@*~!()")
    if len(query) > QUERY_MOST:
        raise CaseError(
            f"the group needs {len(query):,} letters, more than the {QUERY_MOST:,} that a link can carry", "g"
        )
    return query


def case_of(query: str) -> Case:
    """The case of a query; ``CaseError`` contains which key is wrong and what would be right."""
    if len(query) > QUERY_MOST:
        raise CaseError(
            f"{len(query):,} letters are more than the {QUERY_MOST:,} that a link can carry", "query"
        )
    values: dict[str, str] = {}
    # The length bounds the fields; the keys are looked at below.
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in KEYS:
            raise CaseError(f"{key[:40]!r} is no key; there are {', '.join(KEYS)}", "query")
        if key in values:
            raise CaseError(f"{key} stands there twice", key)
        values[key] = value
    for key in NEEDED:
        if key not in values:
            raise CaseError(f"the address lacks {key}=; a group is like g=6&t=12,6,3", key)
    return _case(values)


def _case(values: Mapping[str, str]) -> Case:
    sizes = _read_sizes(values["t"])
    there, racks = _read_group(values["g"])
    masks = _read_subscriptions(values.get("s", Subscriptions.SAME), len(racks), len(sizes))
    names = _read_names(values.get("n"), len(racks), "n")
    ids = _read_names(values.get("i"), len(racks), "i")
    topic_names = _read_names(values.get("tn"), len(sizes), "tn")
    everybody = tuple(
        Member(topics=topics, rack=rack, name=name, member_id=member_id)
        for topics, rack, name, member_id in zip(masks, racks, names, ids, strict=True)
    )
    event, leaving, grown = _read_event(values.get("e", Event.STABLE))
    before = _choice(values.get("from", Before.RANGE), Before, "from")
    if (before is Before.GIVEN) != ("b" in values):
        raise CaseError("from=given needs b, and b needs from=given", "from")
    if "seed" in values and before is not Before.OWN:
        raise CaseError("a seed belongs to from=own", "seed")
    return Case(
        members=everybody[:there],
        joining=everybody[there:],
        topics=tuple(
            CaseTopic(partitions=size, name=name) for size, name in zip(sizes, topic_names, strict=True)
        ),
        event=event,
        leaving=leaving,
        grown=grown,
        before=before,
        given=_read_owners(values["b"], sizes, there) if before is Before.GIVEN else None,
        seed=_whole(values.get("seed", "1"), "seed"),
    )


def _group(case: Case) -> str:
    sides = [case.members, case.joining] if case.joining else [case.members]
    written, start = [], 0
    for side in sides:
        racks = [member.rack for member in side]
        if not any(racks):
            written.append(str(len(side)))
        elif len(side) > WRITTEN_OUT and racks == [
            rack_of(Racks.THREE, place) for place in range(start, start + len(side))
        ]:
            written.append(f"{len(side)}{RACKS}")
        else:
            written.append("".join(rack or "-" for rack in racks))
        start += len(side)
    return ".".join(written)


def _read_group(text: str) -> tuple[int, list[str | None]]:
    """How many were there before, and everybody's rack."""
    sides = text.split(".")
    if len(sides) > 2:
        raise CaseError("g has the members, and newcomers behind one dot, such as abcabc.a", "g")
    racks: list[str | None] = []
    there = 0
    for number, side in enumerate(sides):
        found = SIDE.fullmatch(side)
        if found is None:
            raise CaseError(
                f"g={text[:40]!r} is no group: a number, racks such as abcabc, or a number and abc", "g"
            )
        count, in_turn, written = found.groups()
        if written is not None:
            racks += [None if rack == "-" else rack for rack in written]
        else:
            kind = Racks.THREE if in_turn else Racks.NONE
            size = int(count)
            if size > MEMBERS_MOST:
                raise CaseError(f"{size:,} members are more than the laboratory's {MEMBERS_MOST:,}", "g")
            racks += [rack_of(kind, place) for place in range(len(racks), len(racks) + size)]
        if number == 0:
            there = len(racks)
    return there, racks


def _sizes(sizes: Sequence[int]) -> str:
    written: list[str] = []
    for size, run in itertools.groupby(sizes):
        count = sum(1 for _ in run)
        written += [f"{count}x{size}"] if count >= RUN else [str(size)] * count
    return ",".join(written)


def _read_sizes(text: str) -> list[int]:
    sizes: list[int] = []
    for part in text.split(","):
        count, cross, size = part.rpartition("x")
        times = _whole(count, "t", TOPICS_MOST) if cross else 1
        if len(sizes) + times > TOPICS_MOST:
            raise CaseError(f"t has more topics than the laboratory's {TOPICS_MOST}", "t")
        sizes += [_whole(size, "t", PARTITIONS_MOST)] * times
    return sizes


def _subscriptions(case: Case) -> str:
    kind = subscriptions_in(case)
    if kind is not None:
        return str(kind)
    masks = [f"{sum(1 << topic for topic in member.topics):x}" for member in case.everybody]
    return ",".join(masks)


def _read_subscriptions(text: str, members: int, topics: int) -> list[tuple[int, ...]]:
    if text in set(Subscriptions):
        kind = Subscriptions(text)
        return [subscription_of(kind, place, topics) for place in range(members)]
    masks = text.split(",")
    if len(masks) != members or not all(re.fullmatch(r"[0-9a-f]{1,50}", mask) for mask in masks):
        raise CaseError(
            f"s={text[:40]!r} must be {', '.join(Subscriptions)}, or a hexadecimal mask for each of the {members} members",
            "s",
        )
    out = []
    for mask in masks:
        bits = int(mask, 16)
        if bits >> topics:
            raise CaseError(f"s: the mask {mask} names more than the {topics} topics", "s")
        out.append(tuple(topic for topic in range(topics) if bits >> topic & 1))
    return out


def _event(case: Case) -> str:
    if case.event is Event.LEAVE:
        return f"{case.event}:{_runs(case.leaving)}"
    if case.grown is not None:
        return f"{case.event}:{case.grown[0]}.{case.grown[1]}"
    return str(case.event)


def _read_event(text: str) -> tuple[Event, tuple[int, ...], tuple[int, int] | None]:
    name, colon, rest = text.partition(":")
    event = _choice(name, Event, "e")
    if (event in (Event.LEAVE, Event.GROW)) != bool(colon):
        raise CaseError(
            f"e={text[:40]!r}: leave needs places (leave:2), grow topic and number (grow:0.3)", "e"
        )
    if event is Event.LEAVE:
        return event, _read_runs(rest), None
    if event is Event.GROW:
        topic, _, by = rest.partition(".")
        return event, (), (_whole(topic, "e", TOPICS_MOST), _whole(by, "e", PARTITIONS_MOST))
    return event, (), None


def _runs(places: Iterable[int]) -> str:
    written = []
    for _, run in itertools.groupby(enumerate(places), key=lambda each: each[1] - each[0]):
        found = [place for _, place in run]
        written += [f"{found[0]}-{found[-1]}"] if len(found) > 2 else [str(place) for place in found]
    return ".".join(written)


def _read_runs(text: str) -> tuple[int, ...]:
    places: list[int] = []
    for part in text.split("."):
        first, dash, last = part.partition("-")
        begin = _whole(first, "e", MEMBERS_MOST)
        end = _whole(last, "e", MEMBERS_MOST) if dash else begin
        places += range(begin, end + 1)
        if len(places) > MEMBERS_MOST:
            raise CaseError(f"e names more than {MEMBERS_MOST:,} members", "e")
    return tuple(places)


def _owners(given: Sequence[Sequence[int]], members: int) -> str:
    wide = members > ONE_DIGIT
    return "".join(_digits(owner, wide=wide) for owners in given for owner in owners)


def _digits(owner: int, *, wide: bool) -> str:
    if owner == NOBODY:
        return ".." if wide else "."
    return f"{DIGITS[owner // ONE_DIGIT]}{DIGITS[owner % ONE_DIGIT]}" if wide else DIGITS[owner]


def _read_owners(text: str, sizes: Sequence[int], members: int) -> tuple[tuple[int, ...], ...]:
    width = 2 if members > ONE_DIGIT else 1
    if len(text) != width * sum(sizes):
        raise CaseError(
            f"b has {len(text)} letters; it needs {width} for each of the {sum(sizes)} partitions", "b"
        )
    owners: list[int] = []
    for at in range(0, len(text), width):
        digits = text[at : at + width]
        if digits == "." * width:
            owners.append(NOBODY)
            continue
        owner = 0
        for digit in digits:
            if digit not in DIGITS:
                raise CaseError(f"b: {digits!r} names no member", "b")
            owner = owner * ONE_DIGIT + DIGITS.index(digit)
        owners.append(owner)
    each = iter(owners)
    return tuple(tuple(itertools.islice(each, size)) for size in sizes)


def _read_names(text: str | None, count: int, key: str) -> list[str | None]:
    if text is None:
        return [None] * count
    names = text.split(",")
    if len(names) != count:
        raise CaseError(f"{key} has {len(names)} name{'' if len(names) == 1 else 's'}, not {count}", key)
    return [name or None for name in names]


def _choice(text: str, kind: type[E], key: str) -> E:
    try:
        return kind(text)
    except ValueError:
        raise CaseError(f"{key}={text[:40]!r} must be one of {', '.join(kind)}", key) from None


def _whole(text: str, key: str, most: int | None = None) -> int:
    if not NUMBER.fullmatch(text):
        raise CaseError(f"{key}: {text[:20]!r} is no whole number", key)
    number = int(text)
    if most is not None and number > most:
        raise CaseError(f"{key}: {number:,} is more than {most:,}", key)
    return number
