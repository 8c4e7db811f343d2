"""Searches for remedies as they are stored: a row, a child process that runs them, and a lease."""

from __future__ import annotations

from typing import Final

from django.utils import timezone

from groups import storage
from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.jobs.leases import Leases, Watch, end_of_lease, end_of_wait
from groups.models import Timeline
from groups.reserve import makes_room
from simulations.jobs.incidents import in_plain, incident_of
from simulations.models import RemedySearch
from simulations.remedies.values import RemediesError

JOB: Final = "simulations.jobs.remedy_child"

KEPT_MOST: Final = 20
"""Searches of one timeline that are kept; a new one removes the oldest that has ended."""

leases = Leases(RemedySearch)

Status = RemedySearch.Status
OPEN: Final = (Status.WAITING, Status.RUNNING)


class NoSuchSearch(Exception):
    def __init__(self, search_id: str) -> None:
        super().__init__(f"There is no search for remedies {search_id!r}.")


def get(search_id: str) -> RemedySearch:
    try:
        return RemedySearch.objects.select_related("timeline").get(pk=search_id)
    except RemedySearch.DoesNotExist:
        raise NoSuchSearch(search_id) from None


def create(timeline: Timeline, at: int, seeds: int) -> RemedySearch:
    """A search that waits."""
    ended = RemedySearch.objects.filter(timeline=timeline).exclude(status__in=OPEN)
    kept = list(ended.values_list("pk", flat=True)[: KEPT_MOST - 1])
    ended.exclude(pk__in=kept).delete()
    return RemedySearch.objects.create(
        id=storage.new_id(),
        timeline=timeline,
        at=at,
        seeds=seeds,
        stage="Waiting for its turn",
        lease_until=end_of_wait(),
    )


def perform(search_id: str) -> RemedySearch:
    """Runs a waiting search to its end. Does nothing if it is taken."""
    if not leases.take(search_id, stage="Replay"):
        return get(search_id)
    search = get(search_id)
    outcome = (Status.FAILED, "The search ended without its answer.")
    try:
        question = {"incident": in_plain(incident_of(search.timeline, search.at)), "seeds": search.seeds}
        watch = Watch(lambda: _held(search.id, lease_until=end_of_lease()))
        for message in run_child(JOB, question=question, cancelled=watch):
            match message["type"]:
                case "progress":
                    known = {key: message[key] for key in ("done", "runs", "stage", "answer")}
                    _held(search.id, **known, lease_until=end_of_lease())
                case "error":
                    outcome = (Status.FAILED, str(message["message"]))
                case "done":
                    outcome = (Status.COMPLETE, "")
    except RemediesError as error:
        outcome = (Status.FAILED, f"{error}.")
    except ParentStops:
        outcome = (Status.INTERRUPTED, "The server was stopped meanwhile.")
    except ChildFailed as error:
        outcome = (Status.FAILED, str(error))
    _finish(search.id, *outcome)
    return get(search.id)


def _held(search_id: str, **facts: object) -> bool:
    """Stores facts of a running search; false if it was cancelled or deleted."""
    return bool(RemedySearch.objects.filter(pk=search_id, status=Status.RUNNING).update(**facts))


@makes_room
def _finish(search_id: str, status: str, problem: str) -> None:
    _held(search_id, status=status, problem=problem, stage="", finished=timezone.now(), lease_until=None)


@makes_room
def cancel(search_id: str) -> bool:
    """Stops a search and keeps the rows that it has. False if it had ended. Its task notices within a second."""
    open_rows = RemedySearch.objects.filter(pk=search_id, status__in=OPEN)
    return bool(
        open_rows.update(status=Status.CANCELLED, stage="", finished=timezone.now(), lease_until=None)
    )


def interrupt(search_id: str) -> None:
    """Reports a lost running search as interrupted."""
    leases.interrupt(search_id, Status.INTERRUPTED, "Its worker was cut short; search again.", stage="")
