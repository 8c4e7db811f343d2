from __future__ import annotations

from django.urls import path

from explorer.pages.board import views
from explorer.pages.timelines import rebalances, report, steps

urlpatterns = [
    path("t/<slug:timeline_id>", views.board, name="board"),
    path("t/<slug:timeline_id>/rebalances", rebalances.show, name="rebalances"),
    path("t/<slug:timeline_id>/report", report.show, name="report"),
    path("t/<slug:timeline_id>/steps", steps.show, name="steps"),
]
