"""The page that plays timelines side by side; which ones is in its address, so that it can be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from explorer.pages.runs.starting import start_run
from explorer.pages.timelines.timeline_api import detail_of
from explorer.web.endpoint import BadRequest
from explorer.web.inlined import inlined
from groups import storage
from groups.history.state.group import Semantics
from groups.models import TITLE_LENGTH_MOST, Timeline
from groups.storage.handing_on import ROWS_PARTITIONS_MOST, partitions_most
from simulations.jobs.run_tasks import engine_digest

RUNS_LEAST: Final = 2
RUNS_MOST: Final = 4
"""Boards that fit next to each other; more cannot be looked at at once."""

CHUNKS_MOST: Final = 40
"""Of one timeline: the page holds all of it, some 40 × 250 kB."""

MEMBERS_MOST: Final = 12
"""Lanes of a board of this size."""

ASK_AGAIN_S: Final = 1
"""After which a page asks again whose runs are not done yet."""

PRESETS: Final = (
    ("kip429-eager,kip429-cooperative,kip429-consumer", "Eager, cooperative and consumer protocol", 18_000),
    ("kip341-two-owners,kip341-generation", "Sticky user data without and with the generation", 18_000),
    (
        "kip792-stale-owner,kip792-generation",
        "A member that claims old partitions, without and with the generation",
        18_000,
    ),
    ("kip792-leader-throws,kip792-leader-goes-on", "KAFKA-13406 and its cure", 18_000),
    ("kip429-one-bounce,kip429-streams-upgrade", "One bounce and two", 18_000),
)
"""What the page offers: timelines, title, and from when on they are compared, once the group has formed."""


NO_STUDY: Final = "There is no such case study; the first page lists all."


@dataclass(frozen=True, slots=True)
class Refused:
    """Why these cannot be compared: one sentence, and the status of the answer."""

    text: str
    status: int = 400


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """``?runs=a,b`` to ``a,b,c,d``: ids of timelines, of the same or of different groups.

    ``from_ms`` and ``at_ms`` are times since their beginnings, which the browser reads, as ``lock`` and ``at``. ``POST`` with a
    ``study``: that case study next to a run of it by the other semantics.
    """
    if request.method == "POST":
        return _by_both_semantics(request)
    asked = request.GET.get("runs", "")
    if not asked:
        runs, _, from_ms = PRESETS[0]
        return redirect(f"{reverse('compare')}?runs={runs}&from_ms={from_ms}")
    ids = [each.strip() for each in asked.split(",")]
    found = timelines_of(ids)
    titles = dict(Timeline.objects.filter(pk__in=ids[:RUNS_MOST]).values_list("pk", "title"))
    chosen = [{"id": each, "title": titles[each]} for each in ids[:RUNS_MOST] if each in titles]
    context = {
        "presets": PRESETS,
        "asked": asked,
        "chosen": inlined("chosen-data", orjson.dumps(chosen)),
    }
    if isinstance(found, Refused):
        return render(
            request, "compare/compare.html", {**context, "refused": found.text}, status=found.status
        )
    if any(timeline.status == Timeline.Status.RUNNING for timeline in found):
        waits = [storage.why_it_waits(each.status, each.source, each.lease_owner) for each in found]
        text = next(filter(None, waits), "These are being simulated; they stand here in a moment.")
        response = render(request, "compare/compare.html", {**context, "waits": text}, status=202)
        # Without a script on the page: the browser asks again by itself.
        response["Refresh"] = response["Retry-After"] = str(ASK_AGAIN_S)
        return response
    try:
        details = [detail_of(timeline) for timeline in found]
    except storage.NotReady as error:
        return render(request, "compare/compare.html", {**context, "refused": str(error)}, status=503)
    if (too_large := too_large_of(found, details)) is not None:
        return render(
            request, "compare/compare.html", {**context, "refused": too_large.text}, status=too_large.status
        )
    return render(
        request,
        "compare/compare.html",
        {**context, "timelines": found, "runs_data": inlined("runs-data", orjson.dumps(details))},
    )


def _by_both_semantics(request: HttpRequest) -> HttpResponse:
    """Redirects to the comparison; the same scenario, seed and simulator make the same run, which is made once."""
    study = Timeline.objects.filter(
        pk=request.POST.get("study", ""), source=Timeline.Source.CASE_STUDY
    ).first()
    context = {"presets": PRESETS, "chosen": inlined("chosen-data", b"[]")}
    if study is None:
        return render(request, "compare/compare.html", {**context, "refused": NO_STUDY}, status=404)
    other = Semantics.KAFKA if study.semantics == Semantics.KIP else Semantics.KIP
    run = Timeline.objects.filter(
        source=Timeline.Source.SIMULATION,
        status__in=(Timeline.Status.RUNNING, Timeline.Status.COMPLETE),
        scenario=study.scenario,
        semantics=other,
        seed=study.seed,
        engine=engine_digest(),
    ).first()
    try:
        run = run or start_run(study.pk, str(other), title=f"{study.title} ({other})"[:TITLE_LENGTH_MOST])
    except BadRequest as error:
        return render(
            request, "compare/compare.html", {**context, "refused": error.message}, status=error.status
        )
    return redirect(f"{reverse('compare')}?runs={study.pk},{run.pk}")


def timelines_of(ids: Sequence[str]) -> list[Timeline] | Refused:
    """The timelines that are to be compared."""
    if not RUNS_LEAST <= len(ids) <= RUNS_MOST or "" in ids:
        asked = ",".join(ids)
        return Refused(
            f"runs: expected {RUNS_LEAST} to {RUNS_MOST} timelines with commas between, found {asked[:80]!r}"
        )
    stored = {timeline.id: timeline for timeline in Timeline.objects.filter(pk__in=ids)}
    for each in ids:
        if each not in stored:
            return Refused(f"There is no timeline {each[:80]!r}. It may have been deleted.", 404)
    return [stored[each] for each in ids]


def too_large_of(timelines: Sequence[Timeline], details: Sequence[Mapping[str, Any]]) -> Refused | None:
    """The timeline that is too large for a comparison, with the API's message; null if none is."""
    for timeline, detail in zip(timelines, details, strict=True):
        summary = detail["summary"]
        sizes = len(detail["chunks"]), len(summary.get("cast") or ()), partitions_most(summary)
        if (refused := _too_large(timeline, *sizes)) is not None:
            return refused
    return None


def _too_large(timeline: Timeline, chunks: int, members: int, partitions: int) -> Refused | None:
    if chunks > CHUNKS_MOST:
        return Refused(
            f"{timeline.id} is too long to be compared: {chunks} chunks, and {CHUNKS_MOST} are the most"
        )
    if members > MEMBERS_MOST:
        return Refused(f"{timeline.id} has {members} members; boards of up to {MEMBERS_MOST} are compared")
    if partitions > ROWS_PARTITIONS_MOST:
        return Refused(
            f"{timeline.id} has {partitions:,} partitions; boards of up to {ROWS_PARTITIONS_MOST} are compared"
        )
    return None
