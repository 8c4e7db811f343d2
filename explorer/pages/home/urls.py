from __future__ import annotations

from django.urls import path

from explorer.pages.home import views

urlpatterns = [
    path("", views.home, name="home"),
    path("help/", views.help_page, name="help"),
]
