"""What the tests of watched clusters share: a cluster that is watched on a thread, members, and what is stored."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.brokers import open_cluster
from groups.clusters.settings import settings_of
from groups.history.frames.shapes import Frame
from groups.history.polls.description import GroupDescription
from groups.watching import registry
from groups.watching.job import Watching
from tests.broker.members import CONSUMER, Member
from tests.clusters.secure import Secure

LIMIT_S = 180


def until(holds: Callable[[], Any], limit_s: float = LIMIT_S) -> Any:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come to be in time")


class Watch:
    """A cluster that is watched on a thread, as a process of its own would."""

    def __init__(self, cluster: Cluster, owner: str = "test", **more: Any) -> None:
        self._ended = threading.Event()
        assert registry.take(cluster.pk, owner)
        watching = Watching(cluster, owner, stopped=self._ended.is_set, **more)
        self._thread = threading.Thread(target=lambda: asyncio.run(watching.run()))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()


@pytest.fixture
def cluster(secure: Secure) -> Cluster:
    return registry.add("test", secure.properties("scram-512"))


@pytest.fixture
def members(secure: Secure) -> Iterator[Callable[..., Member]]:
    with contextlib.ExitStack() as leftovers:

        def start(name: str, group: str, topic: str, settings: dict[str, Any] = CONSUMER) -> Member:
            member = Member(secure.node, name, group, topic, settings, program="rdkafka").start()
            leftovers.callback(member.kill)
            member.wait_for("ready")
            member.join()
            member.wait_for("assigned")
            return member

        yield start


@pytest.fixture
def topic(secure: Secure) -> str:
    name = f"t{time.time_ns()}"
    with secure.node.connect() as connection:
        connection.create_topic(name, 4)
    return name


def row(group: str) -> WatchedGroup | None:
    return WatchedGroup.objects.filter(group=group).select_related("timeline").first()


def facts(group: str, **wanted: Any) -> WatchedGroup | None:
    found = row(group)
    if found is None or found.timeline is None:
        return None
    return found if all(found.facts.get(name) == value for name, value in wanted.items()) else None


def described(secure: Secure, group: str) -> GroupDescription:
    async def ask() -> Any:
        async with open_cluster(settings_of(secure.properties("plaintext"))) as brokers:
            return await brokers.find(group)

    told = asyncio.run(ask())
    assert isinstance(told, GroupDescription)
    return told


def joined_and_killed(
    secure: Secure, group: str, members: Callable[..., Member], topic: str
) -> GroupDescription:
    """``a`` joins, ``b`` joins and is killed, each when the watch has seen the one before; what the coordinator says then."""
    members("a", group, topic)
    until(lambda: facts(group, members=1, rebalancing=False))
    b = members("b", group, topic)
    until(lambda: facts(group, members=2, rebalancing=False, behind=0))
    b.kill()
    until(lambda: facts(group, members=1, rebalancing=False, behind=0))
    return described(secure, group)


def assert_says(frame: Frame | None, told: GroupDescription) -> None:
    """A frame has the group's epoch, and each member's epoch and assignment, as the coordinator described them."""
    assert frame is not None
    assert frame.get("group_epoch") == told.group_epoch
    assert {name: (each.get("epoch"), each["assigned"]) for name, each in frame["members"].items()} == {
        each.member_id: (each.epoch, {name: list(some) for name, some in each.assignment.items()})
        for each in told.members
    }
