"""Upgrade rehearsal: what a description becomes, what its ways are, and that what is told of them is what their runs show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.rehearsal.judging import Sheet, WaySheet, answer, asked, scenario_for
from simulations.rehearsal.markdown import markdown_of
from simulations.rehearsal.moments import document_of_frame, text_of
from simulations.rehearsal.playing import play
from simulations.rehearsal.reading import question_of
from simulations.rehearsal.values import MEMBERS_MOST, STAGES_MOST, RehearsalError
from simulations.rehearsal.versions import release_of, version_of
from simulations.rehearsal.ways import WayName, ways_of
from simulations.world.engine import run
from simulations.world.scenario import load

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
        ({"brokers": "3.9"}, "brokers", "UNSUPPORTED_VERSION"),
    ],
)
def test_what_is_said_to_stop_an_upgrade_stops_it(changes: dict[str, Any], code: str, error: str) -> None:
    sheet = rehearsed(**changes)
    assert code in codes(sheet, "stops")
    planned = way(sheet, "planned")
    assert planned["outcome"] == "refused"
    assert planned["stages"][1]["refusals"][0]["error"] == error
    assert planned["stages"][1]["members"][0]["status"] == "out"


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


@settings(max_examples=12, deadline=None)
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


# -- descriptions


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"members": 0}, "members: must be 1 to"),
        ({"members": 61}, "members: must be 1 to 60"),
        ({"topics": {}}, "topics: a group needs at least one topic"),
        ({"topics": {"foo": 3000}}, "topics.foo: must be 1 to 2000"),
        ({"client": "2.0"}, "client: client 2.0 is older than 2.1"),
        ({"client": "new"}, "client: expected the release of a client"),
        ({"client": "2.2", "static": True}, "client: a client 2.2 knows no group.instance.id"),
        ({"client": "2.3", "assignors": ["cooperative-sticky"]}, "that begins with 2.4"),
        ({"assignors": ["com.acme.Mine"]}, "is none of Kafka's assignors"),
        ({"assignors": ["range", "custom-cooperative"]}, "no rebalance protocol is supported by all"),
        (
            {"members": {"a": {"assignors": ["range"]}, "b": {"assignors": ["sticky"]}}},
            "INCONSISTENT_GROUP_PROTOCOL",
        ),
        ({"members": {"a": {"protocol": "consumer"}}}, "there is nothing to upgrade"),
        (
            {"members": {"a": {"instance_id": "x"}, "b": {"instance_id": "x"}}},
            "two members have one instance_id",
        ),
        ({"members": 30, "at_once": 1}, "at_once: 30 members are bounced 3 or more at once"),
        ({"migration_policy": "both"}, "migration_policy: unknown migration policy both"),
        ({"too": 1}, "too: unknown key"),
        ({"start": {"generation": 3, "members": {"A": {}, "B": {}}}}, "start.members: the start lacks C"),
        ({"start": {"members": {}}}, "start: a start needs generation"),
        (
            {"start": {"generation": 3, "members": {"A": {"owned": {"foo": [6]}}, "B": {}, "C": {}}}},
            "must be 0 to 5",
        ),
        (
            {
                "start": {
                    "generation": 3,
                    "members": {"A": {"owned": {"foo": [1]}}, "B": {"owned": {"foo": [1]}}, "C": {}},
                }
            },
            "foo-1 is given to A already",
        ),
    ],
)
def test_a_description_that_makes_no_sense_is_told_in_one_line(changes: Mapping[str, Any], says: str) -> None:
    with pytest.raises(RehearsalError) as refused:
        question_of(json.dumps(THREE | changes))
    told = f"{refused.value.field}: {refused.value}"
    assert says in told
    assert "\n" not in told


def test_a_mistake_in_yaml_is_told_with_its_line() -> None:
    with pytest.raises(RehearsalError) as refused:
        question_of("topics: {foo: 6}\nmembers: 3\nclient: old\n")
    assert (refused.value.line, refused.value.field) == (3, "client")


def test_assignors_may_be_named_by_their_classes_and_releases_with_a_patch() -> None:
    found = question_of(
        "topics: {foo: 6}\nmembers: 1\nclient: 3.8.1\nassignors: org.apache.kafka.clients.consumer.StickyAssignor\n"
    )
    assert found.members[0].assignors == ("sticky",)
    assert (found.members[0].client, found.members[0].release) == ("3.8", "3.5")
    assert release_of(version_of("2.0")) is None


# -- a timeline's moment


def frame_of(text: str) -> dict[str, Any]:
    from groups.history.frames.frame import frame
    from groups.history.replay.fold import replay
    from groups.history.state.group import initial_state

    scenario = load(text, "orders")
    state = initial_state(scenario.group)
    for entry in run(scenario):
        state = replay(state, entry)
    return frame(state)


def test_a_moment_becomes_a_description_of_its_group_and_what_the_log_did_not_tell_is_said() -> None:
    frame = frame_of(
        "protocol: classic\nassignor: sticky\ntopics: {orders: {partitions: 4}, other: {partitions: 2}}\n"
        "members:\n  A: {subscribe: [orders], instance_id: a1}\n  B: {subscribe: [orders], session_timeout_ms: 10000}\n"
        "script: [{at: 0s, join: [A, B]}]\nuntil: 20s\n"
    )
    document = document_of_frame(frame)
    found = question_of(text_of(document))
    assert dict(found.topics) == {"orders": 4}, "who subscribes to nothing of a topic does not bring it"
    assert {m.name: (m.instance_id, m.session_timeout_ms) for m in found.members} == {
        "A": ("a1", 45_000),
        "B": (None, 10_000),
    }
    assert found.members[0].assignors == ("sticky",)
    assert found.start is not None
    given = {name: dict(owned) for name, owned in found.start.owned.items()}
    assert given == {name: {"orders": tuple(m["assigned"]["orders"])} for name, m in frame["members"].items()}
    planned = way(answer(found), "planned")
    assert planned["stages"][0]["epoch"] == frame["generation"], "it goes on from the very generation"
    assert (planned["outcome"], planned["stages"][1]["conversion"]) == ("done", "online")
    assert any("release" in each for each in document["assumed"])
    assert any("goes by sticky" in each for each in document["assumed"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"protocol": "share"}, "a share group"),
        ({"protocol": None}, "not known yet"),
        ({"members": {}}, "nobody is in the group"),
    ],
)
def test_a_moment_without_a_classic_group_is_refused(changes: dict[str, Any], says: str) -> None:
    frame = {"group": "g", "protocol": "classic", "members": {"A": {"protocol": "classic"}}, "topics": {}}
    with pytest.raises(RehearsalError, match=says):
        document_of_frame(frame | changes)


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
