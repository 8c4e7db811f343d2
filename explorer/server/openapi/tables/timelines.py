"""Timelines: lists, details, moments, entries, forks, runs, bytes."""

from __future__ import annotations

from typing import Final

from explorer.figures.epochs import Figure
from explorer.pages.forks.starting import Branch, Offer
from explorer.pages.inspector.answering import BYTES_MOST
from explorer.pages.inspector.asking import EDITS_MOST, NAME_MOST, VERSION_MOST
from explorer.pages.kept.listing import DAYS_MOST, SORTS, SOURCES, TROUBLES
from explorer.pages.kept.views import DELETED_MOST
from explorer.pages.runs.starting import SEED_MOST, SEMANTICS
from explorer.pages.timelines.assignment import Answer as AssignmentAnswer
from explorer.pages.timelines.notes import NoteRow
from explorer.pages.timelines.rebalances import RebalanceTable
from explorer.pages.timelines.timeline_api import COLUMNS_USUAL, DIGESTS, LISTED_MOST, POINTS_USUAL
from explorer.pages.timelines.together import DOES, VIEW_MOST, WHO
from explorer.pages.troubles.views import GroupTable
from explorer.server.openapi.operation import (
    AFTER,
    ANYTHING,
    FLAG,
    NAMED,
    TEXT,
    TEXT_PROBLEM,
    TEXTS,
    Operation,
    array,
    enum,
    fields,
    maybe,
    number,
    one_of,
    queued,
    text,
    texts,
    whole,
)
from explorer.web.endpoint import SEARCH_LENGTH_MOST
from groups import storage
from groups.history.entries import EntryLine
from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame
from groups.history.frames.watch import LENGTH_MOST
from groups.history.metrics.shapes import MetricsSheet
from groups.history.passes.summaries import Summary
from groups.history.story.moment import Moment
from groups.history.story.problems import Trouble
from groups.models import TITLE_LENGTH_MOST, Note, Timeline
from groups.note_models import NOTE_LENGTH_MOST
from groups.pipeline.times import StageTime
from groups.releases import Release
from groups.storage.committed import CommittedLines
from groups.storage.digest_answers import GroupDigest, MemberDigest, PartitionDigest
from groups.storage.lag import LagAnswer, RangeAnswer
from groups.storage.motifs import Motifs
from groups.storage.timeline_reader import ENTRIES_MOST
from groups.storage.watched import Watched
from groups.watching.live_source import LiveSource
from simulations.fork.values import Assumption, How

MS: Final = number(most=10**18 - 1)
COUNT: Final = {"type": "integer", "minimum": 0}
FIND: Final = text(
    "q", "words of its title, group, members, hosts, topics, findings or verdict", most=SEARCH_LENGTH_MOST
)
TITLE: Final = fields({"title": {**TEXT, "maxLength": TITLE_LENGTH_MOST}})
NOTE_TEXT: Final = {**TEXT, "minLength": 1, "maxLength": NOTE_LENGTH_MOST}
STATUS: Final = enum(Timeline.Status)

ROW: Final = {
    "id": TEXT,
    "title": TEXT,
    "group": TEXT,
    "protocol": TEXT,
    "source": enum(Timeline.Source),
    "status": STATUS,
    "problem": TEXT,
    "waits": TEXT,
    "semantics": TEXT,
    "release": TEXT,
    "seed": maybe({"type": "integer"}),
    "last": COUNT,
    "entries": COUNT,
    "first_ms": maybe(MS),
    "last_ms": maybe(MS),
    "created": {**TEXT, "format": "date-time"},
}

CHUNK: Final = fields({"number": COUNT, "first": COUNT, "last": COUNT, "moments": maybe(COUNT)})

DETAIL: Final = {
    **ROW,
    "summary": Summary,
    "worst": maybe(COUNT),
    "troubles": list[Trouble],
    "provenance": enum(("recorded", "inferred", "simulated")),
    "live": LiveSource | None,
    "entry_format": COUNT,
    "fold_version": COUNT,
    "version": TEXT,
    "topic_names": dict[str, str],
    "parent": maybe(TEXT),
    "fork_sequence": maybe(COUNT),
    "work": maybe(fields({"times": list[StageTime], "begun_again": COUNT, "log": array(TEXT)})),
    "members_most": COUNT,
    "chunks": array(CHUNK),
}

