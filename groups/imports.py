"""Imports: a row that says what is to be read, a child process that reads it, timelines that are stored.

Whoever reads an import holds it by a lease (``groups.leases``); one that is not heard of is told as failed, and what it
had stored is kept. An import that waits for Spark's packages keeps its place in the queue.

Importing the same files again makes new timelines, since links carry sequences and those of the first import must
stay what they are; each new one says which earlier timeline it equals (``same_as``).
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from groups import storage
from groups.announce import announce, import_group
from groups.children import ChildFailed, ParentStops, run_child
from groups.imported import Received
from groups.leases import Leases, Watch, end_of_lease, end_of_wait
from groups.models import TITLE_LENGTH_MOST, Import, Timeline

JOB = "groups.pipeline.job"

leases = Leases(Import)

ANNOUNCE_EVERY_S = 0.25
"""Counts are replaced at most four times a second; a stage that begins is told at once."""

SAMPLES = Path(__file__).resolve().parent / "samples"


class NoSuchImport(Exception):
    def __init__(self, import_id: str) -> None:
        super().__init__(f"There is no import {import_id!r}.")


def get(import_id: str) -> Import:
    try:
        return Import.objects.get(pk=import_id)
    except Import.DoesNotExist:
        raise NoSuchImport(import_id) from None


def create(
    *,
    title: str,
    paths: Sequence[str],
    import_id: str | None = None,
    group: str | None = None,
    topics: Mapping[str, Any] | None = None,
    master: str = "",
    folder: str = "",
) -> Import:
    """An import that waits. ``folder`` is where its files were uploaded to; it is removed when the import ends."""
    return Import.objects.create(
        id=import_id or storage.new_id(),
        title=title[:TITLE_LENGTH_MOST],
        paths=list(paths),
        master=master,
        options={"group": group, "topics": dict(topics or {}), "folder": folder},
        progress={"stage": "Waiting for its turn"},
        lease_until=end_of_wait(),
    )


def samples() -> list[dict[str, Any]]:
    """The bundled recorded logs: what their manifests tell, and where they are."""
    found = []
    for manifest in sorted(SAMPLES.glob("*/manifest.json")):
        told = orjson.loads(manifest.read_bytes())
        paths = [str(manifest.parent / path) for path in told.get("paths", ["segments"])]
        found.append({**told, "name": manifest.parent.name, "paths": paths})
    return found


def say(import_id: str, message: Mapping[str, Any]) -> None:
    """Tells those who watch the import; what they miss they fetch."""
    text = orjson.dumps(message).decode()
    announce(import_group(import_id), {"type": "import.progress", "text": text})


def perform(import_id: str, *, tell: Callable[[Mapping[str, Any]], None] = lambda message: None) -> Import:
    """Reads a waiting import to its end. ``tell`` hears each progress message. Does nothing if it is taken."""
    taken = leases.take(import_id)
    found = get(import_id)
    if not taken:
        return found
    say(import_id, {"type": "status", "status": found.status})
    received = Received(import_id=import_id, owner=f"import {uuid.uuid4()}")
    outcome: tuple[Import.Status, str] | None = None
    try:
        for outcome in _receive(found, received, tell):
            if outcome[0] == Import.Status.COMPLETE:
                # Told at once: the child takes a second to put its tools away.
                finish(import_id, *outcome, received)
    except ParentStops:
        stopped = Import.Status.FAILED, "The server was stopped meanwhile; import the files again."
        outcome = outcome or stopped
    except (ChildFailed, storage.StorageError) as error:
        # What the child said itself is clearer than how it ended afterwards.
        outcome = outcome or (Import.Status.FAILED, str(error))
    finally:
        problem = outcome[1] if outcome else ""
        received.close(problem or "The import was stopped before this group was read to its end.")
    silent = Import.Status.FAILED, "The import ended without saying that it was done."
    return finish(import_id, *(outcome or silent), received)


def _receive(
    found: Import, received: Received, tell: Callable[[Mapping[str, Any]], None]
) -> Iterator[tuple[Import.Status, str]]:
    """Runs the child to its end; yields what the import has come to, once that is known."""
    question = {
        "paths": found.paths,
        "master": found.master or None,
        "group": found.options.get("group"),
        "topics": found.options.get("topics") or {},
    }
    watch = Watch(lambda: renew(found.id))
    told_s = 0.0
    for message in run_child(JOB, question=question, cancelled=watch):
        if message["type"] == "error":
            watch.ended = True
            yield Import.Status.FAILED, str(message["message"])
            continue
        received.take(message)
        if message["type"] == "done":
            watch.ended = True
            yield Import.Status.COMPLETE, ""
            continue
        begins = message["type"] != "batch" and received.stage_began
        if begins or time.monotonic() - told_s >= ANNOUNCE_EVERY_S:
            told_s = time.monotonic()
            save_progress(found.id, received)
            tell(received.progress)
    if watch.stopped:
        yield Import.Status.CANCELLED, ""


def save_progress(import_id: str, received: Received) -> None:
    received.stage_began = False
    Import.objects.filter(pk=import_id, status=Import.Status.RUNNING).update(
        progress=received.progress, report=received.report()
    )
    say(import_id, {"type": "progress", **received.counts()})


def renew(import_id: str) -> bool:
    """Keep the lease of a running import; false if it was cancelled or deleted."""
    held = Import.objects.filter(pk=import_id, status=Import.Status.RUNNING)
    return bool(held.update(lease_until=end_of_lease()))


def finish(import_id: str, status: Import.Status, problem: str, received: Received) -> Import:
    """End an import with its report, and remove what was uploaded for it."""
    found = get(import_id)
    if found.finished is not None and found.status == Import.Status.COMPLETE:
        return found
    report = received.report()
    mark_repeated(import_id, report)
    ended = Import.objects.filter(pk=import_id)
    ended.update(progress=received.progress, report=report, lease_until=None)
    ended.filter(status=Import.Status.RUNNING).update(status=status, problem=problem, finished=timezone.now())
    remove_upload(import_id)
    found = get(import_id)
    say(import_id, {"type": "status", "status": found.status, "problem": found.problem})
    return found


def mark_repeated(import_id: str, report: dict[str, Any]) -> None:
    """Says of each timeline which earlier one has the same entries, if one has."""
    digests = {told["digest"]: told for told in report["timelines"]}
    earlier = Import.objects.exclude(pk=import_id).exclude(report={})
    for stored in earlier.order_by("created").values_list("report", flat=True)[:EARLIER_MOST]:
        for told in stored.get("timelines", ()):
            mine = digests.get(told.get("digest"))
            if (
                mine is not None
                and not mine.get("same_as")
                and Timeline.objects.filter(pk=told["id"]).exists()
            ):
                mine["same_as"] = told["id"]


EARLIER_MOST = 500
"""Earlier imports that are looked at for the same timelines: a report is some kilobytes."""


def cancel(import_id: str) -> bool:
    """Stop an import and keep what it has stored. False if it had ended. Its task notices within a second."""
    open_status = (Import.Status.WAITING, Import.Status.RUNNING)
    was_waiting = Import.objects.filter(pk=import_id, status=Import.Status.WAITING).exists()
    ended = Import.objects.filter(pk=import_id, status__in=open_status).update(
        status=Import.Status.CANCELLED, finished=timezone.now()
    )
    if ended:
        if was_waiting:
            remove_upload(import_id)
        say(import_id, {"type": "status", "status": Import.Status.CANCELLED})
    return bool(ended)


def delete(import_id: str) -> None:
    """Remove an import with the timelines that it made."""
    found = get(import_id)
    remove_upload(import_id)
    with transaction.atomic():
        found.delete()


def uploads() -> Path:
    """Where uploaded files are kept until their import is over."""
    return Path(settings.VAR) / "imports"


def remove_upload(import_id: str) -> None:
    folder = get(import_id).options.get("folder")
    # Only what an upload made is ever removed, whatever the row says.
    if folder and Path(folder).parent == uploads():
        shutil.rmtree(folder, ignore_errors=True)


def interrupt(import_id: str) -> None:
    """Tell a lost running import as failed; its finished timelines stay."""
    problem = (
        "What ran it was cut short. All that is shown was stored whole; import the files again for the rest."
    )
    if leases.interrupt(import_id, Import.Status.FAILED, problem):
        remove_upload(import_id)
        say(import_id, {"type": "status", "status": Import.Status.FAILED, "problem": problem})
