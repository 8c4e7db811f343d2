"""Members without partitions, and who gets the partitions that are new."""

from __future__ import annotations

from tests.incidents import notes
from tests.incidents.stage import Stage

from .classics import COOPERATIVE, EAGER
from .deaths import workers

SETTLED_S = 25


def idle_classic(stage: Stage) -> None:
    """Four classic clients with the cooperative-sticky assignor read a topic of two partitions. One of those that have a partition closes; one without takes it over."""
    topic = stage.topic("orders", 2)
    clients = [stage.classic(f"worker-{number}", topic, **COOPERATIVE).join() for number in (1, 2, 3, 4)]
    for client in clients:
        client.wait_for("assigned")
    stage.begin()
    notes.idle(stage)
    owner = next(each for each in clients if stage.ledger.held(each.client_id, each.life))
    owner.leave()
    stage.steady(SETTLED_S)
    heir = next(
        each
        for each in stage.clients
        if each is not owner
        and stage.ledger.held(each.client_id, each.life)
        and all(part.from_ms > stage.began_ms for part in stage.ledger.of(each.client_id))
    )
    held = stage.ledger.held(heir.client_id, heir.life)
    notes.given(
        stage, heir.client_id, held, f"{heir.client_id}, which had none, takes over {', '.join(held)}."
    )


def idle_consumer(stage: Stage) -> None:
    """Three clients read a topic of two partitions. The topic grows to three partitions; the client without one gets the new one."""
    topic = stage.topic("orders", 2)
    clients = [stage.java(f"worker-{number}", topic).join() for number in (1, 2, 3)]
    for client in clients:
        client.wait_for("assigned")
    stage.begin()
    notes.idle(stage)
    stage.grow(topic, 3)
    stage.steady(2 * SETTLED_S)
    notes.new(stage, topic, 2)


def grown_classic(stage: Stage) -> None:
    """Three classic clients with the range assignor, which look at the topics every 5 s, read three partitions. The topic grows to six."""
    topic = stage.topic("orders", 3)
    clients = [
        stage.classic(f"worker-{number}", topic, metadata_max_age_ms=5_000, **EAGER).join()
        for number in (1, 2, 3)
    ]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    stage.grow(topic, 6)
    stage.steady(2 * SETTLED_S)
    notes.new(stage, topic, 3)


def regex_librdkafka(stage: Stage) -> None:
    """Two classic clients of librdkafka subscribe by a regular expression, which one topic matches. A second topic is made that it matches, too."""
    stage.topic("orders", 4)
    for number in (1, 2):
        stage.classic_rdkafka(
            f"worker-{number}", f"^{stage.name}\\..*", topic_metadata_refresh_interval_ms=5_000
        ).enter()
    stage.begin()
    added = stage.new_topic("returns", 4)
    stage.steady(2 * SETTLED_S)
    notes.new(stage, added, 0)


def regex_two_topics(stage: Stage) -> None:
    """Two clients subscribe by a regular expression, which one topic matches. A second topic is made that it matches, too, and 40 s later a third."""
    stage.topic("orders", 2)
    workers(stage, f"regex:{stage.name}\\..*", 2)
    for name in ("returns", "refunds"):
        added = stage.new_topic(name, 2)
        stage.steady(40)
        notes.new(stage, added, 0)


def silent_partition(stage: Stage) -> None:
    """Three clients of librdkafka, which commit only what moved, read six partitions. No record comes to orders-2 any more; meanwhile two clients are started again, one after the other, and the others read on."""
    topic = stage.topic("orders", 6)
    clients = [stage.rdkafka(f"worker-{number}", topic).enter() for number in (1, 2, 3)]
    stage.begin()
    at_ms = stage.now_ms()
    stage.traffic.dry(topic, 2)
    stage.steady(25)
    for client in clients[:2]:
        client.leave()
        stage.steady(6)
        stage.rdkafka(client.client_id, topic).enter()
        stage.steady(15)
    stage.steady()
    owners = stage.ledger.owners_since(f"{topic}-2", at_ms)
    stage.note(
        "silent_partition",
        f"No offset of {topic}-2 is committed to the end, though it had {len(owners)} owners: {', '.join(owners)}.",
        at_ms=at_ms,
        duration_ms=stage.now_ms() - at_ms,
        clients=owners,
        partitions=[f"{topic}-2"],
        tellable=True,
    )
