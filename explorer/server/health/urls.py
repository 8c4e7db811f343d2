"""Addresses of health, which are answered without a token (``explorer.access.keys.OPEN``)."""

from __future__ import annotations

from django.urls import path

from explorer.server.health import views

urlpatterns = [
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
