from __future__ import annotations

from django.urls import path

from explorer.pages.runs import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("simulate/", views.simulate, name="simulate"),
    path("api/runs", endpoint(POST=views.start), name="api-runs"),
]
