"""What a Java consumer does when it loses READ on its group while it is a member, measured: a simulated one does the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType

from groups.history.entries import Kind
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.broker.conformed import TRIES
from tests.broker.described import describe_classic, describe_consumer
from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.clusters.secure import Rights, Secure, password, secure_broker

pytestmark = [pytest.mark.broker, pytest.mark.once]

USER: Final = "nobody"

PROTOCOLS: Final[Mapping[str, Mapping[str, object]]] = {
    "consumer": CONSUMER,
    "classic": {**CLASSIC, "heartbeat.interval.ms": 500},
}

SESSION_S: Final = 6
"""Of both, as the broker and ``CLASSIC`` have it."""

HEARTBEAT_SENT_S: Final = 5
"""Several intervals: a member has sent a heartbeat, on a busy machine, too."""

THROWS: Final = 3
"""So many polls that throw show that it throws at each. On a busy machine the first one may take many seconds."""

LIMIT_S: Final = 180

SCENARIO: Final = """
protocol: {protocol}
topics: {{orders: {{partitions: 4}}}}
config: {{session_timeout_ms: 6000, min_session_timeout_ms: 6000, heartbeat_interval_ms: 1000, min_heartbeat_interval_ms: 1000, initial_rebalance_delay_ms: 0}}
members:
  A: {{subscribe: [orders]{more}}}
  B: {{subscribe: [orders]{more}}}
script:
  - {{at: 0s, join: A}}
  - {{at: 5s, join: B}}
  - {{at: 20s, deny: A, operation: read, group: orders}}
  - {{at: 50s, allow: A, operation: read, group: orders}}
