"""``manage.py timeline list``, ``show ID``, ``add FILE`` and ``remove ID``: what is stored, as JSON Lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from groups import database, storage
from groups.command_line import BAD_USAGE, in_one_line, whole_number
from groups.history.entries import Entry
from groups.history.frames.frame import frame
from groups.history.passes.record_lines import record_line
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from groups.models import Timeline
from groups.storage import exported
from groups.storage.names import named

FORMATS = ("entries", "frames", "records", "findings", "verdict", "metrics")

NO = 1
"""Exit code where the answer is "no": not found."""

NOTHING_STORED = (
    "Nothing is stored yet: the first `make run` stores the case studies, `manage.py import_log PATH…` a log."
)


class Command(BaseCommand):
    help = "List the stored timelines; show, add or remove some; JSON Lines on standard output."
    # `manage.py check` and `serve` tell of settings that do not fit together; scripts need not hear it each time.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|add|remove")
        verbs.add_parser("list", help="a line for each stored timeline, the newest first")
        show = verbs.add_parser(
            "show", help="a timeline's entries, frames, records, findings, verdict or metrics"
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

        add = verbs.add_parser("add", help="store entries that were written as JSON Lines as a new timeline")
        add.add_argument("file", help="entries, a line each; - for standard input")
        add.add_argument("--title", help="default: the file's name")
        add.add_argument("--semantics", choices=[str(each) for each in Semantics], default="kafka")

        remove = verbs.add_parser("remove", help="delete timelines with all their entries; a line for each")
        remove.add_argument("ids", nargs="+", metavar="ID", help="as `timeline list` tells it")

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        # A reader that has seen enough (`| head`) is no failure.
        with contextlib.suppress(BrokenPipeError):
            for line in self.lines(options):
                self.stdout.write(orjson.dumps(line).decode())

    def lines(self, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if options["verb"] == "add":
            yield listed(added(options))
            return
        if options["verb"] == "remove":
            yield from removed(options["ids"])
            return
        if options["verb"] == "list":
            nothing = True
            for timeline in storage.listing().iterator(chunk_size=100):
                nothing = False
                yield listed(timeline)
            if nothing:
                self.stderr.write(NOTHING_STORED)
            return
        timeline = existing(options["id"])
        at = moment_of(timeline, options["at"], options["at_ms"])
        if timeline.entry_format != storage.ENTRY_FORMAT:
            raise CommandError(
                f"Timeline {timeline.id} stores entries of format {timeline.entry_format}, which this version cannot read.",
                returncode=NO,
            )
        yield from SHOW[options["format"]](timeline, at)


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
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        title = options["title"] or ("entries" if file == "-" else Path(file).stem)
        return exported.add(content.splitlines(), title=title, semantics=Semantics(options["semantics"]))
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}", returncode=BAD_USAGE) from None
    except exported.BadExport as error:
        raise CommandError(f"{file}: {error}", returncode=BAD_USAGE) from None


def existing(timeline_id: str) -> Timeline:
    try:
        return storage.get(timeline_id)
    except storage.NoSuchTimeline as error:
        told = str(error) if storage.listing().exists() else NOTHING_STORED
        raise CommandError(told, returncode=NO) from error


def removed(timeline_ids: list[str]) -> Iterator[dict[str, Any]]:
    """Delete these timelines; a mistyped id among them deletes none."""
    lines = [listed(existing(each)) for each in dict.fromkeys(timeline_ids)]
    storage.delete_all([line["id"] for line in lines])
    yield from lines


def moment_of(timeline: Timeline, at: int | None, at_ms: int | None) -> int | None:
    """The sequence that ``--at`` or ``--at-ms`` names; null where neither is given."""
    if at is not None:
        if not 0 <= at <= timeline.last:
            raise CommandError(
                f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {at}.", returncode=NO
            )
        return at
    if at_ms is None:
        return None
    # Order is the sequence; time may run backwards at a fail-over, so every entry is looked at.
    found = 0
    for entry in storage.every_entry(timeline):
        if entry["at_ms"] <= at_ms:
            found = entry["sequence"]
    return found


def entries(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
    if at is None:
        return storage.every_entry(timeline)
    return iter(storage.entries_between(timeline, at, at))


def records(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
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


def metrics(timeline: Timeline, at: int | None) -> Iterator[dict[str, Any]]:
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
}
