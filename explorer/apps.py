from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
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

        def compared(
            timelines: Sequence[Timeline], made: datetime, key: bytes | None, from_ms: int
        ) -> exporting.Export:
            from explorer.sharing.comparing import Compared, html

            ids = [timeline.id for timeline in timelines]
            return html(Compared(made=made, runs=ids, from_ms=from_ms, at_ms=from_ms, key=key))

        def traced(kind: str) -> exporting.Exporter:
            def made(timeline: Timeline, wanted: exporting.Wanted) -> exporting.Export:
                from groups.trace_formats import FORMATS

                return FORMATS[kind](timeline, wanted)

            return made

        def data(timeline: Timeline, wanted: exporting.Wanted) -> exporting.Export:
            from explorer.pages.timelines.notes import handed_notes

            return exporting.data(timeline, wanted, handed_notes)

        exporting.EXPORTERS["html"] = html
        exporting.EXPORTERS["data"] = data
        exporting.EXPORTERS.update({kind: traced(kind) for kind in ("csv", "parquet", "otlp", "perfetto")})
        exporting.COMPARERS["html"] = compared
