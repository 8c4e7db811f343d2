"""Quick copies of frozen dataclasses: the library's, field by field, and drafts that are closed."""

from __future__ import annotations

import dataclasses

import pytest

from groups.history.entries import written
from groups.history.state.consumer import ConsumerGroup
from groups.history.state.copying import draft, replace, sealed
from groups.history.state.group import State, initial_state
from tests.history.logs import released_basic


def test_a_copy_is_what_the_library_would_make() -> None:
    state = released_basic().state(at=20)
    member = state.consumer.members["A"]
    for given, changes in (
        (state, {"at_ms": 7}),
        (state.consumer, {"group_epoch": 9}),
        (member, {"epoch": 5}),
    ):
        copied, same = replace(given, **changes), dataclasses.replace(given, **changes)
        assert (copied, type(copied), repr(copied)) == (same, type(given), repr(same))
        assert copied != given


def test_a_copy_is_as_frozen_as_what_it_was_made_of() -> None:
    copied = replace(initial_state("orders"), at_ms=7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        copied.at_ms = 8  # type: ignore[misc]


def test_what_a_group_keeps_for_itself_is_not_carried_into_a_copy() -> None:
    group = ConsumerGroup(target={"A": {"foo": (0,)}})
    copied = replace(group, target={"B": {"foo": (0,)}})
    assert [each.derived("owners", None, lambda each=each: [*each.target]) for each in (group, copied)] == [
        ["A"],
        ["B"],
    ]


def test_a_draft_is_changed_in_place_until_it_is_sealed() -> None:
    state = initial_state("orders")
    made = draft(state, sequence=1)
    assert replace(made, at_ms=7) is made
    done = sealed(made)
    assert (type(done), done.sequence, done.at_ms) == (State, 1, 7)
    assert (state.sequence, state.at_ms) == (0, 0)
    assert replace(done, at_ms=8) is not done
    with pytest.raises(dataclasses.FrozenInstanceError):
        done.at_ms = 9  # type: ignore[misc]


def test_a_field_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        replace(initial_state("orders"), nothing=1)  # type: ignore[call-arg]


def test_an_entry_that_is_written_quickly_is_the_one_that_the_library_makes() -> None:
    for entry in released_basic().entries:
        told = {each.name: getattr(entry, each.name) for each in dataclasses.fields(entry)}
        made = written(**told)
        assert (made, type(made), hash(made.sequence)) == (entry, type(entry), hash(entry.sequence))
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.at_ms = 8  # type: ignore[misc]
