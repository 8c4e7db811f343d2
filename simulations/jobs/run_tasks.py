"""Runs as Celery tasks: fetch, call, save. The simulating itself goes on in a child process."""

from __future__ import annotations

import hashlib
import logging
import time
import uuid
from functools import cache

from celery import shared_task
from django.conf import settings
from django.db import DatabaseError

from groups import storage
from groups.history.passes.recorder import RecordedBatch
from groups.jobs.children import ChildFailed, ParentStops
from groups.jobs.warm_children import WarmChildren
from groups.models import Timeline
from groups.one_line import kept_lines
from groups.pipeline.times import RUN_UNITS, Times, in_words
from groups.places import ROOT
from groups.reserve import is_full
from groups.storage import LeaseLost, NoSuchTimeline, StorageError

log = logging.getLogger(__name__)

children = WarmChildren("simulations.jobs.run")
"""One is kept: to load the simulator takes longer than a small run."""

RENEW_S = 1.0
"""How often a silent run renews its lease, and so learns that it was cancelled: a person waits for that."""

ATTEMPTS_MOST = 3
"""Workers that may die over one run: it is likely the run's fault, and a fourth one would die of it, too."""

DISK_FULL = "The disk of the server's database is full. Delete imports or timelines, then run it again."

SOURCES = ("simulations", "groups/history", "groups/releases", "groups/wire")
"""What decides which entries a scenario and a seed make."""


@cache
def engine_digest(sources: tuple[str, ...] = SOURCES) -> str:
    """Names the simulator: two runs of one scenario and seed are the same, byte for byte, if this is the same.

    With other ``sources``, whatever else gives the same answers as long as it stays as it is.
    """
    digest = hashlib.sha256()
    for folder in sources:
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@shared_task(name="simulations.run", acks_late=True)  # type: ignore[untyped-decorator]
def run(timeline_id: str) -> int | None:
    """Simulate a stored scenario into its timeline; how many entries it came to.

    A second delivery finds the lease taken, or the run ended, and does nothing. One that takes over from a writer
    that died simulates from the start again, and storage skips what is stored already: the same entries, since
    the simulator is the same (a run of another simulator is interrupted instead, see ``resume``).
    """
    try:
        writer = storage.open_writer(timeline_id, owner=f"run {uuid.uuid4()}")
    except (LeaseLost, NoSuchTimeline):
        return None
    timeline = storage.get(timeline_id)
    times, lines = Times(units=RUN_UNITS), list[str]()

    def end(problem: str) -> None:
        work = {"times": times.report(), "begun_again": timeline.attempts - 1, "log": lines}
        writer.finish(Timeline.Status.FAILED if problem else Timeline.Status.COMPLETE, problem, work=work)
        log.info("Run %s: %s", timeline_id, in_words(times.report()))

    try:
        end(simulate_into(writer, timeline, times))
        return int(storage.get(timeline_id).last)
    except (LeaseLost, NoSuchTimeline):
        return None  # cancelled, deleted or taken over: the process that did so has notified the watchers
    except ParentStops:
        writer.release()
    except ChildFailed as error:
        lines += kept_lines(error.lines)
        end(str(error))
    except StorageError as error:
        end(str(error))
    except DatabaseError as error:
        # With any other trouble of the database the run goes on where it was, once its lease is over.
        if not is_full(error):
            raise
        end(DISK_FULL)
    return None


def simulate_into(writer: storage.Writer, timeline: Timeline, times: Times) -> str:
    """Run the child, append what it contains and note how long that took; the problem in its output, or an empty string."""

    def lease_is_lost() -> bool:
        if time.monotonic() - writer.renewed_s > RENEW_S:
            writer.renew()
        return False

    question = {
        "scenario": timeline.scenario,
        "semantics": timeline.semantics,
        "release": timeline.release,
        "seed": timeline.seed,
        "bytes_most": settings.RUN_BYTES_MOST,
    }
    for message in children.messages(question, lease_is_lost):
        times.merge(message.get("times", ()))
        match message["type"]:
            case "batch":
                batch = RecordedBatch.from_line(message)
                with times.taking("commit", batch.last - batch.first + 1):
                    writer.append(batch)
            case "error":
                return str(message["message"])
            case "done":
                return ""
    return f"{children.module} ended without saying that it was done."


def resume(timeline: Timeline) -> None:
    """What becomes of a run whose writer was lost: the same simulator goes on with it, another one cannot."""
    if timeline.engine != engine_digest():
        problem = "It was cut short, and the simulator has changed since: run it again."
        storage.interrupt(timeline.id, problem)
    elif timeline.attempts >= ATTEMPTS_MOST:
        storage.interrupt(timeline.id, f"It was cut short {timeline.attempts} times and is not tried again.")
    elif storage.requeue(timeline.id):
        run.delay(timeline.id)
