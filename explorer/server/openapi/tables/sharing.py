"""Files to hand on, and share links."""

from __future__ import annotations

from typing import Final

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
    queued,
)
from explorer.server.openapi.tables.laboratory import BOARD
from explorer.sharing.api import PREVIEWED_MOST
from explorer.sharing.asking import MS_MOST, ORIGINS_MOST, VIEWS
from explorer.sharing.links import DAYS_MOST, WHO, LinkRow
from groups.exporting import EXPORTERS
from groups.incidents.redaction import KEY_BYTES
from simulations.sweeps.summary import MEASURES

KEY: Final = {**TEXT, "pattern": f"^[0-9a-f]{{{2 * KEY_BYTES}}}$"}
STRETCH: Final = {"from?": number(1), "to?": number(1)}
HIDING: Final = {"hide_names?": FLAG, "key?": maybe(KEY)}
WANTED: Final = {**STRETCH, **HIDING, "view?": enum(VIEWS), "at?": maybe(number()), "notes?": FLAG}
TERMS: Final = {"days?": number(1, DAYS_MOST), "who?": enum(WHO), "embed_origins?": array(TEXT, ORIGINS_MOST)}
CELL: Final = fields(
    {
        "sweep": TEXT,
        "cell": number(),
        "seed": number(),
        "measure?": enum(each.key for each in MEASURES),
    }
)
OF_LABORATORY: Final = {"query?": TEXT, "board?": BOARD, "cell?": maybe(CELL), **HIDING}
HTML: Final = Content("text/html", "one file that plays without a network")

ROWS: Final = (
    Operation(
        "POST api-exports",
        "A timeline, or a stretch of it, as a file",
        body=fields({**WANTED, "format?": enum(sorted(EXPORTERS))}),
        answer=(HTML, Content("application/gzip", "`format` data: what another installation imports")),
    ),
    Operation(
        "POST api-comparison-exports",
        "Two or three timelines side by side as a file",
        body=fields(
            {
                "runs": {**TEXTS, "minItems": 2, "maxItems": 3},
                "from_ms?": number(0, MS_MOST),
                "at_ms?": number(0, MS_MOST),
                **HIDING,
            }
        ),
        answer=HTML,
        errors=(404,),
    ),
    Operation(
        "POST api-laboratory-exports",
        "A group of the laboratory, or a cell of a sweep, as a file",
        body=fields(OF_LABORATORY),
        answer=HTML,
        errors=(404,),
    ),
    Operation(
        "POST api-pseudonyms",
        f"What each name would be called, {PREVIEWED_MOST} at most, and the key",
        body=fields({**STRETCH, "key?": maybe(KEY)}),
        answer=fields(
            {
                "key": KEY,
                "pseudonyms": array(fields({"kind": TEXT, "here": TEXT, "there": TEXT})),
                "more": number(),
            }
        ),
    ),
    Operation(
        "GET api-links", "Its share links, the newest first", query=(AFTER, NAMED), answer=list[LinkRow]
    ),
    queued(
        "POST api-links",
        "Make a share link; its address is in this answer alone",
        body=fields({**WANTED, **TERMS}),
        answer={"allOf": [LinkRow, fields({"type": enum(("link",)), "url": TEXT, "embed_url": maybe(TEXT)})]},
    ),
    Operation(
        "GET api-laboratory-links",
        "Share links of the laboratory",
        query=(AFTER, NAMED),
        answer=list[LinkRow],
    ),
    Operation(
        "POST api-laboratory-links",
        "Make a share link to a group of the laboratory, or to a cell of a sweep",
        body=fields({**OF_LABORATORY, **TERMS}),
        answer={"allOf": [LinkRow, fields({"type": enum(("link",)), "url": TEXT, "embed_url": maybe(TEXT)})]},
        status=201,
        errors=(404,),
    ),
    Operation("DELETE api-link", "Withdraw a link; what it showed is deleted", status=204),
)
