from __future__ import annotations

from django.urls import path

from explorer.pages.forks import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path(
        "timelines/<slug:timeline_id>/forks",
        endpoint(GET=views.offered, POST=views.start),
        name="api-forks",
    ),
]
