"""Differences of a join and of what a heartbeat must be."""

from __future__ import annotations

from typing import Final

from simulations.coordinator.differences.exchange import (
    AS_TOLD,
    SETTLE,
    TOPIC_IDS,
    Case,
    beat,
    error,
    join,
    target,
    types,
)
from simulations.coordinator.differences.table import Difference, Seen

HEARTBEAT: Final = "ConsumerGroupHeartbeat API"

JOINING: Final = (
    Difference(
        id="join-in-steps",
        topic="a join",
        section="Case Studies",
        proposal="three steps: the member joins, the target is computed, the member advances with its next heartbeat",
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
            look=lambda steps: [steps[0]["answer"]["memberEpoch"], steps[2]["answer"]["memberEpoch"]],
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
        reading="the coordinator makes one where the client names none, and takes the client's where it does",
        released="the client, from version 1 of the heartbeat on",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join(""),),
            look=lambda steps: [error(steps[0]), bool(steps[0]["answer"]["memberId"])],
            looks_at="error of a join without an id (version 1), and whether an id is answered",
            kip=[0, True],
            kafka=[42, False],
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
            settings={"max_size": 1},
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
        proposal="while the member's epoch is below the target's; or until it has acknowledged",
        reading="with a full request, with any change of what is assigned or pending, and with each answer that asks "
        "for partitions back",
        released="with a join, a full request, or a change of what is assigned",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A"), *SETTLE, join("B"), target(), beat("A"), beat("A")),
            look=lambda steps: [step["answer"]["assignment"] is not None for step in steps[-2:]],
            looks_at="whether A is told its assignment when it is to give a partition up, and once more",
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
                beat("B", owned=AS_TOLD, subscribed_topic_names=("foo",)),
            ),
            look=lambda steps: [
                len(topic["partitions"])
                for topic in (steps[-1]["answer"]["assignment"] or {}).get("pendingTopicPartitions", ())
            ],
            looks_at="how many partitions B's answer names as pending",
            kip=[1],
            kafka=[],
        ),
    ),
)
