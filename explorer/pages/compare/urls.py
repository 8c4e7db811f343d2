"""The address of comparisons."""

from __future__ import annotations

from django.urls import path

from explorer.pages.compare import views

urlpatterns = [
    path("compare", views.page, name="compare"),
]
