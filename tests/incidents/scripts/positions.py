"""Offsets that are committed in transactions, and offsets that an administrator sets."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .deaths import workers

TRANSACTION_MS = 15_000


def aborted_transactions(stage: Stage) -> None:
    """Two clients read four partitions and commit their offsets in transactions, one every 2 s. exactly-1 aborts three of its transactions, one after the other, and goes on."""
    topic = stage.topic("orders", 4)
    clients = [stage.exactly(f"exactly-{number}", topic).enter() for number in (1, 2)]
    stage.begin()
    clients[0].abort(3)
    stage.steady(30)


def transaction_timeout(stage: Stage) -> None:
    """Two clients read four partitions and commit their offsets in transactions. exactly-2 is killed with SIGKILL in the middle of one; the transaction coordinator aborts it when its timeout of 15 s has passed."""
    topic = stage.topic("orders", 4)
    clients = [
        stage.exactly(f"exactly-{number}", topic, transaction_timeout_ms=TRANSACTION_MS).enter()
        for number in (1, 2)
    ]
    stage.begin()
    held = clients[1].hang_transaction()
    at_ms = stage.now_ms()
    stage.steady(1)
    clients[1].kill()
    stage.steady(60)
    stage.note(
        "transactions_aborted",
        f"The transaction of exactly-2 with offsets of {', '.join(held)} is aborted, when its timeout has passed.",
        at_ms=at_ms,
        duration_ms=stage.now_ms() - at_ms,
        partitions=held,
        times=1,
        tellable=True,
    )


def open_transaction(stage: Stage) -> None:
    """Two clients read four partitions and commit their offsets in transactions. exactly-2 sends the offsets of one and neither commits nor aborts it; it stays in the group, until the log is copied 60 s later."""
    topic = stage.topic("orders", 4)
    clients = [stage.exactly(f"exactly-{number}", topic).enter() for number in (1, 2)]
    stage.begin()
    at_ms = stage.now_ms()
    held = clients[1].hang_transaction()
    stage.steady(60)
    stage.note(
        "transaction_open",
        f"The transaction of exactly-2 that holds offsets of {', '.join(held)} has no end.",
        at_ms=at_ms,
        duration_ms=stage.now_ms() - at_ms,
        clients=[],
        partitions=held,
        tellable=True,
        detail=stage.producer_id("exactly-2"),
    )


def offsets_reset(stage: Stage) -> None:
    """Two clients read four partitions and close. An administrator sets all offsets of the empty group to the beginning with kafka-consumer-groups. Then both are started again."""
    topic = stage.topic("orders", 4)
    for client in workers(stage, topic, 2):
        client.leave()
    stage.steady(8)
    stage.reset_offsets(topic, 4)
    stage.steady(8)
    for name in ("worker-1", "worker-2"):
        stage.java(name, topic).enter()
    stage.steady(25)
