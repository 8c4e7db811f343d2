"""Large maps with versions do what copied dicts do, to every version that is still there."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.state import versions
from groups.history.state.identity import changed_keys
from groups.history.state.versions import VersionedMap, drop, merged, put
from tests.tiers import examples

KEYS = st.integers(0, 7)
EDITS = st.lists(
    # Which version is edited (counted from the newest), at which key, and to what; None drops it.
    st.tuples(st.integers(0, 3), KEYS, st.none() | st.integers(0, 3)),
    max_size=40,
)


def edited(made: Any, key: int, value: int | None) -> Any:
    return drop(made, key) if value is None else put(made, key, value)


@examples(300)
@given(st.dictionaries(KEYS, st.integers(0, 3)), EDITS, st.data())
def test_every_version_is_the_dict_that_it_would_be_in_the_same_order(
    start: dict[int, int], edits: list[tuple[int, int, int | None]], data: st.DataObject
) -> None:
    made: list[Any] = [VersionedMap.of(start)]
    plain: list[dict[int, int]] = [start]
    for back, key, value in edits:
        at = max(0, len(made) - 1 - back)
        made.append(edited(made[at], key, value))
        plain.append({k: v for k, v in plain[at].items() if k != key or value is not None})
        if value is not None:
            plain[-1][key] = value
        looked = data.draw(st.integers(0, len(made) - 1))
        assert (made[looked].get(key), key in made[looked]) == (plain[looked].get(key), key in plain[looked])
    for version, same in zip(made, plain, strict=True):
        assert (version, len(version), repr(version)) == (same, len(same), repr(same))
        assert list(version.items()) == list(same.items())
        assert pickle.loads(pickle.dumps(version)) == same
        assert [version.get(key, -1) for key in range(8)] == [same.get(key, -1) for key in range(8)]


@examples(300)
@given(st.dictionaries(KEYS, st.integers(0, 3)), st.lists(st.tuples(KEYS, st.none() | st.integers(0, 3))))
def test_what_changed_between_two_versions_is_told_as_of_two_dicts(
    start: dict[int, int], edits: list[tuple[int, int | None]]
) -> None:
    made: list[Any] = [VersionedMap.of(start)]
    for key, value in edits:
        made.append(edited(made[-1], key, value))
    for old in made:
        for new in (made[-1], made[len(made) // 2]):
            assert changed_keys(old, new) == changed_keys(dict(old), dict(new))


@given(
    st.integers(0, 90), st.dictionaries(st.integers(0, 150), st.integers(0, 3), max_size=90), st.booleans()
)
def test_many_values_are_put_at_once_as_one_after_the_other(
    size: int, puts: dict[int, int], versioned: bool
) -> None:
    start: Any = dict.fromkeys(range(size), 9)
    made: Any = VersionedMap.of(start) if versioned else start
    new = merged(made, puts)
    assert list(new.items()) == list({**start, **puts}.items())
    assert made == start
    assert isinstance(new, VersionedMap) == (versioned or len(new) > versions.SMALL_MAX)


def test_a_key_that_is_not_there_is_refused() -> None:
    old = VersionedMap.of({1: 1})
    new = old.put(2, 2)
    for version in (old, new):
        with pytest.raises(KeyError):
            version[3]
    assert drop(new, 3) is new


def test_small_maps_stay_dicts_and_large_ones_are_not_copied() -> None:
    made: Any = {}
    for key in range(versions.SMALL_MAX):
        made = put(made, key, key)
    assert type(made) is dict
    large = put(made, -1, -1)
    assert isinstance(large, VersionedMap)
    assert len(large) == len(made) + 1
    assert type(drop(made, 0)) is dict


def test_an_old_version_can_be_read_at_many_keys_after_many_changes() -> None:
    old: Any = VersionedMap.of(dict.fromkeys(range(100), 0))
    new = old
    for key in range(100):
        new = put(new, key, 1)
    assert [old[key] for key in range(100)] == [0] * 100
    newer = put(new, 3, 2)
    assert (old[3], new[3], newer[3]) == (0, 1, 2)
