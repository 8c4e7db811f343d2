"""Differences of when a target is computed, and by whom."""

from __future__ import annotations

from functools import partial
from typing import Final

from simulations.proof.differences.exchange import (
    SETTLE,
    Case,
    answer,
    beat,
    described,
    error,
    join,
    leave,
    prepare,
    target,
    types,
)
from simulations.proof.differences.scenarios import (
    ASKED_TO_COMPUTE,
    COMMIT_OF,
    COMMITS,
    ScenarioCase,
    codes,
    group_of,
)
from simulations.proof.differences.table import Difference, Seen
from simulations.protocol.assignors.client_side import Offer

STICKY: Final = (Offer(name="sticky", minimum_version=-1),)
SELECTION: Final = "Assignor Selection"
CLIENT_MODE: Final = "Client Side Mode"

COMPUTING: Final = (
    Difference(
        id="assignor-throws",
        topic="a server-side assignor that fails",
        section="Server Side Mode",
        proposal="is not spoken of",
        reading="leaves the group at its old target until the next group epoch; heartbeats are answered as before",
        released="fails the heartbeat that wanted the target with `UNKNOWN_SERVER_ERROR`, and the next one, too",
        seen=Seen.ANSWER,
        unshown="no assignor here fails by itself; a scenario's can, as in the case study `incident-assignor-failure`",
        studies=("incident-assignor-failure",),
    ),
    Difference(
        id="target-computed",
        topic="when a target is computed",
        section="Server Side Mode",
        proposal="right after each new group epoch, by the coordinator itself (`assignor_time_ms` later)",
        released="with a heartbeat, at most once per assignment interval (1 s); else with the first one after it",
        seen=Seen.TIMING,
        case=Case(
            operations=(join("A"), target(), join("B", after_ms=100), target()),
            look=lambda steps: [
                types(steps[2]),
                steps[3]["group"]["group_epoch"] - steps[3]["group"]["assignment_epoch"],
            ],
            looks_at="records of a second join 0.2 s after the first, and by how much the target lags 0.1 s later",
            kip=[[5, 3], 0],
            kafka=[[5, 3, 8], 1],
        ),
    ),
    Difference(
        id="target-after-a-leave",
        topic="the target after a member is gone",
        section="Server Side Mode",
        proposal="is computed at once, as after every new group epoch",
        released="is computed by the next heartbeat of somebody else",
        seen=Seen.TIMING,
        case=Case(
            operations=(join("A"), *SETTLE, join("B"), target(), beat("A"), leave("B"), target()),
            look=lambda steps: [
                steps[-1]["group"]["group_epoch"] - steps[-1]["group"]["assignment_epoch"],
                types(steps[-1]),
            ],
            looks_at="by how much the target lags 0.1 s after the leave, and the records written by then",
            kip=[0, [7, 7, 6]],
            kafka=[1, []],
        ),
    ),
    Difference(
        id="server-assignor-changed",
        topic="a member that names another server-side assignor",
        section="Group Epoch - Trigger a rebalance",
        proposal="bumps the group epoch",
        released="is recorded, and nothing else; the next target is computed with it",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"), *SETTLE, beat("A", server_assignor="range")),
            look=lambda steps: types(steps[-1]),
            looks_at="types of the records of the heartbeat that names `range`",
            kip=[5, 3],
            kafka=[5],
        ),
    ),
    Difference(
        id="client-assignors",
        topic="assignors that run on a client",
        section=CLIENT_MODE,
        proposal="a member lists those that it has; one that all support computes the target, on a member that is picked",
        released="never built: there is no such field",
        seen=Seen.ANSWER,
        case=Case(
            operations=(
                join("A", client_assignors=STICKY),
                target(),
                beat("A", client_assignors=STICKY),
                prepare("A"),
            ),
            look=lambda steps: [
                types(steps[1]),
                answer(steps[2]).get("shouldComputeAssignment", False),
                error(steps[3]),
            ],
            looks_at="records when the target is due, whether A is asked to compute, error of its first request",
            kip=[[], True, 0],
            kafka=[[], False, 35],
        ),
    ),
    Difference(
        id="assignor-priority",
        topic="client-side or server-side",
        section=SELECTION,
        proposal="a server-side assignor if any member names one (older); a client-side one if any lists one (newer)",
        reading="client-side, if any member lists one that all support",
        released="server-side only",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A", client_assignors=STICKY, server_assignor="range"),),
            look=lambda steps: error(steps[0]),
            looks_at="error of a member that does both",
            kip=42,
            kafka=0,
        ),
    ),
    Difference(
        id="signal-to-compute",
        topic="how a member is asked to compute",
        section=CLIENT_MODE,
        proposal="by the error `COMPUTE_ASSIGNMENT` (older), or by a flag of the answer (newer)",
        reading="by the flag, in each answer until the member begins; its time counts from the first",
        released="never built",
        seen=Seen.ANSWER,
        unshown="the case `client-assignors` shows the flag",
        scenario=ASKED_TO_COMPUTE,
    ),
    Difference(
        id="epoch-errors",
        topic="error of another member epoch outside heartbeats",
        section="ConsumerGroupPrepareAssignment API",
        proposal="`FENCED_MEMBER_EPOCH` (older), `STALE_MEMBER_EPOCH` (newer)",
        reading="`STALE_MEMBER_EPOCH`; only a heartbeat is fenced",
        released="`STALE_MEMBER_EPOCH`",
        seen=Seen.ANSWER,
        unshown="for offsets both answer alike; the two requests of a client-side assignor are in `kip` alone",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, join: A}, {at: 10s, send: A, request: OffsetCommit, version: 9, "
                f"fields: {{generationIdOrMemberEpoch: 9, {COMMIT_OF}}}}}"
            ),
            look=partial(codes, api=COMMITS),
            looks_at="error code of a commit with a later epoch than the member's",
            kip=[113],
            kafka=[113],
        ),
    ),
    Difference(
        id="described",
        topic="a group when it is described",
        section="ConsumerGroupDescribe API",
        proposal="the selected assignor, also one of the clients; each assignment with the assignor's error and metadata",
        released="the server assignor; what a member owns together with what it is still to revoke",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A", client_assignors=STICKY), described()),
            look=lambda steps: [
                answer(steps[-1])["assignorName"],
                sorted(answer(steps[-1])["members"][0]["assignment"]),
            ],
            looks_at="the assignor that the response names, and the fields of an assignment",
            kip=["sticky", ["error", "metadataBytes", "metadataVersion", "partitions"]],
            kafka=["uniform", ["topicPartitions"]],
        ),
    ),
)
