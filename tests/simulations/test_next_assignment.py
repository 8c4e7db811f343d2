"""The assignment that comes next is foretold from a frame as a coordinator computes it; where it came otherwise, that is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Kind
from groups.history.frames.frame import frame
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.laboratory.next_assignment import (
    DIFFERENCES_SHOWN_MOST,
    JOINER,
    NotPredicted,
    compare,
    follows,
    holdings,
    predict,
)
from simulations.world import studies
from simulations.world.engine import run


def frames(study: str) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The settled frames of a case study, and the assignor that its members ask for."""
    scenario = studies.load(study)
    state = initial_state(scenario.group, "kafka")
    wanted: dict[str, str | None] = {}
    for entry in run(scenario, "kafka", 1):
        state = replay(state, entry)
        payload = entry.payload
        if entry.kind is Kind.RECORD and payload["type"] == 5 and payload.get("value"):
            wanted[payload["key"]["memberId"]] = payload["value"].get("serverAssignor")
        if entry.settled:
            shown = frame(state)
            names = [name for member, name in wanted.items() if name and member in shown["members"]]
            yield shown, max(names, key=names.count) if names else None


def test_every_target_that_a_coordinator_computes_is_the_one_that_was_foretold() -> None:
    """But one: a fault of the released coordinator gives partitions to a member that does not subscribe to them."""
    predicted, otherwise = 0, []
    for study in studies.names():
        if studies.load(study).settings.scripted:
            continue  # Its targets are the proposal's own table, which no assignor computed.
        before: dict[str, Any] | None = None
        for shown, assignor in frames(study):
            if before is not None and shown["members"] and follows(before, shown):
                target = predict(shown, before, assignor=assignor).target
                compared = compare(target, holdings(shown))
                predicted += 1
                if compared["equal"] != compared["of"]:
                    otherwise.append((study, [each["partition"] for each in compared["differences"]]))
            before = shown
    assert predicted > 50
    assert otherwise == [("released-unresolved-regex", ["payments-2", "payments-3"])]


def group(**more: Any) -> dict[str, Any]:
    members = {
        name: {"subscribed": ["orders"], "assigned": {}, "instance_id": None, "rack_id": None}
        for name in "AB"
    }
    return {
        "protocol": "consumer", "group_epoch": 3, "assignment_epoch": 3,
        "topics": {"orders": {"id": None, "partitions": 4}}, "members": members,
        "target": {"A": {"orders": [0, 1]}, "B": {"orders": [2, 3]}},
    } | more  # fmt: skip


def test_who_leaves_gives_what_it_had_to_the_others() -> None:
    predicted = predict(group(), assignor="uniform", leaves="B")
    assert predicted.target == {"A": {"orders": [0, 1, 2, 3]}}
    assert [(move["partition"], move["before"], move["after"]) for move in predicted.moves] == [
        ("orders-2", "B", "A"),
        ("orders-3", "B", "A"),
    ]


def test_who_joins_gets_a_share_and_everybody_else_keeps_the_rest() -> None:
    predicted = predict(group(), assignor="uniform", joins=True)
    assert sum(len(each) for each in predicted.target[JOINER].values()) == 1
    assert len(predicted.moves) == 1


def test_nothing_moves_where_nothing_changes() -> None:
    predicted = predict(group(), assignor="uniform")
    assert (predicted.moves, predicted.assumed) == ([], [])


def test_what_the_source_does_not_tell_is_said_to_be_assumed() -> None:
    unknown = group(topics={"orders": {"id": None, "partitions": None}})
    predicted = predict(unknown, assignor=None)
    assert predicted.assignor == "uniform"
    assert [each.split(":")[0] for each in predicted.assumed] == ["assignor uniform", "partitions of orders"]


def test_an_expression_gets_the_topics_that_it_matches_whole() -> None:
    told = group(topics={"orders": {"id": None, "partitions": 2}, "orders-eu": {"id": None, "partitions": 2}})
    told |= {"target": {}}
    told["members"]["A"] |= {"subscribed": [], "subscribed_regex": "orders-.*"}
    target = predict(told, assignor="uniform").target
    assert target["A"] == {"orders-eu": [0, 1]}
    assert target["B"] == {"orders": [0, 1]}


def test_a_classic_group_is_foretold_by_the_assignor_that_its_leader_ran() -> None:
    classic = group(protocol="classic", target=None)
    classic["members"]["A"]["assigned"] = {"orders": [0, 1, 2, 3]}
    assert predict(classic, assignor="range").target == {"A": {"orders": [0, 1]}, "B": {"orders": [2, 3]}}
    cooperative = predict(classic, assignor="cooperative-sticky")
    assert len(cooperative.target["A"]["orders"]) == 2


@pytest.mark.parametrize(
    ("told", "more", "says"),
    [
        (group(protocol="share"), {}, "consumer and classic groups; this is share"),
        (group(protocol=None), {}, "this is unknown"),
        (group(members={}), {}, "Nobody is in the group"),
        (group(), {"leaves": "Z"}, "No member Z"),
        (group(), {"assignor": "mine"}, "is mine, which is none of uniform, range"),
        (group(protocol="classic"), {"assignor": None}, "not known at this moment"),
        (group(topics={"orders": {"id": None, "partitions": 10**6}}), {}, "10,000 partitions at most"),
        (group(target={"A": {"orders": [0, 0]}}), {}, "cannot be asked about"),
    ],
)
def test_what_cannot_be_foretold_is_refused_in_a_line(
    told: Mapping[str, Any], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(NotPredicted, match=says):
        predict(told, **({"assignor": "uniform"} | more))


def test_a_target_is_compared_with_the_one_before_it_alone() -> None:
    assert follows(group(assignment_epoch=2), group())
    assert not follows(group(assignment_epoch=1), group())
    assert not follows(group(assignment_epoch=2, target={}), group())
    assert not follows(group(assignment_epoch=2, protocol="classic"), group())


places = st.dictionaries(st.integers(0, 30), st.sampled_from("ABC"))


@given(places, places)
def test_each_partition_is_equal_or_told_as_a_difference(was: dict[int, str], now: dict[int, str]) -> None:
    def target(owners: Mapping[int, str]) -> dict[str, dict[str, list[int]]]:
        held: dict[str, dict[str, list[int]]] = {}
        for partition, member in sorted(owners.items()):
            held.setdefault(member, {}).setdefault("t", []).append(partition)
        return held

    compared = compare(target(was), target(now))
    assert compared["of"] == len(was.keys() | now.keys())
    assert compared["equal"] == sum(was.get(each) == now.get(each) for each in was.keys() | now.keys())
    assert len(compared["differences"]) == min(compared["of"] - compared["equal"], DIFFERENCES_SHOWN_MOST)
