"""Addresses of imports: pages and their part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.imports import views
from explorer.web.endpoint import endpoint

API = "api/imports"

urlpatterns = [
    path("import/", views.new, name="import-new"),
    path("import/<slug:import_id>", views.show, name="import"),
    path(API, endpoint(GET=views.api_list, POST=views.api_start), name="api-imports"),
    path(
        f"{API}/<slug:import_id>",
        endpoint(GET=views.api_detail, PATCH=views.api_rename, DELETE=views.api_delete),
        name="api-import",
    ),
    path(f"{API}/<slug:import_id>/groups", endpoint(GET=views.api_groups), name="api-import-groups"),
    path(f"{API}/<slug:import_id>/repeat", endpoint(POST=views.api_repeat), name="api-import-repeat"),
    path(f"{API}/<slug:import_id>/cancel", endpoint(POST=views.api_cancel), name="api-import-cancel"),
]
