"""Where brokers of several releases wrote a log, the release of each stretch is named, with what shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.history.corpus import corpus, recorded
from tests.history.logs import FOO, Log, Records, record

R = Records()


def comes_and_goes(log: Log, epoch: int, *, with_target_epoch: bool) -> Log:
    """A member joins and leaves; 4.4 writes the target epoch of a group that emptied, an older release does not."""
    log.write(R.member("A"), R.epoch(epoch, 7), R.target("A", 0), R.target_epoch(epoch))
    emptied = [R.gone(5, "A"), R.epoch(epoch + 1)]
    return log.write(*emptied, *([R.target_epoch(epoch + 1, 0)] if with_target_epoch else []))


def changes(log: Log) -> list[tuple[str, str]]:
    findings: list[dict[str, Any]] = log.recorded().summary["findings"]
    return [(one["before"], one["release"]) for one in findings if one["kind"] == "release_changed"]


def test_a_real_broker_that_was_rolled_to_4_4_and_back_has_its_three_stretches_named() -> None:
    [log] = [each for each in corpus() if each.name == "recorded tie short"]
    summary = recorded(log).batch.summary
    found = [one for one in summary["findings"] if one["kind"] == "release_changed"]
    assert [(one["before"], one["release"]) for one in found] == [
        ("4.3", "4.4 or later"),
        ("4.4 or later", "older than 4.4"),
    ]
    assert found[0]["says"] == (
        "Kafka's release changed (4.3, then 4.4 or later): when a group emptied, its target epoch followed (a type 6 without a time)"
    )
    [first], [second] = (one["sequences"] for one in found)
    assert [log.entries[at - 1].payload["type"] for at in (first, second)] == [6, 3]
    assert figures(summary)["releases"] == ["4.3", "4.4 or later", "older than 4.4"]


def figures(summary: Any) -> Any:
    return summary["verdict"]["headline"]["figures"]


@pytest.mark.parametrize("with_target_epoch", [True, False])
def test_the_records_of_one_release_change_nothing(with_target_epoch: bool) -> None:
    log = Log()
    for epoch in (1, 3, 5):
        comes_and_goes(log, epoch, with_target_epoch=with_target_epoch)
    assert changes(log) == []
    shown = ["4.4 or later"] if with_target_epoch else ["4.3"]
    assert figures(log.recorded().summary)["releases"] == shown


def test_a_log_that_shows_no_release_names_none() -> None:
    log = Log()
    log.write(R.member("A"), R.epoch(1, 7), R.target("A", 0), R.target_epoch(1, 0))
    assert figures(log.recorded().summary)["releases"] == []


def test_a_change_of_release_is_the_headline_where_nothing_else_happened() -> None:
    log = Log()
    topics = {"groupId": "orders"}, {"topics": [{"topicId": FOO, "topicName": "foo", "numPartitions": 1}]}
    first = R.member("A"), record(4, *topics), R.epoch(1), R.target("A", 0), R.target_epoch(1, 0)
    log.write(*first, R.current("A", 1, 0, 0, {0: 1}))
    log.at(600_000).write(R.epoch(2, 7), R.target_epoch(2, 600_000), R.current("A", 2, 1, 0, {0: 1}))
    verdict = log.recorded().summary["verdict"]
    says = "Kafka's release changed (older than 4.1, then 4.3 or later)"
    assert verdict["headline"]["text"] == f"{says} at 10\u202fmin 0\u202fs."
    assert f"{says}: targets have a time (type 6)" in verdict["text"]


def test_each_change_is_named_once_however_often_a_release_shows_itself() -> None:
    log = Log()
    for turn, with_target_epoch in enumerate([False, False, True, True, False]):
        comes_and_goes(log, 1 + 2 * turn, with_target_epoch=with_target_epoch)
    assert changes(log) == [("4.3", "4.4 or later"), ("4.4 or later", "older than 4.4")]
