from __future__ import annotations

from django.urls import path

from explorer.pages.timelines import assignment, rebalances
from explorer.pages.timelines import timeline_api as timelines
from explorer.web.endpoint import endpoint

T = "timelines/<slug:timeline_id>"

urlpatterns = [
    path("timelines", endpoint(GET=timelines.listed), name="api-timelines"),
    path(
        T,
        endpoint(GET=timelines.detail, PATCH=timelines.rename, DELETE=timelines.delete),
        name="api-timeline",
    ),
    path(f"{T}/chunks/<int:first>", endpoint(GET=timelines.chunk), name="api-chunk"),
    path(f"{T}/digest", endpoint(GET=timelines.digest), name="api-digest"),
    path(f"{T}/offsets", endpoint(GET=timelines.offsets), name="api-offsets"),
    path(f"{T}/lag", endpoint(GET=timelines.lag), name="api-lag"),
    path(f"{T}/watch", endpoint(GET=timelines.watch), name="api-watch"),
    path(f"{T}/range", endpoint(GET=timelines.range_cost), name="api-range"),
    path(f"{T}/rebalances", endpoint(GET=rebalances.listed), name="api-rebalances"),
    path(f"{T}/changes", endpoint(GET=timelines.changes), name="api-changes"),
    path(f"{T}/frame", endpoint(GET=timelines.frame), name="api-frame"),
    path(f"{T}/assignment", endpoint(GET=assignment.next_assignment), name="api-assignment"),
    path(f"{T}/metrics", endpoint(GET=timelines.metrics), name="api-metrics"),
    path(f"{T}/entries", endpoint(GET=timelines.entries), name="api-entries"),
    path(f"{T}/figures/epochs", endpoint(GET=timelines.epochs_figure), name="api-figure-epochs"),
    path(f"{T}/topics", endpoint(PATCH=timelines.name_topics), name="api-topics"),
    path(f"{T}/cancel", endpoint(POST=timelines.cancel), name="api-cancel"),
]
