"""Rules that are added, changed and removed, and how rules, alerts and deliveries are shown: never with a webhook's secret."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, TypedDict

from django.db import transaction
from django.utils import timezone

from groups import storage
from groups.alert_models import Alert, AlertRule, Delivery
from groups.cluster_models import Cluster
from groups.reserve import makes_room
from groups.shown import shown_name
from groups.watching.alerts import silences
from groups.watching.alerts.destination import destination_of, stored_destination
from groups.watching.alerts.rules import (
    LIMITS,
    NEED_COURSE,
    OF_CLUSTER,
    USUAL,
    BadRule,
    Kind,
    Rule,
    is_match,
    missing_sources,
    rule_of,
)

RULES_MOST: Final = 50
"""Of one cluster: each is held against every group that changed."""

ALERTS_SHOWN: Final = 100
DELIVERIES_SHOWN: Final = 100


class NoSuchRule(Exception):
    def __init__(self, rule_id: str) -> None:
        super().__init__(f"There is no rule {rule_id!r}.")


class ShownRule(TypedDict):
    """``webhook`` is its scheme and host alone, ``form`` that of its messages. ``blocked``: why it cannot fire as the cluster is watched now; null where it can."""

    id: str
    type: str
    kind: str
    group: str
    limits: dict[str, Any]
    says: str
    webhook: str | None
    form: str | None
    enabled: bool
    blocked: str | None


class ShownAlert(TypedDict):
    """``url`` leads to the moment; null where its timeline is gone. ``ended_ms`` is null while it holds.

    ``about`` is the group, as people see its name, or the cluster: both have an empty ``group`` where a group's name is empty.
    """

    id: str
    rule: str
    kind: str
    group: str
    about: str
    says: str
    since_ms: int
    at_ms: int
    ended_ms: int | None
    silenced: bool
    url: str | None


class ShownDelivery(TypedDict):
    """``state``: ``waiting``, ``delivered``, ``failed`` or ``dropped``; ``answer`` is what the last try came to."""

    id: int
    rule: str
    alert: str | None
    status: str
    says: str
    state: str
    tries: int
    answer: str
    created_ms: int
    changed_ms: int
    next_try_ms: int | None


def get(cluster: Cluster, rule_id: str) -> AlertRule:
    try:
        return AlertRule.objects.select_related("cluster").get(pk=rule_id, cluster=cluster)
    except AlertRule.DoesNotExist:
        raise NoSuchRule(rule_id) from None


def values(row: AlertRule) -> Rule:
    """The rule of a row. ``BadRule`` where another version stored what this one does not know."""
    return rule_of({"kind": row.kind, "group": row.group, **row.limits})


FIELDS: Final = (
    "kind",
    "group",
    "webhook",
    "form",
    "key",
    "finding",
    *sorted({name for each in LIMITS.values() for name in each}),
)
"""What a rule is given as; numbers of another kind are left alone."""


def add(cluster: Cluster, given: Mapping[str, Any]) -> AlertRule:
    """A rule that is looked at from now on. ``BadRule`` contains what is wrong."""
    rule = rule_of(given)
    if unknown := next((name for name in given if name not in FIELDS), None):
        raise BadRule(
            f"A rule has no field {str(unknown)[:40]!r}; it has {', '.join(FIELDS)}.", str(unknown)[:40]
        )
    destination = destination_of(given)
    if cluster.rules.count() >= RULES_MOST:
        raise BadRule(f"A cluster has {RULES_MOST} rules at most: remove one first.", "kind")
    return AlertRule.objects.create(
        id=storage.new_id(),
        cluster=cluster,
        kind=rule.kind.value,
        group=rule.group,
        limits=rule.limits,
        sealed=destination.sealed() if destination is not None else b"",
    )


@transaction.atomic
def add_usual(cluster: Cluster) -> list[AlertRule]:
    """The rules of ``USUAL`` that the cluster does not have, about all groups and without a webhook. ``BadRule`` where there is no room for all."""
    has = {row.kind for row in cluster.rules.filter(group="")}
    return [add(cluster, given) for given in USUAL if given["kind"] not in has]


@makes_room
def set_enabled(row: AlertRule, *, enabled: bool) -> AlertRule:
    """Look at it, or do not: what held of it then is over."""
    row.enabled = enabled
    row.save(update_fields=["enabled"])
    if not enabled:
        row.alerts.filter(ended_ms=None).update(ended_ms=round(timezone.now().timestamp() * 1000))
    return row


def text_of(row: AlertRule) -> str:
    """The rule in words; its kind where another version stored what this one does not have."""
    try:
        return values(row).text
    except BadRule:
        return row.kind


def shown_rule(row: AlertRule) -> ShownRule:
    try:
        blocked = _blocked(row.cluster, values(row))
    except BadRule:
        blocked = "It cannot fire: another version of this program stored it."
    destination = stored_destination(row)
    return {
        "id": row.pk,
        "type": "rule",
        "kind": row.kind,
        "group": row.group,
        "limits": row.limits,
        "says": text_of(row),
        "webhook": destination.shown if destination is not None else None,
        "form": destination.form.value if destination is not None else None,
        "enabled": row.enabled,
        "blocked": blocked,
    }


def _blocked(cluster: Cluster, rule: Rule) -> str | None:
    """Why a rule cannot fire as the cluster is watched now; null where it can, and before anybody looked."""
    if not cluster.seen:
        return None
    if rule.kind is Kind.FINDING:
        is_followed = (cluster.seen.get("follow") or {}).get("mode") == "following"
        lacking = missing_sources(rule.finding, is_followed=is_followed)
        how = "the log of a live group does" if is_followed else "polls do"
        return f"It cannot fire: it needs {lacking}, which {how} not contain." if lacking else None
    if rule.kind in (Kind.LAG, Kind.LATE, *NEED_COURSE):
        rows = cluster.groups.all()
        if rule.group:
            names = rows.values_list("group", flat=True) if "*" in rule.group else [rule.group]
            rows = rows.filter(group__in=[name for name in names if is_match(rule.group, name)])
        if rows.exists() and not rows.filter(facts__has_key="lag").exclude(facts__lag=None).exists():
            return "It cannot fire now: no lag is known. Committed offsets, or the ends of partitions, are not readable."
    return None


def shown_alert(row: Alert) -> ShownAlert:
    return {
        "id": row.pk,
        "rule": row.rule_id,
        "kind": row.rule.kind,
        "group": row.group,
        "about": row.rule.cluster.name if row.rule.kind in OF_CLUSTER else shown_name(row.group),
        "says": row.says,
        "since_ms": row.since_ms,
        "at_ms": row.at_ms,
        "ended_ms": row.ended_ms,
        "silenced": row.silenced,
        "url": moment_of(row),
    }


def moment_of(row: Alert) -> str | None:
    """The address of the moment, from the server's root on."""
    if row.timeline_id is None:
        return None
    return f"/t/{row.timeline_id}" + (f"?at={row.sequence}" if row.sequence else "")


