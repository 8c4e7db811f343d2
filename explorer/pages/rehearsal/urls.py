from __future__ import annotations

from django.urls import path

from explorer.pages.rehearsal import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("rehearsal", views.page, name="rehearsal"),
    path("api/rehearsal", endpoint(GET=views.linked, POST=views.described), name="api-rehearsal"),
    path(
        "api/rehearsal/plan", endpoint(GET=views.plan, POST=views.plan_described), name="api-rehearsal-plan"
    ),
    path("api/rehearsal/runs", endpoint(POST=views.play), name="api-rehearsal-runs"),
]
