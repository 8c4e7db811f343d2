"""Rules on what groups do: when an alert begins and ends, what it leads to, and that nothing is told twice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from groups.alert_models import Alert, AlertRule, Delivery
from groups.cluster_models import Cluster
from groups.history.findings.registry import rows
from groups.history.polls.description import TOPIC_AUTHORIZATION_FAILED, Undescribed
from groups.models import Timeline
from groups.watching import registry as clusters
from groups.watching import retention
from groups.watching.alerts import deliveries, looking, registry
from groups.watching.alerts.looking import Lookout
from groups.watching.alerts.rules import FINDINGS, LIMITS, OF_CLUSTER, BadRule, Kind, is_match, rule_of
from groups.watching.storing import Store
from tests.watching.rounds import BEGIN_MS, behind, described, round_of

OWNER = "test"
WHOLE = {"anna": ((0, 1, 2, 3), (0, 1, 2, 3))}
HALVES = {"anna": ((0, 1), (0, 1)), "ben": ((2, 3), (2, 3))}
FREE = {"anna": ((0, 1), (0, 1)), "ben": ((2,), (2, 3))}
"""orders-3 is released, and ben has not received it."""


class Watch:
    """A cluster whose rounds a test makes up, second by second."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.store, self.lookout = Store(cluster, OWNER), Lookout(cluster)

    def sees(self, second: float, *told: Any, **more: Any) -> list[str]:
        """What is said at this second."""
        at_ms = BEGIN_MS + round(second * 1000)
        self.store.take(round_of(at_ms, *told, **more))
        self.lookout._looked_s = None
        found = self.lookout.look(self.store.groups, at_ms)
        return [
            ("over: " if each["ended_ms"] and each["kind"] != "finding" else "") + each["says"]
            for each in found
        ]


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(made.pk, OWNER)
    return made


@pytest.fixture
def watch(cluster: Cluster) -> Watch:
    return Watch(cluster)


def add(watch: Watch, kind: str, **more: Any) -> AlertRule:
    return registry.add(watch.cluster, {"kind": kind, **more})


pytestmark = pytest.mark.django_db(transaction=True)


def test_a_partition_that_is_unassigned_for_long_enough_is_told_once_and_again_when_it_is_over(
    watch: Watch,
) -> None:
    add(watch, "unassigned", for_s=30)
    watch.sees(0, described("orders", HALVES, epoch=3))
    assert watch.sees(1, described("orders", FREE, epoch=4, state="Reconciling")) == []
    assert watch.sees(30, described("orders", FREE, epoch=4, state="Reconciling")) == []
    [said] = watch.sees(31.5, described("orders", FREE, epoch=4, state="Reconciling"))
    assert said.startswith("orders-3 has been unassigned for 30.5")
    assert watch.sees(40, described("orders", FREE, epoch=4, state="Reconciling")) == []
    [over] = watch.sees(50, described("orders", HALVES, epoch=4))
    assert over.startswith("over: orders-3")


def test_an_alert_counts_what_it_is_about_and_has_the_present_number(watch: Watch) -> None:
    add(watch, "unassigned", for_s=1)
    add(watch, "lag", count=100, for_s=0)
    nobody = {"anna": ((0,), (0, 1)), "ben": ((2,), (2, 3))}
    watch.sees(0, described("orders", HALVES, epoch=3))
    watch.sees(1, described("orders", nobody, epoch=4, state="Reconciling"), lag={"orders": 90})
    said = watch.sees(3, described("orders", nobody, epoch=4, state="Reconciling"), lag={"orders": 500})
    assert [each.split(" for ")[0] for each in said] == [
        "2 partitions are unassigned in orders, orders-1",
        "orders lags by 500 records",
    ]
    assert watch.sees(4, described("orders", FREE, epoch=4, state="Reconciling"), lag={"orders": 700}) == []
    assert {each.says.split(" for ")[0] for each in Alert.objects.all()} == {
        "orders-3 has been unassigned",
        "orders lags by 700 records",
    }
    over = watch.sees(9, described("orders", HALVES, epoch=4), lag={"orders": 1})
    assert len(over) == 2