def shown_delivery(row: Delivery) -> ShownDelivery:
    waits = row.state == Delivery.State.WAITING
    return {
        "id": row.pk,
        "rule": row.rule_id,
        "alert": row.alert_id,
        "status": str(row.message.get("status", "")),
        "says": str(row.message.get("says", "")),
        "state": row.state,
        "tries": row.tries,
        "answer": row.answer,
        "created_ms": round(row.created.timestamp() * 1000),
        "changed_ms": round(row.changed.timestamp() * 1000),
        "next_try_ms": round(row.next_try.timestamp() * 1000) if waits else None,
    }


def overview(cluster: Cluster) -> dict[str, Any]:
    """``rules``, ``silences``, ``alerts`` (those that hold first, then the newest) and ``deliveries``, the newest first."""
    alerts = cluster.alerts.select_related("rule__cluster")
    held = list(alerts.filter(ended_ms=None)[:ALERTS_SHOWN])
    ended = list(alerts.exclude(ended_ms=None)[: ALERTS_SHOWN - len(held)])
    return {
        "rules": [shown_rule(row) for row in cluster.rules.select_related("cluster")],
        "silences": [silences.shown(row) for row in silences.active(cluster, time.time_ns() // 1_000_000)],
        "alerts": [shown_alert(row) for row in (*held, *ended)],
        "deliveries": [shown_delivery(row) for row in cluster.deliveries.all()[:DELIVERIES_SHOWN]],
        "waiting": cluster.deliveries.filter(state=Delivery.State.WAITING).count(),
    }
