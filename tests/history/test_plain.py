"""Classes as plain JSON and back, by what they declare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple, TypedDict

import pytest

from groups.history.passes.checkpoints import Checkpoint
from groups.history.passes.indexing import Indexer
from groups.history.state.declared import ROWS, As, Named, document, row
from groups.history.state.plain import PlainError, from_plain, to_plain

Place = tuple[str, int]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Note(TypedDict):
    says: str


class Held(NamedTuple):
    since_ms: int
    owner: str | None


@row
@dataclass(slots=True)
class Window:
    values: list[float] = field(default_factory=list)
    last: Held | None = None


@dataclass(slots=True)
class Pace:
    topic: str
    partition: int
    count: int = 0
    colour: Colour = Colour.RED
    window: Window = field(default_factory=Window)


def _by_place(paces: list[Pace]) -> dict[Place, Pace]:
    return {(pace.topic, pace.partition): pace for pace in paces}


@document
@dataclass(slots=True)
class Kept:
    paces: Annotated[dict[Place, Pace], As(list[Pace], lambda paces: list(paces.values()), _by_place)] = (
        field(default_factory=dict)
    )
    free: Annotated[dict[Place, Held], ROWS] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    at_epoch: dict[int, list[int]] = field(default_factory=dict)
    sources: Annotated[frozenset[str], As(list[str], sorted, frozenset)] | None = None
    notes: list[Note] = field(default_factory=list)
    told: Mapping[str, object] = field(default_factory=dict)
    text: bytes = b"[]"
    _last_ms: Annotated[int, Named("last")] = 0
    _last_colour: Annotated[Colour | None, Named("last")] = None
    _count: int = 0
    _topics: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._topics = {topic for topic, _ in self.paces}

    @property
    def topics(self) -> set[str]:
        return self._topics


def kept() -> Kept:
    return Kept(
        paces={
            ("foo", 1): Pace("foo", 1, window=Window([1.5], Held(3, None))),
            ("bar", 0): Pace("bar", 0, 7),
        },
        free={("foo", 2): Held(4, "A")},
        seen={"A": None, "B": None},
        at_epoch={3: [1, 2]},
        sources=frozenset({"timers", "records"}),
        notes=[{"says": "hm"}],
        told={"any": [1, {"thing": None}]},
        _last_ms=9,
        _last_colour=Colour.BLUE,
    )


PLAIN = {
    "paces": [
        {"topic": "foo", "partition": 1, "window": [[1.5], [3, None]]},
        {"topic": "bar", "partition": 0, "count": 7},
    ],
    "free": [["foo", 2, 4, "A"]],
    "seen": ["A", "B"],
    "at_epoch": [[3], [[1, 2]]],
    "sources": ["records", "timers"],
    "notes": [{"says": "hm"}],
    "told": {"any": [1, {"thing": None}]},
    "text": "[]",
    "last": [9, "blue"],
    "count": 0,
}


def test_a_class_is_written_by_what_it_declares_in_the_order_of_its_fields() -> None:
    assert json.dumps(to_plain(kept())) == json.dumps(PLAIN)


def test_what_was_written_is_read_and_what_is_derived_is_made_anew() -> None:
    read = from_plain(Kept, json.loads(json.dumps(PLAIN)))
    assert read == kept()
    assert read.topics == {"foo", "bar"}


def test_what_is_read_shares_no_list_or_mapping_with_what_it_was_read_from() -> None:
    told = json.loads(json.dumps(PLAIN))
    read = from_plain(Kept, told)
    read.seen["C"] = None
    read.notes.append({"says": "more"})
    read.paces["foo", 1].window.values.append(2.5)
    read.at_epoch[3].append(9)
    assert told == PLAIN


def test_a_document_has_every_field_and_anything_else_leaves_out_what_is_at_its_default() -> None:
    assert list(to_plain(Kept())) == list(PLAIN)
    assert to_plain(Pace("foo", 1)) == {"topic": "foo", "partition": 1}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"count": ...}, "Kept: 'count' is missing"),
        ({"colour": 1}, "Kept: there is no 'colour' here, only paces, free, seen"),
        ({"paces": [{"topic": "foo"}]}, "Kept.paces: 'partition' is missing"),
        (
            {"paces": [{"topic": "foo", "partition": 1, "of": 1}]},
            "Kept.paces: there is no 'of' here, only topic",
        ),
        (
            {"paces": [{"topic": "foo", "partition": 1, "colour": "green"}]},
            "Kept.paces.colour: 'green' does not fit",
        ),
        ({"paces": [{"topic": "foo", "partition": 1, "window": [[]]}]}, "Kept.paces.window"),
        ({"paces": [7]}, "Kept.paces: an object belongs here, not 7"),
        ({"free": [["foo", 2, 4]]}, "Kept.free: [['foo', 2, 4]] does not fit"),
        ({"last": [9]}, "Kept.last: [9] does not fit"),
        ({"at_epoch": {"3": []}}, "Kept.at_epoch"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(change: dict[str, object], says: str) -> None:
    told = {name: value for name, value in {**PLAIN, **change}.items() if value is not ...}
    with pytest.raises(PlainError) as error:
        from_plain(Kept, told)
    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)


def test_json_that_is_no_object_is_no_dataclass() -> None:
    with pytest.raises(PlainError, match=r"^Pace: an object belongs here, not \[1\]"):
        from_plain(Pace, [1])


def test_a_type_that_json_cannot_hold_is_refused_when_the_class_is_first_written() -> None:
    @dataclass
    class Odd:
        of: complex

    with pytest.raises(TypeError, match="complex"):
        to_plain(Odd(1j))


def test_only_a_dataclass_is_a_document_or_a_row() -> None:
    for mark in (document, row):
        with pytest.raises(AssertionError):
            mark(str)


def test_a_broken_checkpoint_says_where_it_is_broken() -> None:
    told = json.loads(Indexer(group="orders").checkpoint())
    del told["findings"]["lives"]["goings_count"]
    with pytest.raises(PlainError, match=r"^Finder\.lives: 'goings_count' is missing"):
        Checkpoint.from_bytes(json.dumps(told).encode())
