"""Addresses of live clusters: pages and their part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.clusters import alerts, views
from explorer.web.endpoint import endpoint

API = "api/clusters"
ONE = f"{API}/<slug:cluster_id>"

urlpatterns = [
    path("clusters", views.clusters, name="clusters"),
    path("clusters/<slug:cluster_id>", views.cluster, name="cluster"),
    path("clusters/<slug:cluster_id>/timelines", views.timelines, name="cluster-timelines"),
    path(API, endpoint(GET=views.api_list, POST=views.api_add), name="api-clusters"),
    path(f"{API}/check", endpoint(POST=views.api_check), name="api-clusters-check"),
    path(
        ONE,
        endpoint(GET=views.api_detail, PATCH=views.api_change, DELETE=views.api_delete),
        name="api-cluster",
    ),
    path(f"{ONE}/groups", endpoint(GET=views.api_groups), name="api-cluster-groups"),
    path(f"{ONE}/timelines", endpoint(GET=views.api_timelines), name="api-cluster-timelines"),
    path(f"{ONE}/alerts", endpoint(GET=alerts.api_alerts), name="api-cluster-alerts"),
    path(f"{ONE}/rules", endpoint(GET=alerts.api_rules, POST=alerts.api_add), name="api-cluster-rules"),
    path(f"{ONE}/rules/usual", endpoint(POST=alerts.api_usual), name="api-cluster-rules-usual"),
    path(
        f"{ONE}/rules/<slug:rule_id>",
        endpoint(GET=alerts.api_rule, PATCH=alerts.api_change, DELETE=alerts.api_delete),
        name="api-cluster-rule",
    ),
    path(
        f"{ONE}/silences",
        endpoint(GET=alerts.api_silences, POST=alerts.api_silence),
        name="api-cluster-silences",
    ),
    path(
        f"{ONE}/silences/<slug:silence_id>",
        endpoint(DELETE=alerts.api_end_silence),
        name="api-cluster-silence",
    ),
    path(f"{ONE}/rules/<slug:rule_id>/test", endpoint(POST=alerts.api_test), name="api-cluster-rule-test"),
]
