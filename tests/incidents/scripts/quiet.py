"""Nothing happens: what a product says here is either "nothing" or false."""

from __future__ import annotations

from tests.incidents.stage import Stage

QUIET_MINUTES = 60


def quiet_hour(stage: Stage) -> None:
    """Two Java clients and one of librdkafka read a busy topic and an idle one for an hour. Nobody does anything to them."""
    busy, idle = stage.topic("orders", 4, per_second=0.5), stage.topic("audit", 3, per_second=0)
    topics = f"{busy},{idle}"
    # Kafka's own default between two commits: the log of an hour stays small.
    commits = {"auto_commit_interval_ms": 5000}
    clients = [stage.java("orders-1", topics, **commits), stage.java("orders-2", topics, **commits)]
    clients.append(stage.rdkafka("orders-3", topics, **commits))
    for client in clients:
        client.join().wait_for("assigned")
        stage.steady(5)
    stage.begin()
    stage.steady(QUIET_MINUTES * 60)
    stage.note(
        "quiet",
        f"Nothing is done for {QUIET_MINUTES} minutes. Topic {idle} gets no record; orders-3 is a client of librdkafka.",
        at_ms=stage.began_ms,
        duration_ms=QUIET_MINUTES * 60_000,
        tellable=True,
    )


def commits_on_move(stage: Stage) -> None:
    """Three clients of librdkafka, which commit only what moved, read a topic whose records come in bursts: 15 s of them, 40 s of none, three times."""
    topic = stage.topic("orders", 6)
    for number in (1, 2, 3):
        stage.rdkafka(f"worker-{number}", topic).enter()
    stage.begin()
    for _ in range(3):
        stage.traffic.feed(topic, 6, 0)
        stage.steady(40)
        stage.traffic.feed(topic, 6, 2.0)
        stage.steady(15)
    stage.note(
        "quiet",
        "Nothing is done to any client; three times no record comes for 40 s.",
        at_ms=stage.began_ms,
        duration_ms=stage.now_ms() - stage.began_ms,
        tellable=True,
    )


def dry_topic(stage: Stage) -> None:
    """Three clients of librdkafka, which commit only what moved, read topics orders and returns. For 60 s no record comes to returns, while orders goes on."""
    orders, returns = stage.topic("orders", 3), stage.topic("returns", 3)
    for number in (1, 2, 3):
        stage.rdkafka(f"worker-{number}", f"{orders},{returns}").enter()
    stage.begin()
    stage.traffic.feed(returns, 3, 0)
    stage.steady(60)
    stage.traffic.feed(returns, 3, 2.0)
    stage.steady()
    stage.note(
        "quiet",
        f"Nothing is done to any client; {returns} gets no record for 60 s.",
        at_ms=stage.began_ms,
        duration_ms=stage.now_ms() - stage.began_ms,
        tellable=True,
    )
