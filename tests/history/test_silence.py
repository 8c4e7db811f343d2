"""A member that is assigned and commits nothing is silent; an idle topic, or a client that commits what moved, is not."""

from __future__ import annotations

from collections.abc import Sequence

from groups.history.entries import Entry
from groups.history.evidence.rhythm import SILENCES_KEPT_MAX, STOPS_KEPT_MAX, Rhythm
from groups.history.findings import Finder
from groups.history.passes.indexing import Indexer
from groups.history.state.plain import from_plain, to_plain
from tests.history.storied import A, B, C, R, Story, two_reading
from tests.history.test_classic_group import generation

MINUTE = 60_000


def killed() -> Story:
    """A's process ends at 30 s; its session of 45 s expires; B takes over and reads what had come."""
    story = two_reading(120_000, a_until_ms=30_000)
    story.remove(74_500, A)
    story.assign(75_500, {B: (0, 1, 2, 3)})
    story.commits((0, 1), 76_500, 120_000)
    return story


def test_a_member_whose_commits_stop_while_others_go_on_is_silent_until_it_is_removed() -> None:
    [one] = killed().found("silent")
    assert (one["name"], one["partitions"], one["ended"], one["certain"]) == (
        "app-a",
        ["foo-0", "foo-1"],
        "removed",
        False,
    )
    assert (one["from_ms"], one["to_ms"], one["length_ms"]) == (28_000, 74_500, 46_500)
    assert one["says"] == "app-a was assigned foo-0 and -1 and silent for 46.5\u202fs, until it was removed"


def test_what_readers_missed_is_longer_than_the_time_without_an_owner() -> None:
    story = killed()
    assert [(one["partition"], one["length_ms"]) for one in story.found("stopped")] == [
        ("foo-0", 48_500),
        ("foo-1", 48_500),
    ]
    assert [(one["partition"], one["length_ms"]) for one in story.found("no_owner")] == [
        ("foo-0", 1_000),
        ("foo-1", 1_000),
    ]


def test_the_spans_of_silences_are_there_for_a_board_to_draw() -> None:
    [span] = killed().summary()["silences"]
    assert (span["member"], span["from_ms"], span["to_ms"], span["ended"]) == (A, 28_000, 74_500, "removed")
    assert [(one["topic"], one["partition"], one["from_ms"]) for one in span["partitions"]] == [
        ("foo", 0, 28_000),
        ("foo", 1, 28_000),
    ]


def test_who_pauses_and_goes_on_was_silent_until_it_committed_again() -> None:
    story = two_reading(MINUTE, a_until_ms=20_000)
    story.commits((0, 1), 40_000, MINUTE)
    [one] = story.found("silent")
    assert (one["from_ms"], one["to_ms"], one["ended"]) == (18_000, 40_000, "resumed")
    assert "At 18.0 s app-a was silent for 22.0 s while assigned foo-0 and -1." in story.verdict()


def test_who_is_silent_at_the_end_of_the_log_is_told_as_still_silent() -> None:
    story = two_reading(MINUTE, a_until_ms=30_000)
    [one] = story.found("silent")
    assert (one["open"], one["to_ms"], one["from_ms"]) == (True, None, 28_000)
    assert (
        "app-a fell silent: assigned foo-0 and -1, and no commit for 30.5 s up to the end" in story.verdict()
    )
    assert story.summary()["silences"][0]["to_ms"] is None


def test_a_topic_that_gets_no_records_makes_nobody_silent() -> None:
    """All stop together, and all go on together."""
    story = two_reading(20_000)
    story.commits((0, 1), 50_000, 80_000, behind_ms=30_000)
    story.commits((2, 3), 50_500, 80_000, behind_ms=30_000)
    assert story.found("silent") == []


def test_a_client_that_commits_only_what_moved_is_not_silent_where_nothing_had_come() -> None:
    story = two_reading(90_000, a_until_ms=20_000)
    # A commits again, and its offsets are hardly farther than where it stood.
    story.at(70_000, lambda log: log.write(*(R.commit(number, 91) for number in (0, 1))))
    story.at(72_000, lambda log: log.write(*(R.commit(number, 92) for number in (0, 1))))
    assert story.found("silent") == []


def test_an_idle_partition_of_a_member_that_goes_on_is_not_silence() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.assign(1_000, {A: (0, 1), B: (2,)})
    story.commits((0,), 2_000, MINUTE)
    story.commits((1,), 2_000, 12_000)
    story.commits((2,), 2_500, MINUTE)
    assert story.found("silent") == []


def test_a_client_that_commits_also_what_did_not_move_is_silent_even_alone() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.commits((0, 1), 2_000, 30_000, idle=True)
    story.commits((0, 1), 50_000, 70_000, idle=True)
    [one] = story.found("silent")
    assert (one["from_ms"], one["to_ms"]) == (28_000, 50_000)


def test_before_there_is_a_rhythm_nothing_is_said() -> None:
    story = two_reading(MINUTE, a_until_ms=6_000)
    assert story.found("silent") == []


def test_a_slow_rhythm_is_not_broken_by_its_own_pauses() -> None:
    story = Story()
    story.assign(0, {A: (0,)})
    story.assign(1_000, {A: (0,), B: (1,)})
    story.commits((0,), 5_000, 20 * MINUTE, every_ms=MINUTE)
    story.commits((1,), 2_000, 20 * MINUTE)
    assert story.found("silent") == []


