"""What changes in a group that goes on: its assignor, its leader, its partitions, its idle members; and that nothing changes any more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.history.logs import Log
from tests.history.storied import A, B, C, Story, two_reading
from tests.history.test_departures import drawn, found, of_clients

ONE, TWO, THREE = drawn("one"), drawn("two"), drawn("three")


def generation(number: int, held: dict[str, list[int]], **value: Any) -> dict[str, Any]:
    record = of_clients(number, held)
    record["value"] |= value
    return record


def verdict(log: Log) -> str:
    return str(log.recorded().summary["verdict"]["text"]).replace("\u202f", " ")


def restarted(
    log: Log, at_ms: int, name: str, number: int, others: list[str], life: int, **value: Any
) -> str:
    """A dynamic member of a classic group goes and is back a second later, under a new member id."""
    log.at(at_ms).write(generation(number, {one: [index] for index, one in enumerate(others)}, **value))
    again = drawn(name, life)
    log.at(at_ms + 1_000).write(
        generation(number + 1, {one: [index] for index, one in enumerate([*others, again])}, **value)
    )
    return again


def two_rounds() -> Log:
    log, members = Log(), {"one": ONE, "two": TWO}
    log.at(0).write(generation(1, {ONE: [0], TWO: [1]}))
    number, at_ms = 2, 30_000
    for life, protocol in ((2, "range"), (3, "cooperative-sticky")):
        for name in ("one", "two"):
            others = [one for each, one in members.items() if each != name]
            members[name] = restarted(log, at_ms, name, number, others, life, protocol=protocol)
            number, at_ms = number + 2, at_ms + 20_000
    return log


def test_two_restarts_of_all_members_are_two_rounds_and_the_assignor_changes_in_the_second() -> None:
    rounds = found(two_rounds(), "rolling_restart")
    assert [(one["round"], one["rounds"], one["names"], one["count"]) for one in rounds] == [
        (1, 2, ["one", "two"], 2),
        (2, 2, ["one", "two"], 2),
    ]
    [changed] = found(two_rounds(), "strategy_changed")
    assert (changed["before"], changed["after"], changed["generation"]) == ("range", "cooperative-sticky", 6)
    text = verdict(two_rounds())
    assert "one and two were restarted one after the other (round 2 of 2)" in text
    assert "the group's assignor changed from range to cooperative-sticky (generation 6)" in text


def test_processes_that_restart_again_while_others_stay_are_no_rounds() -> None:
    log, members = Log(), {"one": ONE, "two": TWO}
    log.at(0).write(generation(1, {ONE: [0], TWO: [1], THREE: [2]}))
    number, at_ms = 2, 30_000
    for life in (2, 3):
        for name in ("one", "two"):
            others = [THREE, *(one for each, one in members.items() if each != name)]
            members[name] = restarted(log, at_ms, name, number, others, life)
            number, at_ms = number + 2, at_ms + 20_000
    assert found(log, "rolling_restart") == []


def test_members_that_are_all_away_together_are_no_rolling_restart() -> None:
    log = Log()
    log.at(0).write(generation(1, {ONE: [0], TWO: [1]}))
    log.at(30_000).write(generation(2, {TWO: [0, 1]}))
    log.at(31_000).write(generation(3, {}, protocol=None))
    log.at(40_000).write(generation(4, {drawn("one", 2): [0], drawn("two", 2): [1]}, protocol="sticky"))
    assert found(log, "rolling_restart") == []
    [changed] = found(log, "strategy_changed")
    assert changed["says"] == (
        "The group's assignor changed from range to sticky (generation 4), while the group was empty"
    )


def connect(number: int, leader: str, *members: str, metadata: int = 0) -> dict[str, Any]:
    record = generation(
        number, {one: [] for one in members}, protocolType="connect", protocol="sessioned", leader=leader
    )
    for member in record["value"]["members"]:
        member |= {"subscription": f"AAI{'ABCDEFGH'[metadata]}", "assignment": ""}
    return record


def test_a_group_that_is_not_a_consumers_has_its_protocol_type_and_its_leaders() -> None:
    log = Log()
    log.at(0).write(connect(1, ONE, ONE))
    log.at(3_000).write(connect(2, ONE, ONE, TWO))
    log.at(90_000).write(connect(3, TWO, TWO))
    [type_] = found(log, "group_type")
    assert (type_["protocol_type"], type_["name"], type_["generation"]) == ("connect", "one", 1)
    [leader] = found(log, "leader_changed")
    assert (leader["name"], leader["at_ms"], leader["says"]) == (
        "two",
        90_000,
        "two became the leader (generation 3)",
    )
    text = verdict(log)
    assert text.startswith(
        "A group of Kafka Connect workers (protocol type connect); one led it in generation 1. "
    )
    assert "two became the leader (generation 3)" in text


def test_of_workers_no_idle_members_are_reported_and_other_metadata_is_a_cause() -> None:
    log = Log()
    for number in range(1, 7):
        log.at(number * 30_000).write(connect(number, ONE, ONE, TWO, metadata=number))
    assert (found(log, "idle_members"), found(log, "causeless_rebalances")) == ([], [])


def test_a_consumer_group_has_no_protocol_type_to_report() -> None:
    assert (found(two_rounds(), "group_type"), found(two_rounds(), "leader_changed")) == ([], [])


@pytest.mark.parametrize(
    ("late_ms", "names"), [(5_000, ["app-a", "app-b", "app-c"]), (8_000, ["app-a", "app-b"])]
)
def test_a_member_that_comes_after_a_heartbeat_interval_joins_a_group_that_has_formed(
    late_ms: int, names: list[str]
) -> None:
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.assign(1_000, {A: (0,), B: (1,)})
    story.assign(1_000 + late_ms, {A: (0,), B: (1,), C: (2,)})
    [formed] = story.found("formed")
    assert formed["names"] == names
    assert ("At 9.0 s app-c joined" in story.verdict()) == ("app-c" not in names)


def test_new_partitions_have_a_first_owner_each() -> None:
    story = two_reading(90_000)
    story.assign(40_000, {A: (0, 1, 5), B: (2, 3, 4)})
    gifts = story.found("first_assigned")
    assert {one["name"]: one["partitions"] for one in gifts} == {"app-a": ["foo-5"], "app-b": ["foo-4"]}
    assert "new partitions were assigned: app-a got foo-5 and app-b got foo-4" in story.verdict()


def test_partitions_that_change_hands_have_no_first_owner() -> None:
    story = two_reading(90_000)
    story.assign(40_000, {A: (0, 1, 2), B: (3,)})
    story.remove(60_000, B)
    story.assign(61_000, {A: (0, 1, 2, 3)})
    assert story.found("first_assigned") == []


def test_a_member_without_partitions_is_idle_until_it_gets_some_and_the_last_one_to_the_end() -> None:
    log = Log()
    log.at(0).write(generation(1, {ONE: [0], TWO: [], THREE: []}))
    log.at(30_000).write(generation(2, {TWO: [0], THREE: []}))
    log.at(60_000).write(generation(3, {TWO: [0], THREE: []}))
    still, before = found(log, "idle_members")
    assert (still["names"], still["open"], still["from_ms"]) == (["three"], True, 0)
    assert still["says"].replace("\u202f", " ") == (
        "three is idle (2 members share 1 partition): no partition for 1 min 0 s"
    )
    assert (before["names"], before["open"], before["to_ms"]) == (["two"], False, 30_000)
    assert (
        before["says"].replace("\u202f", " ")
        == "two was idle for 30.0 s, without a partition, until it got foo-0"
    )


def handed_on(*, stuck: bool, others: bool = True) -> Story:
    """A and B read foo-0 and foo-1; A's foo-1 goes to B and to C; with ``stuck`` its offset does not move from 30 s on."""
    story = Story()
    story.assign(0, {A: (0, 1), B: (2,)})
    story.commits((0, 2), 2_000, 150_000 if others else 30_000)
    story.commits((1,), 2_000, 30_000 if stuck else 150_000)
    story.assign(60_000, {A: (0,), B: (1, 2)})
    story.assign(90_000, {A: (0,), B: (2,), C: (1,)})
    story.at(150_000, lambda log: log.topics(foo={"id": "foo", "partitions": 3}))
    return story


def test_an_offset_that_moves_under_none_of_several_owners_is_reported_with_all_of_them() -> None:
    [one] = handed_on(stuck=True).found("passed_over")
    assert (one["partition"], one["names"]) == ("foo-1", ["app-a", "app-b", "app-c"])
    assert (one["open"], one["certain"]) == (True, False)
    assert "app-a, app-b and app-c" in handed_on(stuck=True).verdict()


@pytest.mark.parametrize(("stuck", "others"), [(False, True), (True, False)])
def test_an_offset_that_moves_or_a_topic_without_records_is_no_partition_passed_over(
    stuck: bool, others: bool
) -> None:
    assert handed_on(stuck=stuck, others=others).found("passed_over") == []


def test_the_quiet_end_of_a_log_says_since_when_nothing_happened() -> None:
    story = two_reading(60_000)
    story.assign(30_000, {A: (0, 1), B: (2, 3), C: ()})
    [stable] = story.found("stable")
    assert (stable["throughout"], stable["from_ms"]) == (False, 30_000)
    assert story.verdict().endswith(
        "No change in the group since 30.0 s: stable for 28.5 s, to the end of the log."
    )
