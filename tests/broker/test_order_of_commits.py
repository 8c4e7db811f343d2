"""In which order a Java consumer of the classic protocol commits, revokes and joins, measured: a simulated one does it so, too."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pytest
from confluent_kafka import Producer

from groups.history.entries import Kind
from groups.texts.request_log import LoggedRequest, read_request_log
from simulations.world.engine import run
from simulations.world.scenario import load

from .members import CLASSIC, CLIENT_LIMIT_S, Member
from .node import Node, running, wait_for_coordinator
from .real_classic_clients import ASSIGNORS

pytestmark = [pytest.mark.broker, pytest.mark.once]

CALLBACK_MS: Final = 1_500
"""Long enough that a line of the client arrives before whatever the client does next."""

SETTLE_S: Final = 4

PARTITIONS: Final = 4

APIS: Final = {"OFFSET_COMMIT": "OffsetCommit", "JOIN_GROUP": "JoinGroup", "SYNC_GROUP": "SyncGroup"}
CALLBACKS: Final = {"revoked": "on_partitions_revoked", "assigned": "on_partitions_assigned", "lost": "on_partitions_lost"}  # fmt: skip
STRATEGIES: Final = {"range": f"{ASSIGNORS}.RangeAssignor", "cooperative-sticky": f"{ASSIGNORS}.CooperativeStickyAssignor"}  # fmt: skip

NEVER_MS: Final = 600_000
"""An interval of automatic commits that no test lives to see: those that come belong to the rebalance."""

SCENARIO: Final = """
protocol: classic
topics: {{orders: {{partitions: 4}}}}
config: {{initial_rebalance_delay_ms: 0}}
members:
  A: {{subscribe: [orders], assignors: [{assignor}], auto_commit: {auto}, auto_commit_interval_ms: {never}, revoke_commits: {revoked}, callback_ms: {callback}}}
  B: {{subscribe: [orders], assignors: [{assignor}]}}
script:
  - {{at: 0s, join: A}}
  - {{at: 10s, join: B}}
until: 40s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    assignor: str
    auto: bool
    revoked: bool

    @property
    def group(self) -> str:
        return (
            f"order-{self.assignor}-{'auto' if self.auto else 'none'}-{'revoked' if self.revoked else 'none'}"
        )


CASES: Final = [
    Case(assignor=assignor, auto=auto, revoked=revoked)
    for assignor in STRATEGIES
    for auto, revoked in ((True, False), (False, True), (True, True))
]

Told = list[tuple[float, str]]
"""What a client did, and when."""


def played(node: Node, case: Case, leftovers: contextlib.ExitStack) -> tuple[float, Told]:
    """A Java consumer has all partitions, and another member joins: since when, and the lines of the first one."""
    wait_for_coordinator(node, case.group)
    with node.connect() as connection:
        connection.create_topic(case.group, PARTITIONS)
    produce(node, case.group)
    told: Told = []
    settings = {
        **CLASSIC,
        "heartbeat.interval.ms": 500,
        "partition.assignment.strategy": STRATEGIES[case.assignor],
        "enable.auto.commit": str(case.auto).lower(),
        "auto.commit.interval.ms": NEVER_MS,
        "member.commits.revoked": str(case.revoked).lower(),
        "member.assigned.ms": CALLBACK_MS,
    }
    first = Member(
        node,
        f"{case.group}-a",
        case.group,
        case.group,
        settings,
        CALLBACK_MS,
        on_line=lambda line: told.append((time.time() * 1000, line)),
    )
    other = {**CLASSIC, "partition.assignment.strategy": case.assignor}
    second = Member(node, f"{case.group}-b", case.group, case.group, other, program="rdkafka")
    for member in (first, second):
        member.start()
        leftovers.callback(member.kill)
    first.wait_for("ready")
    second.wait_for("ready")
    first.join()
    first.wait_for("assigned")
    deadline = time.monotonic() + CLIENT_LIMIT_S
    # Without a position there is nothing to commit.
    while first.count() < PARTITIONS:
        assert time.monotonic() < deadline, "it did not read what there is"
    since_ms = time.time() * 1000
    second.join()
    second.wait_for("assigned", times=1 if case.assignor == "range" else 2)
    time.sleep(SETTLE_S)
    return since_ms, told


def produce(node: Node, topic: str) -> None:
    """A record for each partition."""
    producer = Producer({"bootstrap.servers": node.bootstrap})
    for number in range(PARTITIONS):
        producer.produce(topic, b"x", partition=number)
    assert producer.flush(CLIENT_LIMIT_S) == 0


def requests(node: Node) -> Iterator[LoggedRequest]:
    with (node.folder / "broker.log.requests").open(encoding="utf-8") as lines:
        for each in read_request_log(lines, apis=frozenset(APIS)):
            if isinstance(each, LoggedRequest):
                yield each


@pytest.fixture(scope="module")
def measured(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """By group what its Java consumer did from when on the other member came."""
    del released_jars
    with (
        contextlib.ExitStack() as leftovers,
        running(tmp_path_factory.mktemp("order"), request_log=True) as node,
    ):
        with ThreadPoolExecutor(len(CASES)) as pool:
            stories = list(pool.map(lambda case: played(node, case, leftovers), CASES))
        asked = list(requests(node))
    found: dict[str, list[str]] = {}
    for case, (since_ms, told) in zip(CASES, stories, strict=True):
        did = [(at_ms, CALLBACKS[line.split()[0]]) for at_ms, line in told if line.split()[0] in CALLBACKS]
        did += [(each.arrived_ms, APIS[each.api]) for each in asked if each.client == f"{case.group}-a"]
        found[case.group] = [what for at_ms, what in sorted(did) if at_ms >= since_ms]
    return found


def simulated(case: Case) -> list[str]:
    text = SCENARIO.format(
        assignor=case.assignor,
        auto=str(case.auto).lower(),
        revoked=str(case.revoked).lower(),
        never=NEVER_MS,
        callback=CALLBACK_MS,
    )
    did = []
    for entry in run(load(text, "orders")):
        if entry.actor != "A" or entry.at_ms < 10_000:
            continue
        if entry.kind is Kind.REQUEST and entry.payload["api"] in APIS.values():
            did.append(str(entry.payload["api"]))
        elif entry.kind is Kind.CALLBACK and entry.payload["phase"] == "start":
            did.append(str(entry.payload["callback"]))
    return did


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.group)
def test_a_simulated_consumer_commits_revokes_and_joins_in_the_order_of_a_java_consumer(
    measured: Mapping[str, list[str]], case: Case
) -> None:
    assert measured[case.group] == simulated(case)
