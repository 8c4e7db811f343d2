from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from groups.models import Timeline


class ExplorerConfig(AppConfig):
    name = "explorer"

    def ready(self) -> None:
        from explorer.server import checks  # noqa: F401  (registers the checks; makes shared tasks find their app)
        from groups import exporting

        # What makes a page of a timeline is imported when one is made: no other command needs it.
        def html(timeline: Timeline, wanted: exporting.Wanted) -> exporting.Export:
            from explorer.sharing.exporting import html

            return html(timeline, wanted)

        exporting.EXPORTERS["html"] = html