CREATED: Final = {
    "id": TEXT,
    "type": enum(("timeline", "import", "sweep")),
    "url": TEXT,
    "timeline?": TEXT,
    "import?": TEXT,
    "sweep?": TEXT,
}
"""What was made, or queued to be. The last three repeat ``id`` under the name of its type, for older programs."""

VERSION: Final = text("v", "the timeline's `version`: an answer that cannot change may then be kept")
AT: Final = whole("at", "the sequence of an entry, 0 before the first; by default the last")
WINDOW: Final = (
    whole("from", "the first entry"),
    whole("to", "the last entry; by default the timeline's last"),
)
POINTS: Final = whole(
    "points", f"points of a line at most; by default {POINTS_USUAL}", least=2, most=storage.POINTS_MOST
)

EDIT: Final = fields({"path": TEXT, "value": ANYTHING})
BYTES: Final = {
    "text?": maybe(TEXT),
    "bytes?": maybe(TEXT),
    "kind?": maybe(TEXT),
    "version?": maybe(number(0, VERSION_MOST)),
    "name?": {**TEXT, "maxLength": NAME_MOST},
    "timeline?": maybe(TEXT),
    "edits?": maybe(array(EDIT, EDITS_MOST)),
}
"""``text`` or ``bytes`` (base64), of at most ``BYTES_MOST``."""

SIDE: Final = fields({**BYTES, "entry?": COUNT})
"""Of a comparison: bytes, or the record that is ``entry`` of ``timeline``."""

SENTENCE: Final = array(fields({"text": TEXT, "path?": TEXT}))
INSPECTION: Final = {
    "kind": TEXT,
    "title": TEXT,
    "version": maybe({"type": "integer"}),
    "length": COUNT,
    "read": COUNT,
    "fields": array({"type": "object"}),
    "problem": maybe({"type": "object"}),
    "bytes": TEXT,
    "says": SENTENCE,
    "guesses": array({"type": "object"}),
    "clients": array({"type": "object"}),
    "how?": TEXT,
}

KEPT_ROW: Final = fields(
    {
        "kind": enum(("import", "timeline")),
        "id": TEXT,
        "url": TEXT,
        "title": TEXT,
        "source": TEXT,
        "status": TEXT,
        "problem": TEXT,
        "waits": TEXT,
        "headline": TEXT,
        "severity": COUNT,
        "first_ms": maybe(MS),
        "last_ms": maybe(MS),
        "created_ms": MS,
        "ago": TEXT,
        "author": TEXT,
        "not_deletable": TEXT,
        # of an import
        "gravest?": TEXT,
        "groups?": COUNT,
        "in_trouble?": COUNT,
        "matching?": maybe(COUNT),
        # of a timeline
        "group?": TEXT,
        "found?": TEXTS,
        "entries?": COUNT,
        "semantics?": TEXT,
        "seed?": maybe({"type": "integer"}),
    }
)

FAULT: Final = fields(
    {"do": TEXT, "who?": TEXT, "after_ms": COUNT, "for_ms?": COUNT, "to?": COUNT},
)

