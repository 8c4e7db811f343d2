"""Records that no batch holds: who asked is told of a server error, and the group is as it was."""

from __future__ import annotations

import orjson
import pytest

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from simulations.protocol.coordinator.batch_size import BYTES_A_CHARACTER, batch_bytes
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.classic_runs import answers, callbacks, generations, violations

SCENARIO = """
protocol: {protocol}
topics: {{foo: {{partitions: 400}}}}
config: {{initial_rebalance_delay_ms: 0, max_message_bytes: {most}}}
members:
  A: {{subscribe: [foo], auto_commit: true}}
  B: {{subscribe: [foo]}}
script:
  - {{at: 0s, join: A}}
  - {{at: 20s, join: B}}
until: 100s
"""


def entries_of(protocol: str, most: int) -> list[Entry]:
    return list(run(load(SCENARIO.format(protocol=protocol, most=most), "orders")))


def codes(log: list[Entry], api: str, who: str) -> list[int]:
    return [entry.payload["body"]["errorCode"] for entry in answers(log, api, who)]


def units(log: list[Entry]) -> list[list[Entry]]:
    found: dict[int | None, list[Entry]] = {}
    for entry in log:
        if entry.kind is Kind.RECORD:
            found.setdefault(entry.unit, []).append(entry)
    return list(found.values())


@pytest.mark.parametrize(
    "name", ["released-basic", "released-regex", "kip429-cooperative", "released-static-replacement"]
)
def test_the_quick_look_at_records_never_takes_them_for_smaller_than_they_are(name: str) -> None:
    for unit in units(list(run(studies.load(name)))):
        records = [entry.payload for entry in unit]
        assert batch_bytes(records) <= BYTES_A_CHARACTER * len(orjson.dumps(records))


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_no_operation_of_a_run_writes_more_than_a_batch_may_hold(protocol: str) -> None:
    most = 10_000
    log = entries_of(protocol, most)
    assert 1_000 < max(batch_bytes([entry.payload for entry in unit]) for unit in units(log)) <= most
    assert violations(log) == []


def test_a_member_whose_target_is_too_large_ends_and_the_group_never_hears_of_it() -> None:
    log = entries_of("consumer", 3_000)
    assert codes(log, "ConsumerGroupHeartbeat", "A") == codes(log, "ConsumerGroupHeartbeat", "B") == [-1]
    assert not [entry for entry in log if entry.kind is Kind.RECORD]
    assert callbacks(log, "A") == []
    assert violations(log) == []


@pytest.mark.parametrize("brings", ["", ", assignors: [range]"])
def test_in_kip_a_target_that_is_too_large_is_not_written_and_members_stay_at_what_they_have(
    brings: str,
) -> None:
    text = SCENARIO.format(protocol="consumer", most=1_500)
    text = text.replace("B: {subscribe: [foo]}", f"B: {{subscribe: [foo]{brings}}}")
    log = list(run(load(text.replace("auto_commit: true", f"auto_commit: true{brings}"), "orders"), "kip"))
    types = {entry.payload["type"] for entry in log if entry.kind is Kind.RECORD}
    assert types == {3, 4, 5}, "members and epochs, and no target"
    assert set(codes(log, "ConsumerGroupHeartbeat", "A")) == {0}
    notes = [entry.payload["says"] for entry in log if entry.payload.get("note") == "not_written"]
    if brings:
        assert codes(log, "ConsumerGroupInstallAssignment", "A") == [-1]
    else:
        assert [says.split(" bytes")[1] for says in notes] == [", and 1500 are the most"] * len(notes)
        assert len(notes) == 2, "one for each epoch that wants a target"
    assert violations(log) == []
    whole = list(run(load(text.replace("1500", "3000"), "orders"), "kip"))
    sizes = [batch_bytes([entry.payload for entry in unit], Semantics.KIP) for unit in units(whole)]
    assert 1_500 < max(sizes) <= 3_000


def test_a_leader_whose_assignment_is_too_large_has_everybody_join_again_and_again() -> None:
    log = entries_of("classic", 900)
    assert set(codes(log, "SyncGroup", "A")) == {-1}
    assert len(codes(log, "JoinGroup", "A")) > 20, "each second, when its application polls again"
    assert list(generations(log)) == []
    thrown = {entry.payload["exception"] for entry in log if entry.payload.get("fault") == "poll_throws"}
    assert thrown == {"KafkaException"}
    assert violations(log) == []


def test_a_commit_that_is_too_large_is_refused_for_each_of_its_partitions_and_the_member_stays() -> None:
    log = entries_of("consumer", 9_000)
    refused = [
        {each["errorCode"] for topic in entry.payload["body"]["topics"] for each in topic["partitions"]}
        for entry in answers(log, "OffsetCommit", "A")
    ]
    assert {-1} in refused
    assert set(codes(log, "ConsumerGroupHeartbeat", "A")) == {0}
    assert violations(log) == []
