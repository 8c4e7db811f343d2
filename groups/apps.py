from __future__ import annotations

from django.apps import AppConfig

from groups.without_nul import watch_connections


class GroupsConfig(AppConfig):
    name = "groups"

    def ready(self) -> None:
        watch_connections()