def test_a_long_lag_and_records_deleted_unread_begin_and_end(watch: Watch) -> None:
    add(watch, "late", lag_s=60, for_s=5)
    add(watch, "lost")
    watch.sees(0, described("orders", HALVES, epoch=3), lag={"orders": behind(10, 59_000)})
    assert watch.sees(1, described("orders", HALVES, epoch=3), lag={"orders": behind(10, 61_000)}) == []
    seen = described("orders", HALVES, epoch=3)
    assert watch.sees(6, seen, lag={"orders": behind(900, 66_000, is_least=True)}) == [
        "orders lags by at least 1\N{NARROW NO-BREAK SPACE}min 6\N{NARROW NO-BREAK SPACE}s"
    ]
    lost = behind(800, 70_000, lost=(1200, "orders-3"))
    assert watch.sees(7, seen, lag={"orders": lost}) == [
        "1,200 records were deleted before orders read them, most in orders-3"
    ]
    assert [each.split(" (")[0] for each in watch.sees(8, seen, lag={"orders": behind(0, 0)})] == [
        "over: orders lags by at least 1\N{NARROW NO-BREAK SPACE}min 6\N{NARROW NO-BREAK SPACE}s",
        "over: 1,200 records were deleted before orders read them, most in orders-3",
    ]


def test_a_rule_of_a_pattern_is_about_the_groups_that_have_it(watch: Watch) -> None:
    add(watch, "lag", group="orders-*", count=100, for_s=0)
    groups = [described(name, HALVES, epoch=3) for name in ("orders-eu", "payments")]
    said = watch.sees(0, *groups, lag={"orders-eu": 500, "payments": 500})
    assert said == ["orders-eu lags by 500 records"]
    wanted = {
        "orders-*": "orders-",
        "*eu": "orders-eu",
        "o*-*u": "orders-eu",
        "*": "",
        "a*": "a*",
        "[a]": "[a]",
    }
    assert all(is_match(pattern, group) for pattern, group in wanted.items())
    for pattern, group in {
        "orders-*": "orders",
        "a*a": "a",
        "[a]": "a",
        "*b*b": "b",
        "o*x*u": "orders-eu",
    }.items():
        assert not is_match(pattern, group)


def test_the_usual_rules_are_added_once_and_what_is_there_stays(watch: Watch, client: Client) -> None:
    add(watch, "stuck", for_s=5)
    address = f"/api/clusters/{watch.cluster.pk}/rules/usual"
    added = client.post(address, {}, content_type="application/json")
    assert added.status_code == 201
    assert [each["kind"] for each in added.json()] == [
        *("unreachable", "unassigned", "causeless", "storm", "late", "not_caught_up", "lost")
    ]
    assert all(each["blocked"] is None and each["group"] == "" for each in added.json())
    assert client.post(address, {}, content_type="application/json").json() == []
    assert watch.cluster.rules.get(kind="stuck").limits == {"for_s": 5}


def test_an_alert_of_a_group_with_an_empty_name_is_about_that_group_and_not_its_cluster(
    watch: Watch, client: Client
) -> None:
    add(watch, "lag", count=100, for_s=0)
    watch.sees(0, described("", HALVES, epoch=3), lag={"": 90})
    [said] = watch.sees(1, described("", HALVES, epoch=3), lag={"": 500})
    assert said.startswith("(empty name) lags by 500 records")
    [alert] = registry.overview(watch.cluster)["alerts"]
    assert (alert["group"], alert["about"]) == ("", "(empty name)")
    page = client.get(f"/clusters/{watch.cluster.pk}").content.decode()
    assert '<span class="gn mono">(empty name)</span>' in page
    assert '<span class="gn mono">prod</span>' not in page


