"""Explorations of scenarios, and recordings that are put to the simulated coordinator."""

from __future__ import annotations

from typing import Final

from explorer.pages.proofs.starting import BUDGET_MOST
from explorer.server.openapi.operation import (
    AFTER,
    FLAG,
    NAMED,
    TEXT,
    Content,
    Operation,
    array,
    enum,
    fields,
    maybe,
    number,
    queued,
)
from explorer.server.openapi.tables.timelines import CREATED
from simulations import samples
from simulations.models import Proof
from simulations.proof.exploration.actions import BUDGETS

SUMMARY: Final = {
    "id": TEXT,
    "title": TEXT,
    "asks": enum(("explore", "conform")),
    "status": enum(Proof.Status),
    "stage": TEXT,
    "problem": TEXT,
}
PROOF: Final = fields({**SUMMARY, "answer": maybe({"type": "object"})})

BUDGET: Final = number(0, BUDGET_MOST)

ASKED: Final = fields(
    {
        "scenario?": TEXT,
        "semantics?": maybe(enum(("kafka", "kip", ""))),
        "release?": maybe(TEXT),
        **{f"{name}?": BUDGET for name in BUDGETS},
        "unhurried?": FLAG,
        "sample?": enum(samples.names()),
    }
)
FILES: Final = Content(
    "multipart/form-data",
    "`requests`: a broker's request log; `files`: segments of `__consumer_offsets` and `__cluster_metadata`; "
    "`settings`: the broker's settings that are not Kafka's defaults, KEY=VALUE, a line each",
)

ROWS: Final = (
    Operation(
        "GET api-proofs",
        "Proofs, the newest first, without their reports",
        query=(AFTER, NAMED),
        answer=array(fields(SUMMARY)),
    ),
    queued(
        "POST api-proofs",
        "Queue an exploration of a scenario, or a recording that the simulated coordinator is to judge",
        body=(ASKED, FILES),
        answer=fields({**CREATED, "type": enum(("proof",)), "proof": TEXT}),
    ),
    Operation("GET api-proof", "How far it is, and its report", answer=PROOF),
    Operation("POST api-proof-cancel", "Stop it. 409 if it has ended", answer=PROOF),
)
