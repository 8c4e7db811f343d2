"""Sweeps as they are stored: a row with the question, a child process that answers, blocks of answers.

The process that runs a sweep holds it by a lease (``groups.jobs.leases``); one whose lease expired is shown as interrupted. What is stored
stays, and a sweep that did not come to its end can go on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from groups import storage
from groups.jobs.announce import announce, sweep_group
from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.jobs.leases import Watch, end_of_lease, end_of_wait
from groups.models import TITLE_LENGTH_MOST
from groups.reserve import makes_room
from simulations.jobs.long_questions import OPEN, Jobs
from simulations.jobs.run_tasks import engine_digest
from simulations.models import Answered, Sweep
from simulations.sweeps.answering import Row
from simulations.sweeps.axes import Axes

JOB: Final = "simulations.spark.sweeps"

ENGINE: Final = ("simulations/protocol/assignors", "simulations/laboratory", "simulations/sweeps")
"""What decides the numbers of a case."""

sweeps: Final = Jobs(Sweep, "sweep")
get = sweeps.get

Status = Sweep.Status

Answers = dict[int, dict[int, Row]]
"""The rows of each cell by their seeds."""


class CannotGoOn(Exception):
    """Why a sweep cannot be taken up again: one line."""


def create(axes: Axes, *, title: str = "", master: str = "") -> Sweep:
    """A sweep that waits."""
    return Sweep.objects.create(
        id=storage.new_id(),
        title=(title or title_of(axes))[:TITLE_LENGTH_MOST],
        axes=dict(axes.to_json()),
        cases=axes.cases,
        master=master,
        stage="Waiting for its turn",
        engine=engine_digest(ENGINE),
        lease_until=end_of_wait(),
    )


def same_engine(sweep: Sweep) -> bool:
    """Whether the assignors are those that the sweep was asked of."""
    return sweep.engine == engine_digest(ENGINE)


def title_of(axes: Axes) -> str:
    parts = ((axes.boards, "assignor"), (axes.shapes, "shape"), (axes.happenings, "event"))
    return ", ".join(f"{len(axis)} {word}{'' if len(axis) == 1 else 's'}" for axis, word in parts)


def say(sweep: Sweep) -> None:
    """Notifies those who watch the sweep of its progress; they fetch the answers."""
    text = orjson.dumps(progress_message(sweep)).decode()
    announce(sweep_group(sweep.id), {"type": "sweep.progress", "text": text})


def progress_message(sweep: Sweep, kind: str = "progress") -> dict[str, Any]:
    return {
        "type": kind,
        "status": sweep.status,
        "stage": sweep.stage,
        "done": sweep.done,
        "cases": sweep.cases,
        "problem": sweep.problem,
    }


def answers_of(sweep: Sweep) -> Answers:
    """All that is stored of a sweep."""
    found: Answers = {}
    for cell, first, rows in sweep.answered.order_by("cell", "first").values_list("cell", "first", "rows"):
        found.setdefault(cell, {}).update(enumerate(orjson.loads(bytes(rows)), first))
    return found


def perform(
    sweep_id: str,
    *,
    publish: Callable[[Sweep, Sequence[Mapping[str, Any]]], None] = lambda sweep, blocks: None,
) -> Sweep:
    """Runs a waiting sweep to its end. ``publish`` gets what was stored. Does nothing if it is taken."""
    taken = sweeps.leases.take(sweep_id, attempts=F("attempts") + 1)
    sweep = get(sweep_id)
    if not taken:
        return sweep
    say(sweep)
    outcome: tuple[Sweep.Status, str] | None = None
    try:
        for outcome in _receive(sweep, publish):
            if outcome[0] == Status.COMPLETE:
                # Reported at once: the child takes a second to put its tools away.
                finish(sweep, *outcome)
    except ParentStops:
        outcome = outcome or (Status.INTERRUPTED, "The server was stopped meanwhile.")
    except ChildFailed as error:
        # What the child said itself is clearer than how it ended afterwards.
        outcome = outcome or (Status.FAILED, str(error))
    return finish(sweep, *(outcome or (Status.FAILED, "The sweep ended without saying that it was done.")))


def _receive(
    sweep: Sweep, publish: Callable[[Sweep, Sequence[Mapping[str, Any]]], None]
) -> Iterator[tuple[Sweep.Status, str]]:
    """Runs the child to its end; yields what the sweep has come to, once that is known."""
    skip = list(sweep.answered.values_list("cell", "first"))
    question = {"axes": sweep.axes, "skip": skip, "master": sweep.master or None}
    begun_s = time.monotonic()
    watch = Watch(lambda: renew(sweep))
    for message in run_child(JOB, question=question, cancelled=watch):
        match message["type"]:
            case "error":
                watch.ended = True
                yield Status.FAILED, str(message["message"])
            case "done":
                watch.ended = True
                yield Status.COMPLETE, ""
            case "stage" | "began":
                sweep.stage = str(message.get("stage") or "Answering")
                sweep.cores = int(message.get("cores") or sweep.cores)
                _save_running(sweep, "stage", "cores")
                publish(sweep, ())
            case "answers":
                sweep.took_ms += round((time.monotonic() - begun_s) * 1_000)
                begun_s = time.monotonic()
                store(sweep, message["blocks"])
                publish(sweep, message["blocks"])
    if watch.stopped:
        yield Status.CANCELLED, ""


def store(sweep: Sweep, blocks: Sequence[Mapping[str, Any]]) -> None:
    """Keep answered blocks, then say so."""
    rows = [
        Answered(sweep=sweep, cell=block["cell"], first=block["first"], rows=orjson.dumps(block["rows"]))
        for block in blocks
    ]
    with transaction.atomic():
        # One that was cancelled keeps these as well. One that was deleted has nothing that they belong to, and one that
        # somebody else goes on with gets them from there.
        if not Sweep.objects.select_for_update().filter(pk=sweep.id, attempts=sweep.attempts).exists():
            return
        Answered.objects.bulk_create(rows)
        sweep.done += sum(len(block["rows"]) for block in blocks)
        Sweep.objects.filter(pk=sweep.id).update(done=sweep.done, took_ms=sweep.took_ms)
    say(sweep)


def _save_running(sweep: Sweep, *fields: str) -> None:
    values = {field: getattr(sweep, field) for field in fields}
    if _held(sweep).update(**values):
        say(sweep)


def renew(sweep: Sweep) -> bool:
    """Keep the lease of a running sweep; false if it was cancelled, deleted, or taken up by somebody else."""
    return bool(_held(sweep).update(lease_until=end_of_lease()))


@makes_room
def finish(sweep: Sweep, status: Sweep.Status, problem: str) -> Sweep:
    """End this attempt; a sweep that has ended stays as it is."""
    ended = _held(sweep).update(
        status=status, problem=problem, stage="", finished=timezone.now(), lease_until=None
    )
    sweep = get(sweep.id)
    if ended:
        say(sweep)
    return sweep


def cancel(sweep_id: str) -> bool:
    """As ``Jobs.cancel``, and says so."""
    ended = sweeps.cancel(sweep_id)
    if ended:
        say(get(sweep_id))
    return ended


def take_up_again(sweep_id: str) -> Sweep:
    """Have a sweep that stopped before its end wait for its rest. ``CannotGoOn`` contains why it cannot."""
    sweep = get(sweep_id)
    if sweep.status in (*OPEN, Status.COMPLETE):
        raise CannotGoOn(f"The sweep is {sweep.status}: there is nothing to take up again.")
    if not same_engine(sweep):
        raise CannotGoOn(
            "The assignors have changed since: begin a new sweep, so that all its answers are theirs."
        )
    Sweep.objects.filter(pk=sweep_id, status=sweep.status).update(
        status=Status.WAITING,
        stage="Waiting for its turn",
        problem="",
        finished=None,
        lease_until=end_of_wait(),
    )
    sweep = get(sweep_id)
    say(sweep)
    return sweep


@makes_room
def delete(sweep_id: str) -> None:
    """Remove a sweep and its answers."""
    sweep = get(sweep_id)
    with transaction.atomic():
        sweep.delete()


@makes_room
def interrupt(sweep_id: str) -> None:
    """Mark a lost running sweep as interrupted; its answers stay."""
    if sweeps.leases.interrupt(sweep_id, Status.INTERRUPTED, "What ran it was cut short.", stage=""):
        say(get(sweep_id))


def _held(sweep: Sweep) -> QuerySet[Sweep]:
    """The row of a running sweep, as long as this attempt is the last one."""
    return Sweep.objects.filter(pk=sweep.id, status=Status.RUNNING, attempts=sweep.attempts)
