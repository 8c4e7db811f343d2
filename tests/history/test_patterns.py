"""Each finder of a pattern: where it fires, where it does not, and that none fires on a quiet log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from groups.history.entries import Provenance
from groups.history.findings.registry import incident_kinds
from tests.history.logs import FOO, Log
from tests.history.storied import A, B, C, R, Story, member_id, two_reading
from tests.history.test_causes import two_members
from tests.history.test_classic_group import generation, upgrade

INCIDENTS = incident_kinds()
"""What no quiet log may say."""

HOUR = 3_600_000


def quiet_hour() -> Story:
    """Two members read for an hour; one partition is idle, and one client commits only what moved."""
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.assign(1_000, {A: (0, 1), B: (2, 3)})
    story.commits((0, 2), 5_000, HOUR, every_ms=5_000)
    story.commits((1,), 5_100, HOUR, every_ms=5_000, idle=True)
    story.commits((3,), 5_200, 60_000, every_ms=5_000)
    return story


def test_a_quiet_hour_is_told_as_one_and_no_finder_of_an_incident_fires() -> None:
    summary = quiet_hour().summary()
    assert {one["kind"] for one in summary["findings"]}.isdisjoint(INCIDENTS)
    assert (
        summary["verdict"]["text"].replace("\u202f", " ").endswith("Stable for 59 min 54 s, nothing changed.")
    )
    assert summary["verdict"]["worst"] is None
    assert summary["silences"] == []


def test_a_time_that_is_stable_after_an_incident_is_not_told_as_nothing() -> None:
    story = two_reading(200_000)
    story.remove(20_000, B)
    story.assign(21_000, {A: (0, 1, 2, 3)})
    [one] = story.found("stable")
    assert (one["throughout"], one["from_ms"]) == (False, 21_000)
    assert story.verdict().endswith(
        "No change in the group since 21.0 s: stable for 2 min 58 s, to the end of the log."
    )


def test_an_empty_group_is_not_stable() -> None:
    story = two_reading(30_000)
    story.remove(30_000, A)
    story.remove(30_100, B)
    story.at(200_000, lambda log: log.write(R.commit(0, 999)))
    assert story.found("stable") == []
    assert story.verdict().endswith("The group is empty at the end.")


def bounced(names: Iterable[str], *, apart_ms: int) -> Story:
    story = Story()
    here = {A: (0,), B: (1,), C: (2,)}
    story.assign(0, here)
    story.commits((0, 1, 2), 2_000, 30_000)
    for number, name in enumerate(names):
        at_ms, old = 30_000 + number * apart_ms, next(one for one in here if one.startswith(name))
        held = here.pop(old)
        story.remove(at_ms, old)
        story.assign(at_ms + 500, here)
        here = {**here, member_id(name, number + 2): held}
        story.assign(at_ms + 4_000, here)
    return story


def test_processes_that_each_went_and_came_back_once_are_a_rolling_restart() -> None:
    story = bounced(["app-a", "app-b", "app-c"], apart_ms=10_000)
    [one] = story.found("rolling_restart")
    assert one["says"] == "app-a, app-b and app-c were restarted one after the other"
    assert (one["count"], one["certain"]) == (3, False)
    assert "From 30.0 s on app-a, app-b and app-c were restarted one after the other" in story.verdict()
    assert "was removed" not in story.verdict()
    assert story.found("storm") == story.found("crash_loop") == []


def test_one_that_was_restarted_is_no_rolling_restart() -> None:
    assert bounced(["app-b"], apart_ms=10_000).found("rolling_restart") == []


def stormy() -> Story:
    story = Story()
    story.assign(0, {A: (0,), B: (1,), C: (2,)})
    for turn in range(6):
        at_ms = 30_000 + turn * 12_000
        for name, offset in (("app-b", 0), ("app-c", 5_000)):
            old, new = member_id(name, turn + 1), member_id(name, turn + 2)
            held = story.holds[old]
            story.remove(at_ms + offset, old)
            story.assign(at_ms + offset + 2_000, {**story.holds, new: held})
    return story


def test_epochs_that_follow_each_other_because_the_same_processes_come_and_go_are_a_storm() -> None:
    [one] = stormy().found("storm")
    assert (
        one["says"]
        == "Rebalance storm: 24 group epochs in 1\u202fmin 7\u202fs, as app-b and app-c came and went"
    )
    assert one["names"] == ["app-b", "app-c"]


def test_restarts_in_turn_are_a_storm_whatever_their_distance_and_a_whole_rolling_restart_is_none() -> None:
    names = ["app-a", "app-b", "app-c"] * 3
    for apart_ms in (22_000, 60_000):
        story = bounced([*names, "app-a"], apart_ms=apart_ms)
        [one] = story.found("storm")
        assert (one["names"], one["count"]) == (["app-a", "app-b", "app-c"], 30)
        assert "as app-a, app-b and app-c came and went" in story.summary()["verdict"]["headline"]["text"]
    assert bounced(names, apart_ms=60_000).found("storm") == []


def test_two_processes_that_restart_a_minute_apart_are_loops_and_no_storm() -> None:
    story = bounced(["app-a", "app-b"] * 5, apart_ms=60_000)
    assert story.found("storm") == []
    assert [one["name"] for one in story.found("crash_loop")] == ["app-a", "app-b"]


def test_a_scale_up_is_no_storm() -> None:
    story = Story()
    story.assign(0, {A: range(12)})
    for number in range(10):
        here = {A: range(12 - number - 1)} | {member_id(f"n{n}"): (11 - n,) for n in range(number + 1)}
        story.assign(30_000 + number * 3_000, here)
    assert story.found("storm") == []
    assert "joined" in story.verdict()


def test_partitions_that_go_back_and_forth_are_flapping_and_one_way_is_not() -> None:
    story = two_reading(20_000)
    for turn in range(3):
        story.assign(30_000 + turn * 20_000, {A: (0, 1, 2), B: (3,)})
        story.assign(40_000 + turn * 20_000, {A: (0, 1), B: (2, 3)})
    [one] = story.found("flapping")
    assert (one["partitions"], one["moves"], len(one["steps"])) == (["foo-2"], 6, 6)
    there = two_reading(20_000)
    there.assign(30_000, {A: (0, 1, 2), B: (3,)})
    assert there.found("flapping") == []


def test_moves_are_told_as_moves_of_partitions() -> None:
    story = two_reading(20_000)
    for turn in range(3):
        story.assign(30_000 + turn * 20_000, {A: (0, 1, 2), B: (3,)})
        story.assign(40_000 + turn * 20_000, {A: (0, 1), B: (2, 3)})
    assert "6 moves of 1 partition" in story.verdict()


def test_members_without_a_partition_are_idle_once_the_group_is_at_rest() -> None:
    story = two_reading(60_000)
    story.assign(20_000, {A: (0, 1), B: (2, 3), C: ()})
    [one] = story.found("idle_members")
    assert (one["names"], one["from_ms"], one["to_ms"]) == (["app-c"], 20_000, None)
    short = two_reading(30_000)
    short.assign(20_000, {A: (0, 1), B: (2, 3), C: ()})
    assert short.found("idle_members") == []


def replaced(times: int, *, apart_ms: int = 20_000) -> Story:
    """A static member whose place another process takes, again and again."""
    story = Story()
    story.assign(0, {A: (0,), B: (1,)}, instanceId="seat-1")
    story.holds.pop(B)

    def take(log: Log, old: str, new: str) -> None:
        gone = (R.gone(8, old), R.gone(7, old), R.gone(5, old))
        copy = (
            R.member(new, clientId="app", instanceId="seat-1"),
            R.target(new, 0),
            R.current(new, 0, 0, 0, {0: 2}),
        )
        log.write(*gone, *copy, R.current(new, 2, 0, 0, {0: 2}))

    story = Story()
    story.assign(0, {A: (0,)}, instanceId="seat-1", clientId="app")
    for number in range(times):
        old = A if not number else member_id("app", number)
        new = member_id("app", number + 1)
        story.at(30_000 + number * apart_ms, lambda log, old=old, new=new: take(log, old, new))
    return story


def test_an_instance_that_changes_hands_again_and_again_looks_like_two_processes() -> None:
    [one] = replaced(4).found("twin_instance")
    assert one["says"] == (
        "seat-1 was taken over four times in 1\u202fmin 0\u202fs. Looks like two processes with one group.instance.id"
    )
    assert replaced(1).found("twin_instance") == []
    assert replaced(3, apart_ms=HOUR).found("twin_instance") == []


def test_one_static_instance_is_one_lane_and_one_name() -> None:
    cast = replaced(2).summary()["cast"]
    assert {one["lane"] for one in cast} == {A}
    assert {one["name"] for one in cast} == {"seat-1"}


def test_a_new_leader_epoch_of_the_offsets_partition_is_a_coordinator_that_moved() -> None:
    story = two_reading(60_000)
    story.at(30_000, lambda log: log.note(note="coordinator", leader_epoch=4))
    [one] = story.found("coordinator_moved")
    assert (one["leader_epoch"], one["at_ms"], one["needs"]) == (4, 30_000, ["notes"])
    assert "At 30.0 s the coordinator moved" in story.verdict()


def migrated() -> Log:
    log = Log()
    log.at(0).write(generation(0, {}, protocolType=""))
    log.at(3_000).write(generation(1, {"A": [0, 1, 2]}))
    log.at(9_000).write(generation(2, {"A": [0, 1, 2]}))
    log.topics(foo={"id": FOO, "partitions": 3})
    log.at(70_000).write(*upgrade())
    return log


def test_a_migration_stands_in_the_verdict_and_epochs_are_no_generations() -> None:
    summary: dict[str, Any] = dict(migrated().recorded().summary)
    told = summary["verdict"]["text"].replace("\u202f", " ")
    assert "Moved to the consumer protocol at 1 min 10 s, online." in told
    [one] = [each for each in summary["findings"] if each["kind"] == "migrated"]
    assert (one["to"], one["online"], one["back"]) == ("consumer", True, False)
    [epochs] = [each for each in summary["findings"] if each["kind"] == "epochs"]
    assert (epochs["generations"], epochs["count"] - epochs["generations"] > 0) == (2, True)
    assert "generations" in epochs["says"]
    assert "group epoch" in epochs["says"]


def classic(assignor: str) -> Log:
    log = Log()
    log.at(0).write(generation(1, {"A": [0, 1, 2]}, protocol=assignor))
    log.at(60_000).write(generation(2, {"A": [0, 1], "B": [2]}, protocol=assignor))
    return log


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky"])
def test_an_eager_assignors_rebalance_says_that_every_member_stopped_and_that_this_is_inferred(
    assignor: str,
) -> None:
    summary = classic(assignor).recorded().summary
    [one] = [each for each in summary["findings"] if each["kind"] == "eager_rebalance"]
    assert (one["certain"], one["assignors"], one["count"]) == (False, [assignor], 1)
    assert (
        f"1 eager rebalance ({assignor}): every member stopped for it (inferred)."
        in summary["verdict"]["text"]
    )


@pytest.mark.parametrize("assignor", ["cooperative-sticky", "my-own"])
def test_of_another_assignor_nothing_is_said_of_who_stopped(assignor: str) -> None:
    summary = classic(assignor).recorded().summary
    assert not [each for each in summary["findings"] if each["kind"] == "eager_rebalance"]


def test_a_classic_log_that_begins_at_its_first_record_has_no_middle() -> None:
    """A static member that is replaced was there: the log holds its joining."""
    log = Log()
    log.at(0).write(generation(1, {"old": [0]}))
    value = log.entries[0].payload["value"]
    value["members"][0]["groupInstanceId"] = "seat"
    renewed = generation(2, {"new": [0]})
    renewed["value"]["members"][0]["groupInstanceId"] = "seat"
    log.at(5_000).write(renewed)
    assert not [each for each in log.recorded().summary["findings"] if each["kind"] == "midway"]


def test_the_partitions_of_a_deleted_topic_are_not_unassigned() -> None:
    log = two_members()
    log.provenance = Provenance.RECORDED
    log.at(10_000).write(R.epoch(4, 7), R.target("A"), R.target("B"), R.target_epoch(4))
    log.at(11_000).write(R.current("A", 4, 2, 0, {}))
    log.at(12_000).write(R.current("B", 4, 3, 0, {}))
    log.at(60_000).write(R.commit(0, 1))
    assert not [each for each in log.recorded().summary["findings"] if each["kind"] == "no_owner"]


def test_a_member_away_keeps_its_partitions_and_nobody_reads_them() -> None:
    story = two_reading(20_000)
    story.at(21_000, lambda log: log.write(R.current(A, -2, 3, 0, {0: 2, 1: 2})))
    story.at(60_000, lambda log: log.write(R.commit(2, 999)))
    [one] = story.found("away")
    assert (one["open"], one["partitions"], one["certain"]) == (True, ["foo-0", "foo-1"], True)
    assert one["says"] == "app-a has been away for 39.0\u202fs; foo-0 and -1 stay assigned to it"
    assert two_reading(30_000).found("away") == []


def test_a_compacted_log_says_how_much_of_it_is_gone() -> None:
    log = Log()
    log.note(
        note="gap",
        partition=0,
        from_offset=3,
        to_offset=610,
        reason="compacted",
        compacted=True,
        missing=571,
        offsets=621,
    )
    log.write(R.member("A"), R.epoch(9), R.target("A", 0), R.target_epoch(9), R.current("A", 9, 8, 0, {0: 9}))
    text = log.recorded().summary["verdict"]["text"]
    assert text.startswith("The log is compacted: 571 of 621 offsets are gone.")


def test_the_worst_thing_of_a_log_is_named_with_its_moment() -> None:
    story = two_reading(120_000, a_until_ms=30_000)
    story.remove(74_500, A)
    story.assign(75_500, {B: (0, 1, 2, 3)})
    story.commits((0, 1), 76_500, 120_000)
    summary = story.summary()
    silent = story.found("silent")[0]
    assert summary["verdict"]["worst"] == {
        "sequence": silent["sequences"][0],
        "at_ms": silent["from_ms"],
        "kind": "removed",
    }


def test_the_verdict_gives_times_of_a_clock_in_utc_and_marks_them_for_other_zones() -> None:
    story = two_reading(60_000, start_ms=1_763_817_120_000)
    story.remove(20_000, B)
    verdict = story.summary()["verdict"]
    assert "From 13:12:00 UTC on app-a and app-b joined one after another" in verdict["text"]
    assert "At 13:12:20 app-b was removed" in verdict["text"]
    times = [clause["at_ms"] for clause in verdict["clauses"] if "at_ms" in clause]
    assert times[0] == 1_763_817_120_000


def test_forming_and_incident_are_told_apart() -> None:
    story = two_reading(60_000)
    story.remove(30_000, B)
    story.assign(31_000, {A: (0, 1, 2, 3)})
    assert [one["forming"] for one in story.found("moved")] == [True, False, False]
    assert "2 partitions moved" in story.verdict()


def test_of_many_events_the_worst_are_told_and_the_rest_is_counted() -> None:
    story = Story()
    story.assign(0, {A: (0,), B: (1,)})
    for number in range(14):
        story.assign(60_000 * (number + 1), {**story.holds, member_id(f"n{number}"): ()})
    told = story.summary()["verdict"]
    assert "7 more events" in told["text"]
    clause = next(each for each in told["clauses"] if each["text"] == "7 more events")
    assert len(clause["sequences"]) == 7
