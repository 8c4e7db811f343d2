"""Searches for what would have helped."""

from __future__ import annotations

from typing import Final

from explorer.server.openapi.operation import TEXT, Operation, enum, fields, number, queued
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

ROWS: Final = (
    queued(
        "POST api-remedies",
        f"Queue a search for what would have helped from an entry on; {SEEDS_USUAL} seeds if left out",
        body=fields({"at?": COUNT, "seeds?": number(1, SEEDS_MOST)}),
        answer=fields({**CREATED, "type": enum(("search",)), "search": TEXT}),
    ),
    Operation("GET api-remedy-search", "How far a search is, and its ranking so far", answer=SEARCH),
    Operation(
        "POST api-remedy-cancel", "Stop it; the rows that are there stay. 409 if it has ended", answer=SEARCH
    ),
    queued(
        "POST api-remedy-branches",
        "Queue a row's first seed as a branch of the timeline",
        body=fields({"remedy": TEXT}),
        answer=fields({**CREATED, "compare": TEXT}),
    ),
)
