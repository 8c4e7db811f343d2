"""A classic group becomes one of the consumer protocol and back, as the proposal tells it and as released."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from groups.history.entries import Entry, Kind
from groups.history.frames.changes import apply, diff, unapply
from groups.history.frames.frame import FrameMaker
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import Protocol, Semantics, State, initial_state
from groups.wire.embedded.consumer_protocol import decode_assignment
from groups.wire.embedded.streams_user_data import read_assignment_info
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.classic_runs import answers, callbacks, owned_at_the_end, requests, violations
from tests.simulations.rows import rows, table

# -- the proposal's own table (KIP-848, "Online Migration"), row by row. Its slips are read as kafka-behaviour D.20.5 does.

MIGRATION = table(
    """
    1  | 22 22 | A~2{0,1} B{3,4} C{2,5}     | A~2@22 {0,1} B@22 {3,4} C@22 {2,5}
    2  | 23 22 | A~2{0,1} B{3,4} C{2,5}     | A~2@22 {0,1} C@22 {2,5}
    3  | 23 23 | A~2{0,1,3} C{2,4,5}        | A~2@22 {0,1} C@22 PreparingRebalance {2,5}
    4  | 23 23 | A~2{0,1,3} C{2,4,5}        | A~2@22 {0,1} C@23 CompletingRebalance {2,4,5}
    5  | 23 23 | A~2{0,1,3} C{2,4,5}        | A~2@23 {0,1,3} C@23 CompletingRebalance {2,4,5}
    6  | 23 23 | A~2{0,1,3} C{2,4,5}        | A~2@23 {0,1,3} C@23 Stable {2,4,5}
    7  | 24 23 | A~2{0,1,3} C{2,4,5}        | A~2@23 {0,1,3} B~2@0 {} C@23 Stable {2,4,5}
    8  | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@23 {0,1,3} B~2@0 {} C@23 PreparingRebalance {2,4,5}
    9  | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@23 {0,1,3} B~2@0 {} C@23 PreparingRebalance {2,4,5}
    10 | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@23 {0,1,3} B~2@24 {} waits{3,4} C@24 CompletingRebalance {2,5}
    11 | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@23 {0,1,3} B~2@24 {4} waits{3} C@24 CompletingRebalance {2,5}
    12 | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@23 {0,1,3} B~2@24 {4} waits{3} C@24 Stable {2,5}
    13 | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@24 {0,1} B~2@24 {4} waits{3} C@24 Stable {2,5}
    14 | 24 24 | A~2{0,1} B~2{3,4} C{2,5}   | A~2@24 {0,1} B~2@24 {3,4} C@24 Stable {2,5}
    """
)


@pytest.mark.parametrize("seed", [1, 2, 3, 17])
def test_the_proposals_migration_is_played_row_by_row(seed: int) -> None:
    assert rows("kip848-migration", "kip", seed) == MIGRATION


def test_the_classic_member_of_the_table_stops_twice_and_the_upgraded_ones_not_at_all() -> None:
    log = list(run(studies.load("kip848-migration")))
    assert callbacks(log, "C")[1:] == [
        ("revoked", (2, 5)),
        ("assigned", (2, 4, 5)),
        ("revoked", (2, 4, 5)),
        ("assigned", (2, 5)),
    ]
    assert callbacks(log, "A~2") == [("assigned", (0, 1)), ("assigned", (3,)), ("revoked", (3,))]
    assert violations(log) == []
    generations = [a.payload["body"]["generationId"] for a in answers(log, "JoinGroup", "C")]
    assert generations == [23, 24], "its member epoch is its generation"
    assert all(not a.payload["body"]["leader"] for a in answers(log, "JoinGroup", "C"))


# -- what the text has in words alone: the way back, a client-side assignor, Kafka Streams. A classic group's rows have its
# state and generation instead of the epochs.

BACK_AGAIN = table(
    """
    1 | 25 24 | A{0,1,2} B{3,4,5} | B@24 {3,4,5}
    2 | 25 25 | B{0,1,2,3,4,5} | B@24 {3,4,5}
    3 | 25 25 | B{0,1,2,3,4,5} | B@25 {0,1,2,3,4,5}
    4 | 26 25 | B{0,1,2,3,4,5} | A~2@0 CompletingRebalance {} B@25 {0,1,2,3,4,5}
    5 | 26 25 | B{0,1,2,3,4,5} | A~2@0 Stable {} B@25 {0,1,2,3,4,5}
    6 | 26 26 | A~2{0,1,2} B{3,4,5} | A~2@0 PreparingRebalance {} B@25 {0,1,2,3,4,5}
    7 | 26 26 | A~2{0,1,2} B{3,4,5} | A~2@0 PreparingRebalance {} B@25 {0,1,2,3,4,5}
    8 | 26 26 | A~2{0,1,2} B{3,4,5} | A~2@0 PreparingRebalance {} B@26 {3,4,5}
    9 | 26 26 | A~2{0,1,2} B{3,4,5} | A~2@26 CompletingRebalance {0,1,2} B@26 {3,4,5}
    10 | 26 26 | A~2{0,1,2} B{3,4,5} | A~2@26 Stable {0,1,2} B@26 {3,4,5}
    11 | Stable 26 | A~2* {0,1,2}
    12 | CompletingRebalance 26 | A~2* {0,1,2}
    13 | Stable 27 | A~2* {0,1,2,3,4,5}
    14 | PreparingRebalance 27 | A~2* {0,1,2,3,4,5} B~2 {}
    15 | Stable 28 | A~2* {0,1,2} B~2 {3,4,5}
    """
)

CLIENT_SIDE = table(
    """
    1 | Stable 22 | A* {0,1,2} B {3,4,5}
    2 | Stable 23 | A* {0,1,2} B {3,4,5}
    3 | 24 23 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@23 Stable {3,4,5}
    4 | 24 23 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@23 Stable {3,4,5}
    5 | 24 23 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@23 Stable {3,4,5}
    6 | 24 24 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@23 PreparingRebalance {3,4,5}
    7 | 24 24 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@24 CompletingRebalance {3,4,5}
    8 | 24 24 | A~2{0,1,2} B{3,4,5} | A~2@23 {0,1,2} B@24 Stable {3,4,5}
    9 | 24 24 | A~2{0,1,2} B{3,4,5} | A~2@24 {0,1,2} B@24 Stable {3,4,5}
    10 | 25 24 | A~2{0,1,2} B{3,4,5} | A~2@24 {0,1,2}
    11 | 25 25 | A~2{0,1,2,3,4,5} | A~2@24 {0,1,2}
    12 | 25 25 | A~2{0,1,2,3,4,5} | A~2@25 {0,1,2,3,4,5}
    13 | 26 25 | A~2{0,1,2,3,4,5} | A~2@25 {0,1,2,3,4,5} B~2@0 {}
    14 | 26 26 | A~2{0,1,2} B~2{3,4,5} | A~2@25 {0,1,2,3,4,5} B~2@0 {}
    15 | 26 26 | A~2{0,1,2} B~2{3,4,5} | A~2@26 {0,1,2} B~2@26 {} waits{3,4,5}
    16 | 26 26 | A~2{0,1,2} B~2{3,4,5} | A~2@26 {0,1,2} B~2@26 {3,4,5}
    """
)

STREAMS = table(
    """
    1 | Stable 3 | A* {0,1,2} B {3,4,5}
    2 | 4 3 | A~2{0,1,2} B{3,4,5} | A~2@3 {0,1,2} B@3 Stable {3,4,5}
    3 | 4 3 | A~2{0,1,2} B{3,4,5} | A~2@3 {0,1,2} B@3 Stable {3,4,5}
    4 | 4 4 | A~2{0,1,2} B{3,4,5} | A~2@3 {0,1,2} B@3 PreparingRebalance {3,4,5}
    5 | 4 4 | A~2{0,1,2} B{3,4,5} | A~2@3 {0,1,2} B@4 CompletingRebalance {3,4,5}
    6 | 4 4 | A~2{0,1,2} B{3,4,5} | A~2@3 {0,1,2} B@4 Stable {3,4,5}
    7 | 4 4 | A~2{0,1,2} B{3,4,5} | A~2@4 {0,1,2} B@4 Stable {3,4,5}
    8 | 5 4 | A~2{0,1,2} B~2{3,4,5} | A~2@4 {0,1,2} B~2@4 {3,4,5}
    9 | 5 5 | A~2{0,1,2} B~2{3,4,5} | A~2@4 {0,1,2} B~2@4 {3,4,5}
    10 | 5 5 | A~2{0,1,2} B~2{3,4,5} | A~2@5 {0,1,2} B~2@5 {3,4,5}
    11 | 6 5 | A~2{0,1,2} B~3{3,4,5} | A~2@5 {0,1,2} B~3@5 CompletingRebalance {3,4,5}
    12 | 6 6 | A~2{0,1,2} B~3{3,4,5} | A~2@5 {0,1,2} B~3@5 PreparingRebalance {3,4,5}
    13 | 6 6 | A~2{0,1,2} B~3{3,4,5} | A~2@5 {0,1,2} B~3@5 PreparingRebalance {3,4,5}
    14 | 6 6 | A~2{0,1,2} B~3{3,4,5} | A~2@6 {0,1,2} B~3@6 Stable {3,4,5}
    15 | Stable 6 | A~3 {0,1,2} B~3* {3,4,5}
    16 | Stable 7 | A~3 {0,1,2} B~3* {3,4,5}
    """
)


@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("kip848-migration-back", BACK_AGAIN),
        ("kip848-client-migration", CLIENT_SIDE),
        ("kip848-streams-migration", STREAMS),
    ],
)
@pytest.mark.parametrize("seed", [1, 17])
def test_the_other_migrations_are_played_row_by_row(study: str, expected: list[str], seed: int) -> None:
    assert rows(study, "kip", seed) == expected


def metadata_of(log: list[Entry], who: str) -> list[tuple[int, bytes]]:
    """Version and bytes of what the assignor wrote for a member, target by target."""
    values = [
        entry.payload["value"]
        for entry in log
        if entry.kind is Kind.RECORD
        and entry.payload["type"] == 7
        and entry.payload["key"]["memberId"] == who
    ]
    return [
        (value.get("metadataVersion", 0), base64.b64decode(value.get("metadataBytes", "")))
        for value in values
        if value is not None
    ]


def test_streams_writes_to_each_instance_in_the_format_that_it_reads() -> None:
    """KIP-848, "Client Side Assignor" of the migration plan: the new assignor serializes for the old members, too."""
    log = list(run(studies.load("kip848-streams-migration")))
    assert violations(log) == []
    version, info = metadata_of(log, "B")[-1]
    read, _ = read_assignment_info(info)
    tasks = [[task["partition"] for task in read[kind]] for kind in ("activeTasks", "standbyTasks")]
    assert (version, tasks) == (-1, [[3, 4, 5], [0, 1, 2]])
    (synced, *_) = [a for a in answers(log, "SyncGroup", "B") if a.at_ms > 40_000]
    given = decode_assignment(base64.b64decode(synced.payload["body"]["assignment"]))
    assert base64.b64decode(given["userData"]) == info, "it is what SyncGroup brings"
    assert metadata_of(log, "B~2")[-1] == (2, b'{"active":[3,4,5],"standby":[0,1,2]}')
    back = metadata_of(log, "B~3")
    assert [each[0] for each in back] == [2, -1], "who goes back cannot read what its new predecessor had"
    assert back[-1][1] == info


def test_a_static_member_that_comes_back_has_the_metadata_of_its_target_at_once() -> None:
    log = list(run(studies.load("kip848-streams-migration")))
    joined = answers(log, "ConsumerGroupHeartbeat", "B~2")[0].payload["body"]["assignment"]
    assert joined["metadataVersion"] == -1
    assert joined["metadataBytes"]


def test_an_assignor_that_does_not_read_version_minus_one_is_refused_and_the_group_stays_classic() -> None:
    log = list(run(studies.load("kip848-client-migration")))
    assert violations(log) == []
    assert refusal_of(log, "C")["errorCode"] == 42
    assert protocols(settled_of(log, "kip848-client-migration")) == ["classic", "consumer"]


# -- both semantics

GROUP = """
semantics: {semantics}
protocol: classic
assignor: {assignor}
group: orders
topics: {{orders: {{partitions: 6}}}}
config: {config}
members: {{A: {{subscribe: [orders], client: '{client}'}}, B: {{subscribe: [orders], client: '{client}'}}, C: {{subscribe: [orders], client: '{client}'}}, D: {{subscribe: [orders], client: '{client}'}}}}
start: {{generation: 22, members: {{A: {{owned: {{orders: [0, 1]}}}}, B: {{owned: {{orders: [3, 4]}}}}, C: {{owned: {{orders: [2, 5]}}}}}}}}
script: {script}
until: {until}
"""

UP = "{at: 5s, bounce: A, with: {protocol: consumer}, for: 1s}"
UP_TOO = "{at: 30s, bounce: B, with: {protocol: consumer}, for: 1s}"
BACK = "{at: 60s, bounce: B, with: {protocol: classic}, for: 1s}"
BACK_TOO = "{at: 90s, bounce: A, with: {protocol: classic}, for: 1s}"


def log_of(
    *script: str,
    semantics: str = "kafka",
    assignor: str = "range",
    client: str = "4.3",
    config: str = "{}",
    until: str = "130s",
) -> list[Entry]:
    text = GROUP.format(
        semantics=semantics,
        assignor=assignor,
        client=client,
        config=config,
        script=f"[{', '.join(script)}]",
        until=until,
    )
    return list(run(load(text, "orders")))


def settled(log: list[Entry], semantics: str = "kafka") -> list[State]:
    """The states that there were, each settled."""
    return settled_of(log, "orders", semantics)


def settled_of(log: list[Entry], group: str, semantics: str = "kip") -> list[State]:
    state, states = initial_state(group, Semantics(semantics)), []
    for entry in log:
        state = replay(state, entry)
        assert not state.anomalies, (entry.sequence, state.anomalies)
        if entry.settled:
            states.append(state)
    return states


def protocols(states: list[State]) -> list[str]:
    found: list[str] = []
    for state in states:
        if state.protocol is not None and [str(state.protocol)] != found[-1:]:
            found.append(str(state.protocol))
    return found


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_a_group_goes_there_and_back_and_each_partition_has_one_reader(semantics: str, assignor: str) -> None:
    back = [each.replace("classic}", f"classic, assignors: [{assignor}]}}") for each in (BACK, BACK_TOO)]
    log = log_of(UP, UP_TOO, *back, semantics=semantics, assignor=assignor)
    states = settled(log, semantics)
    assert protocols(states) == ["classic", "consumer", "classic"]
    assert violations(log) == []
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))
    assert len(states[-1].classic.members) == 3


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_the_group_epoch_begins_at_the_generation_and_the_generation_goes_on_from_the_epoch(
    semantics: str,
) -> None:
    states = settled(log_of(UP, BACK_TOO, semantics=semantics), semantics)
    steps: list[tuple[str, int]] = []
    for state in states:
        number = state.classic.generation if state.protocol is Protocol.CLASSIC else state.modern.group_epoch
        if (str(state.protocol), number) != (steps or [None])[-1]:
            steps.append((str(state.protocol), number))
    numbers = [number for protocol, number in steps if protocol != "None"]
    assert numbers == sorted(numbers), "they never fall"
    begun = next(at for at, (protocol, _) in enumerate(steps) if protocol == "consumer")
    assert steps[begun][1] - steps[begun - 1][1] in (0, 1), "the joining member may raise it at once"
    back = next(at for at, (protocol, _) in enumerate(steps) if at > begun and protocol == "classic")
    assert steps[back][1] == steps[back - 1][1]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_the_changes_of_a_migration_lead_from_frame_to_frame(semantics: str) -> None:
    state, maker, before = initial_state("orders", Semantics(semantics)), FrameMaker(), None
    for entry in log_of(UP, UP_TOO, BACK, BACK_TOO, semantics=semantics):
        state = replay(state, entry)
        frame = maker.frame(state)
        if before is not None:
            changes = diff(before, frame)
            assert apply(before, changes) == frame
            assert unapply(frame, changes) == before
        before = frame


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_a_classic_member_that_joins_the_converted_group_is_reconciled_like_any_other(semantics: str) -> None:
    log = log_of(UP, "{at: 30s, join: D}", semantics=semantics, until="60s")
    assert violations(log) == []
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))
    assert owned_at_the_end(log)["D"]
    codes = [a.payload["body"]["errorCode"] for a in answers(log, "JoinGroup", "D")]
    assert codes[0] == 79
    assert set(codes[1:]) == {0}


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_a_cooperative_member_keeps_what_stays_and_joins_again_without_what_goes(semantics: str) -> None:
    log = log_of(UP, semantics=semantics, assignor="cooperative-sticky", until="38s")
    revoked = [
        partitions for who in ("B", "C") for name, partitions in callbacks(log, who) if name == "revoked"
    ]
    assert revoked, "A's share comes back from them"
    assert all(len(partitions) < 3 for partitions in revoked), "nobody gives everything up"


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_a_killed_classic_member_is_removed_when_its_own_session_is_over(semantics: str) -> None:
    log = log_of(UP, "{at: 20s, kill: C}", semantics=semantics, until="100s")
    expired = [
        entry
        for entry in log
        if entry.kind is Kind.TIMER and entry.payload["event"] == "fired" and entry.payload["member"] == "C"
    ]
    assert [entry.payload["timer"] for entry in expired] == ["session"]
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))


# -- what is refused


def refusal_of(log: list[Entry], who: str = "A~2") -> dict[str, Any]:
    return dict(answers(log, "ConsumerGroupHeartbeat", who)[0].payload["body"])


def test_in_kip_a_member_that_does_not_tell_its_generation_keeps_the_group_classic() -> None:
    """KIP-848: "If they are not, the consumer is rejected with an INVALID_REQUEST error"."""
    log = log_of(UP, semantics="kip", client="2.5", until="40s")
    refused = refusal_of(log)
    assert refused["errorCode"] == 42
    assert "version 1 of the embedded consumer protocol" in refused["errorMessage"]
    assert protocols(settled(log, "kip")) == ["classic"]
    assert refusal_of(log_of(UP, client="2.5", until="40s"))["errorCode"] == 0, "the release does not ask"


@pytest.mark.parametrize(("semantics", "code"), [("kip", 42), ("kafka", 69)])
@pytest.mark.parametrize("assignor", ["stream", "custom-user-data"])
def test_assignments_with_user_data_keep_the_group_classic(semantics: str, code: int, assignor: str) -> None:
    text_log = log_of(
        UP, "{at: 1s, enforce_rebalance: B}", semantics=semantics, assignor=assignor, until="40s"
    )
    assert refusal_of(text_log)["errorCode"] == code
    assert protocols(settled(text_log, semantics)) == ["classic"]


@pytest.mark.parametrize(
    ("policy", "code"), [("disabled", 69), ("downgrade", 69), ("upgrade", 0), ("bidirectional", 0)]
)
def test_the_policy_decides_whether_a_group_with_members_is_converted(policy: str, code: int) -> None:
    assert refusal_of(log_of(UP, config=f"{{migration_policy: {policy}}}", until="40s"))["errorCode"] == code


def test_brokers_whose_group_version_is_0_refuse_the_consumer_protocol() -> None:
    log = log_of(UP, config="{group_version: 0}", until="40s")
    assert refusal_of(log) | {"errorMessage": None} == refusal_of(log)
    assert refusal_of(log)["errorCode"] == 35
    assert len(requests(log, "ConsumerGroupHeartbeat", "A~2")) == 1, "its client stops"
    assert protocols(settled(log)) == ["classic"]


# -- E.14's walk-through of a classic member in a consumer group, as released: M1 is classic, M2 is upgraded; a topic is
# created, and the target gives M1 {foo 0, 1; zar 0} and M2 {bar 0}.

WALK = """
protocol: consumer
assignor: scripted
topics: {{foo: {{partitions: 2}}, bar: {{partitions: 1}}}}
members:
  M1: {{protocol: classic, assignors: [{assignor}], subscribe: [foo, bar, zar]}}
  M2: {{protocol: classic, assignors: [{assignor}], subscribe: [foo, bar, zar], instance_id: m2}}
