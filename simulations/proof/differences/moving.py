"""Differences of how a member gets from one assignment to the next, and of what it may commit meanwhile."""

from __future__ import annotations

from typing import Final

from simulations.proof.differences.exchange import (
    SETTLE,
    Case,
    answer,
    beat,
    commit,
    error,
    fail_over,
    join,
    leave,
    started,
    target,
    types,
)
from simulations.proof.differences.scenarios import ScenarioCase, after_their_request, group_of
from simulations.proof.differences.table import Difference, Seen

ASSIGNED: Final = (join("A"), *SETTLE, join("B"), target(), beat("A"))
"""A has all, B joins, and A is asked to give a partition up."""

MOVING: Final = (
    Difference(
        id="told-to-give-up",
        topic="a member asked to revoke a partition",
        section="Reconciliation",
        proposal="keeps it in its assignment until it acknowledges; only the answer tells",
        released="is recorded as `UNREVOKED_PARTITIONS`, with the partition pending revocation",
        seen=Seen.RECORD,
        case=Case(
            operations=ASSIGNED,
            look=lambda steps: [types(steps[-1]), steps[-1]["group"]["members"]["A"]],
            looks_at="types of the records when A is told, and A as the coordinator then has it",
            kip=[[], {"epoch": 1, "assigned": 3, "pending_revocation": 0}],
            kafka=[[8], {"epoch": 2, "assigned": 2, "pending_revocation": 1}],
        ),
    ),
    Difference(
        id="newer-target",
        topic="a newer target for a member that was asked to revoke a partition",
        section="Reconciliation",
        proposal="counts at once: the answer tells what the newest target takes, and no more",
        released="is ignored until the member has revoked what it was asked for; then the newest counts",
        seen=Seen.ANSWER,
        case=Case(
            operations=(*ASSIGNED, leave("B"), target(), beat("A")),
            look=lambda steps: [
                steps[-1]["group"]["members"]["A"]["epoch"] - steps[-1]["group"]["assignment_epoch"],
                steps[-1]["group"]["members"]["A"]["pending_revocation"],
            ],
            looks_at="how far A is behind the target that gives it everything again, and what it is still to revoke",
            kip=[0, 0],
            kafka=[-2, 1],
        ),
    ),
    Difference(
        id="rebalance-timer-start",
        topic="from when the rebalance timeout counts",
        section="Reconciliation",
        proposal="from the answer that is sent out (older), from the request that is processed (newer)",
        reading="from the first heartbeat that is answered with partitions to revoke",
        released="from the record of that heartbeat",
        seen=Seen.TIMING,
        unshown="in an event loop these are the same instant: both start the timer with that heartbeat",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, join: A}, {at: 10s, join: B}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
                until="40s",
            ),
            look=after_their_request,
            looks_at="milliseconds from the request until the rebalance timer that it starts",
            kip=[0],
            kafka=[0],
        ),
    ),
    Difference(
        id="older-commit",
        topic="a commit with an older member epoch",
        section="OffsetCommit API",
        proposal="refused (`STALE_MEMBER_EPOCH`)",
        released="taken for partitions that the member has had since then",
        seen=Seen.ANSWER,
        case=Case(
            operations=(*ASSIGNED, beat("A", owned={}), commit("A", 0), commit("A", 0, behind=1)),
            look=lambda steps: [
                answer(step)["topics"][0]["partitions"][0]["errorCode"] for step in steps[-2:]
            ],
            looks_at="errors of a commit at A's new epoch and at the one before, for a partition that it kept",
            kip=[0, 113],
            kafka=[0, 0],
        ),
    ),
    Difference(
        id="assignment-epochs",
        topic="extra fields of released records",
        section="Records",
        proposal="none",
        released="metadata hash, assignment timestamp, assignment epochs per partition",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"), *SETTLE),
            look=lambda steps: sorted(
                {
                    name
                    for step in steps
                    for record in step["records"]
                    for name in ("metadataHash", "assignmentTimestamp", "assignmentEpochs")
                    if name in str(record["value"])
                }
            ),
            looks_at="which of these fields the records of a join hold",
            kip=[],
            kafka=["assignmentEpochs", "assignmentTimestamp", "metadataHash"],
        ),
    ),
    Difference(
        id="fenced",
        topic="a fenced member",
        section="ConsumerGroupHeartbeat API",
        proposal="is removed",
        released="stays; it rejoins",
        seen=Seen.STATE,
        case=Case(
            operations=(join("A"), *SETTLE, beat("A", epoch=7)),
            look=lambda steps: [error(steps[-1]), "A" in steps[-1]["group"]["members"]],
            looks_at="error of a heartbeat with a greater epoch, and whether its member is still there",
            kip=[110, False],
            kafka=[110, True],
        ),
    ),
    Difference(
        id="timers-after-a-load",
        topic="rebalance timers after a fail-over",
        section="Group Coordinator Fail-over",
        proposal="none: nothing tells who was asked to revoke partitions, and the next answer asks again",
        released="anew for each member in `UNREVOKED_PARTITIONS`",
        seen=Seen.TIMING,
        case=Case(
            operations=(*ASSIGNED, fail_over()),
            look=lambda steps: sorted(started(steps[-1])),
            looks_at="timers that the new coordinator starts",
            kip=["session A", "session B"],
            kafka=["rebalance A", "session A", "session B"],
        ),
    ),
    Difference(
        id="metadata-after-a-load",
        topic="topics that changed while the coordinator failed over",
        section="Group Coordinator Fail-over",
        proposal="bump the group epoch when the group is loaded",
        released="are found by the next heartbeat of any member",
        seen=Seen.TIMING,
        case=Case(
            operations=(join("A"), *SETTLE, fail_over(foo=4), beat("A")),
            look=lambda steps: [3 in types(step) for step in steps[-2:]],
            looks_at="whether the load and then the next heartbeat write a new group epoch",
            kip=[True, False],
            kafka=[False, True],
        ),
    ),
)
