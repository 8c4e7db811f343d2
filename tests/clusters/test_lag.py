"""The lag of a watched group is what Kafka's own tool prints, and its seconds are the age of the records; deleted records are counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from groups import storage
from groups.cluster_models import Cluster
from groups.storage.lag import LagAnswer
from groups.watching import pulling
from tests.clusters.lag_at_length import COMMIT_MS, KINDS, held, prices
from tests.clusters.releases.tool import Tool, rows, tool_of
from tests.clusters.secure import Secure
from tests.clusters.watched import Watch, cluster, row, until

__all__ = ["cluster"]

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

PARTITIONS = 4
PHASES = 3
PHASE_S = 3.0


@pytest.fixture(scope="module")
def tool(secure: Secure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    with tool_of(secure.node, tmp_path_factory.mktemp("tool")) as made:
        yield made


class Traffic:
    """Records at an even pace with the broker's time of each, and commits of a reader that falls behind."""

    def __init__(self, secure: Secure, group: str) -> None:
        broker = {"bootstrap.servers": secure.address("PLAINTEXT")}
        self.topic = f"t{time.time_ns()}"
        with secure.node.connect() as connection:
            connection.create_topic(self.topic, PARTITIONS, message_timestamp_type="LogAppendTime")
        self.written_ms: list[list[int]] = [[] for _ in range(PARTITIONS)]
        self.commits: list[list[tuple[int, int, int]]] = [[] for _ in range(PARTITIONS)]
        """When each was sent and acknowledged, and its offset."""

        self._producer = Producer({**broker, "linger.ms": 0})
        self._consumer = Consumer({**broker, "group.id": group, "enable.auto.commit": False})

    def write(self, length_s: float) -> None:
        until_s = time.monotonic() + length_s
        while time.monotonic() < until_s:
            for partition in range(PARTITIONS):
                self._producer.produce(self.topic, b"x", partition=partition, on_delivery=self._delivered)
            self._producer.poll(0.02)
        assert self._producer.flush(60) == 0

    def _delivered(self, error: object, message: Message) -> None:
        assert error is None
        self.written_ms[message.partition() or 0].append(message.timestamp()[1])

    def commit(self, share: float) -> None:
        """Commit so much of what partition 0 has, and a tenth less of each next one."""
        wanted = [
            TopicPartition(self.topic, partition, int(len(written) * max(0.0, share - partition / 10)))
            for partition, written in enumerate(self.written_ms)
        ]
        sent_ms = time.time_ns() // 1_000_000
        self._consumer.commit(offsets=wanted, asynchronous=False)
        acked_ms = time.time_ns() // 1_000_000
        for each in wanted:
            self.commits[each.partition].append((sent_ms, acked_ms, each.offset))

    def committed(self, partition: int, before_ms: int, at_ms: int) -> set[int]:
        """The offsets that a look may find which began after ``before_ms`` and ended within half a second of ``at_ms``."""
        some = self.commits[partition]
        older = [offset for _, acked_ms, offset in some if acked_ms <= before_ms][-1:]
        return {*older, *(each for sent, acked, each in some if acked > before_ms and sent <= at_ms + 500)}

    def delete(self, secure: Secure, partition: int, records: int) -> None:
        """Delete so many records that are not read yet, as retention does."""
        before = self.commits[partition][-1][2] + records
        admin = AdminClient({"bootstrap.servers": secure.address("PLAINTEXT")})
        for done in admin.delete_records([TopicPartition(self.topic, partition, before)]).values():
            done.result()

    def close(self) -> None:
        self._consumer.close()


def lag_of(group: str) -> LagAnswer | None:
    found = row(group)
    if found is None or found.timeline is None:
        return None
    timeline = storage.get(found.timeline.pk)
    return storage.lag_between(timeline, 1, timeline.last, storage.POINTS_MOST) if timeline.last else None


def printed(tool: Tool, group: str) -> dict[int | None, int | None]:
    found = rows(tool.say("--describe", "--group", group))
    return {int(each["PARTITION"]): int(each["LAG"]) for each in found}


def lag_after(group: str, at_ms: int) -> dict[int | None, int | None] | None:
    """By partition the lag of the newest round, once one began after ``at_ms``."""
    answer = lag_of(group)
    if answer is None or not answer["times_ms"] or answer["times_ms"][-1] <= at_ms:
        return None
    found = {line["partition"]: line["records"][-1] for line in answer["lines"]}
    return found if len(found) == PARTITIONS else None


