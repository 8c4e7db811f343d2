"""Several brokers while their log is followed: a leader that hangs, one that dies with what only it had, and a log that is compacted.

The truth is the offsets themselves: of a log that was read to its end each stands in a timeline, once, or in a gap that says so.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from groups import storage
from groups.cluster_models import Cluster
from groups.models import Timeline
from groups.watching import registry
from groups.watching.pulling import Round
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from tests.broker.rpc import Connection
from tests.broker.several import OFFSETS, Several, several
from tests.clusters.watched import Watch, facts, row, until

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

TOPIC, GROUPS = "orders", ("one", "two")
EAGER = {
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "300",
    "delete.retention.ms": "0",
}
"""Compaction begins as soon as there is something to compact."""


@pytest.fixture(scope="module")
def brokers(released_broker_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    with several(tmp_path_factory.mktemp("several")) as brokers:
        with brokers.first.connect() as connection:
            connection.create_topic(TOPIC, 4)
        yield brokers


@pytest.fixture
def cluster(brokers: Several) -> Cluster:
    return registry.add(
        "several", {"bootstrap.servers": brokers.first.bootstrap, "request.timeout.ms": "3000"}
    )


class Members:
    """Raw members of both groups; each step changes the group's epoch."""

    def __init__(self, brokers: Several) -> None:
        self.brokers = brokers
        self._names = itertools.count()

    def step(self, connection: Connection, group: str) -> None:
        """One joins and leaves again: two group epochs, and the records of both."""
        member = f"{group}-{next(self._names)}"
        told = connection.heartbeat(
            group, member, 0, subscribed=[TOPIC], rebalance_timeout_ms=60_000, owned={}
        )
        assert not told["errorCode"], told
        assert not connection.heartbeat(group, member, -1)["errorCode"]

    def steps(self, count: int) -> dict[str, int]:
        """So many steps of each group; the epoch that each came to."""
        with self.brokers.coordinator() as connection:
            for _ in range(count):
                for group in GROUPS:
                    self.step(connection, group)
            return {group: connection.describe_consumer_group(group)["groupEpoch"] for group in GROUPS}


@pytest.fixture
def members(brokers: Several) -> Members:
    return Members(brokers)


def until_told(epochs: dict[str, int]) -> None:
    until(lambda: all(facts(group, group_epoch=epoch) for group, epoch in epochs.items()), 90)


Span = tuple[int, int]


def recorded(timelines: list[Timeline]) -> tuple[list[int], list[Span], list[str]]:
    """Offsets of records, spans of gaps, and what the gaps say; the entries are dense."""
    offsets: list[int] = []
    gaps: list[Span] = []
    says: list[str] = []
    for timeline in timelines:
        entries = list(storage.every_entry(storage.get(timeline.pk)))
        assert [each["sequence"] for each in entries] == list(range(1, len(entries) + 1))
        mine = [each["offset"] for each in entries if each["kind"] == "record"]
        assert len(mine) == len(set(mine)), f"{timeline.group} has an offset twice"
        offsets += mine
        for each in entries:
            if each["payload"].get("note") == "gap":
                # One that names offsets needs no sentence.
                says.append(each["payload"].get("says", ""))
                if each["payload"]["from_offset"] is not None:
                    gaps.append((each["payload"]["from_offset"], each["payload"]["to_offset"]))
    return offsets, gaps, says


def timelines_of(group: str) -> list[Timeline]:
    return list(Timeline.objects.filter(group=group).order_by("created"))


def unaccounted(end: int, timelines: list[Timeline]) -> list[int]:
    """Offsets below the log's end that stand in no timeline, and in no gap."""
    offsets, gaps, _ = recorded(timelines)
    assert len(offsets) == len(set(offsets)), "an offset stands in two timelines"
    missing = set(range(end)) - set(offsets)
    return sorted(at for at in missing if not any(first <= at <= last for first, last in gaps))


def end_of_log(brokers: Several) -> int:
    with brokers.pair[brokers.leader()].connect() as connection:
        return connection.end_offset(OFFSETS, 0)


def test_a_leader_that_hangs_and_goes_on_leaves_no_hole_and_nothing_twice(
    brokers: Several, cluster: Cluster, members: Members
) -> None:
    with Watch(cluster, follow=True):
        until_told(members.steps(3))
        hangs = brokers.leader()
        [goes_on] = set(brokers.pair) - {hangs}
        os.kill(brokers.pair[hangs].pid, signal.SIGSTOP)
        try:
            brokers.until_led_by(goes_on)
            until_told(members.steps(3))
        finally:
            os.kill(brokers.pair[hangs].pid, signal.SIGCONT)
        until(lambda: brokers.in_sync() == {2, 3}, 90)
        until_told(members.steps(2))
    last = [timelines_of(group)[-1] for group in GROUPS]
    assert all(len(timelines_of(group)) == 1 for group in GROUPS), "what was read goes on in one timeline"
    assert unaccounted(end_of_log(brokers), last) == []
    assert recorded(last)[2] == []


