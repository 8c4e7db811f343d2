from __future__ import annotations

from django.urls import path

from explorer.pages.remedies import views
from explorer.web.endpoint import endpoint

ONE = "api/remedies/<slug:search_id>"

urlpatterns = [
    path("remedies/<slug:search_id>", views.show, name="remedies"),
    path("api/timelines/<slug:timeline_id>/remedies", endpoint(POST=views.start), name="api-remedies"),
    path(ONE, endpoint(GET=views.detail), name="api-remedy-search"),
    path(f"{ONE}/cancel", endpoint(POST=views.cancel), name="api-remedy-cancel"),
    path(f"{ONE}/branches", endpoint(POST=views.branch), name="api-remedy-branches"),
]
