"""What the proposal's records hold beside the released ones: the group's epoch, and what a client-side assignor told."""

from __future__ import annotations

import pytest

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from simulations.invariants import INVARIANT_FAULT
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load

BROUGHT = """\
group: g
semantics: kip
assignor: client:streams
topics: {{foo: {{partitions: 4}}}}
members:
  A: {{subscribe: [foo], instance_id: i}}
  B: {{subscribe: [foo], assignors: [range]}}
script: [{{at: 0s, join: A}}, {script}]
until: 120s
"""

MIXED = """\
group: g
semantics: kip
topics: {foo: {partitions: 4}, bar: {partitions: 2}}
members:
  A: {subscribe: [foo]}
  B: {subscribe: [foo], protocol: classic, assignors: [cooperative-sticky], instance_id: b}
script: [{at: 0s, join: B}, {at: 20s, join: A}, {at: 40s, restart: B}, {at: 60s, subscribe: B, topics: [foo, bar]}]
until: 120s
"""


def violations(log: list[Entry]) -> list[str]:
    faults = [each.payload for each in log if each.kind is Kind.FAULT]
    return [fault["says"] for fault in faults if fault["fault"] == INVARIANT_FAULT]


def epochs_named_too_early(log: list[Entry]) -> list[tuple[int, int, int]]:
    """Sequence of each type 5 whose epoch is not the group's latest at the end of its batch; that epoch, and the latest."""
    found, latest, waiting = [], 0, list[tuple[int, int]]()
    for entry in log:
        if entry.kind is not Kind.RECORD:
            continue
        value = entry.payload["value"]
        if entry.payload["type"] == 3 and value is not None:
            latest = value["epoch"]
        elif entry.payload["type"] == 5 and value is not None:
            waiting.append((entry.sequence, value["groupEpoch"]))
        if entry.settled:
            found += [(sequence, epoch, latest) for sequence, epoch in waiting if epoch > latest]
            waiting.clear()
    return found


@pytest.mark.parametrize("study", ["kip848-migration", "kip848-client-side", "kip848-streams-migration"])
def test_the_members_records_of_the_case_studies_name_epochs_that_there_are(study: str) -> None:
    """Records, ConsumerGroupMemberMetadataValue: "the GroupEpoch is always the latest epoch of the group"."""
    log = list(run(studies.load(study), Semantics.KIP))
    assert any(each.payload.get("type") == 5 for each in log)
    assert epochs_named_too_early(log) == []


def test_a_join_that_changes_no_subscription_names_the_epoch_that_goes_on() -> None:
    log = list(run(load(MIXED)))
    assert epochs_named_too_early(log) == []
    assert violations(log) == []


def test_the_group_after_a_fail_over_is_the_one_before_where_an_assignors_note_has_gone() -> None:
    """A target without an assignor's metadata is no target with empty metadata: the compacted log has no such thing."""
    log = list(run(load(BROUGHT.format(script="{at: 20s, join: B}, {at: 40s, fail_over: coordinator}"))))
    assert any("metadataBytes" in (each.payload.get("value") or {}) for each in log)
    assert violations(log) == []


def test_a_static_member_that_is_back_keeps_its_assignors_and_what_they_told() -> None:
    log = list(run(load(BROUGHT.format(script="{at: 20s, restart: A}, {at: 50s, fail_over: coordinator}"))))
    records = [each.payload for each in log if each.kind is Kind.RECORD and each.at_ms >= 20_000]
    own = {
        record["type"]: record["value"]
        for record in records
        if record["key"].get("memberId") == "A~2" and record["value"] is not None
    }
    assert [row["name"] for row in own[5]["assignors"]] == ["stream"]
    assert own[7]["metadataBytes"] == own[8]["metadataBytes"] != ""
    assert violations(log) == []