class Age(NamedTuple):
    """What a look gave as the age of a partition's oldest unread record, and the truth, in seconds."""

    seconds: float
    truth_s: float
    round_s: float
    """The time between the two looks around the moment when the record was written."""


def ages(answer: LagAnswer | None, traffic: Traffic) -> list[Age]:
    """Of each look that saw one known offset, and of each record that was written after the first look."""
    found = []
    looks = answer["times_ms"] if answer is not None else []
    for line in answer["lines"] if answer is not None else []:
        partition = line["partition"] or 0
        written = traffic.written_ms[partition]
        for at in range(1, len(looks)):
            seconds = line["seconds"][at]
            now = traffic.committed(partition, looks[at - 1], looks[at])
            if not seconds or len(now) != 1:
                continue
            [offset] = now
            if offset >= len(written) or looks[0] > written[offset]:
                continue
            first = max(number for number, look in enumerate(looks) if look <= written[offset])
            round_s = (looks[min(first + 1, at)] - looks[first]) / 1000
            found.append(Age(seconds, (looks[at] - written[offset]) / 1000, round_s))
    return found


@pytest.mark.parametrize("follow", [False, True], ids=["polled", "followed"])
def test_the_lag_is_what_kafkas_tool_prints_and_its_seconds_are_the_age_of_the_first_unread_record(
    secure: Secure, cluster: Cluster, tool: Tool, follow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling, "LAG_EVERY_S", 1.0)
    monkeypatch.setattr(pulling, "STARTS_EVERY_S", 1.0)
    group = f"g{time.time_ns()}"
    traffic = Traffic(secure, group)
    with Watch(cluster, groups=[group], follow=follow):
        for phase in range(PHASES):
            traffic.write(PHASE_S)
            traffic.commit(0.9 - phase / 10)
            before = printed(tool, group)
            now_ms = time.time_ns() // 1_000_000
            ours = until(lambda now_ms=now_ms: lag_after(group, now_ms))  # type: ignore[misc]
            # Nothing is written or committed meanwhile: the tool prints the same before and after our look.
            assert printed(tool, group) == before
            assert ours == before
        # The row of the list has the age of the oldest record: it grows while nobody reads.
        oldest_ms = min(
            traffic.written_ms[partition][traffic.commits[partition][-1][2]]
            for partition in range(PARTITIONS)
        )
        seen = row(group)
        assert seen is not None
        age_ms = time.time_ns() // 1_000_000 - oldest_ms
        until(lambda: (found := row(group)) and found.facts["lag_ms"] >= age_ms - 1)
        late = row(group)
        assert late is not None
        now_ms = time.time_ns() // 1_000_000
        assert late.facts["lag_ms"] <= (now_ms - oldest_ms) * 1.1 + 2000
        assert late.facts["lag"] == sum(each or 0 for each in ours.values())
        assert late.facts["lost_records"] == 0
        # A look is one a second at most: a busy machine needs longer for as many.
        until(lambda: len(ages(lag_of(group), traffic)) >= PARTITIONS * PHASES)
        dated = ages(lag_of(group), traffic)
        traffic.delete(secure, 1, 7)
        traffic.delete(secure, 2, 30)
        lost = until(lambda: (found := row(group)) and found.facts["lost_records"] == 37 and found.facts)
        assert lost["lost_partition"] == f"{traffic.topic}-2"
    traffic.close()
    assert not [one for one in dated if abs(one.seconds - one.truth_s) > max(one.truth_s / 10, one.round_s)]


def test_amid_rebalances_the_lag_lies_between_what_kafkas_tool_prints_before_and_after(
    secure: Secure, cluster: Cluster, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling, "LAG_EVERY_S", 1.0)
    found = held(secure, cluster, tool, 12, None)
    assert found.wrong == []
    assert found.dated


def test_a_kill_an_eager_a_cooperative_and_a_consumer_rebalance_cost_what_the_clients_logs_of_their_reads_show(
    secure: Secure, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same load; within one commit interval of each partition that nobody read for a while."""
    monkeypatch.setattr(pulling, "LAG_EVERY_S", 1.0)
    found = prices(secure, cluster)
    assert [one.kind for one in found] == [*KINDS]
    for one in found:
        assert abs(one.unread_ms - one.true_unread_ms) <= COMMIT_MS * one.pieces, one
        assert one.twice_most is not None
        assert one.twice_least <= one.true_twice <= one.twice_most, one
