from __future__ import annotations

from django.urls import path

from explorer.runs import views

urlpatterns = [path("simulate/", views.simulate, name="simulate")]
