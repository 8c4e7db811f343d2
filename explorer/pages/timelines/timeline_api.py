"""Timelines over HTTP: lists, details, chunks, changes, frames, entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import orjson
from django.http import HttpRequest, HttpResponse

from explorer.figures.epochs import collect, figure
from explorer.web.coalescing import Coalesced
from explorer.web.endpoint import (
    BadRequest,
    json_body,
    json_response,
    lasting_response,
    linked,
    no_such_entry,
    number,
    searched_for,
)
from groups import storage
from groups.history.frames.watch import WatchError
from groups.history.story.problems import troubles
from groups.models import Timeline
from groups.watching.live_source import live_sources

LISTED_MOST = 500
"""Timelines in one list, the newest: a page of them, not an archive."""

COLUMNS_USUAL = 800

POINTS_USUAL = 400

DIGESTS: tuple[Literal["members", "partitions", "group"], ...] = ("members", "partitions", "group")

PROVENANCE = {
    Timeline.Source.CASE_STUDY: "simulated",
    Timeline.Source.SIMULATION: "simulated",
    Timeline.Source.IMPORT: "recorded",
    Timeline.Source.LIVE: "inferred",
}
"""What most of a timeline's entries are; each entry has it as its own field, too."""


_newest: Final = Coalesced(lambda: orjson.dumps(storage.described(LISTED_MOST)))


def listed(request: HttpRequest) -> HttpResponse:
    """``?q=&most=&after=``: the newest timelines, of all or of those that have these words."""
    if not request.GET:
        response = json_response(_newest.body(request))
        more = Timeline.objects.all()[LISTED_MOST : LISTED_MOST + 1].exists()
        return linked(response, request, LISTED_MOST) if more else response
    most = number(request.GET, "most", LISTED_MOST, least=1)
    if most > LISTED_MOST:
        raise BadRequest(f"most={most} must be {LISTED_MOST} at most.", field="most")
    after = number(request.GET, "after", 0)
    rows = storage.described(most + 1, searched_for(request.GET), after)
    response = json_response(rows[:most])
    return linked(response, request, after + most) if len(rows) > most else response


def detail(request: HttpRequest, timeline_id: str) -> HttpResponse:
    return json_response(detail_of(storage.get(timeline_id)))


def detail_of(timeline: Timeline) -> dict[str, Any]:
    """All that a board needs to begin with, apart from its chunks; the page may carry it in itself."""
    chunks = [
        {"number": chunk.number, "first": chunk.first, "last": chunk.last, "moments": chunk.moments}
        for chunk in storage.chunks(timeline)
    ]
    described = storage.describe(timeline, whole=True)
    summary = described["summary"]
    found = (summary.get("verdict") or {}).get("worst")
    return described | {
        "worst": found["sequence"] if found else None,
        "troubles": troubles(summary.get("findings") or ()),
        "provenance": timeline.provenance or PROVENANCE[Timeline.Source(timeline.source)],
        "live": live_sources([timeline.pk]).get(timeline.pk),
        "entry_format": timeline.entry_format,
        "fold_version": timeline.fold_version,
        "version": storage.version(timeline),
        "topic_names": timeline.topic_names,
        "parent": timeline.parent_id,
        "fork_sequence": timeline.fork_sequence,
        "work": timeline.work,
        "members_most": storage.members_most(timeline),
        "chunks": chunks,
    }


def chunk(request: HttpRequest, timeline_id: str, first: int) -> HttpResponse:
    """A chunk: kept for good where its address names this very version and no entry can be added to it.

    ``as=lines``: in four lines of JSON, which a browser parses one at a time and draws in between.
    """
    timeline = storage.get(timeline_id)
    lines = request.GET.get("as") == "lines"
    found = storage.chunk_text(timeline, first, lines=lines)
    if found is None:
        raise BadRequest(f"No chunk of timeline {timeline_id} begins with entry {first}.", status=404)
    text, closed = found
    lasting = closed and request.GET.get("v") == storage.version(timeline)
    response = lasting_response(text) if lasting else json_response(text)
    if lines:
        response["Content-Type"] = "application/jsonl"
    return response


