"""Addresses of the documentation."""

from __future__ import annotations

from django.urls import path

from explorer.pages.docs import views

urlpatterns = [
    path("docs/", views.page, name="docs"),
    path("docs/<path:name>", views.page, name="docs-page"),
]
