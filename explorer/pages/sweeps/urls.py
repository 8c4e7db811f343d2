"""Addresses of sweeps: pages and their part of the JSON API."""

from __future__ import annotations

from django.urls import path

from explorer.pages.sweeps import views
from explorer.web.endpoint import endpoint

API = "api/sweeps"
ONE = f"{API}/<slug:sweep_id>"

urlpatterns = [
    path("sweeps", views.new, name="sweeps"),
    path("sweeps/<slug:sweep_id>", views.show, name="sweep"),
    path(API, endpoint(GET=views.api_list, POST=views.api_start), name="api-sweeps"),
    path(ONE, endpoint(GET=views.api_detail, DELETE=views.api_delete), name="api-sweep"),
    path(f"{ONE}/cancel", endpoint(POST=views.api_cancel), name="api-sweep-cancel"),
    path(f"{ONE}/resume", endpoint(POST=views.api_resume), name="api-sweep-resume"),
    path(f"{ONE}/cases.csv", endpoint(GET=views.api_table), name="api-sweep-table"),
    path(f"{ONE}/cells/<int:cell>", endpoint(GET=views.api_cell), name="api-sweep-cell"),
    path(f"{ONE}/cells/<int:cell>/seeds/<int:seed>", endpoint(GET=views.api_seed), name="api-sweep-seed"),
]
