"""Commits in transactions: who may, what is written, when it holds, and what is pending until then."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Entry, Kind, RecordKey
from groups.releases import Release
from simulations.invariants import INVARIANT_FAULT
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.transactions import end_of
from simulations.protocol.messages.classic_requests import JoinGroup
from simulations.protocol.messages.groups import CommittedOffset, TransactionalCommit
from simulations.world.engine import run
from simulations.world.engine.cluster import compacted
from simulations.world.scenario import load
from tests.simulations.broker import BAR, GROUP, Broker
from tests.simulations.test_offsets import DAY_MS, commit, fetch, foo, two_members

UNSTABLE = 88
NOBODYS = {"member_id": "", "member_epoch": -1}


def commit_in(
    broker: Broker, producer: int, *offsets: CommittedOffset, **fields: Any
) -> list[tuple[int, int]]:
    """``(partition, code)`` of the answer, in its order; of nobody unless a member is named."""
    request = TransactionalCommit(
        **{
            "group_id": GROUP,
            "transactional_id": f"p-{producer}",
            "producer_id": producer,
            "offsets": offsets or (foo(0),),
            **NOBODYS,
            **fields,
        }
    )
    broker.last = outcome = broker.shard.commit(request, broker.now_ms)
    return [(partition, int(code)) for _, partition, code in outcome.answer.error_codes]


def told(broker: Broker, **fields: Any) -> list[tuple[int, int]]:
    """``(offset or -1, code)`` of the first two partitions of foo."""
    return [(each.offset, int(each.error_code)) for each in fetch(broker, **fields).offsets]


def end(broker: Broker, producer: int, *, committed: bool = True) -> list[int]:
    """The partitions whose commits are in force from here on."""
    return [each["key"]["partition"] for each in broker.shard.end_transaction(producer, committed=committed)]


def test_a_commit_holds_when_its_transaction_is_committed_and_until_then_it_is_unstable() -> None:
    broker = Broker()
    broker.join("A")
    commit(broker, "A", 2, foo(0, offset=1))
    assert commit_in(broker, 7, foo(0), foo(1), member_id="A", member_epoch=2) == [(0, 0), (1, 0)]
    assert [record["producer"] for record in broker.last.records] == [7, 7]
    assert told(broker, require_stable=True) == [(-1, UNSTABLE)] * 2
    assert told(broker) == [(1, 0), (-1, 0)]
    assert sorted(end(broker, 7)) == [0, 1]
    assert told(broker, require_stable=True) == [(5, 0), (5, 0)]
    assert end(broker, 7) == []


def test_an_aborted_transaction_leaves_what_was_there_before() -> None:
    broker = Broker()
    broker.join("A")
    commit(broker, "A", 2, foo(0, offset=1))
    commit_in(broker, 7, foo(0), foo(1))
    assert end(broker, 7, committed=False) == []
    assert told(broker, require_stable=True) == [(1, 0), (-1, 0)]


def test_the_newest_commit_of_a_partition_wins_by_its_place_in_the_log() -> None:
    broker = Broker()
    broker.join("A")
    commit_in(broker, 7, foo(0, offset=1), foo(1, offset=1))
    commit(broker, "A", 2, foo(0, offset=2))
    commit_in(broker, 8, foo(1, offset=3))
    assert end(broker, 8) == [1]
    assert told(broker, require_stable=True) == [(-1, UNSTABLE)] * 2
    assert end(broker, 7) == []
    assert told(broker) == [(2, 0), (3, 0)]


def test_a_producer_that_commits_a_partition_again_commits_the_last_one() -> None:
    broker = Broker()
    commit_in(broker, 7, foo(0, offset=1))
    commit_in(broker, 7, foo(0, offset=2))
    assert end(broker, 7) == [0]
    assert told(broker)[0] == (2, 0)


@pytest.mark.parametrize(
    ("who", "epoch", "version", "code"),
    [
        ("A", 3, 6, 0),
        ("A", 2, 6, 0),
        ("A", 1, 6, 113),
        ("A", 1, 5, 22),
        ("A", 4, 6, 113),
        ("A", 4, 5, 22),
        ("A", -1, 5, 22),
        ("C", 3, 6, 25),
        ("", 3, 6, 25),
        ("", -1, 5, 0),
        ("", -1, 0, 0),
    ],
)
def test_members_commit_at_their_epoch_and_nobody_may_at_any_time(
    who: str, epoch: int, version: int, code: int
) -> None:
    broker = two_members()
    broker.heartbeat("A", 2, {broker.shard.image.topics["foo"].topic_id: (0, 1)})
    assert broker.member("A").epoch == 3
    assert commit_in(broker, 7, member_id=who, member_epoch=epoch, version=version) == [(0, code)]
    if (who, epoch) == ("", -1):
        named = commit_in(broker, 7, member_id=who, member_epoch=epoch, version=version, instance_id="i")
        assert named == [(0, 25)], "who names an instance is somebody"
        assert commit(broker, who, epoch) == [(0, 25)], "without a transaction nobody may"


@pytest.mark.parametrize(("epoch", "version", "code"), [(-1, 6, 0), (0, 6, 69), (3, 5, 22), (3, 3, 22)])
def test_without_a_group_a_generation_is_refused(epoch: int, version: int, code: int) -> None:
    broker = Broker()
    assert commit_in(broker, 7, member_epoch=epoch, version=version) == [(0, code)]


@pytest.mark.parametrize(("version", "code"), [(6, 100), (5, 3)])
def test_a_topic_that_is_not_there_is_unknown_by_its_id_or_its_name(version: int, code: int) -> None:
    broker = Broker()
    none = CommittedOffset(topic="none", topic_id="AAAAAAAAAAAAAAAAAAAAQQ", partition=0, offset=1)
    assert commit_in(broker, 7, none, foo(0), version=version) == [(0, code), (0, 0)]


@pytest.mark.parametrize(("release", "has_id"), [(Release.V4_3_1, False), (Release.V4_4_0, True)])
def test_its_records_have_the_topic_id_from_4_4_on(release: Release, has_id: bool) -> None:
    broker = Broker(release=release)
    commit_in(broker, 7, version=5)
    [record] = broker.last.records
    assert record["version"] == 4
    assert ("topicId" in (record["value"] or {})) == has_id


def test_a_member_of_the_classic_protocol_may_also_commit_while_its_group_rebalances() -> None:
    broker = Broker()
    request = JoinGroup(
        group_id=GROUP,
        member_id="",
        instance_id="i",
        protocol_type="consumer",
        protocols=(("range", b"\0\0\0\0\0\1\0\3foo\xff\xff\xff\xff"),),
        client_id="A",
        client_host="/h",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
    )
    broker.shard.join(request, 0, ticket=1, drawn_id="A")
    broker.shard.expired("join", None, None, 3_000)
    group = broker.shard.memory.classic
    assert group is not None
    [member] = group.members
    assert (str(group.state), group.generation) == ("CompletingRebalance", 1)
    assert commit(broker, member, 1) == [(0, 27)]
    assert commit_in(broker, 7, member_id=member, member_epoch=1) == [(0, 0)]
    assert not broker.last.timers
    assert commit_in(broker, 7, member_id=member, member_epoch=2) == [(0, 22)]
    assert commit_in(broker, 7) == [(0, 0)]


def test_a_group_of_pending_offsets_alone_is_there_and_is_deleted_with_them() -> None:
    broker = Broker()
    commit_in(broker, 7, foo(0), foo(1))
    listed = broker.shard.listed()
    assert listed is not None
    assert listed["groupState"] == "Empty"
    commit(broker, "", -1, foo(1, offset=1))
    gone = broker.shard.delete_group(0).records
    assert [(each["type"], each["key"].get("partition")) for each in gone] == [(1, 1), (1, 0), (2, None)]
    assert end(broker, 7) == []
    assert told(broker, require_stable=True) == [(-1, 0)] * 2


def test_what_a_transaction_holds_does_not_expire_and_neither_does_its_group() -> None:
    broker = Broker()
    commit(broker, "", -1, foo(0), foo(1))
    commit_in(broker, 7, foo(0))
    old_ms = broker.now_ms + 7 * DAY_MS
    assert [each["key"]["partition"] for each in broker.shard.expire_offsets(old_ms).records] == [1]
    end(broker, 7, committed=False)
    assert [each["type"] for each in broker.shard.expire_offsets(old_ms).records] == [1, 2]


def test_a_deleted_topic_takes_its_pending_offsets_with_it_producer_by_producer() -> None:
    broker = Broker()
    broker.join("A", "foo", "bar")
    bar = CommittedOffset(topic="bar", topic_id=BAR, partition=0, offset=1)
    commit(broker, "A", 2, bar)
    for producer in (7, 8):
        commit_in(broker, producer, bar, foo(0))
    topic = broker.shard.image.topics["bar"]
    gone = broker.shard.topics_deleted([topic], 0).records
    assert [each["key"] for each in gone] == [{"group": GROUP, "topic": "bar", "partition": 0}] * 3
    assert end(broker, 7) == [0]


def test_a_new_coordinator_knows_what_is_pending_and_the_ends_that_it_reads() -> None:
    broker = Broker()
    commit_in(broker, 7, foo(0))
    held = broker.last.records
    commit_in(broker, 8, foo(1))
    log = [*held, *broker.last.records, end_of(8, committed=True)]
    later = Broker()
    later.shard.load(log)
    assert told(later, require_stable=True) == [(-1, UNSTABLE), (5, 0)]
    assert end(later, 7) == [0]
    assert told(later, require_stable=True) == [(5, 0), (5, 0)]


# -- in scenarios

WORLD = """
group: g
brokers: {release}
topics: {{foo: {{partitions: 2}}}}
members: {{A: {{subscribe: [foo]}}}}
script: [{{at: 0s, join: A}}, {script}]
until: 60s
"""


def played(script: str, release: str = "4.4.0", semantics: str = "kafka") -> list[Entry]:
    entries = list(run(load(WORLD.format(script=script, release=release)), semantics))
    broken = [e.payload for e in entries if e.kind is Kind.FAULT and e.payload["fault"] == INVARIANT_FAULT]
    assert broken == []
    return entries


def offsets(entries: list[Entry]) -> list[tuple[int, int, int]]:
    """``(when, partition, offset)`` of each commit that is in force."""
    return [
        (each.at_ms, each.payload["key"]["partition"], each.payload["value"]["offset"])
        for each in entries
        if each.kind is Kind.RECORD and each.payload["type"] == 1
    ]


def commits(entries: list[Entry]) -> list[Entry]:
    return [
        each for each in entries if each.kind is Kind.REQUEST and each.payload["api"] == "TxnOffsetCommit"
    ]


@pytest.mark.parametrize(("release", "version"), [("4.3.1", 5), ("4.4.0", 6)])
def test_a_scenarios_transaction_is_in_force_when_it_is_committed(release: str, version: int) -> None:
    entries = played(
        "{at: 10s, commit_in_transaction: A, offset: 7}, {at: 20s, end_transaction: A},"
        "{at: 30s, commit_in_transaction: A, offset: 9}, {at: 40s, end_transaction: A, how: abort}",
        release,
    )
    assert [each.payload["version"] for each in commits(entries)] == [version] * 2
    assert {each.payload["body"]["producerId"] for each in commits(entries)} == {4_001}
    assert sorted(offsets(entries)) == [(20_000, 0, 7), (20_000, 1, 7)]
    assert all("producer" not in each.payload for each in entries if each.kind is Kind.RECORD)


@pytest.mark.parametrize("clean", ["log", "compacted"])
def test_the_next_coordinator_ends_the_transactions_of_the_last_one(clean: str) -> None:
    entries = played(
        "{at: 5s, commit: A, offset: 3}, {at: 10s, commit_in_transaction: A, offset: 7},"
        f"{{at: 15s, fail_over: coordinator, loading: 2s, from: {clean}}}, {{at: 16s, end_transaction: A}}"
    )
    ends = [each.at_ms for each in entries if each.kind is Kind.NOTE and "committed" in each.payload]
    assert [17_000 <= at_ms < 18_000 for at_ms in ends] == [True]
    assert sorted(offsets(entries)[2:]) == [(ends[0], 0, 7), (ends[0], 1, 7)]


def test_the_cleaner_keeps_what_ended_transactions_committed_and_all_behind_an_open_one() -> None:
    def offset(number: int, producer: int | None = None) -> Record:
        key: RecordKey = {"group": "g", "topic": "t", "partition": 0}
        record: Record = {"type": 1, "key": key, "version": 4, "value": {"offset": number}}
        return record if producer is None else {**record, "producer": producer}

    begun = [offset(1), offset(2, 7), offset(3, 8), end_of(7, committed=True), end_of(8, committed=False)]
    assert compacted(begun) == [offset(2)]
    later = [*begun, offset(4, 9), offset(5), offset(6)]
    assert compacted(later) == [offset(2), offset(4, 9), offset(5), offset(6)]


def test_who_is_no_member_any_more_commits_nothing() -> None:
    entries = played(
        "{at: 10s, commit_in_transaction: A, offset: 7}, {at: 20s, leave: A}, {at: 25s, commit_in_transaction: A},"
        "{at: 30s, end_transaction: A}"
    )
    assert len(commits(entries)) == 1
    assert len(offsets(entries)) == 2
