"""Every address: pages, the JSON API (docs/reference/api.md) and, in ``explorer.asgi``, the sockets."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("explorer.home.urls")),
    path("", include("explorer.board.urls")),
    path("", include("explorer.compare.urls")),
    path("", include("explorer.imports.urls")),
    path("", include("explorer.runs.urls")),
    path("", include("explorer.inspector.urls")),
    path("", include("explorer.laboratory.urls")),
    path("", include("explorer.sweeps.urls")),
    path("api/", include("explorer.api.urls")),
]

handler400 = "explorer.access.failures.bad_request"
handler404 = "explorer.access.failures.not_found"
handler500 = "explorer.access.failures.server_error"