def test_an_alert_leads_to_the_entry_that_shows_it(watch: Watch) -> None:
    add(watch, "unassigned", for_s=1)
    watch.sees(0, described("orders", HALVES, epoch=3))
    watch.sees(1, described("orders", FREE, epoch=4, state="Reconciling"))
    watch.sees(9, described("orders", FREE, epoch=4, state="Reconciling"))
    alert = Alert.objects.get()
    timeline = Timeline.objects.get(group="orders")
    [finding] = [each for each in timeline.summary["findings"] if each["kind"] == "no_owner" and each["open"]]
    assert registry.moment_of(alert) == f"/t/{timeline.pk}?at={finding['sequences'][0]}"


def test_a_rebalance_that_does_not_end_is_stuck(watch: Watch) -> None:
    add(watch, "stuck", for_s=120)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    assert watch.sees(1, described("orders", FREE, epoch=4, state="Reconciling")) == []
    assert watch.sees(120, described("orders", FREE, epoch=4, state="Reconciling")) == []
    [said] = watch.sees(121, described("orders", FREE, epoch=4, state="Reconciling"))
    assert said.startswith("orders has been rebalancing for 2")
    assert "Reconciling" in said


def test_many_rebalances_in_a_while_are_a_storm_that_ends_when_they_are_past(watch: Watch) -> None:
    add(watch, "storm", count=2, within_s=60)
    said = [
        watch.sees(10 * at, described("orders", (WHOLE, HALVES)[at % 2], epoch=3 + at)) for at in range(4)
    ]
    assert said[:3] == [[], [], []]
    assert said[3][0].startswith("orders rebalanced 3 times in 20")
    assert watch.sees(65, described("orders", HALVES, epoch=6)) == []
    [over] = watch.sees(75, described("orders", HALVES, epoch=6))
    assert over.startswith("over: ")


def test_rebalances_without_a_cause_are_told_until_none_comes_any_more(watch: Watch) -> None:
    add(watch, "causeless")
    for turn in range(3):
        assert watch.sees(5 * turn, described("orders", HALVES, epoch=3 + turn)) == []
    [said] = watch.sees(15, described("orders", HALVES, epoch=6))
    assert said.startswith("orders: Rebalances without a cause: 3 group epochs (4–6) every 5.0")
    assert watch.sees(20, described("orders", HALVES, epoch=7)) == []
    assert Alert.objects.get().says.startswith("orders: Rebalances without a cause: 4 group epochs (4–7)")
    assert watch.sees(34, described("orders", HALVES, epoch=7)) == []
    [over] = watch.sees(36, described("orders", HALVES, epoch=7))
    assert over.startswith("over: orders: Rebalances without a cause")
    assert watch.sees(60, described("orders", WHOLE, epoch=8)) == []


def test_a_group_without_members_and_a_lag_must_last_before_they_are_told(watch: Watch) -> None:
    add(watch, "empty", for_s=10)
    add(watch, "lag", count=100, for_s=5)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    assert watch.sees(1, described("orders", {}, epoch=4), lag={"orders": 500}) == []
    assert watch.sees(3, described("orders", {}, epoch=4), lag={"orders": 90}) == []
    assert watch.sees(8, described("orders", {}, epoch=4), lag={"orders": 500}) == []
    said = watch.sees(14, described("orders", {}, epoch=4), lag={"orders": 700})
    assert [each.split(" for ")[0] for each in said] == [
        "orders has had no member",
        "orders lags by 700 records",
    ]


def test_while_a_group_cannot_be_seen_what_was_said_stands_and_only_that_is_told(watch: Watch) -> None:
    add(watch, "stuck", for_s=5)
    add(watch, "unreadable", for_s=10)
    hidden = Undescribed(group="orders", code=TOPIC_AUTHORIZATION_FAILED)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    watch.sees(1, described("orders", FREE, epoch=4, state="Reconciling"))
    assert len(watch.sees(7, described("orders", FREE, epoch=4, state="Reconciling"))) == 1
    assert watch.sees(8, hidden) == []
    [said] = watch.sees(19, hidden)
    assert said.startswith("orders has not been seen for 11")
    over = watch.sees(30, described("orders", HALVES, epoch=4))
    assert [each.split(" has ")[0] for each in over] == ["over: orders", "over: orders"]


