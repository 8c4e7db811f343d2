from __future__ import annotations

from django.apps import AppConfig


class ExplorerConfig(AppConfig):
    name = "explorer"

    def ready(self) -> None:
        from explorer.server import checks  # noqa: F401  (registers the checks; makes shared tasks find their app)
