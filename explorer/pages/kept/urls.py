"""Addresses of the list of timelines: the page and its part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.kept import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("timelines", views.page, name="timelines"),
    path("api/kept", endpoint(GET=views.api_list), name="api-kept"),
    path("api/kept/delete", endpoint(POST=views.api_delete), name="api-kept-delete"),
]
