"""Addresses of the API's own description."""

from __future__ import annotations

from django.urls import path

from explorer.server.openapi import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("api/openapi.json", endpoint(GET=views.api_document), name="api-openapi"),
    path("api/docs", views.page, name="api-docs"),
]
