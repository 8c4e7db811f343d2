"""Every address: pages, the JSON API (docs/reference/api.md) and, in ``explorer.asgi``, the sockets."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("explorer.pages.account.urls")),
    path("", include("explorer.pages.audit.urls")),
    path("", include("explorer.pages.home.urls")),
    path("", include("explorer.pages.board.urls")),
    path("", include("explorer.pages.kept.urls")),
    path("", include("explorer.pages.troubles.urls")),
    path("", include("explorer.server.health.urls")),
    path("", include("explorer.server.metrics.urls")),
    path("", include("explorer.server.status.urls")),
    path("", include("explorer.pages.docs.urls")),
    path("", include("explorer.server.openapi.urls")),
    path("", include("explorer.pages.compare.urls")),
    path("", include("explorer.pages.differences.urls")),
    path("", include("explorer.pages.imports.urls")),
    path("", include("explorer.pages.runs.urls")),
    path("", include("explorer.pages.inspector.urls")),
    path("", include("explorer.pages.laboratory.urls")),
    path("", include("explorer.pages.rehearsal.urls")),
    path("", include("explorer.pages.lessons.urls")),
    path("", include("explorer.pages.sweeps.urls")),
    path("", include("explorer.pages.remedies.urls")),
    path("", include("explorer.pages.proofs.urls")),
    path("", include("explorer.sharing.urls")),
    path("", include("explorer.pages.clusters.urls")),
    path("api/", include("explorer.pages.timelines.urls")),
    path("api/", include("explorer.pages.forks.urls")),
]

handler400 = "explorer.access.failures.bad_request"
handler404 = "explorer.access.failures.not_found"
handler500 = "explorer.access.failures.server_error"