ROWS: Final = (
    Operation(
        "GET api-timelines",
        f"Timelines, the newest first, {LISTED_MOST} from `after` on",
        query=(AFTER, FIND, whole("most", "how many", least=1, most=LISTED_MOST)),
        answer=array(fields({**ROW, "summary": {"type": "object"}})),
    ),
    Operation(
        "GET api-timeline",
        "A timeline, with its summary (findings, verdict) and the places of its chunks",
        answer=fields(DETAIL),
    ),
    Operation(
        "PATCH api-timeline",
        "Name it; a case study keeps its name (403)",
        body=TITLE,
        answer=fields({"id": TEXT, "title": TEXT}),
    ),
    Operation("DELETE api-timeline", "Delete it; a case study stays (403)", status=204),
    Operation(
        "GET api-chunk",
        "A chunk: the frame before its first entry, and what leads on from there",
        query=(
            VERSION,
            text("as", "`lines`: the same as four lines of JSON, of type application/jsonl"),
        ),
        answer=fields(
            {
                "first": COUNT,
                "last": COUNT,
                "frame": Frame,
                "changes": list[Change],
                "moments": list[Moment],
            }
        ),
    ),
    Operation(
        "GET api-digest",
        "A window of entries in few columns, for maps of many members; null where the timeline has no entry yet",
        query=(
            one_of("of", "what has rows", DIGESTS, required=True),
            *WINDOW,
            whole(
                "columns",
                f"columns at most; by default {COLUMNS_USUAL}",
                least=2,
                most=storage.COLUMNS_MOST,
            ),
            texts("topic", "of partitions: these topics alone, in this order"),
            VERSION,
        ),
        answer=MemberDigest | PartitionDigest | GroupDigest | None,
    ),
    Operation(
        "GET api-offsets",
        f"Committed offsets of a window of {storage.COMMITS_WITHIN:,} entries at most",
        query=(
            texts("partition", "a topic and a number, as in orders-3", most=storage.LINES_MOST),
            *WINDOW,
            POINTS,
        ),
        answer=CommittedLines,
    ),
    Operation(
        "GET api-lag",
        "Lag over time of a watched group, and what each rebalance cost",
        query=(
            whole("from", "the first entry", least=1),
            WINDOW[1],
            POINTS,
            one_of("by", "what has a line", storage.BY),
        ),
        answer=LagAnswer,
    ),
    Operation(
        "GET api-watch",
        "Where the value of a watch expression changes along a timeline",
        query=(text("of", "such as `owner of foo-2`", required=True, most=LENGTH_MOST),),
        answer=Watched,
    ),
    Operation(
        "GET api-motifs",
        "Motifs: partitions back with a former owner, joins amid a reconciliation, members that leave often",
        answer=Motifs,
    ),
    Operation(
        "GET api-range",
        "What a range of entries cost: unassigned, not read, moves, members interrupted, read twice",
        query=(
            whole("from", "the first entry", least=1),
            whole("to", "the last entry", least=1),
        ),
        answer=RangeAnswer,
    ),
    Operation(
        "GET api-rebalances",
        "The rebalances of a timeline: cause, who, what moved, who was interrupted, who blocked, cost",
        answer=RebalanceTable,
    ),
    Operation(
        "GET api-changes",
        "What a reader that has applied all up to an entry lacks; `more`: ask again from `last`",
        query=(whole("after", "the last entry that was applied", required=True),),
        answer=fields(
            {
                "after": COUNT,
                "last": COUNT,
                "more": FLAG,
                "status": STATUS,
                "changes": list[Change],
                "moments": list[Moment],
                "summary": Summary,
            }
        ),
    ),
    Operation("GET api-frame", "The frame after an entry", query=(AT,), answer=Frame),
    Operation(
        "GET api-assignment",
        "The assignment that the group's own assignor would compute next",
        query=(
            AT,
            text("leaves", "the id of a member that leaves first"),
            one_of("joins", "1: a member joins first", ("0", "1")),
        ),
        answer=AssignmentAnswer,
    ),
    Operation("GET api-metrics", "Kafka's own metrics after an entry", query=(AT,), answer=MetricsSheet),
    Operation(
        "GET api-entries",
        f"Entries as they were recorded, {ENTRIES_MOST:,} at most",
        query=(whole("from", "the first entry; by default 1", least=1), WINDOW[1]),
        answer=fields({"entries": list[EntryLine]}),
    ),
    Operation(
        "GET api-entry-bytes",
        "Key and value of an entry that is a record, field by field",
        answer=fields(
            {
                "timeline": TEXT,
                "sequence": COUNT,
                "type": maybe(number()),
                "title": TEXT,
                "place": TEXT,
                "before": maybe(COUNT),
                "searched_from": COUNT,
                "key": maybe(fields(INSPECTION)),
                "value": maybe(fields(INSPECTION)),
            }
        ),
        errors=(413, 422),
    ),
    Operation("GET api-figure-epochs", "Epochs over time, as a figure of Plotly's", answer=Figure),
    Operation(
        "PATCH api-topics",
        "Name topics by their ids, or take names back with null",
        body={"type": "object", "additionalProperties": maybe(TEXT)},
        answer=fields({"topic_names": dict[str, str], "version": TEXT}),
    ),
    Operation(
        "POST api-cancel",
        "End a run; what is stored stays",
        answer=fields({"cancelled": FLAG, "status": STATUS}),
    ),
    Operation(
        "POST api-together",
        "Announce to the windows on a timeline what this one does; nothing is stored",
        body=fields(
            {
                "who": {**TEXT, "pattern": WHO},
                "does": enum(DOES),
                "turn?": number(),
                "view?": {**TEXT, "maxLength": VIEW_MOST},
                "to?": {**TEXT, "pattern": WHO},
            }
        ),
        status=204,
    ),
    Operation(
        "GET api-notes",
        "Notes, questions and replies, by their moments",
        query=(AFTER, NAMED),
        answer=list[NoteRow],
    ),
    Operation(
        "POST api-notes",
        "Write a note or a question at the entry `at`, or reply to the note `parent`; accounts that it names as `@name` see it on the timelines page",
        body=fields(
            {"text": NOTE_TEXT, "at?": COUNT, "kind?": enum(Note.Kind.values), "parent?": maybe(TEXT)}
        ),
        answer=NoteRow,
        status=201,
    ),
    Operation(
        "PATCH api-note",
        "Edit a note; the text before is kept",
        body=fields({"text": NOTE_TEXT}),
        answer=NoteRow,
    ),
    Operation("DELETE api-note", "Delete a note with its replies", status=204),
    Operation(
        "GET api-forks",
        "The tree of forks, and with `at` what a fork of that moment starts from",
        query=(whole("at", "the entry to fork at"),),
        answer=fields({"branches": list[Branch], "start?": Offer}),
    ),
    queued(
        "POST api-forks",
        "Queue a branch: the run continued from an entry, with other settings or faults",
        body=fields(
            {
                "at?": COUNT,
                "title?": {**TEXT, "maxLength": TITLE_LENGTH_MOST},
                "set?": maybe({"type": "object"}),
                "faults?": maybe(array(FAULT)),
            }
        ),
        answer=fields({**CREATED, "how": How, "assumptions": list[Assumption], "left_out": TEXTS}),
    ),
    queued(
        "POST api-runs",
        "Queue a run of a scenario: its text, or the name of a case study",
        body=fields(
            {
                "scenario": TEXT,
                "semantics?": maybe(enum(SEMANTICS)),
                "seed?": maybe({"anyOf": [number(0, SEED_MOST), {**TEXT, "pattern": "^[0-9]*$"}]}),
                "release?": maybe(enum(["", *Release])),
            }
        ),
        answer=fields(CREATED),
    ),
    Operation(
        "POST api-runs-check",
        "What would be wrong with a run of a scenario; nothing is started",
        body=fields(
            {"scenario": TEXT, "semantics?": maybe(enum(SEMANTICS)), "release?": maybe(enum(["", *Release]))}
        ),
        answer=fields({"problems": array(TEXT_PROBLEM)}),
    ),
    Operation(
        "GET api-groups",
        "The table of what is wrong, the gravest group first: of all, of an import or of a cluster",
        query=(
            text("import", "the id of an import"),
            text("cluster", "the id of a cluster"),
            whole("after", "how many were shown before"),
        ),
        answer=GroupTable,
    ),
    Operation(
        "GET api-kept",
        "Imports, and timelines that belong to none, 100 from `after` on",
        query=(
            FIND,
            one_of("source", "where it comes from", ["", *SOURCES]),
            text("group", "the name of a group"),
            text("author", "the name of an account"),
            one_of("trouble", "at least so grave", TROUBLES),
            whole("days", "added within so many days", least=1, most=DAYS_MOST),
            whole("from_ms", "something of the log is later, in ms since 1970", most=10**14),
            whole("until_ms", "something of the log is earlier, in ms since 1970", most=10**14),
            one_of("sort", "the order", SORTS),
            whole("after", "how many rows to skip"),
        ),
        answer=fields({"rows": array(KEPT_ROW), "after": COUNT, "matching": COUNT}),
    ),
    Operation(
        "POST api-kept-delete",
        f"Delete timelines and imports, {DELETED_MOST} at most, with what belongs to them; case studies are refused",
        body=fields({"timelines?": TEXTS, "imports?": TEXTS}),
        answer=fields({"deleted": COUNT, "refused": array(fields({"id": TEXT, "why": TEXT}))}),
    ),
    Operation(
        "POST api-inspect",
        f"Bytes field by field, after edits if there are any; {BYTES_MOST:,} bytes at most",
        body=fields({**BYTES, "guess?": FLAG}),
        answer=fields(INSPECTION),
        errors=(404,),
    ),
    Operation(
        "POST api-inspect-compare",
        "Two, field by field",
        body=fields({"first": SIDE, "second": SIDE}),
        answer=fields(
            {
                "first": fields(INSPECTION),
                "second": fields(INSPECTION),
                "rows": array({"type": "object"}),
                "leads": array(fields({"title": TEXT, "says": TEXT})),
                "says": SENTENCE,
            }
        ),
        errors=(404, 422),
    ),
)
