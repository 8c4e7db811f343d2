"""A simulated run step by step: the group as a broker describes it, and its records as a segment."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.web.endpoint import BadRequest, shown_on_a_page
from groups import storage
from groups.history.entries import Entry
from groups.history.state.group import Semantics
from groups.models import Timeline
from groups.wire.embedded.consumer_protocol import decode_assignment
from simulations.jobs.moments import scenario_of
from simulations.output import described_lines, segment

ENTRIES_MOST: Final = 20_000
"""Entries of a run that are folded while the reader waits: some seconds. The command has no bound."""

DESCRIBED_S_MOST: Final = 10.0
"""Each step is described from all records before it: a thousand steps of a large group take minutes."""

FORMATS: Final = ("html", "jsonl", "segment")


@require_safe
def show(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """The page; with ``format=jsonl`` its lines, with ``format=segment`` the records as a broker would have written them."""
    timeline = shown_on_a_page(storage.get, timeline_id)
    form = request.GET.get("format", "html")
    try:
        if form not in FORMATS:
            raise BadRequest(f"format={form[:40]!r} is unknown; there are {', '.join(FORMATS)}.")
        if form == "segment":
            if timeline.semantics == Semantics.KIP:
                raise BadRequest(
                    "No Kafka reads records of the proposal: a run of kip has no segment.", status=409
                )
            return _file(timeline, b"".join(segment(_entries(timeline))), "log", "application/octet-stream")
        lines = list(_described(timeline))
    except BadRequest as error:
        return HttpResponse(error.message, content_type="text/plain; charset=utf-8", status=error.status)
    if form == "jsonl":
        text = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
        return _file(timeline, text, "jsonl", "application/jsonl")
    rows = [{**line, "members": [_row(each) for each in line["group"]["members"]]} for line in lines]
    return render(request, "board/steps.html", {"timeline": timeline, "rows": rows})


def _entries(timeline: Timeline) -> Iterator[Entry]:
    if timeline.source not in (Timeline.Source.SIMULATION, Timeline.Source.CASE_STUDY):
        raise BadRequest(
            "A recorded log has segments of its own; only runs of the simulator are written.", status=409
        )
    if timeline.last > ENTRIES_MOST:
        raise BadRequest(
            f"This run has {timeline.last:,} entries, more than {ENTRIES_MOST:,}; use `manage.py simulate`.",
            status=409,
        )
    return map(Entry.from_json, storage.every_entry(timeline))


def _described(timeline: Timeline) -> Iterator[dict[str, Any]]:
    entries, scenario = _entries(timeline), scenario_of(timeline, timeline.group)
    assert scenario is not None, "a run has one"
    end_s = time.monotonic() + DESCRIBED_S_MOST
    for line in described_lines(entries, scenario, Semantics(timeline.semantics or Semantics.KAFKA)):
        if time.monotonic() > end_s:
            raise BadRequest(
                f"The steps of this run take more than {DESCRIBED_S_MOST:g} s; use `manage.py simulate`.",
                status=409,
            )
        yield line


def _row(member: dict[str, Any]) -> dict[str, Any]:
    """A member of either response, for the table."""
    if "memberMetadata" in member:
        given = b64decode(member["memberAssignment"])
        topics = decode_assignment(given)["assignedPartitions"] if given else []
        owned = _listed((each["topic"], each["partitions"]) for each in topics)
        return {"id": member["memberId"], "epoch": "", "has": owned, "target": ""}
    has, target = (
        _listed(
            (each["topicName"], each["partitions"])
            for each in part.get("topicPartitions", part.get("partitions"))
        )
        for part in (member["assignment"], member["targetAssignment"])
    )
    return {"id": member["memberId"], "epoch": member["memberEpoch"], "has": has, "target": target}


def _listed(partitions: Iterable[tuple[str, Iterable[int]]]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, numbers in partitions for number in numbers) or "nothing"


def _file(timeline: Timeline, content: bytes, suffix: str, kind: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{timeline.id}.{suffix}"'
    return response
