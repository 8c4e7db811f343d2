"""Share and streams groups of which a right is missing: what the broker answers, and how each door says it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from django.core.management import CommandError, call_command

from groups.clusters.brokers import Listed, open_cluster
from groups.clusters.checking import Step, check
from groups.clusters.sentences import undescribed
from groups.clusters.settings import settings_of
from groups.history.polls.description import (
    GROUP_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
    DescribedGroup,
    GroupDescription,
    GroupKind,
    Undescribed,
)
from groups.watching import registry
from tests.broker.rpc import Connection
from tests.clusters.secure import Rights, Secure
from tests.clusters.test_groups_command import file_of
from tests.clusters.watched import Watch, row, until

pytestmark = [pytest.mark.broker, pytest.mark.once]

USER = "visitor"
KINDS = (GroupKind.SHARE, GroupKind.STREAMS)
CLUSTER: Rights = [(ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE)]
BEAT_EVERY_S = 0.5


@dataclass(slots=True)
class Living:
    """A member whose heartbeats go on: its group stays assigned for as long as the test lasts."""

    secure: Secure
    kind: GroupKind
    topic: str
    ended: threading.Event = field(default_factory=threading.Event)
    epoch: int = 0

    @property
    def group(self) -> str:
        return f"{self.kind.value}-{self.topic}"

    @property
    def group_rights(self) -> Rights:
        return [(ResourceType.GROUP, self.group, AclOperation.DESCRIBE)]

    @property
    def topic_rights(self) -> Rights:
        return [(ResourceType.TOPIC, self.topic, AclOperation.DESCRIBE)]

    def live(self) -> None:
        with self.secure.node.connect() as connection, contextlib.suppress(OSError):
            while not self.ended.wait(BEAT_EVERY_S):
                self.beat(connection)

    def beat(self, connection: Connection) -> None:
        request: dict[str, Any] = {"groupId": self.group, "memberId": "m", "memberEpoch": self.epoch}
        joins = self.epoch == 0
        if self.kind is GroupKind.SHARE:
            request |= {"rackId": None, "subscribedTopicNames": [self.topic] if joins else None}
            answer = connection.call("ShareGroupHeartbeat", request)
        else:
            request["rebalanceTimeoutMs"] = 60_000
            if joins:
                request |= dict.fromkeys(("activeTasks", "standbyTasks", "warmupTasks"), ())
                request |= {"topology": self.topology, "processId": "p", "clientTags": []}
                request["userEndpoint"] = {"host": "localhost", "port": 60_000}
            answer = connection.call("StreamsGroupHeartbeat", request)
        # The coordinator of a group's first member is still being made.
        self.epoch = answer["memberEpoch"] if not answer["errorCode"] else 0

    @property
    def topology(self) -> dict[str, Any]:
        nothing = (
            "sourceTopicRegex",
            "stateChangelogTopics",
            "repartitionSinkTopics",
            "repartitionSourceTopics",
        )
        of = {"subtopologyId": "0", "sourceTopics": [self.topic], "copartitionGroups": []}
        return {"epoch": 0, "subtopologies": [of | {name: [] for name in nothing}]}


@pytest.fixture(scope="module")
def living(secure: Secure) -> Iterator[Callable[[GroupKind], Living]]:
    """A group of each kind, which is assigned a topic of its own."""
    members = {}
    with secure.node.connect() as connection:
        for kind in KINDS:
            made = Living(secure, kind, f"topic{time.time_ns()}")
            connection.create_topic(made.topic, 2)
            connection.find_coordinator(made.group)
            members[kind] = made
    threads = [threading.Thread(target=each.live, daemon=True) for each in members.values()]
    for thread in threads:
        thread.start()
    for each in members.values():
        until(lambda each=each: is_assigned(described(secure, "plaintext", each)))  # type: ignore[misc]
    yield members.__getitem__
    for each in members.values():
        each.ended.set()
    for thread in threads:
        thread.join(10)


def is_assigned(told: DescribedGroup) -> bool:
    return isinstance(told, GroupDescription) and any(member.assignment for member in told.members)


def described(secure: Secure, way: str, living: Living) -> DescribedGroup:
    """What the coordinator answers this user to the request of the group's own kind."""
    import asyncio

    listed = Listed(group=living.group, kind=living.kind, state="", protocol_type="", broker=1)

    async def ask() -> Any:
        async with open_cluster(settings_of(secure.properties(way, USER))) as brokers:
            return (await brokers.describe([listed]))[living.group]

    told: DescribedGroup = asyncio.run(ask())
    return told


