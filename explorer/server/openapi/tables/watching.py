"""Live clusters, alerts, and the server itself with its audit log."""

from __future__ import annotations

from typing import Final

from explorer.pages.audit.views import ACTIONS, DAYS_MOST, LINES_MOST, ROWS_A_PAGE
from explorer.pages.clusters.describing import (
    CLUSTERS_SHOWN_MOST,
    GROUPS_SHOWN_MOST,
    TIMELINES_SHOWN_MOST,
    ClusterDetail,
    GroupTimeline,
)
from explorer.server.openapi.operation import (
    AFTER,
    ANYTHING,
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
    text,
    whole,
)
from explorer.server.status.status_facts import Status
from groups.watching.alerts.forms import Form
from groups.watching.alerts.registry import ShownAlert, ShownDelivery, ShownRule
from groups.watching.alerts.rules import FINDINGS, LIMITS, Kind
from groups.watching.alerts.silences import ShownSilence
from groups.watching.group_row import GroupRow

PROPERTIES: Final = {"anyOf": [{"type": "object", "additionalProperties": TEXT}, TEXT]}
"""Kafka's client properties: an object, or the text of a properties file."""

STEP: Final = fields(
    {
        "name": TEXT,
        "state": enum(("ok", "warning", "failed")),
        "says": TEXT,
        "seen?": ANYTHING,
        "sent": TEXTS,
        "commands": TEXTS,
    }
)

RULE: Final = fields(
    {
        "kind": enum(Kind),
        "group?": maybe(TEXT),
        "webhook?": maybe(TEXT),
        "form?": maybe(enum(Form)),
        "key?": maybe(TEXT),
        "finding?": enum(FINDINGS),
        **{
            f"{name}?": number(
                min(each[name].least for each in LIMITS.values() if name in each),
                max(each[name].most for each in LIMITS.values() if name in each),
            )
            for name in sorted({name for each in LIMITS.values() for name in each})
        },
    }
)

AUDIT: Final = (
    text("account", "the name of an account"),
    one_of("action", "what was done", ACTIONS),
    whole("days", "within so many days", least=1, most=DAYS_MOST),
    whole("before", "entries with a smaller `id`"),
)
AUDITED: Final = fields(
    {
        "id": number(),
        "at": {**TEXT, "format": "date-time"},
        "account": TEXT,
        "by": TEXT,
        "client": maybe(TEXT),
        "action": TEXT,
        "about": TEXT,
        "details": ANYTHING,
    }
)

ROWS: Final = (
    Operation(
        "GET api-clusters",
        f"Live clusters, {CLUSTERS_SHOWN_MOST} from `after` on",
        query=(AFTER, NAMED),
        answer=list[ClusterDetail],
    ),
    Operation(
        "POST api-clusters",
        "Add a cluster; it is watched from now on",
        body=fields({"name": TEXT, "properties": PROPERTIES}),
        answer=ClusterDetail,
        status=201,
    ),
    Operation(
        "POST api-clusters-check",
        "Connect step by step, without storing anything",
        body=fields({"properties": PROPERTIES}),
        answer=fields({"steps": array(STEP), "ok": FLAG}),
    ),
    Operation("GET api-cluster", "A cluster, without its secrets", answer=ClusterDetail),
    Operation(
        "PATCH api-cluster",
        "Pause it (false), or continue (true)",
        body=fields({"watched": FLAG}),
        answer=ClusterDetail,
    ),
    Operation(
        "DELETE api-cluster",
        "Delete it with its timelines; 409 for one that the environment names",
        status=204,
    ),
    Operation(
        "GET api-cluster-groups",
        f"Its groups by name, {GROUPS_SHOWN_MOST:,} from `after` on",
        query=(AFTER, NAMED),
        answer=list[GroupRow],
    ),
    Operation(
        "GET api-cluster-timelines",
        f"The timelines of one group, the newest first, {TIMELINES_SHOWN_MOST} at most",
        query=(text("group", "the group's name", required=True),),
        answer=list[GroupTimeline],
    ),
    Operation(
        "GET api-cluster-alerts",
        "Rules, alerts (those that hold first) and deliveries",
        answer=fields(
            {
                "rules": list[ShownRule],
                "silences": list[ShownSilence],
                "alerts": list[ShownAlert],
                "deliveries": list[ShownDelivery],
                "waiting": number(),
            }
        ),
    ),
    Operation("GET api-cluster-silences", "The silences that hold", answer=list[ShownSilence]),
    Operation(
        "POST api-cluster-silences",
        "Send no messages of some groups and rules until a time",
        body=fields(
            {
                "until": {"type": ["string", "integer"]},
                "why": TEXT,
                "group?": TEXT,
                "kind?": {"enum": ["", *Kind]},
                "who?": TEXT,
            }
        ),
        answer=ShownSilence,
        status=201,
    ),
    Operation("DELETE api-cluster-silence", "End it", status=204),
    Operation("GET api-cluster-rules", "The rules", answer=list[ShownRule]),
    Operation("POST api-cluster-rules", "Add a rule", body=RULE, answer=ShownRule, status=201),
    Operation(
        "POST api-cluster-rules-usual",
        "Add the usual rules that it does not have",
        answer=list[ShownRule],
        status=201,
    ),
    Operation("GET api-cluster-rule", "A rule", answer=ShownRule),
    Operation(
        "PATCH api-cluster-rule",
        "Turn it off (false) or on (true)",
        body=fields({"enabled": FLAG}),
        answer=ShownRule,
    ),
    Operation("DELETE api-cluster-rule", "Delete it with its alerts and deliveries", status=204),
    Operation(
        "POST api-cluster-rule-test",
        "Send a test to its webhook; 409 where it has none",
        answer=ShownDelivery,
        status=202,
    ),
    Operation("GET api-status", "Whether this installation works", answer=Status),
    Operation(
        "GET api-audit",
        f"Entries of the audit log, the newest first, {ROWS_A_PAGE} at most",
        query=AUDIT,
        answer=fields({"rows": array(AUDITED)}),
    ),
    Operation(
        "GET api-audit-lines",
        f"The same as a JSON object a line, {LINES_MOST:,} at most",
        query=AUDIT,
        answer=Content("application/jsonl", "an entry a line"),
    ),
    Operation("GET api-openapi", "This document", answer={"type": "object"}),
)
