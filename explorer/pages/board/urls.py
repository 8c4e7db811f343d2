from __future__ import annotations

from django.urls import path

from explorer.pages.board import views

urlpatterns = [path("t/<slug:timeline_id>", views.board, name="board")]
