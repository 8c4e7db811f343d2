"""Differences of a join and of what a heartbeat must be."""

from __future__ import annotations

from typing import Final

from simulations.proof.differences.exchange import (
    AS_ASSIGNED,
    SETTLE,
    TOPIC_IDS,
    Case,
    answer,
    beat,
    error,
    join,
    leave,
    target,
    types,
)
from simulations.proof.differences.scenarios import COMMIT_OF, ScenarioCase, group_of, record_types
from simulations.proof.differences.table import Difference, Seen
from simulations.protocol.coordinator.settings import Settings

HEARTBEAT: Final = "ConsumerGroupHeartbeat API"

JOINING: Final = (
    Difference(
        id="join-in-steps",
        topic="a join",
        section="Case Studies",
        proposal="three steps: the member joins, the target is computed, the member moves to its epoch with its next heartbeat",
        released="one heartbeat: member, epoch, target and current assignment in one batch",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"), *SETTLE),
            look=lambda steps: [types(step) for step in steps],
            looks_at="types of the records of the join, of the target, of the next heartbeat",
            kip=[[5, 4, 3], [7, 6], [8]],
            kafka=[[5, 3, 7, 6, 8], [], []],
        ),
    ),
    Difference(
        id="first-epoch",
        topic="first group epoch",
        section="Data Model",
        proposal="1: a group begins at 0",
        released="2: a group begins at 1 and is bumped by its first member",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"),),
            look=lambda steps: steps[0]["group"]["group_epoch"],
            looks_at="the group epoch after the first join",
            kip=1,
            kafka=2,
        ),
    ),
    Difference(
        id="joiners-epoch",
        topic="epoch of a joining member",
        section="Case Studies",
        proposal="0 until its second heartbeat",
        released="the assignment epoch, at once",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A"), target(), beat("A")),
            look=lambda steps: [answer(steps[n])["memberEpoch"] for n in (0, 2)],
            looks_at="the epoch that the join and the next heartbeat are answered",
            kip=[0, 1],
            kafka=[2, 2],
        ),
    ),
    Difference(
        id="member-id",
        topic="who makes the member id",
        section="Member ID",
        proposal="the coordinator, in the newer text; the client, in the older",
        reading="the coordinator makes one where the client names none, as a run's clients do, and takes the client's where it does",
        released="the client, from version 1 of the heartbeat on",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join(""),),
            look=lambda steps: [error(steps[0]), bool(answer(steps[0])["memberId"])],
            looks_at="error of a join without an id (version 1), and whether an id is answered",
            kip=[0, True],
            kafka=[42, False],
        ),
    ),
    Difference(
        id="member-id-in-the-answer",
        topic="the member id in an answer",
        section=HEARTBEAT,
        proposal="only in the answer to a join",
        released="in every answer without an error",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A"), *SETTLE, beat("A"), leave("A")),
            look=lambda steps: [answer(steps[n])["memberId"] for n in (0, 3, 4)],
            looks_at="the member id that a join, a heartbeat and a leave are answered",
            kip=["A", None, None],
            kafka=["A", "A", "A"],
        ),
    ),
    Difference(
        id="owned-at-join",
        topic="owned partitions in a join",
        section=HEARTBEAT,
        proposal="no rule",
        released="must be there and be empty",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A", owned={TOPIC_IDS["foo"]: (0,)}), join("A", owned=None)),
            look=lambda steps: [error(step) for step in steps],
            looks_at="errors of a join with a partition owned, and of one that tells nothing",
            kip=[0, 0],
            kafka=[42, 42],
        ),
    ),
    Difference(
        id="rebalance-timeout-at-join",
        topic="rebalance timeout in a join",
        section=HEARTBEAT,
        proposal="must be greater than 0",
        released="must be told; 0 is taken",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A", rebalance_timeout_ms=0),),
            look=lambda steps: error(steps[0]),
            looks_at="error of a join with a timeout of 0",
            kip=42,
            kafka=0,
        ),
    ),
    Difference(
        id="offsets-before",
        topic="a join to a group of committed offsets alone",
        section=HEARTBEAT,
        proposal="is not spoken of",
        reading="as released",
        released="makes it a group of this protocol, with its offsets, and first deletes the classic group that it was (type 2)",
        seen=Seen.RECORD,
        unshown="in an exchange here only members commit",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, send: A, request: OffsetCommit, version: 8, "
                f"fields: {{memberId: '', generationIdOrMemberEpoch: -1, {COMMIT_OF}}}}}, {{at: 5s, join: B}}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
            ),
            look=lambda entries: record_types(entries, since_ms=5_000, until_ms=5_050)[0],
            looks_at="type of the first record of B's join, after a commit without a member",
            kip=2,
            kafka=2,
        ),
    ),
    Difference(
        id="unknown-group",
        topic="a heartbeat to a group that is not there",
        section=HEARTBEAT,
        proposal="the group is made; the member is unknown (`UNKNOWN_MEMBER_ID`)",
        released="`GROUP_ID_NOT_FOUND`",
        seen=Seen.ANSWER,
        case=Case(
            operations=(beat("A", epoch=3),),
            look=lambda steps: error(steps[0]),
            looks_at="error of the first heartbeat, with epoch 3",
            kip=25,
            kafka=69,
        ),
    ),
    Difference(
        id="static-at-full-size",
        topic="a static member that comes back to a full group",
        section="Static Membership",
        proposal="takes its place: the group has no more members than before",
        released="is refused if its member id is another (`GROUP_MAX_SIZE_REACHED`)",
        seen=Seen.ANSWER,
        case=Case(
            operations=(
                join("A", instance_id="i"),
                *SETTLE,
                beat("A", epoch=-2, instance_id="i"),
                join("A2", instance_id="i"),
            ),
            look=lambda steps: error(steps[-1]),
            looks_at="error of the return under another member id",
            kip=0,
            kafka=81,
            settings=Settings(max_size=1),
        ),
    ),
    Difference(
        id="waiting-members-record",
        topic="a member that waits and heartbeats",
        section="Reconciliation",
        proposal="nothing is written: its epoch has not moved",
        released="its first such heartbeat writes its current assignment again, for the previous epoch alone",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"), *SETTLE, join("B"), target(), beat("B"), beat("B"), beat("B")),
            look=lambda steps: [types(step) for step in steps[4:]],
            looks_at="types of the records of B's target and of its next three heartbeats",
            kip=[[7, 7, 6], [8], [], []],
            kafka=[[], [8], [], []],
        ),
    ),
    Difference(
        id="lost-answer",
        topic="a request whose answer was lost",
        section=HEARTBEAT,
        proposal="taken if what the member owns is within its *target*",
        reading="as released: the proposal's own rule would take a member for up to date that is epochs behind",
        released="taken if it has the previous epoch and owns nothing that is not assigned to it",
        seen=Seen.ANSWER,
        unshown="`kip` follows the release here: both answer alike",
    ),
    Difference(
        id="assignment-in-the-answer",
        topic="when an answer holds the assignment",
        section=HEARTBEAT,
        proposal="while the member's epoch is below the target's; or until it has confirmed the revocation",
        reading="with a full request, with any change of what is assigned or pending, and with each answer that asks "
        "for partitions back",
        released="with a join, a full request, or a change of what is assigned",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A"), *SETTLE, join("B"), target(), beat("A"), beat("A")),
            look=lambda steps: [answer(step)["assignment"] is not None for step in steps[-2:]],
            looks_at="whether A is told its assignment when it is to revoke a partition, and once more",
            kip=[True, True],
            kafka=[True, False],
        ),
    ),
    Difference(
        id="pending",
        topic="partitions that others have not released",
        section=HEARTBEAT,
        proposal="are told in the answer, as pending",
        released="are told to nobody",
        seen=Seen.ANSWER,
        case=Case(
            operations=(
                join("A"),
                *SETTLE,
                join("B"),
                target(),
                beat("B", owned=AS_ASSIGNED, subscribed_topic_names=("foo",)),
            ),
            look=lambda steps: [
                len(topic["partitions"])
                for assignment in [answer(steps[-1])["assignment"]]
                if assignment is not None
                for topic in assignment.get("pendingTopicPartitions", ())
            ],
            looks_at="how many partitions B's answer names as pending",
            kip=[1],
            kafka=[],
        ),
    ),
)