until: 80s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the member told while it lacked the right, after it had it again, and how many records it read in the meantime."""

    denied: list[str]
    allowed: list[str]
    read: int
    taken_over: bool


def rights_of(group: str) -> tuple[Rights, Rights]:
    """READ on the group, which is withdrawn, and what stays."""
    read = ((ResourceType.GROUP, group, AclOperation.READ),)
    stays = (
        (ResourceType.GROUP, group, AclOperation.DESCRIBE),
        (ResourceType.TOPIC, group, AclOperation.READ),
    )
    return read, stays


def login() -> dict[str, object]:
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{jaas} username="{USER}" password="{password(USER)}";',
    }


def what(lines: Iterable[str]) -> list[str]:
    """Callbacks and exceptions, without ids and partitions; a callback of nothing is none."""
    told = []
    for line in lines:
        name, *rest = line.split() or [""]
        if name == "threw":
            told.append(rest[0])
        elif name in ("lost", "revoked") or (name == "assigned" and len(rest) > 1):
            told.append(name)
    return told


def produce(secure: Secure, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": secure.address("PLAINTEXT")})
    for number in range(count):
        producer.produce(topic, b"x", partition=number % 4)
    assert producer.flush(30) == 0


def played(secure: Secure, protocol: str, attempt: int) -> Told:
    """Two members; the first loses the right, the second takes over, and the first is given it again."""
    group = f"withdrawn-{protocol}-{attempt}"
    with secure.node.connect() as connection:
        connection.create_topic(group, 4)
    read, stays = rights_of(group)
    secure.grant(USER, (*read, *stays))
    settings = {**PROTOCOLS[protocol], "enable.auto.commit": "false"}
    own = {**login(), "bootstrap.servers": secure.address("SASLP"), "member.goes.on": "true"}
    first = Member(secure.node, f"{group}-a", group, group, {**settings, **own})
    second = Member(secure.node, f"{group}-b", group, group, settings)
    try:
        for member in (first, second):
            member.start()
            member.wait_for("ready")
            member.join()
            member.wait_for("assigned")
        wait_until(lambda: owned(first) == owned(second) == 2)
        before, had = len(first.lines), first.count()
        secure.revoke(USER, read)
        wait_until(lambda: owned(second) == 4)
        produce(secure, group, 40)
        time.sleep(3)
        denied, got = first.lines[before:], first.count() - had
        at = len(first.lines)
        secure.grant(USER, read)
        time.sleep(3 * SESSION_S)
        return Told(
            denied=what(denied), allowed=what(first.lines[at:]), read=got, taken_over=owned(second) == 4
        )
    finally:
        first.kill()
        second.kill()
        secure.revoke(USER, (*read, *stays))


def owned(member: Member) -> int:
    """How many partitions it has, by its callbacks."""
    has: set[str] = set()
    for line in member.lines:
        name, *rest = line.split() or [""]
        if name == "assigned":
            has |= set(rest[1:])
        elif name in ("revoked", "lost"):
            has -= set(rest)
    return len(has)


def is_empty(secure: Secure, group: str, protocol: str) -> bool:
    """Whether the coordinator has ended all members; while it reads its log it does not say."""
    describe = describe_consumer if protocol == "consumer" else describe_classic
    with secure.node.connect() as connection:
        told = describe(connection, group)
    return told["error"] == 0 and not told["members"]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def simulated(protocol: str) -> tuple[list[str], list[str]]:
    """The same of a simulated member: while it lacks the right, and after it has it again."""
    more = ", session_timeout_ms: 6000, heartbeat_interval_ms: 500" if protocol == "classic" else ""
    denied, allowed = [], []
    for entry in run(load(SCENARIO.format(protocol=protocol, more=more), "orders")):
        if entry.actor.partition("~")[0] != "A" or entry.at_ms < 20_000:
            continue
        told = denied if entry.at_ms < 50_000 else allowed
        payload = entry.payload
        if payload.get("fault") == "poll_throws":
            told.append(payload["exception"])
        elif entry.kind is Kind.CALLBACK and payload["phase"] == "start" and payload["partitions"]:
            told.append(payload["callback"].removeprefix("on_partitions_"))
    return denied, allowed


@pytest.fixture(scope="module")
def measured(secure: Secure) -> Mapping[str, Told]:
    """What differs is played again: on a busy machine a poll may come before or after the heartbeat that is refused."""
    found: dict[str, Told] = {}
    for protocol in PROTOCOLS:
        for attempt in range(TRIES):
            found[protocol] = played(secure, protocol, attempt)
            if (found[protocol].denied, found[protocol].allowed) == simulated(protocol):
                break
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_simulated_member_that_loses_the_right_does_what_a_java_consumer_does(
    measured: Mapping[str, Told], protocol: str
) -> None:
    told = measured[protocol]
    assert (told.denied, told.allowed) == simulated(protocol)


def test_a_java_consumer_of_the_consumer_protocol_ends_and_of_the_classic_one_reads_on(
    measured: Mapping[str, Told],
) -> None:
    """Its partitions have another owner meanwhile: what it reads is read twice."""
    assert measured["consumer"].read == 0
    assert measured["consumer"].taken_over
    assert measured["classic"].read > 0
    assert not measured["classic"].taken_over, "it joins again when it may"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """What the member told while it might not look its coordinator up, when that was so for a while longer, and after it might."""

    denied: list[str]
    later: list[str]
    allowed: list[str]
    owned: int


def looked_up(secure: Secure, protocol: str) -> LookedUp:
    """The broker ends while a heartbeat of the member waits for it, and all the member's rights on the group go: it asks where the coordinator is.

    Without a heartbeat in flight the member of the consumer protocol may keep its coordinator, and the heartbeat that is refused there ends it for good.
    """
    group = f"looked-up-{protocol}"
    with secure.node.connect() as connection:
        connection.create_topic(group, 4)
    read, stays = rights_of(group)
    gone, topic = (*read, stays[0]), stays[1:]
    secure.grant(USER, (*gone, *topic))
    settings = {**PROTOCOLS[protocol], **login(), "enable.auto.commit": "false", "member.goes.on": "true"}
    settings["bootstrap.servers"] = secure.address("SASLP")
    member = Member(secure.node, group, group, group, settings)
    try:
        member.start()
        member.wait_for("ready")
        member.join()
        wait_until(lambda: owned(member) == 4)
        before = len(member.lines)
        os.kill(secure.node.pid, signal.SIGSTOP)
        time.sleep(HEARTBEAT_SENT_S)
        member.suspend()
        secure.node.kill()
        secure.node.start(same_ports=True)
        secure.revoke(USER, gone)
        member.resume()
        wait_until(lambda: len(what(member.lines[before:])) >= THROWS)
        denied, between = what(member.lines[before:]), len(member.lines)
        time.sleep(SESSION_S)
        wait_until(lambda: len(what(member.lines[between:])) >= THROWS)
        later = what(member.lines[between:])
        # Its session begins anew when the broker has read its log, which may be late on a machine that is shared.
        wait_until(lambda: is_empty(secure, group, protocol))
        at = len(member.lines)
        secure.grant(USER, gone)
        wait_until(lambda: "assigned" in what(member.lines[at:]))
        return LookedUp(denied=denied, later=later, allowed=what(member.lines[at:]), owned=owned(member))
    finally:
        member.kill()


@pytest.fixture(scope="module")
def looking(released_broker_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, LookedUp]:
    """On a broker of its own, which is restarted."""
    with secure_broker(tmp_path_factory.mktemp("looked-up")) as secure:
        return {protocol: looked_up(secure, protocol) for protocol in PROTOCOLS}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_java_consumer_that_may_not_look_its_coordinator_up_throws_again_and_again_and_keeps_what_it_has(
    looking: Mapping[str, LookedUp], protocol: str
) -> None:
    """A heartbeat's 30 ends a member of the consumer protocol; FindCoordinator's ends none."""
    told = looking[protocol]
    for part in (told.denied, told.later):
        assert len(part) >= THROWS
        assert set(part) == {"GroupAuthorizationException"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_java_consumer_that_may_look_its_coordinator_up_again_joins_anew(
    looking: Mapping[str, LookedUp], protocol: str
) -> None:
    told = looking[protocol]
    callbacks = [name for name in told.allowed if name in ("lost", "assigned", "revoked")]
    assert (callbacks, told.owned) == (["lost", "assigned"], 4)
