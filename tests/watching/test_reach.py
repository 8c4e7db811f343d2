"""Rules on the cluster itself: when an alert that it is out of reach begins, what it says, and when it is over."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from groups.alert_models import Alert, Delivery
from groups.cluster_models import Cluster
from groups.watching import registry as clusters
from groups.watching.alerts import registry
from groups.watching.alerts.looking import Lookout
from groups.watching.alerts.reach import Reach
from groups.watching.alerts.registry import ShownAlert
from groups.watching.job import Watching
from groups.watching.storing import Store
from tests.watching.rounds import BEGIN_MS, described, round_of

OWNER = "test"
GONE = "Nothing listens on kafka-1.example:9092."

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(made.pk, OWNER)
    return made


def at(second: float) -> int:
    return BEGIN_MS + round(second * 1000)


def says(alerts: list[ShownAlert]) -> list[str]:
    return [("over: " if each["ended_ms"] else "") + each["says"] for each in alerts]


def test_a_cluster_that_is_out_of_reach_for_long_enough_is_told_once_with_the_reason_and_again_when_it_answers(
    cluster: Cluster,
) -> None:
    registry.add(cluster, {"kind": "unreachable", "for_s": 10})
    reach = Reach(cluster)
    assert reach.answered(at(0)) == []
    # A broker that hangs is noticed late, and was away since the round before.
    assert reach.failed(GONE, at(5)) == []
    assert reach.look(at(9.9)) == []
    [said] = says(reach.look(at(10)))
    assert said == f"prod has been out of reach for 10.0\u202fs: {GONE}"
    assert reach.look(at(20)) == []
    assert reach.failed(GONE, at(30)) == []
    [over] = says(reach.answered(at(40)))
    assert over == f"over: {said}"
    alert = Alert.objects.get()
    assert registry.shown_alert(alert)["about"] == "prod"
    assert (alert.group, alert.since_ms, alert.at_ms, alert.ended_ms) == ("", at(0), at(10), at(40))
    assert reach.answered(at(41)) == []


def test_what_passes_sooner_is_not_told_and_the_next_time_counts_anew(cluster: Cluster) -> None:
    registry.add(cluster, {"kind": "unreachable", "for_s": 10})
    reach = Reach(cluster)
    reach.failed(GONE, at(0))
    assert reach.look(at(9)) == []
    reach.answered(at(9.5))
    assert reach.failed(GONE, at(12)) == []
    assert reach.look(at(19)) == []
    assert len(reach.look(at(19.5))) == 1


def test_another_process_goes_on_with_the_alert_and_does_not_tell_it_twice(cluster: Cluster) -> None:
    registry.add(cluster, {"kind": "unreachable", "for_s": 1})
    first = Reach(cluster)
    first.failed(GONE, at(0))
    assert len(first.look(at(2))) == 1
    again = Reach(cluster)
    again.failed(GONE, at(5))
    assert again.look(at(9)) == []
    assert len(again.answered(at(10))) == 1
    # One that finds the cluster there ends it, too.
    first = Reach(cluster)
    first.failed(GONE, at(20))
    first.look(at(22))
    assert len(Reach(cluster).answered(at(23))) == 1
    assert not Alert.objects.filter(ended_ms=None)


def test_a_webhook_hears_that_the_cluster_is_out_of_reach_and_that_it_answers_again(cluster: Cluster) -> None:
    registry.add(cluster, {"kind": "unreachable", "for_s": 1, "webhook": "https://chat.example/hooks/x"})
    reach = Reach(cluster)
    reach.failed(GONE, at(0))
    reach.look(at(2))
    reach.answered(at(5))
    ended, began = Delivery.objects.all()
    assert (began.message["status"], ended.message["status"]) == ("began", "ended")
    assert (began.message["cluster"], began.message["group"], began.message["url"]) == ("prod", "", None)
    assert began.message["text"] == f"[prod] prod has been out of reach for 2.0\u202fs: {GONE}"


def test_rules_on_groups_and_on_the_cluster_leave_each_other_alone(cluster: Cluster) -> None:
    registry.add(cluster, {"kind": "unreachable", "for_s": 1})
    registry.add(cluster, {"kind": "empty", "for_s": 1})
    reach, store, lookout = Reach(cluster), Store(cluster, OWNER), Lookout(cluster)
    reach.failed(GONE, at(0))
    assert [each["kind"] for each in reach.look(at(2))] == ["unreachable"]
    for second in (3, 9):
        store.take(round_of(at(second), described("orders", {}, epoch=3)))
        lookout._looked_s = None
        told = lookout.look(store.groups, at(second))
    assert [each["kind"] for each in told] == ["empty"]
    assert [each["kind"] for each in reach.answered(at(10))] == ["unreachable"]
    assert [each.rule.kind for each in Alert.objects.filter(ended_ms=None)] == ["empty"]


def test_while_nobody_answers_the_watching_process_tells_it_between_two_tries(
    cluster: Cluster, monkeypatch: Any
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    gone = clusters.add("gone", {"bootstrap.servers": f"127.0.0.1:{port}"})
    assert clusters.take(gone.pk, OWNER)
    registry.add(gone, {"kind": "unreachable", "for_s": 1})
    told: list[ShownAlert] = []
    # The second try is far away: the alert does not wait for it.
    monkeypatch.setattr("groups.watching.job.RETRY_LEAST_S", 300.0)
    watching = Watching(gone, OWNER, stopped=lambda: bool(told), on_alert=told.append)

    async def watch() -> None:
        async with asyncio.timeout(30):
            await watching.run()

    asyncio.run(watch())
    assert told[0]["says"].startswith("gone has been out of reach for 1")
    assert told[0]["says"].endswith(f"Nothing listens on 127.0.0.1:{port}.")
