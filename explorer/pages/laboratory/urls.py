from __future__ import annotations

from django.urls import path

from explorer.pages.laboratory import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("laboratory", views.page, name="laboratory"),
    path("api/laboratory", endpoint(GET=views.linked, POST=views.change), name="api-laboratory"),
    path("api/laboratory/runs", endpoint(POST=views.play), name="api-laboratory-runs"),
]
