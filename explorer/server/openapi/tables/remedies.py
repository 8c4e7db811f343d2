"""Searches for what would have helped."""

from __future__ import annotations

from typing import Final

from explorer.server.openapi.operation import TEXT, Operation, enum, fields, number
from explorer.server.openapi.tables.timelines import COUNT, CREATED
from simulations.models import RemedySearch
from simulations.remedies.values import SEEDS_MOST, SEEDS_USUAL, Answer

SEARCH: Final = fields(
    {
        "id": TEXT,
        "timeline": TEXT,
        "title": TEXT,
        "at": COUNT,
        "seeds": number(1, SEEDS_MOST),
        "status": enum(RemedySearch.Status),
        "stage": TEXT,
        "problem": TEXT,
        "done": COUNT,
        "runs": COUNT,
        "answer": Answer | None,
    }
)

ROWS: Final = {
    "api-remedies": {
        "POST": Operation(
            summary=f"Queue a search for what would have helped from an entry on; {SEEDS_USUAL} seeds if left out",
            body=fields({"at?": COUNT, "seeds?": number(1, SEEDS_MOST)}),
            answer=fields({**CREATED, "type": enum(("search",)), "search": TEXT}),
            status=201,
            errors=(429,),
        )
    },
    "api-remedy-search": {
        "GET": Operation(summary="How far a search is, and its ranking so far", answer=SEARCH)
    },
    "api-remedy-cancel": {
        "POST": Operation(summary="Stop it; the rows that are there stay. 409 if it has ended", answer=SEARCH)
    },
    "api-remedy-branches": {
        "POST": Operation(
            summary="Queue a row's first seed as a branch of the timeline",
            body=fields({"remedy": TEXT}),
            answer=fields({**CREATED, "compare": TEXT}),
            status=201,
            errors=(429,),
        )
    },
}