def code(secure: Secure, living: Living) -> int:
    """0 for a group that is described."""
    told = described(secure, "scram-512", living)
    return told.code if isinstance(told, Undescribed) else 0


@contextlib.contextmanager
def granted(secure: Secure, rights: Rights) -> Iterator[None]:
    secure.grant(USER, rights)
    try:
        yield
    finally:
        secure.revoke(USER, rights)


@pytest.mark.parametrize("kind", KINDS)
def test_the_broker_refuses_the_group_then_its_topic_then_nothing_and_each_has_its_sentence(
    secure: Secure, living: Callable[[GroupKind], Living], kind: GroupKind
) -> None:
    each = living(kind)
    refused = described(secure, "scram-512", each)
    assert isinstance(refused, Undescribed)
    assert (refused.code, refused.message) == (GROUP_AUTHORIZATION_FAILED, "")
    assert undescribed(refused) == (
        f"Group {each.group} may not be described, or does not exist: the right DESCRIBE on the group is missing."
    )
    with granted(secure, each.group_rights):
        until(lambda: code(secure, each) != GROUP_AUTHORIZATION_FAILED)
        refused = described(secure, "scram-512", each)
        assert isinstance(refused, Undescribed)
        assert refused.code == TOPIC_AUTHORIZATION_FAILED
        # The broker's own words, of which nothing is shown: they name no topic.
        assert "not authorized to describe" in refused.message
        assert undescribed(refused).startswith(
            f"Group {each.group} is unreadable now: it is assigned a topic on which"
        )
        with granted(secure, each.topic_rights):
            until(lambda: is_assigned(described(secure, "scram-512", each)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_names_the_right_that_is_missing(
    secure: Secure, living: Callable[[GroupKind], Living], kind: GroupKind, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    each = living(kind)

    config = ("--command-config", file_of(secure, tmp_path, USER))

    def said() -> str:
        capsys.readouterr()
        try:
            call_command("groups", "describe", "--group", each.group, "--members", *config)
        except CommandError as refused:
            return f"exit {refused.returncode}: {refused}"
        return capsys.readouterr().out

    assert said().startswith(f"exit 1: Group {each.group} may not be described, or does not exist")
    with granted(secure, each.group_rights):
        until(lambda: "is unreadable now: it is assigned a topic" in said())
        with granted(secure, each.topic_rights):
            until(lambda: "CONSUMER-ID" in said())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS)
def test_a_watch_shows_the_group_as_refused_unreadable_and_seen_as_rights_come_and_go(
    secure: Secure, living: Callable[[GroupKind], Living], kind: GroupKind
) -> None:
    each = living(kind)
    cluster = registry.add("visited", secure.properties("scram-512", USER))

    def condition() -> str:
        found = row(each.group)
        return "" if found is None else found.condition

    # The right on the cluster lists all groups, those that may not be described among them.
    with granted(secure, CLUSTER), Watch(cluster, groups=[each.group], follow=False):
        until(lambda: condition() == "forbidden")
        with granted(secure, each.group_rights):
            until(lambda: condition() == "unreadable")
            with granted(secure, each.topic_rights):
                until(lambda: condition() == "seen")
            until(lambda: condition() == "unreadable")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_wizard_prints_the_line_that_grants_what_is_missing(
    secure: Secure, living: Callable[[GroupKind], Living], kind: GroupKind
) -> None:
    each = living(kind)

    async def rights() -> Step:
        return [step async for step in check(secure.properties("scram-512", USER))][-1]

    with granted(secure, CLUSTER):
        step = await rights()
        assert any("--operation Describe --group '*'" in line for line in step.commands), step
    with granted(secure, each.group_rights):
        step = await rights()
        assert not any("--operation Describe --group '*'" in line for line in step.commands), step
        assert any("--operation Describe --topic '*'" in line for line in step.commands), step
