"""The API of alerts: rules, what they found, and what was sent."""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from explorer.accounts.permissions import Action
from explorer.accounts.roles import rights_in
from explorer.accounts.targets import Target
from explorer.web.endpoint import BadRequest, json_body, json_response
from groups.alert_models import AlertRule
from groups.reserve import makes_room
from groups.watching import registry as clusters
from groups.watching.alerts import deliveries, registry, silences
from groups.watching.alerts.registry import overview, shown_delivery, shown_rule
from groups.watching.alerts.rules import BadRule


def api_alerts(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``GET …/alerts``: rules, alerts and the log of deliveries."""
    return json_response(overview(clusters.get(cluster_id)))


def api_rules(request: HttpRequest, cluster_id: str) -> HttpResponse:
    return json_response([shown_rule(row) for row in clusters.get(cluster_id).rules.all()])


def api_add(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``POST …/rules``: 201; the process that watches the cluster evaluates it within seconds."""
    cluster, given = clusters.get(cluster_id), json_body(request)
    rights = rights_in(request)
    if given.get("webhook") and rights and (why := rights.refused(Action.TARGET, Target(None, cluster.pk))):
        raise BadRequest(why, status=403, field="webhook")
    try:
        row = registry.add(cluster, given)
    except BadRule as error:
        raise BadRequest(str(error), field=error.field) from error
    response = json_response(shown_rule(row), status=201)
    response["Location"] = reverse("api-cluster-rule", args=[cluster_id, row.pk])
    return response


def api_usual(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``POST …/rules/usual``: the rules for a cluster of which nothing else is known, as far as it has them not; 201."""
    try:
        rows = registry.add_usual(clusters.get(cluster_id))
    except BadRule as error:
        raise BadRequest(str(error), field=error.field) from error
    return json_response([shown_rule(row) for row in rows], status=201)


def api_rule(request: HttpRequest, cluster_id: str, rule_id: str) -> HttpResponse:
    return json_response(shown_rule(_rule(cluster_id, rule_id)))


def api_change(request: HttpRequest, cluster_id: str, rule_id: str) -> HttpResponse:
    """``PATCH``: ``{"enabled": false}`` looks at it no longer, ``true`` does again."""
    row = _rule(cluster_id, rule_id)
    enabled = json_body(request).get("enabled")
    if not isinstance(enabled, bool):
        raise BadRequest("enabled must be true or false.", field="enabled")
    return json_response(shown_rule(registry.set_enabled(row, enabled=enabled)))


def api_delete(request: HttpRequest, cluster_id: str, rule_id: str) -> HttpResponse:
    """Remove the rule, with its alerts and its deliveries."""
    makes_room(_rule(cluster_id, rule_id).delete)()
    return HttpResponse(status=204)


def api_test(request: HttpRequest, cluster_id: str, rule_id: str) -> HttpResponse:
    """``POST …/test``: a message to the rule's webhook, sent as all others are; 202."""
    sent = deliveries.trial_of(_rule(cluster_id, rule_id))
    if sent is None:
        raise BadRequest("The rule has no webhook.", status=409)
    return json_response(shown_delivery(sent), status=202)


def api_silences(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``GET …/silences``: those that hold."""
    return json_response(
        [silences.shown(row) for row in silences.active(clusters.get(cluster_id), _now_ms())]
    )


def api_silence(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``POST …/silences``: until a time no message is sent of some groups and rules; 201."""
    cluster = clusters.get(cluster_id)
    try:
        row = silences.add(cluster, silences.silence_of(json_body(request)), _now_ms())
    except BadRule as error:
        raise BadRequest(str(error), field=error.field) from error
    return json_response(silences.shown(row), status=201)


def api_end_silence(request: HttpRequest, cluster_id: str, silence_id: str) -> HttpResponse:
    """``DELETE …/silences/<id>``: messages are sent again; also of what began meanwhile and still holds."""
    if not makes_room(clusters.get(cluster_id).silences.filter(pk=silence_id).delete)()[0]:
        raise BadRequest(f"There is no silence {silence_id!r}.", status=404)
    return HttpResponse(status=204)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _rule(cluster_id: str, rule_id: str) -> AlertRule:
    try:
        return registry.get(clusters.get(cluster_id), rule_id)
    except registry.NoSuchRule as error:
        raise BadRequest(str(error), status=404) from error