def test_a_member_that_takes_partitions_and_never_commits_them_is_silent_from_then_on() -> None:
    story = two_reading(120_000, a_until_ms=30_000)
    story.assign(30_000, {A: (0,), B: (2, 3), C: (1,)})
    story.commits((0,), 30_000, 120_000)
    story.remove(80_000, C)
    [one] = [one for one in story.found("silent") if one["member"] == C]
    assert (one["from_ms"], one["to_ms"], one["partitions"]) == (30_000, 80_000, ["foo-1"])


def test_what_is_kept_of_silences_and_stops_is_bounded() -> None:
    rhythm = Rhythm()
    now_ms = offset = 0
    for _ in range(SILENCES_KEPT_MAX + 40):
        for _ in range(5):
            now_ms, offset = now_ms + 1_000, offset + 5
            for place in (("foo", 0), ("foo", 1)):
                rhythm.commit(place, now_ms, offset, now_ms, {("foo", 0): "A", ("foo", 1): "B"}.get)
        for _ in range(30):
            now_ms, offset = now_ms + 1_000, offset + 5
            rhythm.commit(("foo", 1), now_ms, offset, now_ms, lambda place: None)
    assert len(rhythm.silences) == SILENCES_KEPT_MAX < rhythm.silences_count
    assert len(rhythm.longest_stops()) == STOPS_KEPT_MAX
    assert to_plain(from_plain(Rhythm, to_plain(rhythm))) == to_plain(rhythm)


def test_the_finder_carries_the_rhythm_over_a_checkpoint() -> None:
    entries = killed().log().entries
    for cut in (len(entries) // 3, len(entries) // 2, len(entries) * 9 // 10):
        assert _found(entries, cut) == _found(entries, 0)


def _found(entries: Sequence[Entry], cut: int) -> object:
    indexer = Indexer(group="orders")
    for entry in entries:
        indexer.add(entry)
        if entry.sequence >= cut > 0 and indexer.at_rest:
            indexer, cut = Indexer.from_checkpoint(indexer.checkpoint()), 0
    return indexer.summary()["findings"]


def test_a_finder_without_commits_has_no_silence() -> None:
    assert Finder().silences() == []


def eager(*, until_ms: int = 20_000, a_until_ms: int | None = None, back_ms: int = 80_000) -> Story:
    """A and B of a classic group commit until a rebalance of a minute, and again after it; C is new."""
    story = Story()
    story.at(0, lambda log: log.write(generation(4, {"A": [0, 1], "B": [2, 3]})))
    story.commits((0, 1), 2_000, until_ms if a_until_ms is None else a_until_ms)
    story.commits((2, 3), 2_500, until_ms)
    story.at(back_ms - 1_000, lambda log: log.write(generation(5, {"A": [0, 1], "B": [2, 3], "C": []})))
    story.commits((0, 1), back_ms, 120_000)
    story.commits((2, 3), back_ms + 500, 120_000)
    return story


def test_a_classic_group_that_stops_for_an_eager_rebalance_is_one_stop_and_no_members_silence() -> None:
    story = eager()
    assert story.found("silent") == []
    assert story.summary()["silences"] == []
    [one] = story.found("group_stopped")
    assert (one["from_ms"], one["to_ms"], one["names"], one["certain"]) == (18_500, 80_000, ["A", "B"], False)
    assert one["says"].replace("\u202f", " ") == (
        "The whole group stopped for 1 min 2 s for generation 5 (range): A and B committed nothing of foo-0, -1, -2 and -3"
    )
    assert one["cannot_know"] == "for whom the coordinator waited: joining leaves no record"
    assert "At 18.5 s the whole group stopped for 1 min 2 s for generation 5 (range)" in story.verdict()


def test_a_member_that_was_silent_long_before_the_others_stopped_was_silent_by_itself() -> None:
    story = eager(until_ms=50_000, a_until_ms=20_000)
    assert [(one["member"], one["from_ms"]) for one in story.found("silent")] == [("A", 18_000)]
    [one] = story.found("group_stopped")
    assert (one["names"], one["from_ms"]) == (["B"], 48_500)


def test_members_that_stop_while_another_commits_are_silent_by_themselves() -> None:
    story = eager()
    story.at(1_000, lambda log: log.write(generation(5, {"A": [0, 1], "B": [2, 3], "D": [4]})))
    story.at(79_000, lambda log: log.write(generation(6, {"A": [0, 1], "B": [2, 3], "D": [4]})))
    story.commits((4,), 3_000, 120_000)
    assert story.found("group_stopped") == []
    assert {one["member"] for one in story.found("silent")} == {"A", "B"}


def test_an_eager_rebalance_in_which_one_member_alone_is_silent_is_its_silence() -> None:
    story = Story()
    story.at(0, lambda log: log.write(generation(4, {"A": [0, 1]})))
    story.commits((0, 1), 2_000, 20_000)
    story.at(79_000, lambda log: log.write(generation(5, {"A": [0, 1]})))
    story.commits((0, 1), 80_000, 120_000)
    assert story.found("group_stopped") == []
    assert [one["member"] for one in story.found("silent")] == ["A"]
