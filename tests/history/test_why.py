"""Why a member went is inferred from its commits, its timeouts and its return, and marked as inferred."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.history.storied import A, B, C, R, Story, member_id, two_reading
from tests.history.test_classic_group import generation

MINUTE = 60_000


def removal(story: Story) -> dict[str, object]:
    return next(one for one in story.found("removed"))


def gone_after(quiet_ms: int, **fields: object) -> Story:
    """A commits up to 28 s, and is removed so long after its last commit."""
    story = Story()
    story.assign(0, {A: (0, 1)}, **fields)
    story.assign(1_000, {A: (0, 1), B: (2, 3)}, **fields)
    story.commits((0, 1), 2_000, 30_000)
    story.commits((2, 3), 2_500, 28_000 + quiet_ms + 20_000)
    story.remove(28_000 + quiet_ms, A)
    story.assign(29_000 + quiet_ms, {B: (0, 1, 2, 3)})
    story.commits((0, 1), 30_000 + quiet_ms, 48_000 + quiet_ms)
    return story


def test_a_last_commit_one_session_timeout_before_the_removal_looks_like_an_expired_session() -> None:
    one = removal(gone_after(46_000))
    assert (one["looks_like"], one["certain"], one["why"]) == ("session_expired", False, None)
    assert str(one["says"]).replace("\u202f", " ") == (
        "app-a was removed. Looks like its session expired: its last commit was 46.0 s earlier "
        "(session timeout 45.0 s, assumed)"
    )


def test_a_session_timeout_that_was_given_is_used_and_told() -> None:
    story = gone_after(10_500)
    assert removal(story)["looks_like"] == "stopped"
    given = {"group.consumer.session.timeout.ms": 10_000}
    story.at(0, lambda log: log.note(note="settings", settings=given))
    one = removal(story)
    assert (one["looks_like"], "10.0\u202fs, as given" in str(one["says"])) == ("session_expired", True)


def test_the_session_timeout_that_the_cluster_has_is_used_and_an_assumed_one_is_called_so() -> None:
    story = gone_after(10_500)
    story.at(0, lambda log: log.note(note="settings", settings={"consumer.session.timeout.ms": 10_000}))
    one = removal(story)
    assert (one["looks_like"], "10.0\u202fs, the group's setting" in str(one["says"])) == (
        "session_expired",
        True,
    )
    [expired] = story.found("session_expiry")
    assert expired["says"].endswith("session timeout 10.0\u202fs")
    [expired] = gone_after(46_000).found("session_expiry")
    assert expired["says"].endswith("session timeout 45.0\u202fs, assumed")


def test_a_last_commit_one_poll_interval_before_the_removal_looks_like_an_overrun() -> None:
    assert removal(gone_after(20_500, rebalanceTimeoutMs=20_000))["looks_like"] == "poll_overrun"


def test_who_committed_until_it_was_removed_left_by_itself() -> None:
    one = removal(gone_after(900))
    assert (one["looks_like"], one["certain"]) == ("left", False)


def test_a_commit_that_a_shorter_session_would_explain_claims_nothing_of_an_assumed_one() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.assign(1_000, {A: (0, 1), B: (2, 3)})
    story.commits((0, 1), 2_000, 42_000, every_ms=10_000)
    story.commits((2, 3), 2_500, 80_000, every_ms=10_000)
    story.remove(51_000, A)
    story.assign(52_000, {B: (0, 1, 2, 3)})
    story.commits((0, 1), 53_000, 80_000, every_ms=10_000)
    one = removal(story)
    assert (one["looks_like"], one["says"]) == (None, "app-a was removed; the log does not say why")
    story.at(0, lambda log: log.note(note="settings", settings={"group.consumer.session.timeout.ms": 45_000}))
    assert removal(story)["looks_like"] == "left"


def test_who_never_committed_is_removed_without_a_reason() -> None:
    story = Story()
    story.assign(0, {A: (0,)})
    story.assign(1_000, {A: (0,), B: (1,)})
    story.remove(30_000, A)
    one = removal(story)
    assert (one["looks_like"], one["certain"]) == (None, True)
    assert one["says"] == "app-a was removed; the log does not say why"


def test_who_had_partitions_to_release_for_its_rebalance_timeout_was_removed_for_that() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)}, rebalanceTimeoutMs=8_000)
    story.at(
        1_000,
        lambda log: log.write(R.member(B, clientId="app-b"), R.epoch(3), R.target(A, 0), R.target(B, 1)),
    )
    story.epoch = 3
    story.revoking(2_000, A, (0,), (1,))
    story.holds[B] = ()
    story.remove(10_500, A)
    assert removal(story)["looks_like"] == "rebalance_timeout"


def test_a_client_that_leaves_and_comes_back_under_its_id_again_and_again_is_one_sentence() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.assign(1_000, {A: (0, 1), B: (2, 3)})
    story.commits((0, 1), 2_000, 120_000)
    story.commits((2,), 2_500, 30_000)
    for turn in range(5):
        left = 30_000 + turn * 9_000
        story.remove(left, B)
        story.assign(left + 500, {A: (0, 1, 2, 3)})
        story.assign(left + 6_000, {A: (0, 1), B: (2, 3)})
    [one] = story.found("left_and_back")
    assert str(one["says"]).replace("\u202f", " ") == (
        "app-b left and came back five times in 42.0 s; all 20 moves follow app-b"
    )
    assert (one["certain"], one["looks_like"], len(one["steps"])) == (False, "poll_overrun", 5)
    told = story.verdict()
    assert "From 30.0 s on app-b left and came back five times in 42.0 s; all 20 moves follow app-b" in told
    assert "Looks like max.poll.interval.ms exceeded" in told
    clause = next(c for c in story.summary()["verdict"]["clauses"] if "came back five times" in c["text"])
    assert clause["sequences"] == one["steps"]


def test_two_that_go_at_once_for_the_same_reason_are_one_event() -> None:
    story = Story()
    story.assign(0, {A: (0,), B: (1,), C: (2,)})
    story.commits((0, 1), 2_000, 30_000)
    story.commits((2,), 2_500, 120_000)
    story.remove(74_000, A)
    story.remove(74_400, B)
    story.assign(75_000, {C: (0, 1, 2)})
    story.commits((0, 1), 76_000, 120_000)
    assert (
        "At 28.0 s app-a and app-b fell silent (foo-0 and -1), and at 1 min 14 s they were removed "
        "(looks like their sessions expired, 45.0 s, assumed)" in story.verdict()
    )


@pytest.mark.parametrize(("session_ms", "looks"), [(10_000, "session_expired"), (45_000, "stopped")])
def test_a_classic_members_session_timeout_is_read_from_its_record(session_ms: int, looks: str) -> None:
    story = Story()
    members = {"A": [0], "B": [1]}

    def write(number: int, held: dict[str, list[int]]) -> None:
        made = generation(number, held)
        for each in made["value"]["members"]:
            each["sessionTimeout"] = session_ms
        story.at(number * 1_000 if number < 3 else 42_000, lambda log: log.write(made))

    write(1, {"A": [0, 1]})
    write(2, members)
    story.commits((0,), 3_000, 80_000)
    story.commits((1,), 3_500, 30_000)
    write(3, {"A": [0, 1]})
    assert removal(story)["looks_like"] == looks


def test_a_process_that_returns_under_its_client_id_is_one_name_and_one_lane() -> None:
    story = two_reading(20_000)
    again = member_id("app-b", 2)
    story.remove(20_500, B)
    story.assign(21_000, {A: (0, 1, 2, 3)})
    story.assign(25_000, {A: (0, 1), again: (2, 3)})
    cast = story.summary()["cast"]
    assert [(one["name"], one["lane"]) for one in cast] == [("app-a", A), ("app-b", B), ("app-b", B)]
    assert story.found("joined")[-1]["says"] == "app-b rejoined"
    assert "; rejoined at 25.0 s" in story.verdict()
    assert "joined one after another" in story.verdict()


def test_a_killed_process_that_is_back_before_its_session_expires_is_one_process_in_a_crash_loop() -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    lives = [member_id("crashy", life) for life in range(1, 6)]
    story.assign(20_000, {A: (0,), lives[0]: (1,)})
    for turn, (old, new) in enumerate(pairwise(lives)):
        at_ms = 27_000 + turn * 7_000
        story.assign(at_ms, {A: (0,), old: (1,), new: ()})
        story.remove(at_ms + 3_000, old)
        story.assign(at_ms + 3_500, {A: (0,), new: (1,)})
    story.commits((0,), 2_000, 70_000)
    [one] = story.found("crash_loop")
    assert one["says"] == "crashy was restarted without a leave four times, about every 7\u202fs"
    assert {each["lane"] for each in story.summary()["cast"][1:]} == {lives[0]}
    assert "At 20.0 s crashy joined" not in story.verdict()
    assert (one["title"], one["severity"], bool(one["causes"] and one["look_at"])) == (
        "Crash loop",
        "warning",
        True,
    )
    assert story.found("session_expiry") == [], "the loop explains its sessions"


def test_two_processes_of_one_client_id_keep_names_of_their_own() -> None:
    story = Story()
    first, second, third = (member_id("same", life) for life in (1, 2, 3))
    story.assign(0, {first: (0,)}, clientId="same")
    story.assign(500, {first: (0,), second: (1,)}, clientId="same")
    story.remove(30_000, second)
    story.assign(40_000, {first: (0,), third: (1,)}, clientId="same")
    assert len({one["lane"] for one in story.summary()["cast"]}) == 3
    assert story.found("crash_loop") == []
