"""Changes apply both ways, whatever JSON objects they lie between."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groups.history.frames.changes import apply, diff, unapply

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([1.0, "", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


def exactly(value: Any) -> Any:
    """A form in which ``True``, ``1`` and ``1.0`` differ, as they do in JSON, and the order of keys does not."""
    if isinstance(value, dict):
        return {key: exactly(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return (type(value).__name__, value)


@given(OBJECTS, OBJECTS)
def test_apply_gives_the_new_object_and_unapply_the_old_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    changes = diff(old, new)
    kept_old, kept_new = exactly(old), exactly(new)
    assert exactly(apply(old, changes)) == kept_new
    assert exactly(unapply(new, changes)) == kept_old
    # What was given stays as it was.
    assert (exactly(old), exactly(new)) == (kept_old, kept_new)


@given(st.lists(OBJECTS, min_size=2, max_size=5))
def test_changes_of_several_steps_apply_in_one_run(objects: list[dict[str, Any]]) -> None:
    changes = [change for old, new in itertools.pairwise(objects) for change in diff(old, new)]
    assert exactly(apply(objects[0], changes)) == exactly(objects[-1])
    assert exactly(unapply(objects[-1], changes)) == exactly(objects[0])


@given(OBJECTS)
def test_equal_objects_differ_in_nothing(value: dict[str, Any]) -> None:
    assert diff(value, dict(value)) == []


def test_an_absent_side_is_left_out_which_is_not_null() -> None:
    assert diff({"a": None}, {"b": None}) == [
        {"sequence": 0, "path": ["a"], "old": None},
        {"sequence": 0, "path": ["b"], "new": None},
    ]


def test_objects_are_descended_into_and_lists_are_leaves() -> None:
    old = {"sequence": 1, "members": {"A": {"epoch": 1, "assigned": [0, 1]}}}
    new = {"sequence": 2, "members": {"A": {"epoch": 2, "assigned": [0]}}}
    assert diff(old, new) == [
        {"sequence": 2, "path": ["sequence"], "old": 1, "new": 2},
        {"sequence": 2, "path": ["members", "A", "epoch"], "old": 1, "new": 2},
        {"sequence": 2, "path": ["members", "A", "assigned"], "old": [0, 1], "new": [0]},
    ]


def test_an_object_that_comes_or_goes_is_one_change() -> None:
    assert diff({"m": {}}, {"m": {"A": {"epoch": 1}}}) == [
        {"sequence": 0, "path": ["m", "A"], "new": {"epoch": 1}}
    ]


def test_parts_that_did_not_change_are_shared() -> None:
    part = {"epoch": 1}
    frame = {"members": {"A": part, "B": {"epoch": 1}}}
    assert apply(frame, diff(frame, {"members": {"A": part, "B": {"epoch": 2}}}))["members"]["A"] is part
