from __future__ import annotations

from django.urls import path

from explorer.pages.inspector import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("inspect", views.page, name="inspector"),
    path("api/inspect", endpoint(POST=views.inspect_bytes), name="api-inspect"),
    path("api/inspect/compare", endpoint(POST=views.compare), name="api-inspect-compare"),
    path(
        "api/timelines/<slug:timeline_id>/entries/<int:sequence>/bytes",
        endpoint(GET=views.record_bytes),
        name="api-entry-bytes",
    ),
]
