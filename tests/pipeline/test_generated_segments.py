"""The generated logs for measuring: byte for byte what the encoder gives, and histories without a contradiction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from groups.history.entries import Entry, Kind, Provenance
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from groups.wire.logs.batches import read_batches, write_segment
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record, encode_record
from tests.benchmarks.generated.mixes import MIXES, PARTITION, Written, partition_for
from tests.benchmarks.generated.segment_files import BATCH_BYTES_MAX

SIZES = {"typical": 12_000, "churn": 12_000, "many-groups": 60, "large-group": 300}


@pytest.fixture(scope="module", params=sorted(MIXES))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Written]:
    mix = str(request.param)
    return mix, MIXES[mix](tmp_path_factory.mktemp(mix), SIZES[mix], segment_bytes=400_000)


def test_every_byte_is_what_the_encoder_writes_for_what_the_decoder_reads(
    written: tuple[str, Written],
) -> None:
    _, log = written
    types: Counter[int] = Counter()
    for path in log.files:
        batches = list(batches_of(path))
        assert b"".join(write_segment(batches)) == path.read_bytes()
        for batch in batches:
            for record in batch.records:
                payload = decode_record(record.key, record.value)
                assert encode_record(payload) == (record.key, record.value)
                types[payload["type"]] += 1
    assert types == log.types
    assert types.total() == log.records
    assert sum(path.stat().st_size for path in log.files) == log.size_bytes


def test_offsets_are_dense_times_never_run_back_and_files_are_rolled_like_segments(
    written: tuple[str, Written],
) -> None:
    _, log = written
    next_offset, now_ms = 0, 0
    for path in log.files:
        assert int(path.stem) == next_offset
        assert path.stat().st_size <= 400_000
        for batch in batches_of(path):
            assert (batch.base_offset, batch.base_timestamp_ms >= now_ms) == (next_offset, True)
            next_offset, now_ms = batch.next_offset, batch.max_timestamp_ms
    assert next_offset == log.records


def test_a_groups_partition_is_the_one_that_kafka_gives_it() -> None:
    # By Java: Math.abs("…".hashCode()) % 50, of a negative, a positive and a negative hash.
    assert [partition_for(group) for group in ("orders", "orders-enrich", "join-of-three")] == [31, 17, 5]


def test_every_group_lies_in_the_partition_that_its_name_decides(written: tuple[str, Written]) -> None:
    _, log = written
    assert {partition_for(group) for group in log.groups} == {PARTITION}
    assert {path.parent.name for path in log.files} == {f"__consumer_offsets-{PARTITION}"}


def test_no_fold_of_a_group_finds_anything_that_a_coordinator_would_not_write(
    written: tuple[str, Written],
) -> None:
    mix, log = written
    found: Counter[str] = Counter()
    folded = dict(fold_all(log, found))
    assert found == Counter()
    assert set(folded) == set(log.groups)
    for state in folded.values():
        holders = Counter(
            (topic_id, partition)
            for member in state.consumer.members.values()
            for part in (member.assigned, member.pending_revocation)
            for topic_id, partitions in part.items()
            for partition in partitions
        )
        assert max(holders.values()) == 1
    if mix in ("many-groups", "large-group"):
        # These logs are written until everybody has what is meant for it.
        for state in folded.values():
            assert state.consumer.group_epoch == state.consumer.assignment_epoch
            assert {(member.epoch, member.state) for member in state.consumer.members.values()} == {
                (state.consumer.group_epoch, 0)
            }


def test_members_give_up_before_others_take_and_never_commit_what_is_not_theirs(
    written: tuple[str, Written],
) -> None:
    _, log = written
    states: Counter[int] = Counter()
    held: dict[tuple[str, str, int], str] = {}
    names: dict[str, str] = {}
    for payload in payloads(log):
        key, value = payload["key"], payload["value"]
        if payload["type"] == 1:
            names[value["topicId"]] = key["topic"]
            assert (key["group"], value["topicId"], key["partition"]) in held
        elif payload["type"] == 8:
            own = (key["groupId"], key["memberId"])
            for place in [place for place, member in held.items() if (place[0], member) == own]:
                del held[place]
            states[-1 if value is None else value["state"]] += 1
            for part in () if value is None else ("assignedPartitions", "partitionsPendingRevocation"):
                for row in value[part]:
                    for partition in row["partitions"]:
                        assert held.setdefault((own[0], row["topicId"], partition), own[1]) == own[1]
    assert {-1, 0, 1, 2} == set(states)


def test_the_share_of_commits_is_the_mixs(tmp_path: Path) -> None:
    shares = {}
    for mix in ("typical", "churn"):
        log = MIXES[mix](tmp_path / mix, 20_000)
        shares[mix] = log.types[1] / log.records
    assert shares == {"typical": pytest.approx(0.9, abs=0.01), "churn": pytest.approx(0.52, abs=0.01)}


def test_many_groups_have_five_rebalances_each(tmp_path: Path) -> None:
    log = MIXES["many-groups"](tmp_path, 40)
    epochs: Counter[str] = Counter()
    for payload in payloads(log):
        if payload["type"] == 3:
            epochs[payload["key"]["groupId"]] += 1
    assert len(epochs) == 40
    assert set(epochs.values()) == {5}


@pytest.mark.parametrize("mix", sorted(MIXES))
def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_log(tmp_path: Path, mix: str) -> None:
    def content(folder: str, seed: int) -> bytes:
        log = MIXES[mix](tmp_path / folder, min(SIZES[mix], 1_000), seed=seed)
        return b"".join(path.read_bytes() for path in log.files)

    assert content("a", 1) == content("b", 1)
    assert content("c", 2) != content("b", 1)


def test_a_request_that_no_broker_takes_is_refused_by_name(tmp_path: Path) -> None:
    from tests.benchmarks.generated.segment_files import PartitionLog

    log = PartitionLog(tmp_path, 17)
    with pytest.raises(ValueError, match="no coordinator writes it"):
        log.add(1, [(b"\0\1", bytes(BATCH_BYTES_MAX))])


def batches_of(path: Path) -> Iterator[RecordBatch]:
    for batch in read_batches(path.read_bytes()):
        assert isinstance(batch, RecordBatch), batch
        yield batch


def payloads(log: Written) -> Iterator[dict[str, Any]]:
    for path in log.files:
        for batch in batches_of(path):
            for record in batch.records:
                yield decode_record(record.key, record.value)


def fold_all(log: Written, found: Counter[str]) -> Iterator[tuple[str, State]]:
    """Each group's last state; what its entries contradict is counted in ``found``."""

    def by_group(payload: dict[str, Any]) -> str:
        return str(payload["key"].get("groupId") or payload["key"]["group"])

    for group, own in groupby(sorted(payloads(log), key=by_group), key=by_group):
        state = initial_state(group)
        for sequence, payload in enumerate(own, 1):
            entry = Entry(
                sequence=sequence, at_ms=sequence, kind=Kind.RECORD, actor="coordinator",
                provenance=Provenance.RECORDED, payload=payload, offset=sequence, unit=sequence, settled=True,
            )  # fmt: skip
            state = replay(state, entry)
            found.update(anomaly.kind for anomaly in state.anomalies)
        yield group, state
