"""The map of partition epochs does what a dict does, and leaves the one that it was made from as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groups.history.epoch_map import EpochMap

PARTITIONS = st.integers(0, 300)
STEPS = st.lists(st.tuples(PARTITIONS, st.none() | st.integers(0, 9)), max_size=30)


@given(st.dictionaries(PARTITIONS, st.integers(0, 9)), st.lists(STEPS, max_size=4))
def test_edits_do_what_they_would_do_to_a_dict_and_nothing_to_older_maps(
    entries: dict[int, int], edits: list[list[tuple[int, int | None]]]
) -> None:
    expected, made = dict(entries), EpochMap(entries)
    older = []
    for steps in edits:
        older.append((dict(expected), made))
        edit = made.edited()
        for partition, epoch in steps:
            assert edit.get(partition) == expected.get(partition)
            if epoch is not None:
                edit.put(partition, epoch)
                expected[partition] = epoch
            elif partition in expected:
                edit.remove(partition)
                del expected[partition]
        made = edit.done()
    for told, of in [*older, (expected, made)]:
        assert of == told
        assert told == of
        assert len(of) == len(told)
        assert bool(of) == bool(told)
        for partition in range(301):
            assert (partition in of) == (partition in told)
            assert of.get(partition) == told.get(partition)
            assert of.get(partition, -1) == told.get(partition, -1)


def test_two_maps_with_the_same_entries_are_equal_whatever_way_they_were_made() -> None:
    first = EpochMap({1: 5, 100: 6}).edited()
    first.remove(1)
    first.put(1, 5)
    assert first.done() == EpochMap({100: 6, 1: 5})
    assert EpochMap({1: 5}) != EpochMap({1: 6})
