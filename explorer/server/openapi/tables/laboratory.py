"""The laboratory, rehearsals of upgrades, and lessons."""

from __future__ import annotations

from typing import Final

from explorer.pages.laboratory.asking import CHANGES_MOST
from explorer.pages.lessons.asking import TEXT_BYTES_MOST
from explorer.pages.lessons.listing import CourseLine
from explorer.pages.rehearsal.asking import FIELDS, NUMBERS
from explorer.server.openapi.operation import (
    TEXT,
    TEXT_PROBLEM,
    Content,
    Operation,
    array,
    fields,
    maybe,
    number,
    text,
    whole,
)
from explorer.server.openapi.tables.timelines import AT, COUNT, CREATED
from simulations.laboratory import BOARDS
from simulations.laboratory.links import KEYS
from simulations.laboratory.shapes import Sheet as LaboratorySheet
from simulations.lessons.sheets import RunSheet
from simulations.lessons.sheets import Sheet as LessonSheet
from simulations.rehearsal.judging import Sheet as RehearsalSheet
from simulations.rehearsal.ways import WayName

BOARD: Final = number(1, len(BOARDS))
CASE: Final = {
    "query?": maybe(TEXT),
    "case?": maybe({"type": "object"}),
    "changes?": array({"type": "object"}, CHANGES_MOST),
}
LINK: Final = (
    *(text(key, "a key of a laboratory's link") for key in KEYS),
    text("timeline", "instead of a link's keys: the group of a timeline"),
    AT,
)
REHEARSAL: Final = tuple(
    whole(key, "of an upgrade", least=1)
    if key in (*NUMBERS, "members")
    else AT
    if key == "at"
    else text(key, "of the group, or of the upgrade")
    for key in FIELDS
)
DOCUMENT: Final = {"query?": maybe(TEXT), "document?": maybe({"type": "object"})}
PLAN: Final = Content("text/markdown", "the plan")
LESSON_TEXT: Final = {**TEXT, "maxLength": TEXT_BYTES_MOST}
ACT: Final = fields({"at_ms": COUNT, "do": TEXT, "who?": TEXT, "to?": COUNT})

ROWS: Final = (
    Operation(
        "GET api-laboratory",
        "What six assignors make of a link's group, or of a timeline's moment",
        query=LINK,
        answer=LaboratorySheet,
        errors=(404,),
    ),
    Operation(
        "POST api-laboratory",
        "The same after changes: `query` or `case`, one of the two",
        body=fields(CASE),
        answer=LaboratorySheet,
        errors=(404,),
    ),
    Operation(
        "POST api-laboratory-runs",
        "Queue a run of the group and its event",
        body=fields({**CASE, "board": BOARD}),
        answer=fields(CREATED),
        status=201,
        errors=(404,),
    ),
    Operation(
        "GET api-rehearsal",
        "An upgrade of a described group, rehearsed",
        query=REHEARSAL,
        answer=RehearsalSheet,
        errors=(404,),
    ),
    Operation(
        "POST api-rehearsal",
        "The same of a document: `query` or `document`, one of the two",
        body=fields(DOCUMENT),
        answer=RehearsalSheet,
        errors=(404,),
    ),
    Operation("GET api-rehearsal-plan", "The plan as Markdown", query=REHEARSAL, answer=PLAN, errors=(404,)),
    Operation(
        "POST api-rehearsal-plan",
        "The plan of a document",
        body=fields(DOCUMENT),
        answer=PLAN,
        errors=(404,),
    ),
    Operation(
        "POST api-rehearsal-runs",
        "Queue a run of one of the ways",
        body=fields({**DOCUMENT, "way?": WayName}),
        answer=fields(CREATED),
        status=201,
        errors=(404,),
    ),
    Operation("GET api-lessons", "Courses with their lessons", answer=list[CourseLine]),
    Operation("GET api-lesson", "A lesson as it is played", answer=LessonSheet),
    Operation(
        "POST api-lessons-check",
        "A lesson's text as it is played, and what is wrong with it",
        body=fields({"text": LESSON_TEXT}),
        answer=fields(
            {
                "sheet": LessonSheet | None,
                "problems": array(TEXT_PROBLEM),
            }
        ),
    ),
    Operation(
        "POST api-lessons-runs",
        "A lesson's run, played on from a moment with what the reader does: of `lesson` or `text`",
        body=fields({"lesson?": TEXT, "text?": LESSON_TEXT, "at_ms": number(), "acts?": array(ACT)}),
        answer=fields({"run": RunSheet, "scenario": TEXT}),
    ),
)
