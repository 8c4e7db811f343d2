from __future__ import annotations

from django.urls import path, re_path

from explorer.sharing import api, views
from explorer.sharing.tokens import SHAPE
from explorer.web.endpoint import endpoint

T = "api/timelines/<slug:timeline_id>"

urlpatterns = [
    path("s/open/<slug:link_id>/", views.page, name="share-page"),
    path("s/open/<slug:link_id>/state", views.state, name="share-state"),
    re_path(rf"^s/(?P<token>{SHAPE})$", views.door, name="share-door"),
    re_path(rf"^s/(?P<token>{SHAPE})/card\.png$", views.card, name="share-card"),
    re_path(rf"^s/(?P<token>{SHAPE})/embed/$", views.embed, name="share-embed"),
    re_path(rf"^s/(?P<token>{SHAPE})/embed/state$", views.embed_state, name="share-embed-state"),
    path(f"{T}/exports", endpoint(POST=api.export), name="api-exports"),
    path(f"{T}/pseudonyms", endpoint(POST=api.pseudonyms), name="api-pseudonyms"),
    path(f"{T}/links", endpoint(GET=api.listed, POST=api.make), name="api-links"),
    path("api/comparisons/exports", endpoint(POST=api.export_comparison), name="api-comparison-exports"),
    path("api/laboratory/exports", endpoint(POST=api.export_laboratory), name="api-laboratory-exports"),
    path(
        "api/laboratory/links",
        endpoint(GET=api.listed_of_laboratory, POST=api.make_of_laboratory),
        name="api-laboratory-links",
    ),
    path("api/links/<slug:link_id>", endpoint(DELETE=api.withdraw), name="api-link"),
]
