"""Sweeps of assignors over many groups."""

from __future__ import annotations

from typing import Final

from explorer.figures.sweeps import Figure
from explorer.pages.sweeps.views import LISTED_MOST
from explorer.server.openapi.operation import (
    AFTER,
    FLAG,
    NAMED,
    TEXT,
    TEXTS,
    Content,
    Operation,
    array,
    enum,
    fields,
    maybe,
    number,
    one_of,
    queued,
)
from explorer.server.openapi.tables.timelines import COUNT, CREATED
from simulations.laboratory.shapes import AnswerFigures
from simulations.models import Sweep
from simulations.sweeps.asked import FIRST_SEED_MOST, SEEDS_MOST, SHAPES_MOST
from simulations.sweeps.axes import Happening
from simulations.sweeps.sentences import Part
from simulations.sweeps.summary import AGGREGATES, MEASURES

MEASURE: Final = one_of("measure", "what the map shows", [each.key for each in MEASURES])
AGGREGATE: Final = one_of("aggregate", "which of a cell's seeds stands for it", AGGREGATES)

LISTED: Final = {
    "id": TEXT,
    "title": TEXT,
    "status": enum(Sweep.Status),
    "stage": TEXT,
    "problem": TEXT,
    "waits": TEXT,
    "done": COUNT,
    "cases": COUNT,
    "created": {**TEXT, "format": "date-time"},
    "finished": maybe({**TEXT, "format": "date-time"}),
    "took_ms": maybe(COUNT),
    "url": TEXT,
}

AXES: Final = fields(
    {
        "assignors": array(fields({"name": TEXT, "label": TEXT, "runs_as": TEXT})),
        "shapes": array(fields({"name": TEXT, "label": TEXT})),
        "events": array(fields({"name": TEXT, "label": TEXT, "head": TEXT})),
        "seeds": COUNT,
        "first_seed": COUNT,
    }
)

CELL: Final = fields({"cell": COUNT, "seeds": COUNT, "text": TEXT, "step": maybe(COUNT)})

DETAIL: Final = fields(
    {
        **LISTED,
        "axes": AXES,
        "master": TEXT,
        "cores": maybe(COUNT),
        "same_engine": FLAG,
        "spark": maybe(fields({"ready": FLAG})),
        "measure": TEXT,
        "aggregate": TEXT,
        "of": TEXT,
        "measures": array(fields({"key": TEXT, "label": TEXT, "title": TEXT, "unit": TEXT})),
        "most": TEXT,
        "says": list[Part],
        "maps": array(fields({"figure": Figure, "cells": array(CELL)})),
    }
)

ROWS: Final = (
    Operation(
        "GET api-sweeps",
        f"Sweeps, the newest first, {LISTED_MOST} from `after` on",
        query=(AFTER, NAMED),
        answer=array(fields(LISTED)),
    ),
    queued(
        "POST api-sweeps",
        "Queue a sweep; what is left out is as usual",
        body=fields(
            {
                "assignors?": TEXTS,
                "shapes?": array(TEXT, SHAPES_MOST),
                "events?": array(enum(Happening)),
                "seeds?": number(1, SEEDS_MOST),
                "first_seed?": number(1, FIRST_SEED_MOST),
            }
        ),
        answer=fields({**CREATED, "cases": COUNT}),
    ),
    Operation(
        "GET api-sweep",
        "How far a sweep is, and a map of each assignor",
        query=(MEASURE, AGGREGATE),
        answer=DETAIL,
    ),
    Operation("DELETE api-sweep", "Delete it with its answers", status=204),
    Operation("POST api-sweep-cancel", "Stop it; what is answered stays", answer=fields(LISTED)),
    Operation(
        "POST api-sweep-resume",
        "Continue one that stopped before its end",
        answer=fields(LISTED),
    ),
    Operation(
        "GET api-sweep-table", "Every case as a line", answer=Content("text/csv", "with a line of heads")
    ),
    Operation(
        "GET api-sweep-cell",
        "One cell: its seeds with their values, and all assignors on one axis",
        query=(MEASURE,),
        answer=fields(
            {
                "cell": COUNT,
                "assignor": TEXT,
                "shape": TEXT,
                "event": TEXT,
                "unit": TEXT,
                "in": COUNT,
                "median": maybe(TEXT),
                "least": maybe(TEXT),
                "most": maybe(TEXT),
                "worst": maybe(COUNT),
                "seeds": array(fields({"seed": COUNT, "text": TEXT})),
                "thrown": array(fields({"seed": COUNT, "says": TEXT})),
                "strip": Figure,
            }
        ),
    ),
    Operation(
        "GET api-sweep-seed",
        "One case, answered again, and where it opens",
        answer=fields(
            {
                "cell": COUNT,
                "seed": COUNT,
                "query": maybe(TEXT),
                "url": maybe(TEXT),
                "board": COUNT,
                "reason": maybe(TEXT),
                "figures": AnswerFigures | None,
            }
        ),
    ),
)