def digest(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """What a map shows of the entries ``from`` to ``to``: ``of`` members, partitions or the group, in ``columns``."""
    timeline = storage.get(timeline_id)
    of = request.GET.get("of", "")
    if of not in DIGESTS:
        raise BadRequest(f"of={of!r} must be one of {', '.join(DIGESTS)}.", field="of")
    first = number(request.GET, "from", 0)
    last = number(request.GET, "to", timeline.last)
    columns = number(request.GET, "columns", COLUMNS_USUAL, least=2)
    if columns > storage.COLUMNS_MOST:
        raise BadRequest(f"columns={columns} must be {storage.COLUMNS_MOST} at most.", field="columns")
    if last < first:
        raise BadRequest(f"to={last} lies before from={first}.", field="to")
    topics = request.GET.getlist("topic") or None
    text, lasting = storage.digest_answer(timeline, of, first, last, columns, topics)
    if lasting and request.GET.get("v") == storage.version(timeline):
        return lasting_response(text)
    return json_response(text)


def offsets(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """The offsets that were committed in the entries ``from`` to ``to``: a line for each ``partition``, or for all."""
    timeline = storage.get(timeline_id)
    last = number(request.GET, "to", timeline.last)
    first = number(request.GET, "from", max(0, last - storage.COMMITS_WITHIN))
    points = number(request.GET, "points", POINTS_USUAL, least=2)
    if last < first:
        raise BadRequest(f"to={last} lies before from={first}.", field="to")
    if last - first > storage.COMMITS_WITHIN:
        raise BadRequest(
            f"from={first} and to={last} must lie {storage.COMMITS_WITHIN:,} entries apart at most.",
            field="from",
        )
    if points > storage.POINTS_MOST:
        raise BadRequest(f"points={points} must be {storage.POINTS_MOST} at most.", field="points")
    asked = [_place(text) for text in request.GET.getlist("partition")]
    if len(asked) > storage.LINES_MOST:
        raise BadRequest(f"{storage.LINES_MOST} partitions at most are told at once.", field="partition")
    return json_response(storage.committed_lines(timeline, first, last, points, asked or None))


def lag(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """How far a group was behind the ends of its partitions over the entries ``from`` to ``to``, and what its rebalances cost."""
    timeline = storage.get(timeline_id)
    last = number(request.GET, "to", timeline.last)
    first = number(request.GET, "from", max(1, last - storage.COMMITS_WITHIN), least=1)
    points = number(request.GET, "points", POINTS_USUAL, least=2)
    if last < first:
        raise BadRequest(f"to={last} lies before from={first}.", field="to")
    if points > storage.POINTS_MOST:
        raise BadRequest(f"points={points} must be {storage.POINTS_MOST} at most.", field="points")
    asked = request.GET.get("by", "partition")
    by = next((one for one in storage.BY if one == asked), None)
    if by is None:
        raise BadRequest(f"by={asked!r} must be partition, member or topic.", field="by")
    return json_response(storage.lag_between(timeline, first, min(last, timeline.last), points, by))


def watch(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``?of=group epoch minus member epoch of B``: the steps of a watch expression, the newest ``STEPS_MOST``."""
    timeline = storage.get(timeline_id)
    try:
        watched = storage.watched(timeline, request.GET.get("of", ""))
    except WatchError as error:
        raise BadRequest(str(error), field="of") from error
    return json_response(watched)


def motifs(request: HttpRequest, timeline_id: str) -> HttpResponse:
    return json_response(storage.motifs(storage.get(timeline_id)))


def range_cost(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """What the entries ``from`` to ``to`` cost: partition-seconds unassigned and not read, moves, members interrupted, records read twice."""
    timeline = storage.get(timeline_id)
    first = number(request.GET, "from", 1, least=1)
    last = number(request.GET, "to", timeline.last, least=1)
    if not first <= last <= timeline.last:
        raise BadRequest(
            f"from={first} and to={last} must be entries of 1 to {timeline.last:,}, in order.", field="to"
        )
    return json_response(storage.range_between(timeline, first, last))


def _place(text: str) -> tuple[str, int]:
    """``orders-3`` as a topic and a partition's number."""
    topic, dash, partition = text.rpartition("-")
    if not (topic and dash and partition.isascii() and partition.isdigit() and len(partition) <= 10):
        raise BadRequest(
            f"partition={text!r} must be a topic and a number, as in orders-3.", field="partition"
        )
    return topic, int(partition)


def changes(request: HttpRequest, timeline_id: str) -> HttpResponse:
    after = number(request.GET, "after")
    return json_response(storage.changes_after(storage.get(timeline_id), after))


def frame(request: HttpRequest, timeline_id: str) -> HttpResponse:
    return _as_of(request, timeline_id, storage.frame_at)


def metrics(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """Kafka's own metrics of the group and its consumers, as of a moment."""
    return _as_of(request, timeline_id, storage.metrics_at)


def _as_of(
    request: HttpRequest, timeline_id: str, find: Callable[[Timeline, int], Mapping[str, object] | None]
) -> HttpResponse:
    """What ``find`` reports as of the entry that the query names, by default the last one."""
    timeline = storage.get(timeline_id)
    at = number(request.GET, "at", timeline.last)
    found = find(timeline, at)
    if found is None:
        raise no_such_entry(timeline, at)
    return json_response(found)


def entries(request: HttpRequest, timeline_id: str) -> HttpResponse:
    timeline = storage.get(timeline_id)
    first = number(request.GET, "from", 1, least=1)
    last = number(request.GET, "to", timeline.last)
    return json_response({"entries": storage.entries_between(timeline, first, last)})


def name_topics(request: HttpRequest, timeline_id: str) -> HttpResponse:
    names = storage.set_topic_names(timeline_id, json_body(request))
    return json_response({"topic_names": names, "version": storage.version(storage.get(timeline_id))})


def rename(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``PATCH {"title": "…"}``: a name of the user's; case studies keep theirs."""
    title = json_body(request).get("title")
    if not isinstance(title, str):
        raise BadRequest('Send the name as text: {"title": "Outage of 22 November"}.', field="title")
    if storage.get(timeline_id).source == Timeline.Source.CASE_STUDY:
        raise BadRequest("Case studies belong to the program and keep their names.", status=403)
    return json_response({"id": timeline_id, "title": storage.rename(timeline_id, title)})


def cancel(request: HttpRequest, timeline_id: str) -> HttpResponse:
    if storage.get(timeline_id).source == Timeline.Source.LIVE:
        raise BadRequest(
            "A live group is recorded as long as its cluster is watched: pause the cluster.", status=409
        )
    cancelled = storage.cancel(timeline_id)
    return json_response({"cancelled": cancelled, "status": storage.get(timeline_id).status})


def delete(request: HttpRequest, timeline_id: str) -> HttpResponse:
    if storage.get(timeline_id).source == Timeline.Source.CASE_STUDY:
        raise BadRequest("Case studies belong to the program and stay.", status=403)
    storage.delete(timeline_id)
    return HttpResponse(status=204)


def epochs_figure(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """The figure of epochs over time, as Plotly's JSON."""
    timeline = storage.get(timeline_id)
    return json_response(figure(collect(storage.newest_chunks(timeline))))
