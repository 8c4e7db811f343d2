"""A broker whose clock is not the watcher's: it is measured, and alerts of followed groups count by one clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groups.cluster_models import Cluster
from groups.clusters.fetching import Fetched, Replicas
from groups.history.entries import RecordPayload
from groups.history.following.partition import PartitionLog
from groups.history.following.topics import TopicFacts
from groups.history.polls.description import GroupDescription
from groups.history.polls.inferring import UNRELEASED, records_between
from groups.watching import registry as clusters
from groups.watching.alerts import registry
from groups.watching.alerts.looking import Lookout
from groups.watching.checking import Checks
from groups.watching.log_follower import Follower, Place
from groups.watching.log_storing import LogStore, Taken
from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.records import encode_record
from tests.history.test_following import FOO, epoch
from tests.watching.rounds import BEGIN_MS, Shares, described, round_of

OWNER = "test"
TOPICS = {"orders": TopicFacts(FOO, 4)}
HALVES = {"anna": ((0, 1), (0, 1)), "ben": ((2, 3), (2, 3))}
FREE = {"anna": ((0, 1), (0, 1)), "ben": ((2,), (2, 3))}
"""orders-3 is released, and ben has not received it."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(made.pk, OWNER)
    return made


class Watch:
    """A followed cluster: what its log has comes with the broker's times, what coordinators describe with the watcher's."""

    def __init__(self, cluster: Cluster, skew_ms: int, *, measured: bool = True) -> None:
        self.skew_ms, self.measured = skew_ms, measured
        self.store, self.lookout = LogStore(cluster, OWNER), Lookout(cluster)
        self.store.begin()
        self.checks, self.log = Checks(self.store), PartitionLog(partition=0)
        self.last: GroupDescription | None = None

    def sees(self, second: float, shares: Shares, number: int, state: str) -> list[str]:
        """What alerts say at this second, after its records and its round."""
        at_ms = BEGIN_MS + round(second * 1000)
        told = replace(described("orders", shares, epoch=number, state=state), topic_ids={"orders": FOO})
        data = batched(self.log.next, at_ms + self.skew_ms, records_between(self.last, told))
        self.last = told
        self.store.take([Taken(self.log, list(self.log.take(data)), True, self.log.position)], TOPICS)
        skews = {0: self.skew_ms} if self.measured else {}
        self.checks.take(round_of(at_ms, told), at_end=True, skews=skews)
        self.lookout._looked_s = None
        return [each["says"] for each in self.lookout.look(self.store.groups, at_ms)]


def known_state(payload: RecordPayload) -> dict[str, Any]:
    """Of a member that is behind a description contains no state; a broker writes that it waits for partitions."""
    value = payload["value"]
    waits = isinstance(value, dict) and "state" in value and value["state"] is None
    return {**payload, "value": {**value, "state": UNRELEASED}} if waits else {**payload}  # type: ignore[dict-item]


def batched(base: int, at_ms: int, payloads: list[RecordPayload]) -> bytes:
    if not payloads:
        return b""
    records = [encode_record(known_state(payload)) for payload in payloads]
    return write_batch(
        coordinator_batch(base_offset=base, timestamp_ms=at_ms, records=records, partition_leader_epoch=0)
    )


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("skew_ms", [-180_000, 0, 180_000])
def test_alerts_of_a_followed_group_begin_on_time_whatever_the_brokers_clock_says(
    cluster: Cluster, skew_ms: int, measured: bool
) -> None:
    for kind, for_s in (("unassigned", 30), ("stuck", 120)):
        registry.add(cluster, {"kind": kind, "for_s": for_s})
    watch = Watch(cluster, skew_ms, measured=measured)
    assert watch.sees(0, HALVES, 3, "Stable") == []
    assert watch.sees(1, FREE, 4, "Reconciling") == []
    assert watch.sees(30.5, FREE, 4, "Reconciling") == []
    [unassigned] = watch.sees(31.5, FREE, 4, "Reconciling")
    assert unassigned.startswith("orders-3 has been unassigned for 30.5")
    assert watch.sees(120, FREE, 4, "Reconciling") == []
    [stuck] = watch.sees(121.5, FREE, 4, "Reconciling")
    assert stuck.startswith("orders has been rebalancing for 2")
    ended = watch.sees(130, HALVES, 4, "Stable")
    assert len(ended) == 2


@pytest.mark.parametrize("skew_ms", [-1_800_000, 1_800_000])
def test_a_finding_is_new_by_the_watchers_clock(cluster: Cluster, skew_ms: int, monkeypatch: Any) -> None:
    rule = registry.add(cluster, {"kind": "finding", "finding": "removed"})
    type(rule).objects.filter(pk=rule.pk).update(
        created=rule.created.fromtimestamp(BEGIN_MS / 1000, rule.created.tzinfo)
    )
    watch = Watch(cluster, skew_ms)
    assert watch.sees(1, HALVES, 3, "Stable") == []
    [said] = watch.sees(2, {"anna": HALVES["anna"]}, 4, "Stable")
    assert said.startswith("orders: ")


def fetched(base: int, at_ms: int) -> Fetched:
    data = batched(base, at_ms, [epoch(base + 1)])  # type: ignore[list-item]
    return Fetched(partition=0, error=0, high_watermark=base + 1, diverging=None, data=data)


def test_the_skew_is_measured_from_records_that_come_while_somebody_waits_for_them(cluster: Cluster) -> None:
    follower: Any = Follower(None, LogStore(cluster, OWNER), None)  # type: ignore[arg-type]
    follower.logs[0], follower.places[0] = PartitionLog(partition=0), Place(Replicas(7, (7,)))
    # History: written an hour ago, and read now.
    follower._read(fetched(0, BEGIN_MS - 3_600_000), BEGIN_MS)
    assert follower.skews == {}
    for base, way_ms in ((1, 700), (2, 5), (3, 40)):
        now_ms = BEGIN_MS + base * 1000
        follower._read(fetched(base, now_ms - 180_000 - way_ms), now_ms)
    assert follower.skews == {0: -180_005}
    assert follower.facts()["skews_ms"] == {"0": -180_005}
    # Another broker leads it now, with a clock of its own, that is right.
    follower.places[0].replicas = Replicas(8, (8,))
    assert follower.skews == {}
    follower._read(fetched(4, BEGIN_MS + 4_990), BEGIN_MS + 5_000)
    assert follower.skews == {0: -10}
    assert follower.facts()["skews_ms"] == {}
