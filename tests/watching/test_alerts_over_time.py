"""Alerts on how a lag goes on, that come and go, and over a week."""

from __future__ import annotations

from typing import Any

import pytest

from groups.alert_models import Alert, Delivery
from groups.cluster_models import Cluster
from groups.watching.alerts.lag_course import LagCourse
from groups.watching.alerts.ledger import FLAP_MS, FLAPS
from tests.watching.rounds import described
from tests.watching.test_alerts import FREE, HALVES, WHOLE, Watch, add, cluster, watch

__all__ = ["cluster", "watch"]
pytestmark = pytest.mark.django_db(transaction=True)

WEBHOOK = "https://chat.example/hook"


def starts(said: list[str]) -> list[str]:
    return [each.split(" (")[0] for each in said]


def test_a_group_that_has_not_caught_up_after_a_rebalance_is_told_until_it_has(watch: Watch) -> None:
    add(watch, "not_caught_up", for_s=60)

    def sees(second: int, lag: int, epoch: int) -> list[str]:
        return watch.sees(second, described("orders", HALVES, epoch=epoch), lag={"orders": lag})

    for second in range(0, 60, 5):
        assert sees(second, 80 + second, 3) == []
    assert sees(60, 900, 4) == []
    assert sees(115, 5_000, 4) == []
    [said] = sees(121, 6_000, 4)
    assert said.startswith("orders has not caught up 1\N{NARROW NO-BREAK SPACE}min 1")
    assert said.endswith("it lags by 6,000 records, and lagged by 135 at most in the minute before")
    assert sees(130, 4_000, 5) == []
    [over] = sees(140, 130, 5)
    assert over.startswith("over: orders has not caught up")
    assert sees(300, 100_000, 5) == []


def test_a_rebalance_after_which_a_group_catches_up_in_time_is_no_alert(watch: Watch) -> None:
    add(watch, "not_caught_up", for_s=60)
    for second, lag, epoch in ((0, 100, 3), (30, 120, 3), (60, 900, 4), (110, 120, 4), (200, 9_000, 4)):
        seen = described("orders", HALVES, epoch=epoch)
        assert watch.sees(second, seen, lag={"orders": lag}) == []


