from __future__ import annotations

from django.urls import path

from explorer.pages.lessons import views
from explorer.web.endpoint import endpoint

urlpatterns = [
    path("lessons/", views.overview, name="lessons"),
    path("lessons/write", views.write, name="lesson-write"),
    path("lessons/<slug:name>", views.lesson, name="lesson"),
    path("lessons/<slug:name>/handout", views.handout, name="lesson-handout"),
    path("api/lessons", endpoint(GET=views.api_listed), name="api-lessons"),
    path("api/lessons/check", endpoint(POST=views.api_check), name="api-lessons-check"),
    path("api/lessons/runs", endpoint(POST=views.api_run), name="api-lessons-runs"),
    path("api/lessons/<slug:name>", endpoint(GET=views.api_lesson), name="api-lesson"),
]
