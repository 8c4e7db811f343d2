"""Upgrade rehearsal: what a description becomes, what its ways are, and that what is told of them is what their runs show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.releases import NEWEST
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.rehearsal.judging import Sheet, WaySheet, answer, asked, scenario_for
from simulations.rehearsal.markdown import markdown_of
from simulations.rehearsal.playing import play
from simulations.rehearsal.question_yaml import question_of
from simulations.rehearsal.values import MEMBERS_MOST, STAGES_MOST, RehearsalError
from simulations.rehearsal.ways import WayName, ways_of
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.tiers import examples

THREE: dict[str, Any] = {
    "group": "orders-enrich",
    "topics": {"foo": 6},
    "members": 3,
    "client": "3.8",
    "assignors": ["range"],
}


def rehearsed(**changes: Any) -> Sheet:
    return answer(question_of(json.dumps(THREE | changes)))


def way(sheet: Sheet, name: str) -> WaySheet:
    return next(each for each in sheet["ways"] if each["name"] == name)


def codes(sheet: Sheet, level: str) -> set[str]:
    return {each["code"] for each in sheet["warnings"] if each["level"] == level}


# -- the documented ways


def test_a_classic_group_is_upgraded_member_by_member_and_converted_by_the_first() -> None:
    sheet = rehearsed()
    planned = way(sheet, "planned")
    assert planned["outcome"] == sheet["outcome"] == "done"
    assert [stage["protocol"] for stage in planned["stages"]] == [
        "classic",
        "consumer",
        "consumer",
        "consumer",
    ]
    assert [stage["conversion"] for stage in planned["stages"]] == [None, "online", None, None]
    assert "converted when A comes back, at group epoch 2" in sheet["says"][0]
    assert [stage["way_back"]["state"] for stage in planned["stages"]] == ["open", "open", "open", "bounce"]


def test_the_group_epoch_begins_at_the_generation_that_the_group_had() -> None:
    """The closing member costs a generation; the joining one raises the epoch at which the group was converted."""
    stage = way(rehearsed(), "planned")["stages"][1]
    last = [each["epoch"] for each in stage["epochs"] if each["protocol"] == "classic"][-1]
    first = next(each["epoch"] for each in stage["epochs"] if each["protocol"] == "consumer")
    assert (last, first) == (2, 3)


def test_eager_members_that_are_not_bounced_stop_reading_and_static_ones_do_not() -> None:
    dynamic, static = way(rehearsed(), "planned"), way(rehearsed(static=True), "planned")
    assert dynamic["stopped"] == 6
    assert static["stopped"] == 0
    assert static["without_reader_ms"] < dynamic["without_reader_ms"]
    assert all("No rebalance." in stage["says"] for stage in static["stages"][2:])


def test_a_static_member_that_is_away_for_longer_than_its_session_is_warned_of_and_costs() -> None:
    sheet = rehearsed(static=True, session_timeout_ms=10_000, away_ms=15_000)
    assert "away-too-long" in codes(sheet, "warning")
    assert way(sheet, "planned")["stopped"] > 0


def test_cooperative_members_stop_less_than_eager_ones() -> None:
    eager, cooperative = rehearsed(), rehearsed(assignors=["cooperative-sticky"])
    assert way(cooperative, "planned")["stopped"] < way(eager, "planned")["stopped"]
    assert way(cooperative, "planned")["outcome"] == "done"


def test_from_range_to_cooperative_takes_two_rounds_and_is_eager_in_the_first() -> None:
    planned = way(rehearsed(to="cooperative"), "planned")
    assert (planned["outcome"], planned["bounces"]) == ("done", 6)
    assert [stage["round"] for stage in planned["stages"]] == [0, 1, 1, 1, 2, 2, 2]
    assert [stage["assignor"] for stage in planned["stages"]] == ["range"] * 4 + ["cooperative-sticky"] * 3
    assert all(m["rebalance"] == "EAGER" for stage in planned["stages"][:4] for m in stage["members"])
    assert all(m["rebalance"] == "COOPERATIVE" for m in planned["stages"][-1]["members"])


def test_members_with_the_default_assignors_need_the_second_round_alone() -> None:
    planned = way(rehearsed(to="cooperative", assignors=["range", "cooperative-sticky"]), "planned")
    assert (planned["outcome"], planned["bounces"]) == ("done", 3)


def test_a_cooperative_group_has_nothing_to_do() -> None:
    sheet = rehearsed(to="cooperative", assignors=["cooperative-sticky"])
    assert sheet["outcome"] == "nothing"
    assert len(sheet["ways"]) == 1
    assert "nothing to do" in sheet["says"][0]


def test_streams_is_upgraded_with_upgrade_from_in_the_first_round() -> None:
    planned = way(rehearsed(to="cooperative", client="2.3", assignors=["stream"]), "planned")
    assert planned["outcome"] == "done"
    assert [m["upgrade_from"] for m in planned["stages"][3]["members"]] == [True] * 3
    assert [m["upgrade_from"] for m in planned["stages"][6]["members"]] == [False] * 3


# -- the hasty ways


def test_one_bounce_under_one_name_is_unsafe_and_the_run_proves_it() -> None:
    """KIP-429: an old leader gives away what a cooperative member keeps."""
    sheet = rehearsed(to="cooperative", client="2.3", assignors=["stream"])
    hasty = way(sheet, "hasty")
    assert hasty["outcome"] == "unsafe"
    violation = next(each for stage in hasty["stages"] for each in stage["violations"])
    entries = {
        entry.sequence: entry for entry in run(load(scenario_for(question(sheet), WayName.HASTY)[0], "x"))
    }
    assert entries[violation["sequence"]].payload["says"] == violation["says"]
    assert set(violation["proof"]) <= set(entries)
    assert "One way is unsafe" in " ".join(sheet["says"])
    trace = [step["says"] for step in hasty["trace"]]
    assert 3 <= len(trace) <= 8, "no more than what led there"
    assert violation["says"] in trace[-1]
    assert any("JoinGroup" in says for says in trace)
    assert trace[-1] in markdown_of(sheet)
    assert not any(way(sheet, name)["trace"] for name in ("planned", "back"))


def test_one_bounce_under_two_names_is_refused_and_not_unsafe() -> None:
    hasty = way(rehearsed(to="cooperative"), "hasty")
    assert hasty["outcome"] == "refused"
    assert {each["error"] for stage in hasty["stages"] for each in stage["refusals"]} == {
        "INCONSISTENT_GROUP_PROTOCOL"
    }


def test_all_at_once_is_possible_whatever_the_policy_and_nobody_reads_meanwhile() -> None:
    hasty = way(rehearsed(migration_policy="disabled"), "hasty")
    assert hasty["outcome"] == "done"
    assert hasty["stages"][1]["conversion"] == "empty"
    assert hasty["without_reader_ms"] > 6 * 2_000


# -- the way back


def test_the_way_back_ends_where_it_began() -> None:
    back = way(rehearsed(), "back")
    assert back["outcome"] == "done"
    assert back["stages"][-1]["protocol"] == "classic"
    assert [m["protocol"] for m in back["stages"][-1]["members"]] == ["classic"] * 3
    assert "The last new client left" in " ".join(back["stages"][-1]["says"])


def test_the_way_back_may_begin_half_way() -> None:
    back = way(rehearsed(turn_after=1), "back")
    assert (back["outcome"], back["bounces"]) == ("done", 2)
    assert [stage["protocol"] for stage in back["stages"]] == ["classic", "consumer", "classic"]


def test_with_the_policy_upgrade_there_is_no_way_back_to_a_classic_group() -> None:
    back = way(rehearsed(migration_policy="upgrade"), "back")
    assert [m["protocol"] for m in back["stages"][-1]["members"]] == ["classic"] * 3
    assert back["stages"][-1]["protocol"] == "consumer"
    assert {stage["way_back"]["state"] for stage in back["stages"][2:]} == {"closed"}


# -- what stops it: each warning of that level is what the run shows


@pytest.mark.parametrize(
    ("changes", "code", "error"),
    [
        ({"migration_policy": "disabled"}, "policy", "GROUP_ID_NOT_FOUND"),
        ({"migration_policy": "downgrade"}, "policy", "GROUP_ID_NOT_FOUND"),
        ({"assignors": ["custom-user-data"]}, "user-data", "GROUP_ID_NOT_FOUND"),
        ({"assignors": ["stream"]}, "streams", "GROUP_ID_NOT_FOUND"),
        (
            {"client": "librdkafka", "assignors": ["cooperative-sticky"]},
            "librdkafka-user-data",
            "GROUP_ID_NOT_FOUND",
        ),
    ],
)
def test_what_is_said_to_stop_an_upgrade_stops_it(changes: dict[str, Any], code: str, error: str) -> None:
    sheet = rehearsed(**changes)
    assert code in codes(sheet, "stops")
    planned = way(sheet, "planned")
    assert planned["outcome"] == "refused"
    assert planned["stages"][1]["refusals"][0]["error"] == error
    assert planned["stages"][1]["members"][0]["status"] == "out"


def test_where_brokers_do_not_serve_the_consumer_protocol_the_way_begins_with_them_and_the_way_back_ends_there() -> (
    None
):
    sheet = rehearsed(brokers="3.9", static=True)
    assert {"brokers", "brokers-back"} <= codes(sheet, "warning")
    planned, back = way(sheet, "planned"), way(sheet, "back")
    assert [stage["brokers"] for stage in planned["stages"]] == [None, "roll", "raise", None, None, None]
    titles = [stage["title"] for stage in planned["stages"]]
    assert titles[1:4] == [f"Roll the brokers to {NEWEST}", "Raise group.version to 1", "Bounce 1"]
    assert (planned["outcome"], planned["bounces"]) == ("done", 3)
    assert planned["stages"][1]["says"] == [
        "One broker after the other; the coordinator moves 3 times.",
        "No rebalance.",
    ]
    assert planned["stages"][3]["conversion"] == "online"
    assert [stage["brokers"] for stage in back["stages"]][-2:] == ["lower", "roll_back"]
    assert (back["outcome"], back["stages"][-1]["protocol"]) == ("done", "classic")
    assert answer(question(sheet)) == sheet


def test_clients_that_go_before_the_brokers_are_refused_and_their_partitions_stay_unread() -> None:
    hasty = way(rehearsed(brokers="3.9", static=True), "hasty")
    assert hasty["outcome"] == "refused"
    assert {each["error"] for each in hasty["stages"][1]["refusals"]} == {"UNSUPPORTED_VERSION"}
    assert "a broker answers A with UNSUPPORTED_VERSION" in hasty["says"]
    assert hasty["stages"][-1]["unread"] == 6


def test_the_way_back_after_a_bounce_lowers_the_feature_when_the_group_is_classic_again() -> None:
    sheet = rehearsed(brokers="3.9", static=True, turn_after=1)
    steps = [stage["brokers"] or stage["title"] for stage in way(sheet, "back")["stages"]]
    assert steps == ["Now", "roll", "raise", "Bounce 1", "Bounce 2", "lower", "roll_back"]


def test_brokers_that_do_not_serve_the_consumer_protocol_have_no_member_of_it() -> None:
    with pytest.raises(
        RehearsalError, match=r"brokers 3\.9 serve no member of the consumer protocol, and b is one"
    ):
        rehearsed(brokers="3.9", members={"a": {}, "b": {"protocol": "consumer"}})


def test_eager_clients_of_librdkafka_are_upgraded_and_stay_clients_of_librdkafka() -> None:
    sheet = rehearsed(client="librdkafka", members={"a": {}, "b": {"client": "3.8"}, "c": {}})
    assert codes(sheet, "stops") == set()
    assert "librdkafka" in codes(sheet, "warning")
    planned, back = way(sheet, "planned"), way(sheet, "back")
    assert (planned["outcome"], back["outcome"]) == ("done", "done")
    assert [member["client"] for member in planned["stages"][-1]["members"]] == [
        "librdkafka",
        "4.3",
        "librdkafka",
    ]
    scenario, _ = scenario_for(question(sheet), WayName.PLANNED)
    expressions = {
        entry.actor: entry.payload["body"].get("subscribedTopicRegex")
        for entry in run(load(scenario, "x"))
        if entry.payload.get("api") == "ConsumerGroupHeartbeat"
        and entry.payload["body"].get("memberEpoch") == 0
    }
    assert expressions == {"a~2": "", "b~2": None, "c~2": ""}, "what a join of each client sends"
    assert back["stages"][-1]["members"][0]["assignors"] == ["range"]
    assert answer(question(sheet)) == sheet


def test_a_class_of_ones_own_without_user_data_is_converted() -> None:
    sheet = rehearsed(assignors=["custom-cooperative"])
    assert codes(sheet, "stops") == set()
    assert way(sheet, "planned")["outcome"] == "done"
    assert "own-assignor" in codes(sheet, "warning")


def test_the_assignors_that_the_group_lists_are_marked_in_the_map() -> None:
    rows = {row["client"]: row for row in rehearsed(assignors=["roundrobin"])["assignors"]}
    assert (rows["roundrobin"]["server"], rows["roundrobin"]["used"]) == ("uniform", True)
    assert rows["range"]["server"] == "range"
    assert "stream" not in rows


@examples(12)
@given(
    members=st.integers(1, 5),
    partitions=st.integers(1, 9),
    assignor=st.sampled_from(sorted(STRATEGIES)),
    static=st.booleans(),
    policy=st.sampled_from(["bidirectional", "upgrade", "downgrade", "disabled"]),
    to=st.sampled_from(["consumer", "cooperative"]),
)
def test_the_documented_way_is_never_unsafe_and_is_refused_only_where_something_was_said_to_stop_it(
    members: int, partitions: int, assignor: str, static: bool, policy: str, to: str
) -> None:
    sheet = rehearsed(
        members=members,
        topics={"foo": partitions},
        assignors=[assignor],
        static=static,
        migration_policy=policy,
        to=to,
    )
    planned = way(sheet, "planned")
    assert planned["outcome"] != "unsafe"
    assert planned["outcome"] != "unfinished", planned["says"]
    if planned["outcome"] == "refused":
        assert codes(sheet, "stops")


# -- what is measured


def test_times_without_a_reader_are_those_of_the_callbacks() -> None:
    """One member, one partition: unread from its close until its next process has what it had."""
    sheet = rehearsed(members=1, topics={"foo": 1}, away_ms=5_000)
    scenario, _ = scenario_for(question(sheet), WayName.PLANNED)
    calls = [
        (entry.at_ms, entry.payload)
        for entry in run(load(scenario, "x"))
        if entry.kind == "callback" and entry.payload["partitions"]
    ]
    stops = next(
        at for at, told in calls if told["callback"] == "on_partitions_revoked" and told["phase"] == "start"
    )
    begins = [
        at for at, told in calls if told["callback"] == "on_partitions_assigned" and told["phase"] == "end"
    ][-1]
    assert way(sheet, "planned")["without_reader_ms"] == begins - stops
    assert way(sheet, "planned")["longest_ms"] == begins - stops


def test_not_read_is_what_the_timeline_of_the_run_shows_also_while_a_callback_holds_what_a_member_keeps() -> (
    None
):
    sheet = rehearsed(assignors=["cooperative-sticky"])
    text, _ = scenario_for(question(sheet), WayName.PLANNED)
    scenario = load(text, "x")
    state = initial_state("orders-enrich")
    for entry in run(scenario):
        state = replay(state, entry)
    assert state.consumption is not None
    total = sum(stage["without_reader_ms"] for stage in way(sheet, "planned")["stages"])
    assert total == state.consumption.sums.unread_until(scenario.until_ms)


def question(sheet: Sheet) -> Any:
    return question_of(json.dumps(sheet["question"]))


def test_a_sheets_question_asked_again_gives_the_same_sheet() -> None:
    sheet = rehearsed(members={"a": {}, "b": {"protocol": "consumer"}, "c": {"instance_id": "c1"}})
    assert answer(question(sheet)) == sheet
    assert asked(question(sheet)) == sheet["question"]


def test_the_stages_of_a_sheet_cover_its_run_without_a_gap() -> None:
    planned = way(rehearsed(), "planned")
    for before, after in zip(planned["stages"], planned["stages"][1:], strict=False):
        assert (before["last"] + 1, before["to_ms"]) == (after["first"], after["from_ms"])
    assert planned["stages"][-1]["last"] == planned["entries"]


def test_a_large_group_is_bounced_some_members_at_a_time() -> None:
    asked_for = question_of(json.dumps(THREE | {"members": MEMBERS_MOST}))
    planned = ways_of(asked_for)[0]
    assert len(planned.bounces) == STAGES_MOST
    assert sum(len(bounce.members) for bounce in planned.bounces) == MEMBERS_MOST


def test_a_group_that_stands_already_is_upgraded_from_its_generation_and_its_assignment() -> None:
    owned = {"A": [0, 1], "B": [3, 4], "C": [2, 5]}
    start = {"generation": 22, "members": {name: {"owned": {"foo": ps}} for name, ps in owned.items()}}
    sheet = rehearsed(static=True, start=start)
    stages = way(sheet, "planned")["stages"]
    assert (stages[0]["protocol"], stages[0]["epoch"], stages[0]["epochs"][0]["epoch"]) == ("classic", 22, 22)
    assert "generation 22 became group epoch 22" in stages[1]["says"][0]
    assert answer(question(sheet)) == sheet


def test_a_mixed_group_goes_on_from_where_it_is() -> None:
    sheet = rehearsed(members={"a": {"protocol": "consumer", "client": "4.3"}, "b": {}, "c": {}})
    planned = way(sheet, "planned")
    assert (planned["outcome"], planned["bounces"]) == ("done", 2)
    assert planned["stages"][0]["protocol"] == "consumer"
    assert "mixed-protocols" in codes(sheet, "note")


# -- the plan


def test_the_plan_prints_every_bounce_its_warnings_and_the_map() -> None:
    sheet = rehearsed()
    text = markdown_of(sheet)
    assert text.startswith("# Upgrade plan: orders-enrich to the consumer protocol\n")
    for stage in way(sheet, "planned")["stages"][1:]:
        assert f"| {stage['number']} | {'ABC'[stage['number'] - 1]} | consumer 4.3 |" in text
    for warned in sheet["warnings"]:
        assert warned["says"] in text
    assert "| range (listed) | range |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") - line.count("\\|") for line in rows} == {7, 4}


def test_the_same_question_gives_the_same_run() -> None:
    asked_for = question_of(json.dumps(THREE))
    planned = ways_of(asked_for)[0]
    assert play(asked_for, planned) == play(asked_for, planned)
