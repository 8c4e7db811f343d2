"""Differences of leaving, of being removed, and of static members."""

from __future__ import annotations

from functools import partial
from typing import Final

from simulations.proof.differences.exchange import (
    SETTLE,
    Case,
    beat,
    cancelled,
    error,
    join,
    leave,
    lowered,
    static_leave,
    target,
    types,
)
from simulations.proof.differences.scenarios import ScenarioCase, group_of, record_types
from simulations.proof.differences.table import Difference, Seen

STATIC: Final = "Static Membership"

LEAVING: Final = (
    Difference(
        id="removed-member",
        topic="a member that is removed",
        section="Case Studies",
        proposal="stays in the target until the next one is computed",
        released="goes with its target; the next heartbeat of another member computes the next one",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"), *SETTLE, join("B"), target(), beat("B"), leave("A")),
            look=lambda steps: [types(steps[-1]), sorted(steps[-1]["group"]["target"])],
            looks_at="types of the records of A's leave, and whom the target still names",
            kip=[[8, 5, 3], ["A", "B"]],
            kafka=[[8, 7, 5, 3], ["B"]],
        ),
    ),
    Difference(
        id="feature-lowered",
        topic="a group when brokers stop to serve the consumer protocol",
        section="Kafka Broker Migration",
        proposal="is lost",
        released="stays, and its members are removed as their sessions end: every heartbeat of them is refused",
        seen=Seen.RECORD,
        reading="tombstones of the group and of its members at once; offsets stay",
        case=Case(
            operations=(join("A"), *SETTLE, lowered()),
            look=lambda steps: [types(steps[-1]), sorted(steps[-1]["group"]["members"])],
            looks_at="types of the records of that moment, and the members of the group",
            kip=[[8, 7, 6, 5, 4, 3], []],
            kafka=[[], ["A"]],
        ),
    ),
    Difference(
        id="static-rejoin",
        topic="a static member that joins again without having left",
        section=STATIC,
        proposal="is accepted under its own id, refused under another",
        released="is refused with `UNRELEASED_INSTANCE_ID`, under its own id, too",
        seen=Seen.ANSWER,
        case=Case(
            operations=(
                join("A", instance_id="i"),
                *SETTLE,
                join("A", instance_id="i"),
                join("A2", instance_id="i"),
            ),
            look=lambda steps: [error(step) for step in steps[-2:]],
            looks_at="errors of the join under its own id and under another",
            kip=[0, 111],
            kafka=[111, 111],
        ),
    ),
    Difference(
        id="leave-for-now-timers",
        topic="the rebalance timer of a static member that leaves for now",
        section=STATIC,
        proposal="is not spoken of",
        reading="ends: nothing is waited for any more",
        released="runs out later and does nothing, since the member is at another epoch",
        seen=Seen.TIMING,
        case=Case(
            operations=(
                join("A", instance_id="i"),
                *SETTLE,
                join("B"),
                target(),
                beat("A"),
                static_leave("A", "i"),
            ),
            look=lambda steps: cancelled(steps[-1]),
            looks_at="timers that the leave cancels",
            kip=["rebalance A"],
            kafka=[],
        ),
    ),
    Difference(
        id="replaced-members-timers",
        topic="the timers of a static member that was replaced",
        section=STATIC,
        proposal="end with it",
        released="run out later and find nobody",
        seen=Seen.TIMING,
        case=Case(
            operations=(
                join("A", instance_id="i"),
                *SETTLE,
                static_leave("A", "i"),
                join("A2", instance_id="i"),
            ),
            look=lambda steps: [each for each in cancelled(steps[-1]) if each.endswith(" A")],
            looks_at="timers of the old id that the return cancels",
            kip=["session A", "rebalance A"],
            kafka=[],
        ),
    ),
    Difference(
        id="replacements-records",
        topic="the records of a static member's return",
        section=STATIC,
        proposal="are not named",
        reading="as released, without what the proposal's records have no place for",
        released="the old id's three tombstones, its three records under the new id, then the member's new data and its "
        "move",
        seen=Seen.RECORD,
        unshown="both write the same eight records",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, join: A}, {at: 10s, restart: A}", members="A: {subscribe: [foo], instance_id: i}"
            ),
            look=partial(record_types, since_ms=10_000, until_ms=10_050),
            looks_at="types of the records when A leaves for now, and returns with the same subscription",
            kip=[8, 8, 7, 5, 5, 7, 8, 8],
            kafka=[8, 8, 7, 5, 5, 7, 8, 8],
        ),
    ),
)
