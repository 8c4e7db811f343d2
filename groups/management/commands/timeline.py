"""``manage.py timeline list``, ``show ID``, ``export ID``, ``add FILE`` and ``remove ID``: what is stored, as JSON Lines."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from django.core.management.base import CommandError, CommandParser, OutputWrapper
from django.utils import timezone

from groups import database, exporting, storage
from groups.command_line import TerminalCommand, file_named, in_one_line, usage, whole_number
from groups.history.digests.motifs import Motif
from groups.history.entries import Entry, EntryLine
from groups.history.frames.frame import frame
from groups.history.frames.watch import WatchError
from groups.history.metrics.shapes import MetricsSheet
from groups.history.passes.record_lines import record_line
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from groups.history.verdict.rebalances import RebalanceRow, rebalances_of
from groups.incidents.data import is_data
from groups.incidents.pieces import Stretch
from groups.models import Timeline
from groups.storage import BadName, exported
from groups.storage.handing_on import checked, redactor_for, redactor_for_all
from groups.storage.lag import LagLine
from groups.storage.names import named

FORMATS = ("entries", "frames", "records", "findings", "verdict", "metrics", "rebalances")

NOTHING_STORED = (
    "Nothing is stored yet: the first `make run` stores the case studies, `manage.py import_log PATH…` a log."
)


class Command(TerminalCommand):
    help = (
        "List the stored timelines; show, export, add, rename or remove some; JSON Lines on standard output."
    )
    # `manage.py check` and `serve` report settings that do not fit together; scripts need not print them each time.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="list|show|lag|motifs|watch|export|add|rename|remove"
        )
        listing = verbs.add_parser("list", help="a line for each stored timeline, the newest first")
        listing.add_argument(
            "--find",
            default="",
            metavar="WORDS",
            help="those that have these words: of title, group, members, hosts, topics, findings, verdict",
        )
        show = verbs.add_parser(
            "show", help="a timeline's entries, frames, records, findings, verdict, metrics or rebalances"
        )
        show.add_argument("id", help="as `timeline list` tells it")
        show.add_argument("--format", choices=FORMATS, default="entries", help="default: entries")
        moment = show.add_mutually_exclusive_group()
        moment.add_argument(
            "--at",
            type=whole_number,
            metavar="SEQUENCE",
            help="at this entry alone (frames: 0 is before it all)",
        )
        moment.add_argument(
            "--at-ms",
            type=whole_number,
            metavar="MS",
            help="at the last entry whose time is not after MS milliseconds",
        )

        lag = verbs.add_parser("lag", help="a group's lag over time; a line for each look")
        lag.add_argument("id", help="as `timeline list` tells it")
        for name, text in (
            ("rebalances", "what each rebalance cost"),
            ("skew", "a partition or a member that falls behind alone"),
        ):
            lag.add_argument(
                f"--{name}", dest="instead", action="store_const", const=name, help=f"{text}, a line each"
            )
        repeated = verbs.add_parser(
            "motifs", help="what happened several times to the same member or partition, a line each"
        )
        repeated.add_argument("id", help="as `timeline list` tells it")
        watch = verbs.add_parser("watch", help="where the value of a watch expression changes, as JSON")
        watch.add_argument("id", help="as `timeline list` tells it")
        watch.add_argument("of", metavar="EXPRESSION", help='such as "group epoch minus member epoch of B"')
        export = verbs.add_parser("export", help="write a timeline, or a stretch of it, as a file to hand on")
        export.add_argument(
            "ids",
            nargs="+",
            metavar="ID",
            help="as `timeline list` tells it; two to four are one page that plays them side by side",
        )
        export.add_argument(
            "--format",
            choices=sorted(exporting.EXPORTERS),
            default="html",
            help="html: one page that plays offline (default); data: entries, which `timeline add` takes in elsewhere; csv, parquet: who owned what; otlp: a trace for each rebalance; perfetto: tracks",
        )
        export.add_argument("--from", type=whole_number, metavar="SEQUENCE", dest="first", help="default: 1")
        export.add_argument(
            "--to", type=whole_number, metavar="SEQUENCE", dest="last", help="default: the last"
        )
        export.add_argument(
            "--from-ms",
            type=whole_number,
            default=0,
            metavar="MS",
            help="of several: compare them from so many milliseconds after each one's beginning on",
        )
        export.add_argument(
            "--at", type=whole_number, metavar="SEQUENCE", help="of html: the entry at which the page opens"
        )
        export.add_argument("--view", choices=("reader", "investigator"), default="investigator")
        export.add_argument("--notes", action="store_true", help="of html and data: with the notes")
        export.add_argument(
            "--hide-names",
            action="store_true",
            help="pseudonyms for all that names somebody; the list of them goes to standard error",
        )
        export.add_argument(
            "--out",
            metavar="FILE",
            help="default: a name made of the id, in this folder; - for standard output",
        )

        add = verbs.add_parser("add", help="store entries that were written as a new timeline")
        add.add_argument(
            "file", help="entries, a line each, or a file of `export --format data`; - for standard input"
        )
        add.add_argument("--title", help="default: the file's name, or what the file says")
        add.add_argument(
            "--new-id",
            action="store_true",
            help="of a file of `export`: under an id of its own, beside what is here",
        )
        add.add_argument("--semantics", choices=[str(each) for each in Semantics], default="kafka")

        rename = verbs.add_parser(
            "rename", help="give a timeline another title; it is printed as in the list"
        )
        rename.add_argument("id", help="as `timeline list` tells it")
        rename.add_argument("title", help="1 to 200 characters")

        remove = verbs.add_parser("remove", help="delete timelines with all their entries; a line for each")
        remove.add_argument("ids", nargs="+", metavar="ID", help="as `timeline list` tells it")

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        # A reader that has seen enough (`| head`) is no failure.
        with contextlib.suppress(BrokenPipeError):
            for line in self.lines(options):
                self.stdout.write(orjson.dumps(line).decode())

    def lines(self, options: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
        if options["verb"] == "add":
            yield listed(added(options))
            return
        if options["verb"] == "export":
            yield from exported_file(options, self.stderr)
            return
        if options["verb"] == "rename":
            yield listed(renamed(options["id"], options["title"]))
            return
        if options["verb"] == "remove":
            yield from removed(options["ids"])
            return
        if options["verb"] == "list":
            nothing = True
            for timeline in (
                storage.listing().filter(storage.matches(options["find"])).iterator(chunk_size=100)
            ):
                nothing = False
                yield listed(timeline)
            if nothing:
                self.stderr.write(
                    f"No timeline has the words {options['find']!r}." if options["find"] else NOTHING_STORED
                )
            return
        timeline = existing(options["id"])
        if options["verb"] == "watch":
            try:
                yield storage.watched(timeline, options["of"])
            except WatchError as error:
                raise usage(str(error)) from error
            return
        if options["verb"] == "motifs":
            yield from motifs(timeline)
            return
        if options["verb"] == "lag":
            yield from lags(timeline, self.stderr, instead=options["instead"])
            return
        at = moment_of(timeline, options["at"], options["at_ms"])
        if timeline.entry_format != storage.ENTRY_FORMAT:
            raise CommandError(
                f"Timeline {timeline.id} stores entries of format {timeline.entry_format}, which this version cannot read."
            )
        yield from SHOW[options["format"]](timeline, at)


def motifs(timeline: Timeline) -> Sequence[Motif]:
    """Chunks of a log that nobody has opened are opened a few at a time, with each question."""
    found = storage.motifs(timeline)
    while not found["is_known"]:
        found = storage.motifs(timeline)
    return found["motifs"]


def lags(
    timeline: Timeline, stderr: OutputWrapper, *, instead: Literal["rebalances", "skew"] | None
) -> Iterator[Mapping[str, Any]]:
    """A line for each look: the total, and each partition by its name; or one for each rebalance, or for what falls behind alone."""
    first = max(1, timeline.last - storage.COMMITS_WITHIN)
    answer = storage.lag_between(
        timeline, first, timeline.last, storage.POINTS_MOST, costs=instead is not None
    )
    if answer["problem"] is not None:
        stderr.write(answer["problem"])
    if instead is not None:
        yield from answer[instead]
        return
    for at, at_ms in enumerate(answer["times_ms"]):
        yield {
            "at_ms": at_ms,
            **lag_at(answer["total"], at),
            "partitions": {
                f"{line['topic']}-{line['partition']}": lag_at(line, at) for line in answer["lines"]
            },
        }


def lag_at(line: LagLine, at: int) -> dict[str, Any]:
    return {"records": line["records"][at], "seconds": line["seconds"][at], "why": line["why"][at]}


def renamed(timeline_id: str, title: str) -> Timeline:
    if existing(timeline_id).source == Timeline.Source.CASE_STUDY:
        raise usage(f"{timeline_id} is a case study, which keeps its name.")
    try:
        storage.rename(timeline_id, title)
    except BadName as error:
        raise usage(str(error)) from error
    return existing(timeline_id)


def listed(timeline: Timeline) -> dict[str, Any]:
    summary = timeline.summary
    return {
        "id": timeline.id,
        "title": timeline.title,
        "group": timeline.group,
        "protocol": timeline.protocol,
        "source": timeline.source,
        "status": timeline.status,
        "entries": timeline.last,
        "first_ms": summary.get("first_ms"),
        "last_ms": summary.get("last_ms"),
        "gaps": summary.get("gaps", []),
    }


def added(options: dict[str, Any]) -> Timeline:
    file = options["file"]
    with file_named(file):
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    title = options["title"] or ("entries" if file == "-" else Path(file).stem)
    try:
        if is_data(content):
            return exported.take_in(content, title=options["title"], new_id=options["new_id"])
        return exported.add(content.splitlines(), title=title, semantics=Semantics(options["semantics"]))
    except exported.BadExport as error:
        raise usage(f"{file}: {error}") from None


def exported_file(options: dict[str, Any], stderr: OutputWrapper) -> Iterator[dict[str, Any]]:
    """Write the file; returns a line with where it is, how large, and its checksum."""
    if len(options["ids"]) > 1:
        yield from compared_file(options, stderr)
        return
    timeline = existing(options["ids"][0])
    stretch = None
    if options["first"] is not None or options["last"] is not None:
        first = 1 if options["first"] is None else options["first"]
        stretch = Stretch(first=first, last=timeline.last if options["last"] is None else options["last"])
    at = options["at"]
    if at is not None and options["format"] != "html":
        raise usage(f"--at is where a page opens; --format {options['format']} has none.")
    if at is not None and at > timeline.last:
        raise usage(f"--at {at}: {timeline.id} has entries 1 to {timeline.last}.")
    key = exporting.fresh_key() if options["hide_names"] else None
    wanted = exporting.Wanted(
        made=timezone.now(), stretch=stretch, key=key, view=options["view"], at=at, notes=options["notes"]
    )
    try:
        export = exporting.EXPORTERS[options["format"]](timeline, wanted)
        if key is not None:
            redactor = redactor_for(timeline, checked(timeline, stretch).last, key)
            for kind, here, there in redactor.pseudonyms():
                stderr.write(f"{kind}: {here} is {there}")
    except storage.StorageError as error:
        raise CommandError(str(error)) from None
    yield from written(export, options["out"])


def compared_file(options: dict[str, Any], stderr: OutputWrapper) -> Iterator[dict[str, Any]]:
    """The same of several timelines, side by side."""
    for name, given in (("--from", options["first"]), ("--to", options["last"]), ("--at", options["at"])):
        if given is not None:
            raise usage(f"{name} is for one timeline; several have --from-ms.")
    if options["format"] not in exporting.COMPARERS:
        raise usage(
            f"--format {options['format']} is for one timeline; several are played side by side by html."
        )
    timelines = [existing(each) for each in options["ids"]]
    key = exporting.fresh_key() if options["hide_names"] else None
    compare = exporting.COMPARERS[options["format"]]
    try:
        export = compare(timelines, timezone.now(), key, options["from_ms"])
        if key is not None:
            for kind, here, there in redactor_for_all(timelines, key).pseudonyms():
                stderr.write(f"{kind}: {here} is {there}")
    except storage.StorageError as error:
        raise CommandError(str(error)) from None
    yield from written(export, options["out"])


def written(export: exporting.Export, given: str | None) -> Iterator[dict[str, Any]]:
    """Write the file where it was asked for, and print where."""
    out = given or export.name
    if out == "-":
        sys.stdout.buffer.write(export.content)
        return
    with file_named(out):
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        Path(out).write_bytes(export.content)
    checksum = hashlib.sha256(export.content).hexdigest()
    yield {"file": str(out), "bytes": len(export.content), "sha256": checksum}


def existing(timeline_id: str) -> Timeline:
    try:
        return storage.get(timeline_id)
    except storage.NoSuchTimeline as error:
        reason = str(error) if storage.listing().exists() else NOTHING_STORED
        raise CommandError(reason) from error


def removed(timeline_ids: list[str]) -> Iterator[dict[str, Any]]:
    """Delete these timelines; a mistyped id among them deletes none."""
    lines = [listed(existing(each)) for each in dict.fromkeys(timeline_ids)]
    storage.delete_all([line["id"] for line in lines])
    yield from lines


def moment_of(timeline: Timeline, at: int | None, at_ms: int | None) -> int | None:
    """The sequence that ``--at`` or ``--at-ms`` names; null where neither is given."""
    if at is not None:
        if not 0 <= at <= timeline.last:
            raise CommandError(f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {at}.")
        return at
    if at_ms is None:
        return None
    # Order is the sequence; time may run backwards at a fail-over, so every entry is looked at.
    found = 0
    for entry in storage.every_entry(timeline):
        if entry["at_ms"] <= at_ms:
            found = entry["sequence"]
    return found


def entries(timeline: Timeline, at: int | None) -> Iterator[EntryLine]:
    if at is None:
        return storage.every_entry(timeline)
    return iter(storage.entries_between(timeline, at, at))


def records(timeline: Timeline, at: int | None) -> Iterator[dict[str, object]]:
    """The records alone, in the form of ``simulate --format records``."""
    return (record_line(entry) for entry in entries(timeline, at) if entry["kind"] == "record")


def frames(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
    """A frame for each entry, with ``settled``: false for a state within a unit, which never existed."""
    if at is not None:
        found = storage.frame_at(timeline, at)
        settled = next((entry["settled"] for entry in storage.entries_between(timeline, at, at)), True)
        if found is not None:
            yield {**found, "settled": settled}
        return
    state = initial_state(timeline.group, timeline.semantics or "kafka", storage.protocol_at_start(timeline))
    for entry in storage.every_entry(timeline):
        state = replay(state, Entry.from_json(entry))
        yield {**named(frame(state), timeline.topic_names), "settled": entry["settled"]}


def findings(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
    yield from summary_at(timeline, at).get("findings", [])


def verdict(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
    found = summary_at(timeline, at).get("verdict")
    yield found if found is not None else {"text": "unknown", "clauses": []}


def rebalances(timeline: Timeline, at: int | None) -> Iterator[RebalanceRow]:
    known, last = summary_at(timeline, at), timeline.last if at is None else at
    yield from rebalances_of(
        known.get("epochs") or (), known.get("findings") or (), last, known.get("last_ms") or 0
    )


def metrics(timeline: Timeline, at: int | None) -> Iterator[MetricsSheet]:
    """Kafka's own metrics at the moment, or at the end."""
    found = storage.metrics_at(timeline, timeline.last if at is None else at)
    if found is not None:
        yield found


def summary_at(timeline: Timeline, at: int | None) -> dict[str, Any]:
    summary = storage.summary(timeline) if at is None else storage.summary_at(timeline, at)
    shown: dict[str, Any] = named(summary, timeline.topic_names)
    return shown


SHOW = {
    "entries": entries,
    "frames": frames,
    "records": records,
    "findings": findings,
    "verdict": verdict,
    "metrics": metrics,
    "rebalances": rebalances,
}
