"""Addresses of the audit log: a page, and its part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.audit import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("audit", views.page, name="audit"),
    path("api/audit", endpoint(GET=views.api_entries), name="api-audit"),
    path("api/audit.jsonl", endpoint(GET=views.api_lines), name="api-audit-lines"),
]
