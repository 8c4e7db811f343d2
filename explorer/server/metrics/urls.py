"""The address that Prometheus asks."""

from __future__ import annotations

from django.urls import path

from explorer.server.metrics import views

urlpatterns = [path("metrics", views.metrics, name="metrics")]