def test_a_finding_is_told_once_and_none_that_is_older_than_its_rule(watch: Watch, monkeypatch: Any) -> None:
    monkeypatch.setattr(looking, "FINDING_FRESH_MS", 10**15)
    watch.sees(0, described("orders", HALVES, epoch=3))
    watch.sees(1, described("orders", WHOLE, epoch=4))
    rule = add(watch, "finding", finding="removed")
    later_ms = BEGIN_MS + 5_000
    AlertRule.objects.filter(pk=rule.pk).update(created=datetime.fromtimestamp(later_ms / 1000, UTC))
    watch.lookout.ledger.read_s = None
    assert watch.sees(6, described("orders", WHOLE, epoch=4)) == []
    watch.sees(7, described("orders", HALVES, epoch=5))
    [said] = watch.sees(9, described("orders", WHOLE, epoch=6))
    assert said.startswith("orders: ben was removed")
    assert watch.sees(10, described("orders", WHOLE, epoch=6)) == []
    assert Alert.objects.get().ended_ms is not None


def test_a_rule_on_one_group_is_silent_about_the_others(watch: Watch) -> None:
    add(watch, "empty", for_s=1, group="payments")
    watch.sees(0, described("orders", {}, epoch=3), described("payments", {}, epoch=3))
    [said] = watch.sees(5, described("orders", {}, epoch=3), described("payments", {}, epoch=3))
    assert said.startswith("payments ")


def test_another_process_that_takes_the_cluster_goes_on_with_the_alerts_that_hold(watch: Watch) -> None:
    add(watch, "empty", for_s=1)
    watch.sees(0, described("orders", {}, epoch=3))
    assert len(watch.sees(5, described("orders", {}, epoch=3))) == 1
    again = Watch(clusters.get(watch.cluster.pk))
    assert again.sees(6, described("orders", {}, epoch=3)) == []
    [over] = again.sees(9, described("orders", WHOLE, epoch=4))
    assert over.startswith("over: ")
    assert Alert.objects.count() == 1


def test_a_rule_that_is_turned_off_ends_its_alerts_and_says_nothing(watch: Watch) -> None:
    rule = add(watch, "empty", for_s=1)
    watch.sees(0, described("orders", {}, epoch=3))
    watch.sees(5, described("orders", {}, epoch=3))
    registry.set_enabled(rule, enabled=False)
    assert Alert.objects.get().ended_ms is not None
    watch.lookout.ledger.read_s = None
    assert watch.sees(9, described("orders", WHOLE, epoch=4)) == []
    assert watch.sees(30, described("orders", {}, epoch=5)) == []


def test_a_group_that_did_not_change_is_not_looked_at_again(watch: Watch, monkeypatch: Any) -> None:
    add(watch, "stuck", for_s=5)
    watch.sees(0, described("orders", WHOLE, epoch=3))
    looked: list[str] = []
    at = looking.look_at
    monkeypatch.setattr(looking, "look_at", lambda name, *rest: looked.append(name) or at(name, *rest))
    watch.sees(5, described("orders", WHOLE, epoch=3))
    assert looked == []
    watch.sees(6, described("orders", HALVES, epoch=4))
    assert looked == ["orders"]


def test_a_webhook_is_sent_when_something_begins_and_when_it_is_over(watch: Watch, settings: Any) -> None:
    settings.PUBLIC_URL = "https://rebalance.example"
    add(watch, "empty", for_s=1, webhook="https://chat.example/hooks/secret-1")
    watch.sees(0, described("orders", {}, epoch=3))
    watch.sees(5, described("orders", {}, epoch=3))
    watch.sees(9, described("orders", WHOLE, epoch=4))
    ended, began = Delivery.objects.all()
    assert (began.message["status"], ended.message["status"]) == ("began", "ended")
    assert began.message["url"].startswith("https://rebalance.example/t/")
    assert began.message["id"] == ended.message["id"]
    assert began.message["text"].startswith("[prod] orders has had no member")
    assert "secret-1" not in str(registry.overview(watch.cluster))
    # What chat tools show has no hidden marks, by which a name could turn the rest of the line; the facts are exact.
    planted = deliveries.message_of(AlertRule.objects.get(), None, "began", "\u202egroup is empty")
    assert planted["text"] == "[prod] \\u202egroup is empty"
    assert planted["says"] == "\u202egroup is empty"


