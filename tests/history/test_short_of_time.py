"""Time in which a group was empty is nobody's stop, and a commit just before a removal shows that the member was alive."""

from __future__ import annotations

from typing import Any

from tests.history.logs import Log, Records
from tests.history.storied import A, B, Story
from tests.history.test_departures import drawn, of_clients

R = Records()


def stopped(empty: bool) -> list[dict[str, Any]]:
    """A commits up to 28 s and leaves; its partitions are read again from 90 s on, 60 s of it by nobody or by B."""
    story = Story()
    story.assign(0, {A: (0, 1)} if empty else {A: (0, 1), B: (2,)})
    story.commits((0, 1), 2_000, 30_000)
    story.remove(30_000, A)
    story.assign(90_000, {B: (0, 1)})
    story.commits((0, 1), 100_000, 140_000)
    return [one for one in story.found("stopped") if one["partition"] == "foo-0"]


def test_a_stop_does_not_count_the_time_in_which_the_group_was_empty() -> None:
    [one] = stopped(empty=True)
    assert one["length_ms"] == one["to_ms"] - one["from_ms"] - 60_000
    assert one["says"].replace("\u202f", " ") == (
        "No commit of foo-0 for 12.0 s, beside 1 min 0 s in which the group was empty"
    )
    [other] = stopped(empty=False)
    assert other["length_ms"] == other["to_ms"] - other["from_ms"]


def removal(committed_ms: int, **member: Any) -> dict[str, Any]:
    """B commits once, and is gone from the generation of 60 s."""
    log = Log()
    log.at(0).write(of_clients(1, {drawn("a"): [0], drawn("b"): [1]}, **member))
    log.at(committed_ms).write(R.commit(1, 10, at_ms=committed_ms))
    log.at(60_000).write(of_clients(2, {drawn("a"): [0, 1]}, **member))
    [one] = [each for each in log.recorded().summary["findings"] if each["kind"] == "removed"]
    return one


def test_who_committed_just_before_its_removal_left_though_it_had_no_rhythm() -> None:
    one = removal(59_200)
    assert one["says"].replace("\u202f", " ") == (
        "b was removed. Looks like it left by itself: its last commit was 0.8 s earlier, so its session was alive"
    )
    assert one["certain"] is False


def test_a_single_commit_long_before_explains_nothing() -> None:
    assert removal(30_000)["looks_like"] is None