def test_a_lag_that_grows_is_told_and_one_that_rises_and_falls_between_commits_is_not(watch: Watch) -> None:
    add(watch, "growing", count=1_000, within_s=120, group="orders")
    add(watch, "growing", count=1_000, within_s=120, group="payments")
    both = [described(name, HALVES, epoch=3) for name in ("orders", "payments")]
    said = []
    for second in range(0, 400, 5):
        lags = {"orders": 10 * second, "payments": 5_000 * (second % 20) // 20}
        said += watch.sees(second, *both, lag=lags)
    [one] = said
    assert one.startswith("The lag of orders grew by ")
    assert "in 2\N{NARROW NO-BREAK SPACE}min" in one
    over = [
        said for second in range(400, 700, 5) for said in watch.sees(second, *both, lag={"orders": 4_000})
    ]
    assert [each[:26] for each in over] == ["over: The lag of orders gre"[:26]]


def test_a_process_that_begins_to_watch_does_not_end_what_it_cannot_judge(watch: Watch) -> None:
    add(watch, "not_caught_up", for_s=60)
    for second, lag, epoch in ((0, 100, 3), (60, 900, 4)):
        watch.sees(second, described("orders", HALVES, epoch=epoch), lag={"orders": lag})
    assert len(watch.sees(121, described("orders", HALVES, epoch=4), lag={"orders": 900})) == 1
    again = Watch(Cluster.objects.get())
    assert again.sees(125, described("orders", HALVES, epoch=4), lag={"orders": 900}) == []
    [over] = again.sees(130, described("orders", HALVES, epoch=4), lag={"orders": 0})
    assert over.startswith("over: orders has not caught up")


def test_a_course_keeps_an_hour(watch: Watch) -> None:
    course = LagCourse()
    for minute in range(200):
        course.add(60_000 * minute, minute, None)
    assert course.growth(60_000 * 199, 3_600_000) == 60
    assert len(course._minutes) <= 62
    assert not LagCourse().knows(0, 0)


def test_an_alert_that_comes_and_goes_stays_until_it_has_been_over_for_a_while(watch: Watch) -> None:
    add(watch, "empty", for_s=1, webhook=WEBHOOK)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    said = []
    for turn in range(20):
        second = 20 * turn
        said += watch.sees(second + 5, described("orders", {}, epoch=4 + turn))
        said += watch.sees(second + 8, described("orders", {}, epoch=4 + turn))
        said += watch.sees(second + 15, described("orders", WHOLE, epoch=4 + turn))
    assert len(said) == 2 * FLAPS - 1
    assert f"It began {FLAPS} times in 10\N{NARROW NO-BREAK SPACE}min" in said[-1]
    ended = 20 * 19 + 15
    assert watch.sees(ended + FLAP_MS // 1_000 - 1, described("orders", WHOLE, epoch=30)) == []
    [over] = watch.sees(ended + FLAP_MS // 1_000, described("orders", WHOLE, epoch=30))
    assert over.startswith("over: ")
    assert Delivery.objects.count() == 2 * FLAPS
    assert not Alert.objects.filter(ended_ms=None).exists()


def test_stuck_counts_on_through_a_moment_in_which_the_group_is_stable_at_the_same_epoch(
    watch: Watch,
) -> None:
    add(watch, "stuck", for_s=120)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    watch.sees(1, described("orders", FREE, epoch=4, state="Reconciling"))
    watch.sees(60, described("orders", HALVES, epoch=4))
    watch.sees(65, described("orders", FREE, epoch=4, state="Reconciling"))
    [said] = watch.sees(122, described("orders", FREE, epoch=4, state="Reconciling"))
    assert said.startswith("orders has been rebalancing for 2")
    assert len(watch.sees(130, described("orders", HALVES, epoch=4))) == 1
    watch.sees(131, described("orders", FREE, epoch=5, state="Reconciling"))
    assert watch.sees(200, described("orders", FREE, epoch=5, state="Reconciling")) == []


def test_in_a_week_each_rule_fires_once_for_each_cause_grouped_and_ends(watch: Watch) -> None:
    """Each day: five groups lose a member together, one stays stuck, one does not catch up; then all is well."""
    names = [f"orders-{number}" for number in range(5)]
    add(watch, "stuck", for_s=120, webhook=WEBHOOK)
    add(watch, "not_caught_up", for_s=300, webhook=WEBHOOK)
    add(watch, "empty", for_s=60, webhook=WEBHOOK)
    said: list[str] = []

    def sees(second: int, shares: Any, epoch: int, lag: int, state: str = "Stable") -> None:
        groups = [described(name, shares, epoch=epoch, state=state) for name in names]
        said.extend(watch.sees(second, *groups, lag=dict.fromkeys(names, 10) | {names[0]: lag}))

    for day in range(7):
        noon, epoch = 86_400 * day, 10 * day + 3
        for minute in range(3):
            sees(noon + 60 * minute, HALVES, epoch, 10)
        sees(noon + 180, FREE, epoch + 1, 500, "Reconciling")
        sees(noon + 301, FREE, epoch + 1, 9_000, "Reconciling")
        sees(noon + 330, HALVES, epoch + 1, 20_000)
        sees(noon + 481, HALVES, epoch + 1, 30_000)
        sees(noon + 900, HALVES, epoch + 1, 5)
        for second in (1_000, 1_061):
            sees(noon + second, {}, epoch + 2, 5)
        sees(noon + 1_200, HALVES, epoch + 3, 5)
    began = [each for each in said if not each.startswith("over: ")]
    for words, each_day in (("rebalancing for", 5), ("not caught up", 1), ("no member", 5)):
        assert sum(words in each for each in began) == 7 * each_day
    assert len(said) == 2 * len(began)
    assert not Alert.objects.filter(ended_ms=None).exists()
    assert all(alert.timeline_id and alert.sequence for alert in Alert.objects.all())
    # Five groups that lost their members together are one message that it began, and one that it is over.
    sent = [str(each.message["says"]) for each in Delivery.objects.all()]
    assert sum("no member" in each for each in sent) == 2 * 7
    assert all(each.message["url"] for each in Delivery.objects.all())
