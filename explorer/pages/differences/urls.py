"""Addresses of the differences between text and release."""

from __future__ import annotations

from django.urls import path

from explorer.pages.differences import views

urlpatterns = [
    path("differences", views.listing, name="differences"),
    path("differences/<slug:difference_id>", views.page, name="difference"),
]
