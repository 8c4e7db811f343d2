"""Imports of logs."""

from __future__ import annotations

from typing import Final

from explorer.pages.imports.describing import GROUPS_A_PAGE
from explorer.pages.imports.views import LISTED_MOST
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
    text,
    whole,
)
from explorer.server.openapi.tables.timelines import COUNT, CREATED, MS, STATUS, TITLE
from explorer.web.endpoint import SEARCH_LENGTH_MOST
from groups.imports.client_settings import TIMEOUT_LEAST_MS, TIMEOUT_MOST_MS
from groups.models import Import
from groups.pipeline.times import StageTime

SAMPLE: Final = fields({"sample?": {"anyOf": [{"const": True}, TEXT]}, "cluster?": TEXT, "path?": TEXT})
FILES: Final = Content(
    "multipart/form-data",
    "`files`: segments, archives of them, or text of kafka-dump-log; `paths`: their names with folders, in their order; "
    f"`session_timeout_ms` and `max_poll_interval_ms` of the consumers where they are known, {TIMEOUT_LEAST_MS:,} to {TIMEOUT_MOST_MS:,}; "
    "`end_offsets`: a file of end offsets over time",
)

LISTED: Final = {
    "id": TEXT,
    "title": TEXT,
    "status": enum(Import.Status),
    "problem": TEXT,
    "waits": TEXT,
    "created": {**TEXT, "format": "date-time"},
    "finished": maybe({**TEXT, "format": "date-time"}),
    "url": TEXT,
    "bytes": COUNT,
    "records": COUNT,
    "groups": COUNT,
    "span": maybe({**array(MS, 2), "minItems": 2}),
}

GROUP: Final = fields(
    {
        "id": TEXT,
        "url": TEXT,
        "group": TEXT,
        "title": TEXT,
        "protocol": TEXT,
        "status": STATUS,
        "problem": TEXT,
        "entries": COUNT,
        "first_ms": maybe(MS),
        "last_ms": maybe(MS),
        "gaps": COUNT,
        "verdict": {"type": "object"},
        "epochs": array(MS),
        "no_owner": {},
        "weight": COUNT,
        "releases": TEXTS,
        "releases_why": TEXT,
        "deleted": FLAG,
        "same_as": maybe(TEXT),
        "continues": maybe(TEXT),
        "continues_after": maybe(COUNT),
        "overlaps": TEXTS,
    }
)

NAMELESS: Final = fields(
    {
        "id": TEXT,
        "partitions": maybe(COUNT),
        "suggestion": maybe(TEXT),
        "groups": TEXTS,
        "timelines": TEXTS,
        "name": maybe(TEXT),
    }
)

DETAIL: Final = fields(
    {
        **LISTED,
        "repeatable": FLAG,
        "stage": TEXT,
        "stages": {"type": "array"},
        "stuck": TEXT,
        "remaining_s": maybe({"type": "number"}),
        "found": {},
        "sources": array({"type": "object"}),
        "waiting_groups": {"type": "array"},
        "spark": maybe(fields({"ready": FLAG})),
        "timelines": array(GROUP),
        "timelines_in_all": COUNT,
        "matching": COUNT,
        "again": fields({"same": COUNT, "longer": COUNT, "overlapping": COUNT}),
        "named": array(fields({"source": TEXT, "says": TEXT, "count": COUNT})),
        "nameless": array(NAMELESS),
        "records": {"type": "object"},
        "repeated": COUNT,
        "times": list[StageTime],
        "begun_again": COUNT,
        "finished_before": COUNT,
        "engine": maybe({"type": "object"}),
        "log": array(TEXT),
    }
)

ROWS: Final = (
    Operation(
        "GET api-imports",
        f"Imports, the newest first, {LISTED_MOST} from `after` on",
        query=(AFTER, NAMED),
        answer=array(fields(LISTED)),
    ),
    Operation(
        "POST api-imports",
        "Queue an import of files, of the offsets topic of a cluster that is added, or of the sample log",
        body=(SAMPLE, FILES),
        answer=fields(CREATED),
        status=201,
        errors=(404,),
    ),
    Operation(
        "GET api-import", "How far an import is, its report, and the gravest of its groups", answer=DETAIL
    ),
    Operation("PATCH api-import", "Name it", body=TITLE, answer=fields(LISTED)),
    Operation("DELETE api-import", "Delete it, and the timelines that no other import contains", status=204),
    Operation(
        "GET api-import-groups",
        f"Its groups, {GROUPS_A_PAGE} from `after` on, the gravest first",
        query=(
            text(
                "q", "words of a group's name, members, topics, findings or verdict", most=SEARCH_LENGTH_MOST
            ),
            whole("from_ms", "something of it is later"),
            whole("until_ms", "something of it is earlier"),
            whole("after", "how many groups to skip"),
        ),
        answer=fields({"matching": COUNT, "timelines": array(GROUP)}),
    ),
    Operation("POST api-import-cancel", "Stop it; nothing of it is kept. 409 if it has ended", answer=DETAIL),
    Operation("POST api-import-repeat", "Read the same files again after a failure", answer=DETAIL),
)