def test_the_queue_is_bounded_and_what_comes_beyond_is_in_the_log(watch: Watch, monkeypatch: Any) -> None:
    monkeypatch.setattr(deliveries, "WAITING_MOST", 2)
    rule = add(watch, "empty", webhook="https://chat.example/x")
    states = [deliveries.trial_of(rule).state for _ in range(3)]  # type: ignore[union-attr]
    assert states == ["waiting", "waiting", "dropped"]


def test_alerts_that_ended_are_forgotten_by_age_and_by_number(watch: Watch, monkeypatch: Any) -> None:
    rule = add(watch, "empty")
    now_ms = round(rule.created.timestamp() * 1000)

    def alert(name: str, ended_ms: int | None) -> None:
        Alert.objects.create(
            id=name, rule=rule, cluster=watch.cluster, group="g", says=name, since_ms=0, at_ms=ended_ms or 0, ended_ms=ended_ms
        )  # fmt: skip

    for name, ended_ms in (("old", 1), ("held", None), *((f"new-{at}", now_ms + at) for at in range(3))):
        alert(name, ended_ms)
    monkeypatch.setattr(deliveries, "ALERTS_KEPT_MOST", 2)
    retention.forget(watch.cluster)
    assert set(Alert.objects.values_list("pk", flat=True)) == {"held", "new-1", "new-2"}


@pytest.mark.parametrize(
    ("given_", "field", "says"),
    [
        ({}, "kind", "one of unassigned, stuck"),
        ({"kind": "stuck", "for_s": 0}, "for_s", "from 1 to 86400"),
        ({"kind": "stuck", "for_s": True}, "for_s", "whole number"),
        ({"kind": "storm", "count": 60}, "count", "from 1 to 59"),
        ({"kind": "finding", "finding": "joy"}, "finding", "one of [a-z_, ]*absent_static_member"),
        ({"kind": "empty", "group": 3}, "group", "name of a group"),
        (
            {"kind": "empty", "limits": {"for_s": 9}},
            "limits",
            "has no field .limits.; it has kind, group, webhook",
        ),
        ({"kind": "unreachable", "group": "g"}, "group", "is about the cluster"),
        ({"kind": "empty", "webhook": "ftp://x"}, "webhook", "begins with https://"),
        ({"kind": "empty", "webhook": "https://me:pass@x/"}, "webhook", "no user or password"),
        ({"kind": "empty", "webhook": "https://x/a b"}, "webhook", "printable ASCII"),
        ({"kind": "empty", "webhook": "https://x:99999/"}, "webhook", "port that is none"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_one_line(
    cluster: Cluster, given_: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(BadRule, match=says) as refused:
        registry.add(cluster, given_)
    assert refused.value.field == field


@given(st.data())
def test_every_rule_within_its_bounds_is_taken_said_in_words_and_stored_whole(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(Kind))
    limits: dict[str, Any] = {
        name: data.draw(st.integers(limit.least, limit.most)) for name, limit in LIMITS[kind].items()
    }
    if kind is Kind.FINDING:
        limits["finding"] = data.draw(st.sampled_from(FINDINGS))
    group = "" if kind in OF_CLUSTER else "g"
    rule = rule_of({"kind": kind.value, "group": group, **limits})
    assert rule.text
    assert rule_of({"kind": kind.value, "group": group, **rule.limits}) == rule


def test_every_finding_that_a_rule_may_name_is_one_that_the_finders_make() -> None:
    made = {kind for row in rows() for kind in row.kinds}
    assert set(FINDINGS) - made == set()
    assert {"storm", "crash_loop", "removed"} <= set(FINDINGS)
