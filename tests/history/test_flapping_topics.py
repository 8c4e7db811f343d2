"""Metadata flapping: epochs that rise since topics change, three or more of them, at most five minutes apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from groups.history.findings.patterns.metadata_flapping import APART_MOST_MS
from tests.history.logs import FOO, STABLE, Log, Records

R = Records()


def changing(times_ms: Iterable[int]) -> Log:
    """A member, and an epoch with another hash of its topics at each of these times."""
    log = Log()
    joins = (R.member("A"), R.epoch(2, 1), R.target("A", 0), R.target_epoch(2))
    log.write(*joins, R.current("A", 2, 0, STABLE, {0: 2}))
    for number, at_ms in enumerate(times_ms, 3):
        log.at(at_ms).write(R.epoch(number, number))
    return log


def found(log: Log) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = list(log.recorded().summary["findings"])  # type: ignore[arg-type]
    return [one for one in findings if one["kind"] == "metadata_flapping"]


@pytest.mark.parametrize(("changes", "told"), [(2, False), (3, True), (5, True)])
def test_three_changes_of_the_metadata_without_a_change_of_members_are_flapping(
    changes: int, told: bool
) -> None:
    times_ms = [1_000 * number for number in range(1, changes + 1)]
    findings = found(changing(times_ms))
    assert len(findings) == told
    for one in findings:
        assert (one["count"], one["from_ms"], one["to_ms"]) == (changes, 1_000, 1_000 * changes)
        assert one["length_ms"] == 1_000 * (changes - 1)
        assert len(one["steps"]) == changes
        assert one["says"].replace("\u202f", " ") == (
            f"Metadata flapping: {changes} group epochs in {changes - 1}.0 s without a change of members"
        )


def test_changes_that_lie_farther_apart_are_of_two_stretches() -> None:
    first = [1_000, 1_000 + APART_MOST_MS, 1_000 + 2 * APART_MOST_MS]
    (one,) = found(changing(first))
    assert one["count"] == 3
    late = first[-1] + APART_MOST_MS + 1
    assert [one["count"] for one in found(changing([*first, late, late + 1]))] == [3]
    assert [one["from_ms"] for one in found(changing([*first, late, late + 1, late + 2]))] == [1_000, late]


def test_epochs_of_members_that_come_or_subscribe_otherwise_are_no_flapping() -> None:
    log = changing([1_000, 2_000])
    log.at(3_000).write(R.member("A", ["foo", "bar"]), R.epoch(5, 5))
    log.at(4_000).write(R.member("B"), R.epoch(6, 6), R.current("B", 6, 0, STABLE))
    log.at(5_000).write(R.epoch(7, 6))
    assert found(log) == [], "and the last one has the hash of the one before"


def test_the_topics_that_came_and_went_meanwhile_are_named_where_the_cluster_tells() -> None:
    log = changing([])
    log.at(900).topics(foo={"id": FOO, "partitions": 1})
    log.at(1_000).write(R.epoch(3, 3))
    log.at(1_900).topics(foo=None)
    log.at(2_000).write(R.epoch(4, 4))
    log.at(2_900).topics(foo={"id": "ICAgICAgICAgICAgICAgIA", "partitions": 1})
    log.at(3_000).write(R.epoch(5, 5))
    (one,) = found(log)
    assert (one["topics"], one["needs"]) == (["foo"], ["records", "notes"])
    assert one["says"].endswith(" without a change of members, as foo came and went")