start:
  generation: 10
  leader: M2
  members: {{M1: {{owned: {{foo: [0], bar: [0]}}}}, M2: {{owned: {{foo: [1]}}}}}}
targets: {{11: {{M1: {{foo: [0, 1], zar: [0]}}, M2~2: {{bar: [0]}}}}}}
script:
  - {{at: 2s, bounce: M2, with: {{protocol: consumer}}, for: 1s}}
  - {{at: 10s, create_topic: zar, partitions: 1}}
  - {{at: 10s, slow_revoke: M2, for: 8s}}
  - {{at: 10.5s, heartbeat: M2}}
until: 40s
"""

STATES = {0: "STABLE", 1: "UNREVOKED", 2: "UNRELEASED"}


def walked(assignor: str) -> list[str]:
    """What M1 asks and is answered from the new target on; after a JoinGroup, how it stands."""
    state, rows_of, names = initial_state("orders"), [], {}
    for entry in run(load(WALK.format(assignor=assignor), "orders")):
        state = replay(state, entry)
        names = {topic.topic_id: name for name, topic in state.topics.items()}
        if entry.kind is not Kind.RESPONSE or entry.payload["to"] != "M1" or entry.at_ms < 10_500:
            continue
        body, api = entry.payload["body"], entry.payload["api"]
        if api == "Heartbeat" and body["errorCode"]:
            rows_of.append(f"Heartbeat {body['errorCode']}")
        elif api == "SyncGroup":
            rows_of.append(f"SyncGroup {_given(body)}")
        elif api == "JoinGroup":
            member = state.consumer.members["M1"]
            has = {names[topic]: sorted(ps) for topic, ps in member.assigned.items()}
            gives = {names[topic]: sorted(ps) for topic, ps in member.pending_revocation.items()}
            stands = f"{STATES[member.state or 0]} {member.epoch}/{member.previous_epoch} {_shown(has)}"
            rows_of.append(
                f"JoinGroup {body['generationId']}: {stands}" + (f" gives {_shown(gives)}" if gives else "")
            )
    return rows_of


def _given(body: dict[str, Any]) -> str:
    told = decode_assignment(base64.b64decode(body["assignment"]))["assignedPartitions"]
    return _shown({each["topic"]: sorted(each["partitions"]) for each in told})


def _shown(partitions: dict[str, list[int]]) -> str:
    return "; ".join(f"{topic} {','.join(map(str, ps))}" for topic, ps in sorted(partitions.items())) or "-"


def test_an_eager_member_walks_as_e_14_has_it() -> None:
    assert walked("range") == [
        "Heartbeat 27",
        "JoinGroup 11: UNRELEASED 11/10 foo 0; zar 0",
        "SyncGroup foo 0; zar 0",
        "Heartbeat 27",
        "JoinGroup 11: STABLE 11/11 foo 0,1; zar 0",
        "SyncGroup foo 0,1; zar 0",
    ]


def test_a_cooperative_member_walks_as_e_14_has_it() -> None:
    """It joins again by itself, once it has given up bar 0: no heartbeat has to tell it."""
    assert walked("cooperative-sticky") == [
        "Heartbeat 27",
        "JoinGroup 10: UNREVOKED 10/10 foo 0 gives bar 0",
        "SyncGroup foo 0",
        "JoinGroup 11: UNRELEASED 11/10 foo 0; zar 0",
        "SyncGroup foo 0; zar 0",
        "Heartbeat 27",
        "JoinGroup 11: STABLE 11/11 foo 0,1; zar 0",
        "SyncGroup foo 0,1; zar 0",
    ]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_a_classic_member_of_a_converted_group_revokes_until_it_joins_again_and_no_longer(
    semantics: str,
) -> None:
    """What it is shown to revoke ends with the JoinGroup that tells what it owns; it sends no other heartbeat."""
    states = settled(log_of(UP, semantics=semantics, until="60s"), semantics)
    shown = [
        name
        for name, client in (states[-1].clients or {}).items()
        if name in ("B", "C") and (client.revoking or client.calling)
    ]
    assert states[-1].protocol is Protocol.CONSUMER
    assert shown == []
    assert any((state.clients or {})["C"].revoking for state in states if "C" in (state.clients or {}))


def test_who_is_told_to_join_again_in_a_converted_group_is_not_said_to_be_refused() -> None:
    recorder = Recorder(group="orders")
    for entry in log_of(UP, "{at: 30s, join: D}", until="60s"):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    said = [moment["says"] for moment in orjson.loads(batch.moments)]
    assert any("is told to join again (REBALANCE_IN_PROGRESS)" in each for each in said)
    assert not [each for each in said if "refused" in each]
