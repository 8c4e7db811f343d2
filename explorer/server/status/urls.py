"""Addresses of the status page and of its JSON."""

from __future__ import annotations

from django.urls import path

from explorer.server.status import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("status", views.page, name="status"),
    path("api/status", endpoint(GET=views.api_status), name="api-status"),
]
