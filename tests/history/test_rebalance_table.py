"""The table of a timeline's rebalances, from its summary alone."""

from __future__ import annotations

import pytest

from groups.history.passes.recorder import Recorder
from groups.history.verdict.rebalances import RebalanceRow, rebalances_of
from simulations.world import studies
from simulations.world.engine import run

pytestmark = pytest.mark.once


def table(name: str) -> list[RebalanceRow]:
    recorder = Recorder(group=name)
    for entry in run(studies.load(name)):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    summary = batch.summary
    return rebalances_of(summary["epochs"], summary["findings"], summary["last"], summary["last_ms"] or 0)


def test_a_rebalance_has_its_cause_what_moved_and_who_held_it_up() -> None:
    began, joins, removed, back = table("incident-slow-revocation")
    assert (began["causes"], began["moved"]) == (["A and B were already members"], 0)
    assert (joins["epoch"], joins["causes"], joins["who"]) == (31, ["C joined"], ["C"])
    # A does not release payments-2 in time: of the two partitions of C only B's one moves.
    assert (joins["moved"], joins["interrupted"]) == (1, ["B"])
    assert [text.split(" waited")[0] for text in joins["blocked"]] == ["C", "C"]
    assert "payments-2" in joins["blocked"][0]
    assert joins["until_ms"] == removed["at_ms"]
    assert (removed["who"], removed["moved"], removed["interrupted"]) == (["A"], 3, ["A"])
    assert (back["causes"], back["moved"], sorted(back["interrupted"])) == (["A rejoined"], 2, ["B", "C"])


def test_an_eager_generation_stops_every_member_and_added_partitions_are_a_cause() -> None:
    assert [row["stops_all"] for row in table("kip429-eager")] == [False, False, True]
    assert table("released-partition-added")[-1]["causes"] == ["foo grew from 1 to 2 partitions"]
    assert rebalances_of([], [], 0, 0) == []
