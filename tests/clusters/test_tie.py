"""A tie of server-side assignors, made by released clients and watched live: an alert on 4.4.0, and nowhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from groups import storage
from groups.alert_models import Alert
from groups.cluster_models import Cluster, WatchedGroup
from groups.watching import registry
from groups.watching.alerts import registry as alerts
from tests.broker.members import CONSUMER, Member, Program
from tests.broker.node import Node, running, wait_for_coordinator
from tests.clusters.watched import Watch, until

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

TIED, TWO_TWO, TWO_ONE = "tied", "two-two", "two-one"
TIED_RDKAFKA = "tied-rdkafka"
HEARTBEAT_MS = 2_000
HEARTBEATS = 2
"""So many of the tied member show it."""

MORE_EPOCHS = 2
"""The tied group has as many more before the others are found silent."""


@contextlib.contextmanager
def members(node: Node, group: str, assignors: str, program: Program) -> Iterator[list[Member]]:
    """A member for each letter, ``r`` of range and ``u`` of uniform, that have joined one after another."""
    names = {"r": "range", "u": "uniform"}
    wait_for_coordinator(node, group)
    with contextlib.ExitStack() as leftovers:
        made = [
            Member(
                node,
                f"{group}-{place}",
                group,
                "orders",
                {**CONSUMER, "group.remote.assignor": names[letter]},
                program=program,
            )
            for place, letter in enumerate(assignors)
        ]
        for member in made:
            member.start()
            leftovers.callback(member.kill)
        for member in made:
            member.wait_for("ready")
            member.join()
            member.wait_for("assigned")
        yield made


@contextlib.contextmanager
def watched(node: Node, name: str, *, follow: bool) -> Iterator[Cluster]:
    cluster = registry.add(name, {"bootstrap.servers": node.bootstrap})
    alerts.add(cluster, {"kind": "causeless"})
    with Watch(cluster, follow=follow):
        until(lambda: registry.get(cluster.pk).seen)
        yield cluster


def epoch(node: Node, group: str) -> int:
    with node.connect() as connection:
        return int(connection.describe_consumer_group(group)["groupEpoch"])


def rests(cluster: Cluster, group: str, count: int) -> bool:
    row = WatchedGroup.objects.filter(cluster=cluster, group=group).first()
    return row is not None and row.state == "Stable" and row.facts.get("members") == count


def heartbeats_until(alert: Alert) -> float:
    """How many intervals between heartbeats it was from the log's first epoch without a cause, by its record's time, to the alert."""
    assert alert.timeline is not None
    times = {entry["sequence"]: entry["at_ms"] for entry in storage.every_entry(alert.timeline)}
    summary = storage.summary(alert.timeline)
    assert summary is not None
    [found] = [each for each in summary["findings"] if each["kind"] == "causeless_rebalances"]
    return (alert.at_ms - times[found["steps"][0]]) / HEARTBEAT_MS


def test_a_tie_of_assignors_is_an_alert_on_4_4_and_a_majority_two_of_each_and_4_3_are_silent(
    tmp_path: Path,
) -> None:
    with (
        running(
            tmp_path / "new", {"group.consumer.heartbeat.interval.ms": HEARTBEAT_MS}, release="4.4.0"
        ) as new,
        running(tmp_path / "old", release="4.3.1") as old,
        contextlib.ExitStack() as stack,
    ):
        for node in (new, old):
            with node.connect() as connection:
                connection.create_topic("orders", 6)
        followed = stack.enter_context(watched(new, "followed", follow=True))
        polled = stack.enter_context(watched(new, "polled", follow=False))
        older = stack.enter_context(watched(old, "older", follow=True))
        # Joining in this order, no group is tied on the way.
        quiet = [(new, TWO_TWO, "rruu"), (new, TWO_ONE, "rru"), (old, TIED, "ru")]
        for node, group, assignors in quiet:
            stack.enter_context(members(node, group, assignors, "rdkafka"))
        first, second = stack.enter_context(members(new, TIED, "ru", "java"))
        stack.enter_context(members(new, TIED_RDKAFKA, "ru", "rdkafka"))
        at_rest = {}
        for cluster, (node, group, assignors) in zip((followed, followed, older), quiet, strict=True):
            until(lambda on=cluster, name=group, asked=assignors: rests(on, name, len(asked)))
            at_rest[group] = (node, epoch(node, group))
        for cluster in (followed, polled):
            for tied in (TIED, TIED_RDKAFKA):
                until(lambda on=cluster, name=tied: Alert.objects.filter(cluster=on, group=name).exists())
        for tied in (TIED, TIED_RDKAFKA):
            assert 0 <= heartbeats_until(Alert.objects.get(cluster=followed, group=tied)) <= HEARTBEATS
        says = Alert.objects.get(cluster=followed, group=TIED).says.replace("\u202f", " ")
        assert says.startswith("tied: Rebalances without a cause: ")
        assert "tied-0 asks for range and tied-1 asks for uniform" in says
        assert "from Kafka 4.4 on heartbeats raise the epoch then" in says
        begun = epoch(new, TIED)
        until(lambda: epoch(new, TIED) >= begun + MORE_EPOCHS)
        assert {alert.group for alert in Alert.objects.exclude(cluster=older)} == {TIED, TIED_RDKAFKA}
        assert not Alert.objects.filter(cluster=older).exists()
        assert {group: epoch(node, group) for group, (node, _) in at_rest.items()} == {
            group: at for group, (_, at) in at_rest.items()
        }
        second.leave()
        until(lambda: Alert.objects.get(cluster=followed, group=TIED).ended_ms is not None)
        first.leave()
