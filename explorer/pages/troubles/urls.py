"""Addresses of the table of what is wrong: the page of all groups, and its part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.troubles import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("groups", views.page, name="groups"),
    path("api/groups", endpoint(GET=views.api_table), name="api-groups"),
]
