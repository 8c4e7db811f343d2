"""Sentences of a verdict about what happened: what belongs together, what is too short to be told, what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.verdict import EVENTS_MAX, verdict
from groups.history.verdict.events import JOINED_TOGETHER_MS, events
from groups.history.verdict.events import TOGETHER_MS as REMOVED_TOGETHER_MS
from groups.history.verdict.intervals import STILL, TOGETHER_MS
from groups.history.verdict.text import Event

Fields = dict[str, Any]


def told(*findings: Fields) -> list[Event]:
    by_kind: dict[str, list[Fields]] = {}
    for finding in findings:
        by_kind.setdefault(finding["kind"], []).append(finding)
    return sorted(events(by_kind), key=lambda event: (event.at_ms, event.sequence))


def says(*findings: Fields) -> list[str]:
    """The sentences, without the times that stand in them."""
    return ["".join(part.text for part in event.parts).replace("\u202f", " ") for event in told(*findings)]


def joined(name: str, at_ms: int, *, again: int = 1, forming: bool = False) -> Fields:
    return {
        "kind": "joined",
        "name": name,
        "lane": name,
        "again": again,
        "forming": forming,
        "at_ms": at_ms,
        "sequences": [at_ms + 1],
    }


def removed(name: str, at_ms: int, **fields: Any) -> Fields:
    return {
        "kind": "removed",
        "name": name,
        "lane": name,
        "at_ms": at_ms,
        "sequences": [at_ms + 1],
        "why": "session_expired",
        "polled": False,
        "looks_like": None,
        "short": "",
        "timeout_ms": None,
        "silent_from_ms": None,
        "silent_sequence": None,
        "killed_ms": None,
        "killed_sequence": None,
        "partitions": [],
        "back_ms": None,
        "back_sequence": None,
        **fields,
    }


def unowned(partition: str, length_ms: int, **fields: Any) -> Fields:
    return {
        "kind": "no_owner",
        "partition": partition,
        "noun": "partition",
        "from_ms": 100,
        "length_ms": length_ms,
        "sequences": [50, 60],
        "open": False,
        "first": False,
        "forming": False,
        **fields,
    }


def silent(name: str, from_ms: int, **fields: Any) -> Fields:
    return {
        "kind": "silent",
        "name": name,
        "from_ms": from_ms,
        "length_ms": 5_000,
        "partitions": ["foo-0"],
        "sequences": [from_ms + 1],
        "open": False,
        **fields,
    }


def waited_for(name: str, length_ms: int, **fields: Any) -> Fields:
    return {
        "kind": "waited_for",
        "says": f"{name} took {length_ms} ms",
        "name": name,
        "from_ms": 200,
        "length_ms": length_ms,
        "sequences": [70],
        "open": False,
        "forming": False,
        "slow": False,
        **fields,
    }


@pytest.mark.parametrize(("apart_ms", "sentences"), [(0, 1), (1, 2)])
def test_joins_within_half_a_minute_of_each_other_are_one_scale_up(apart_ms: int, sentences: int) -> None:
    again = says(joined("A", 0), joined("B", JOINED_TOGETHER_MS + apart_ms))
    assert again == (["A and B joined within 30.0 s"] if sentences == 1 else ["A joined", "B joined"])
    assert JOINED_TOGETHER_MS == 30_000
    assert says(joined("A", 0), joined("B", REMOVED_TOGETHER_MS)) == ["A and B joined"]


def test_members_that_were_never_in_the_group_together_did_not_join_together() -> None:
    gone = removed("f2", 10_000, why="left")
    apart = says(joined("f2", 0), gone, joined("f3", 20_000))
    assert apart == ["f2 joined", "f2 left", "f3 joined"]
    assert says(joined("f2", 0), joined("f3", 20_000), removed("f2", 30_000, why="left")) == [
        "f2 and f3 joined within 20.0 s",
        "f2 left",
    ]


def test_of_a_polled_group_the_polls_do_not_show_why_a_member_is_gone() -> None:
    assert says(removed("A", 0, why=None)) == ["A was removed; the log does not say why"]
    assert says(removed("A", 0, why=None, polled=True)) == ["A was removed; polls do not show why"]


def test_who_joins_and_who_comes_back_are_told_apart_however_often_it_came_back() -> None:
    assert says(joined("A", 0), joined("B", 5, again=2), joined("C", 9, again=3), joined("D", 12)) == [
        "A joined",
        "B and C rejoined",
        "D joined",
    ]
    assert says(joined("A", 0, again=2), joined("A", 5, again=3)) == ["A rejoined"]
    assert says(joined("A", 0, forming=True)) == []


def test_a_removal_tells_when_who_was_removed_came_back() -> None:
    assert says(removed("A", 10)) == ["A was removed when its session expired"]
    (one,) = told(removed("A", 10, back_ms=90, back_sequence=91))
    assert [(part.text, part.sequence, part.at_ms) for part in one.parts[-4:]] == [
        ("; ", None, None),
        ("rejoined", 91, None),
        (" at ", None, None),
        ("", None, 90),
    ]
    assert says(removed("A", 10, back_ms=10, back_sequence=12)) == ["A was removed when its session expired"]


def test_of_several_that_were_removed_at_once_those_who_came_back_are_named() -> None:
    both = "A and B were removed when their sessions expired"
    a, b = {"back_ms": 90, "back_sequence": 91}, {"back_ms": 95, "back_sequence": 96}
    assert says(removed("A", 10), removed("B", 20)) == [both]
    assert says(removed("A", 10), removed("B", 20, **b)) == [f"{both}; B rejoined at "]
    assert says(removed("A", 10, **a), removed("B", 20, **b)) == [f"{both}; A and B rejoined"]


@pytest.mark.parametrize(("apart_ms", "sentences"), [(REMOVED_TOGETHER_MS, 1), (REMOVED_TOGETHER_MS + 1, 2)])
def test_removals_for_one_reason_within_three_seconds_have_one_cause(apart_ms: int, sentences: int) -> None:
    assert len(told(removed("A", 10), removed("B", 10 + apart_ms))) == sentences
    assert REMOVED_TOGETHER_MS == 3_000


def test_removals_for_different_reasons_are_told_apart() -> None:
    assert says(removed("A", 10), removed("B", 10, why=None)) == [
        "A was removed when its session expired",
        "B was removed; the log does not say why",
    ]


@pytest.mark.parametrize(("length_ms", "sentences"), [(1_999, 0), (2_000, 1)])
def test_a_partition_without_an_owner_for_less_than_two_seconds_is_a_hand_over(
    length_ms: int, sentences: int
) -> None:
    assert says(unowned("foo-0", length_ms)) == ["foo-0 was unassigned for 2.0 s"] * sentences


def test_partitions_that_one_step_left_without_an_owner_are_told_together_and_the_longest_alone() -> None:
    assert says(unowned("foo-1", 5_000), unowned("foo-0", 4_000)) == [
        "foo-0 and -1 were unassigned for 5.0 s",
    ]
    assert says(unowned("foo-1", 5_000), unowned("foo-0", 4_000, sequences=[51, 60])) == [
        "foo-1 was unassigned for 5.0 s"
    ]
    assert says(unowned("foo-1", 5_000, first=True)) == [
        "foo-1 was unassigned for 5.0 s, until its first owner"
    ]
    assert says(unowned("foo-1", 5_000, first=True), unowned("foo-0", 5_000, first=True)) == [
        "foo-0 and -1 were unassigned for 5.0 s, until their first owners"
    ]
    assert says(unowned("foo-1", 5_000, open=True), unowned("foo-1", 5_000, forming=True)) == []


def test_silences_that_begin_within_three_seconds_have_one_cause() -> None:
    assert says(silent("A", 0), silent("B", TOGETHER_MS, length_ms=7_000, partitions=["foo-1"])) == [
        "A and B were silent for up to 7.0 s while assigned foo-0 and -1"
    ]
    assert says(silent("A", 0), silent("B", TOGETHER_MS + 1)) == [
        "A was silent for 5.0 s while assigned foo-0",
        "B was silent for 5.0 s while assigned foo-0",
    ]
    assert TOGETHER_MS == 3_000


def test_a_silence_that_lasts_to_the_end_weighs_more_than_any_that_is_over() -> None:
    (over,) = told(silent("A", 0, length_ms=9_000_000))
    (still,) = told(silent("A", 0, open=True))
    assert (over.weight, still.weight) == (9_000_000, STILL + 5_000)
    assert says(silent("A", 0, open=True)) == [
        "A fell silent: assigned foo-0, and no commit for 5.0 s up to the end"
    ]


def test_who_is_silent_several_times_is_told_once_with_how_often_and_the_longest() -> None:
    some = [silent("A", at_ms, length_ms=9_000 - at_ms) for at_ms in (0, 100, 200)]
    assert says(*some) == ["A was silent three times, the longest 9.0 s (foo-0)"]
    assert says(*some[:2]) == ["A was silent twice, the longest 9.0 s (foo-0)"]
    (event,) = told(*some)
    assert event.parts[0].steps == [1, 101, 201]


def test_waits_of_one_holder_are_told_as_one_and_those_of_a_hand_over_not_at_all() -> None:
    assert says(waited_for("A", 1_999)) == []
    assert says(waited_for("A", 2_000)) == ["A took 2000 ms"]
    assert says(waited_for("A", 2_000), unowned("foo-0", 2_000))[1:] == [], "somebody waited as long for it"
    assert says(waited_for("A", 3_000), waited_for("A", 2_500)) == ["A took 3000 ms"], "the longest"
    slow = [waited_for("A", length_ms, slow=True) for length_ms in (11_000, 12_000, 10_000, 10_500)]
    assert says(*slow, waited_for("B", 9_000)) == [
        "A was waited for four times; A took 12000 ms, the longest"
    ]


def test_who_is_away_to_the_end_weighs_more_than_who_came_back_and_a_roll_tells_its_own() -> None:
    away = {"kind": "away", "says": "A was away for 2.0 s", "lane": "A", "from_ms": 5, "length_ms": 2_000}
    (back,) = told({**away, "sequences": [7], "open": False})
    (still,) = told({**away, "sequences": [7, 9], "open": True})
    assert (back.weight, still.weight) == (2_000, STILL + 2_000)
    assert [(part.text, part.sequence) for part in still.parts] == [("A was away for 2.0 s", 7)]
    roll = {"kind": "rolling_restart", "says": "A rolling restart", "lanes": ["A"], "name": "A"}
    roll |= {"steps": [3, 7], "from_ms": 1, "to_ms": 9}
    assert says({**away, "sequences": [7], "open": False}, roll) == [
        "from  on A rolling restart, each away for up to 2.0 s"
    ]


def paused(name: str, sequence: int, count: int, **fields: Any) -> Fields:
    return {
        "kind": "stood_still",
        "says": f"{name} was paused for 3.0 s",
        "name": name,
        "member": name,
        "at_ms": sequence,
        "length_ms": 3_000,
        "count": count,
        "sequences": [sequence],
        "steps": [1, 2, 3, 4],
        **fields,
    }


def test_three_pauses_are_told_one_by_one_and_more_are_counted() -> None:
    three = [paused("A", 5, 3), paused("B", 6, 3), paused("A", 7, 3)]
    assert says(*three) == [f"{name} was paused for 3.0 s" for name in "ABA"]
    four = [paused(name, 5 + at, 4) for at, name in enumerate("ABAB")]
    assert says(*four) == ["2 consumers were paused 4 times"]
    assert says(*[paused("A", 5 + at, 4) for at in range(4)]) == ["A was paused 4 times"]
    (event,) = told(*four)
    assert event.parts[0].steps == [1, 2, 3, 4]


def test_of_more_pauses_than_were_kept_nobody_says_how_many_consumers_they_were_of() -> None:
    assert says(*[paused(name, 5 + at, 2_000) for at, name in enumerate("ABAB")]) == [
        "consumers were paused 2,000 times"
    ]


def test_fail_overs_are_counted_and_of_nobody() -> None:
    moves = [paused("", 5 + at, 4) | {"kind": "failed_over", "name": None} for at in range(4)]
    assert says(*moves) == ["the coordinator failed over 4 times"]


def fenced(name: str, sequence: int, **fields: Any) -> Fields:
    return {
        "kind": "fenced",
        "says": f"{name} was fenced",
        "name": name,
        "at_ms": 5,
        "count": 1,
        "sequences": [sequence],
        "steps": [sequence],
        **fields,
    }


def test_who_is_fenced_is_named_with_how_often_and_several_together() -> None:
    assert says(fenced("A", 5)) == ["A was fenced"]
    assert says(fenced("A", 5), fenced("A", 6)) == ["A was fenced twice"]
    assert says(fenced("A", 5), fenced("B", 6)) == ["A and B were fenced"]
    assert says(fenced("A", 5), fenced("B", 6), fenced("A", 7)) == ["A and B were fenced"]
    assert says(fenced("A", 5, count=2_000)) == ["heartbeats were fenced 2,000 times"]
    (event,) = told(fenced("A", 5), fenced("B", 6))
    assert (event.sequence, event.parts[0].steps) == (5, [5, 6])


def test_who_is_refused_is_told_by_the_error_three_errors_at_most() -> None:
    refusals = [
        fenced(name, 5 + at) | {"kind": "refused", "error": error}
        for at, (name, error) in enumerate(
            [
                ("A", "GROUP_MAX_SIZE_REACHED"),
                ("A", "GROUP_MAX_SIZE_REACHED"),
                ("B", "X"),
                ("C", "Y"),
                ("D", "Z"),
            ]
        )
    ]
    assert says(*refusals) == [
        "A was refused: GROUP_MAX_SIZE_REACHED",
        "B was refused: X",
        "C was refused: Y",
    ]


def test_static_members_that_were_replaced_are_told_three_times_and_more_often_counted() -> None:
    one = {"kind": "replaced", "says": "B replaces A", "at_ms": 5}
    assert says(*[{**one, "sequences": [at]} for at in (5, 6, 7)]) == ["B replaces A"] * 3
    assert says(*[{**one, "sequences": [at]} for at in (5, 6, 7, 8)]) == [
        "static members were replaced 4 times"
    ]


def grown(length_ms: int) -> list[str]:
    more = {"kind": "partitions_added", "says": "foo has 3 partitions", "at_ms": 90, "sequences": [50]}
    return says(more, unowned("foo-2", length_ms, first=True))


def test_a_topic_that_grew_tells_how_long_its_new_partitions_waited_for_an_owner() -> None:
    assert grown(1_999) == ["foo has 3 partitions"]
    assert grown(2_000) == ["foo has 3 partitions; foo-2 was unassigned for 2.0 s, until its first owner"]


def test_of_more_events_than_are_told_the_worst_stay_in_their_order_and_the_rest_is_counted() -> None:
    lengths_s = [3, 9, 4, 8, 5, 7, 6, 2, 10, 11]
    many = [
        silent(f"m{at}", at * 10_000, length_ms=length_s * 1_000) for at, length_s in enumerate(lengths_s)
    ]
    text = verdict(many, last_ms=1)["text"].replace("\u202f", " ")  # type: ignore[arg-type]
    kept = [f"m{at} was silent" in text for at in range(10)]
    assert kept == [False, True, False, True, True, True, True, False, True, True]
    assert "3 more events" in text
    assert "more event" not in verdict(many[:EVENTS_MAX], last_ms=1)["text"]  # type: ignore[arg-type]
    assert verdict(many, last_ms=1)["worst"] == {"sequence": 90_001, "at_ms": 90_000, "kind": "silent"}  # type: ignore[arg-type]
