"""Groups that lose members at the same time have one cause: one sentence on the cluster's page, one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from groups.alert_models import Alert, AlertRule, Delivery
from groups.history.story.common_causes import APART_MS, GROUPS_LEAST
from groups.watching.together import Losses
from tests.watching.rounds import BEGIN_MS, described
from tests.watching.test_alerts import HALVES, Watch, add, cluster, watch

__all__ = ["cluster", "watch"]

NAMES = [f"app-{number:02}" for number in range(20)]
LEFT = {"anna": ((0, 1, 2, 3), (0, 1, 2, 3))}
WEBHOOK = "https://hooks.example/alerts"


@dataclass
class Group:
    facts: dict[str, object] = field(default_factory=dict)


def losses(*lost: tuple[str, int]) -> Losses:
    found = Losses()
    for name, at_ms in lost:
        found.take({name: Group({"lost_ms": at_ms})})
    return found


def test_groups_that_lose_members_seconds_apart_are_one_event_and_few_or_distant_ones_are_none() -> None:
    one = losses(*[(name, 1_000 + 100 * number) for number, name in enumerate(NAMES)]).last
    assert one is not None
    assert (len(one.groups), one.from_ms, one.to_ms) == (20, 1_000, 2_900)
    assert one.text.replace("\u202f", " ").startswith("20 groups lost members within 1.9 s (app-00, app-01")
    assert losses(*[(name, 1_000) for name in NAMES[: GROUPS_LEAST - 1]]).last is None
    assert losses(*[(name, (APART_MS + 1) * number) for number, name in enumerate(NAMES)]).last is None


def test_a_group_that_loses_a_member_alone_afterwards_is_no_part_of_it() -> None:
    found = losses(*[(name, 1_000) for name in NAMES])
    assert found.of("app-00") is not None
    found.take({"app-00": Group({"lost_ms": 60_000})})
    assert found.last is None
    assert found.of("app-00") is None


@pytest.mark.django_db(transaction=True)
def test_twenty_groups_that_lose_members_in_the_same_second_are_one_message_that_names_the_shared_cause(
    watch: Watch,
) -> None:
    rule = add(watch, "finding", finding="removed", webhook=WEBHOOK)
    AlertRule.objects.filter(pk=rule.pk).update(created=datetime.fromtimestamp(BEGIN_MS / 1000, UTC))
    watch.sees(0, *[described(name, HALVES, epoch=3) for name in NAMES])
    # Ten are described in one round, ten in the next one.
    lost = [described(name, LEFT, epoch=4) for name in NAMES]
    assert watch.sees(100, *lost[:10]) == []
    assert watch.sees(100.5, *lost[10:]) == []
    said = watch.sees(104, *lost)
    assert len(said) == 20
    assert all(
        "20 groups lost members within 0.5\u202fs" in each and "such as a broker" in each for each in said
    )
    assert Alert.objects.count() == 20
    [message] = Delivery.objects.all()
    assert "20 groups lost members" in message.message["says"]


@pytest.mark.django_db(transaction=True)
def test_conditions_with_a_shared_cause_are_one_message_when_they_begin_and_one_when_the_last_is_over(
    watch: Watch,
) -> None:
    add(watch, "empty", for_s=5, webhook=WEBHOOK)
    watch.sees(0, *[described(name, LEFT, epoch=3) for name in NAMES])
    nobody = [described(name, {}, epoch=4) for name in NAMES]
    watch.sees(10, *nobody)
    assert len(watch.sees(20, *nobody)) == 20
    assert [each.message["status"] for each in Delivery.objects.order_by("id")] == ["began"]
    back = [described(name, LEFT, epoch=5) for name in NAMES]
    watch.sees(30, *back[:19], nobody[19])
    assert Delivery.objects.count() == 1
    watch.sees(40, *back)
    assert [each.message["status"] for each in Delivery.objects.order_by("id")] == ["began", "ended"]


@pytest.mark.django_db(transaction=True)
def test_a_group_that_loses_a_member_alone_has_a_message_of_its_own(watch: Watch) -> None:
    rule = add(watch, "finding", finding="removed", webhook=WEBHOOK)
    AlertRule.objects.filter(pk=rule.pk).update(created=datetime.fromtimestamp(BEGIN_MS / 1000, UTC))
    watch.sees(0, described("orders", HALVES, epoch=3))
    [said] = watch.sees(100, described("orders", LEFT, epoch=4))
    assert said == "orders: ben was removed; polls do not show why"
    assert Delivery.objects.count() == 1
