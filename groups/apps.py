from __future__ import annotations

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "groups"
