"""What happens while a group has just formed, and what does not happen any more."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .classics import EAGER
from .deaths import workers

QUIET_S = 90


def early_kill(stage: Stage) -> None:
    """Three clients start together and read six partitions. 9 s after the last was given partitions one is killed with SIGKILL."""
    topic = stage.topic("orders", 6)
    clients = [stage.java(f"worker-{number}", topic) for number in (1, 2, 3)]
    for client in clients:
        client.join()
    for client in clients:
        client.wait_for_partitions()
    stage.begin_at_once()
    stage.steady(9)
    clients[1].kill()
    stage.steady(40)


def early_leave(stage: Stage) -> None:
    """Three classic clients with the range assignor start together and read six partitions. 5 s after the group formed one closes."""
    topic = stage.topic("orders", 6)
    clients = [stage.classic(f"worker-{number}", topic, **EAGER) for number in (1, 2, 3)]
    for client in clients:
        client.join()
    for client in clients:
        client.wait_for_partitions()
    stage.begin_at_once()
    stage.steady(5)
    clients[2].leave()
    stage.steady(40)


def late_member(stage: Stage) -> None:
    """Three clients start together and read eight partitions. A fourth joins 7 s after the last of them was given partitions."""
    topic = stage.topic("orders", 8)
    clients = [stage.java(f"worker-{number}", topic) for number in (1, 2, 3)]
    late = stage.java("worker-4", topic)
    for client in clients:
        client.join()
    for client in clients:
        client.wait_for_partitions()
    stage.begin_at_once()
    stage.steady(7)
    late.enter()
    stage.note(
        "scaled",
        "worker-4 is added to three clients.",
        at_ms=stage.facts[-1]["at_ms"],
        clients=["worker-4"],
        times=1,
        tellable=True,
    )
    stage.steady(40)


def kill_then_quiet(stage: Stage) -> None:
    """Three clients read six partitions. One is killed with SIGKILL; then nothing is done for 90 s."""
    clients = workers(stage, stage.topic("orders", 6), 3)
    clients[1].kill()
    stage.steady(15)
    at_ms = stage.now_ms()
    stage.steady(QUIET_S)
    stage.note(
        "quiet_since",
        f"Nothing is done to the group from here on, for {QUIET_S} s.",
        at_ms=at_ms,
        duration_ms=stage.now_ms() - at_ms,
        tellable=True,
    )


def leave_after_commit(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. One commits, and closes 0.8 s later."""
    topic = stage.topic("orders", 6)
    clients = [stage.classic(f"worker-{number}", topic, **EAGER).join() for number in (1, 2, 3)]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    clients[1].member.commit()
    clients[1].wait_for("committed")
    stage.steady(0.8)
    clients[1].leave()
    stage.steady(30)


def overrun_no_return(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. worker-3 may take 5 s between two polls, stops to poll, and does not poll again; its heartbeats go on until then."""
    topic = stage.topic("orders", 6)
    clients = [
        stage.classic("worker-1", topic, **EAGER).join(),
        stage.classic("worker-2", topic, **EAGER).join(),
        stage.classic("worker-3", topic, max_poll_interval_ms=5_000, **EAGER).join(),
    ]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    clients[2].hang()
    stage.steady(40)