def test_a_coordinator_that_dies_takes_no_polled_group_with_it_though_nobody_lists_it_for_seconds(
    brokers: Several, cluster: Cluster, members: Members
) -> None:
    """While its groups move they are listed nowhere, without an error, and then by somebody who has not loaded them."""
    conditions: set[str] = set()
    silent: set[int] = set()

    def note(seen: Round, rows: list[dict[str, Any]]) -> None:
        conditions.update(each["condition"] for each in rows if each["condition"])
        silent.update(seen.listing.silent)

    with Watch(cluster, follow=False, on_round=note):
        until_told(members.steps(2))
        dies = brokers.leader()
        [goes_on] = set(brokers.pair) - {dies}
        brokers.pair[dies].kill()
        brokers.until_led_by(goes_on)
        until_told(members.steps(2))
        until(lambda: all(row(group).condition == "seen" for group in GROUPS))  # type: ignore[union-attr]
    brokers.pair[dies].start(same_ports=True)
    until(lambda: brokers.in_sync() == {2, 3}, 90)
    assert dies in silent
    assert "deleted" not in conditions
    assert [timeline.status for group in GROUPS for timeline in timelines_of(group)] == ["running", "running"]


def test_what_an_unclean_election_took_is_said_and_the_next_timelines_have_the_log_as_it_is(
    brokers: Several, cluster: Cluster, members: Members
) -> None:
    with Watch(cluster, follow=True):
        kept = members.steps(2)
        until_told(kept)
        until(lambda: brokers.in_sync() == {2, 3}, 90)
        end = end_of_log(brokers)
        alone = brokers.leader()
        [behind] = set(brokers.pair) - {alone}
        # What is written from here on, only the leader has.
        brokers.pair[behind].kill()
        until(lambda: brokers.in_sync() == {alone}, 90)
        until_told(members.steps(3))
        first = {group: row(group).timeline_id for group in GROUPS}  # type: ignore[union-attr]
        brokers.pair[alone].kill()
        brokers.pair[behind].start(same_ports=True)
        brokers.until_led_by(behind)
        again = members.steps(1)
        # Each step is two epochs: those of the steps that only the former leader had are gone.
        assert again == {group: epoch + 2 for group, epoch in kept.items()}
        until_told(again)
        until(lambda: all(row(group).timeline_id != first[group] for group in GROUPS), 90)  # type: ignore[union-attr]
        brokers.pair[alone].start(same_ports=True)
        until(lambda: brokers.in_sync() == {2, 3}, 90)
        until_told(members.steps(1))
    for group in GROUPS:
        *_, old, new = timelines_of(group)
        offsets, _, says = recorded([old])
        assert max(offsets) >= end, "it had read what was lost"
        assert f"The log was truncated: offsets from {end:,} on are gone, and what they told" in says
        assert (old.status, new.status) == ("complete", "running")
        frame = storage.frame_at(new, storage.get(new.pk).last)
        assert frame is not None
        assert frame["group_epoch"] == again[group] + 2
    newest = [timelines_of(group)[-1] for group in GROUPS]
    assert unaccounted(end_of_log(brokers), newest) == []


def test_a_log_that_is_compacted_while_it_is_followed_leaves_no_hole_that_is_not_said_and_nothing_twice(
    brokers: Several, cluster: Cluster, members: Members
) -> None:
    """First followed as it is compacted, then compacted while nobody looks: only the second leaves gaps."""
    configure(brokers, EAGER)
    with Watch(cluster, follow=True):
        until_told(members.steps(1))
        begins = end_of_log(brokers)
        for _ in range(10):
            told = members.steps(3)
        until_told(told)
        compacted(brokers, members, begins)
        until_told(members.steps(1))
    newest = [timelines_of(group)[-1] for group in GROUPS]
    assert unaccounted(end_of_log(brokers), newest) == []
    unwatched = end_of_log(brokers)
    members.steps(10)
    compacted(brokers, members, unwatched)
    with Watch(cluster, "another", follow=True):
        until_told(members.steps(1))
    newest = [timelines_of(group)[-1] for group in GROUPS]
    assert unaccounted(end_of_log(brokers), newest) == []
    assert any(last >= unwatched for _, last in recorded(newest)[1])


def configure(brokers: Several, settings: dict[str, str]) -> None:
    configs = [{"name": name, "configOperation": 0, "value": value} for name, value in settings.items()]
    resource = {"resourceType": 2, "resourceName": OFFSETS, "configs": configs}
    with brokers.first.connect() as connection:
        told: dict[str, Any] = connection.call(
            "IncrementalAlterConfigs", {"resources": [resource], "validateOnly": False}
        )
    assert [each["errorCode"] for each in told["responses"]] == [0]


def compacted(brokers: Several, members: Members, since: int) -> None:
    """Waits until the cleaner took half of what was written from an offset on; a segment is closed when the next record comes."""

    def half_is_gone() -> bool:
        members.steps(1)
        end = end_of_log(brokers)
        return len(offsets_on_disk(brokers, since)) < (end - since) / 2

    until(half_is_gone, 90)


def offsets_on_disk(brokers: Several, since: int) -> set[int]:
    """Of the leader's copy of the log, from an offset on; a file that the cleaner takes away meanwhile has none."""
    folder = brokers.pair[brokers.leader()].data / f"{OFFSETS}-0"
    found: set[int] = set()
    for path in folder.glob("*.log"):
        with contextlib.suppress(FileNotFoundError):
            for batch in read_batches(path.read_bytes()):
                if isinstance(batch, RecordBatch):
                    found.update(record.offset for record in batch.records)
    return {offset for offset in found if offset >= since}
