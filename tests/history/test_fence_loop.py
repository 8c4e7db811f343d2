"""KAFKA-19233 by hand: release 4.3.1 answers a join whatever the member's epoch is, so no run and no recording of it shows the loop."""

from __future__ import annotations

from typing import Any

from tests.history.logs import Log
from tests.history.test_causes import two_members

FENCED_MEMBER_EPOCH = 110


def looped(times: int) -> Log:
    """A is fenced at its epoch, joins with epoch 0, and is fenced again."""
    log = two_members()
    for turn in range(times):
        for after_ms, epoch in ((0, 3), (100, 0)):
            log.at(20_000 + turn * 5_000 + after_ms)
            log.refuse(log.heartbeat("A", epoch), "A", FENCED_MEMBER_EPOCH)
    return log


def found(log: Log) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == "fence_loop"]


def test_joins_that_are_fenced_again_and_again_are_a_fence_loop_and_open_the_verdict() -> None:
    log = looped(8)
    [one] = found(log)
    assert one["says"] == "Fence loop: A joined with epoch 0 and was fenced eight times in 35.0\u202fs"
    assert (one["needs"], one["certain"], len(one["steps"])) == (["requests"], True, 8)
    assert log.recorded().summary["verdict"]["text"].startswith(one["says"])


def test_a_join_that_is_fenced_twice_is_none() -> None:
    assert found(looped(2)) == []


def test_who_is_fenced_and_then_joins_is_in_no_loop() -> None:
    log = two_members()
    for turn in range(5):
        log.at(20_000 + turn * 60_000)
        log.refuse(log.heartbeat("A", 3), "A", FENCED_MEMBER_EPOCH)
        log.answer(log.heartbeat("A", 0), "A", 4)
    assert found(log) == []
