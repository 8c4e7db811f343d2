from __future__ import annotations

from django.urls import path

from explorer.pages.proofs import views
from explorer.web.endpoint import endpoint

ONE = "api/proofs/<slug:proof_id>"

urlpatterns = [
    path("proofs/<slug:proof_id>", views.show, name="proof"),
    path("api/proofs", endpoint(POST=views.api_start), name="api-proofs"),
    path(ONE, endpoint(GET=views.api_detail), name="api-proof"),
    path(f"{ONE}/cancel", endpoint(POST=views.api_cancel), name="api-proof-cancel"),
]
