"""Imports: a row with what is to be read, a child process that reads it, timelines that are stored.

The process that reads an import holds it by a lease (``groups.jobs.leases``); an import whose lease expired is reported as
failed. Small logs need no Spark; a large one whose packages are still being fetched waits for them in the queue.

Entries go into the store (``groups.packs``) before any row names them; the rows come last, all at once. So an import
that fails, is cancelled or cut short leaves nothing behind, and can be run again. Files that were imported before give the
same timelines under the same ids; a log that went on since continues them (``groups.storage.importing``).
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from groups import places, storage
from groups.clusters.faults import ClusterError
from groups.imports import topic_copy
from groups.imports.receiving import Received
from groups.jobs.announce import announce, import_group
from groups.jobs.children import ChildFailed, ChildKilled, ParentStops
from groups.jobs.leases import LEASE_S, Leases, Watch, end_of_lease, end_of_wait, from_now, waits_of
from groups.jobs.patience import patiently
from groups.jobs.serving import IMPORTS, RUNS
from groups.jobs.warm_children import WarmChildren
from groups.models import TITLE_LENGTH_MOST, Import
from groups.one_line import SECRET, kept_lines
from groups.packs.listed_summary import plain
from groups.pipeline.engine import LOCAL, choose
from groups.pipeline.reading.archives import HEAD_BYTES, packing_of
from groups.pipeline.reading.given_files import given_files
from groups.pipeline.spark.failures import why
from groups.reserve import makes_room
from groups.shown import shown_name
from groups.spark_ready import how_to_install, missing_packages
from groups.storage import importing
from groups.texts.end_offsets import EndOffsets
from groups.watching.registry import NoSuchCluster

log = logging.getLogger(__name__)

children = WarmChildren("groups.pipeline.job")
"""One stays for the next import, with its Spark session if it has one."""

GETTING_SPARK = "Getting Spark ready"
"""The stage of an import that waits for Spark's packages."""

leases = Leases(Import)

ANNOUNCE_EVERY_S = 0.25
"""Counts are replaced at most four times a second; a stage that begins is reported at once."""

SMALL_BYTES_MOST = 16_000_000
"""What a core reads in about ten seconds without Spark: it waits behind no large import."""

PACKED_TIMES = 10
"""What an archive unpacks to, about."""

SAMPLES = places.ROOT / "groups" / "samples"


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
    groups: Sequence[str] | None = None,
    from_ms: int | None = None,
    until_ms: int | None = None,
    topics: Mapping[str, Any] | None = None,
    master: str = "",
    folder: str = "",
    named: bool = False,
    settings: Mapping[str, int] | None = None,
    lead: str = "",
    engine: str = "",
    end_offsets: EndOffsets | None = None,
) -> Import:
    """An import that waits. ``folder`` is where its files were uploaded to; it is removed when the import ends.

    ``title`` is what was given until the groups are known, whose names say more; ``named``: it contains what happened, and
    stays. ``settings``: of the groups' consumers, by Kafka's names. ``lead``: the group that is shown first.
    ``engine``: what carries its tasks (``groups.pipeline.engine.ENGINES``), else the setting does. ``groups``: these alone. ``from_ms``: groups of which something is later. ``until_ms``: nothing that is later. ``end_offsets``: those of the groups' partitions over time, from a file.
    """
    if any(SECRET.search(path) for path in paths):
        raise BadPath(
            "An import stores its paths, so none has a secret in it: give that in the environment (AWS_SECRET_ACCESS_KEY and the like)."
        )
    created = Import(
        id=import_id or storage.new_id(),
        title=str(plain(title))[:TITLE_LENGTH_MOST],
        paths=list(paths),
        master=master,
        options={
            "groups": None if groups is None else list(groups),
            "from_ms": from_ms,
            "until_ms": until_ms,
            "topics": dict(topics or {}),
            "folder": folder,
            "named": named,
            "settings": dict(settings or {}),
            "lead": lead,
            "engine": engine,
            "queue": _queue_for(paths, master, engine),
        },
        progress={"stage": "Waiting for its turn"},
        lease_until=end_of_wait(),
    )
    with transaction.atomic():
        created.save(force_insert=True)
        if end_offsets is not None:
            storage.store_imported(created, *end_offsets)
    return created


def _queue_for(paths: Sequence[str], master: str, engine: str) -> str:
    """``RUNS`` where the files are small and read without Spark."""
    size = 0
    for path, _, _ in given_files(paths):
        if isinstance(path, str):
            # No file of this machine: a bucket or a topic, whose size is not known.
            return IMPORTS
        with contextlib.suppress(OSError), path.open("rb") as opened:
            packed = packing_of(opened.read(HEAD_BYTES)) is not None
            size += path.stat().st_size * (PACKED_TIMES if packed else 1)
        if size > SMALL_BYTES_MOST:
            return IMPORTS
    asked = engine or settings.IMPORT_ENGINE
    return RUNS if choose(asked, size=size, master=master or None).engine == LOCAL else IMPORTS


def queue_of(found: Import) -> str:
    """Where it waits for a worker."""
    return str(found.options.get("queue", IMPORTS))


def waits_for(found: Import) -> str:
    """What a waiting import waits for: a worker, or imports before it; empty where it does not wait."""
    if found.status != Import.Status.WAITING:
        return ""
    if unserved := waits_of(found.status, queue_of(found)):
        return unserved
    before = (
        Import.objects.filter(options__queue=queue_of(found))
        .filter(Q(status=Import.Status.RUNNING) | Q(status=Import.Status.WAITING, created__lt=found.created))
        .order_by("created", "id")
    )
    titles = list(before.values_list("title", flat=True)[:QUEUED_MOST])
    if not titles:
        return ""
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
    return f"“{titles[0]}”{more} {'are' if more else 'is'} before it in the queue “{queue_of(found)}”."


QUEUED_MOST = 100
"""Imports before another one that are counted: more do not wait at once."""


class BadPath(Exception):
    """A path that is not stored: one line."""


class BadTitle(Exception):
    """A name that cannot be given: one line."""


def rename(import_id: str, title: str) -> Import:
    """Give an import a name of the user's. Raises ``NoSuchImport`` and ``BadTitle``."""
    found = get(import_id)
    wanted = " ".join(str(plain(title)).split())
    if not wanted or len(wanted) > TITLE_LENGTH_MOST:
        raise BadTitle(f"A name has 1 to {TITLE_LENGTH_MOST} characters; this one has {len(wanted)}.")
    Import.objects.filter(pk=import_id).update(title=wanted, options=found.options | {"named": True})
    return get(import_id)


def samples() -> list[dict[str, Any]]:
    """The bundled recorded logs: what their manifests contain, and where they are."""
    found = []
    for manifest in sorted(SAMPLES.glob("*/manifest.json")):
        parsed = orjson.loads(manifest.read_bytes())
        paths = [str(manifest.parent / path) for path in parsed.get("paths", ["segments"])]
        found.append({**parsed, "name": manifest.parent.name, "paths": paths})
    return found


def say(import_id: str, message: Mapping[str, Any]) -> None:
    """Notifies those who watch the import; what they miss they fetch."""
    text = orjson.dumps(message).decode()
    announce(import_group(import_id), {"type": "import.progress", "text": text})


def perform(
    import_id: str,
    *,
    publish: Callable[[Mapping[str, Any]], None] = lambda message: None,
    spark_comes: bool = False,
) -> Import:
    """Reads a waiting import to its end. ``publish`` gets each progress message. Does nothing if it is taken.

    Where it needs Spark's packages, which are missing, it fails; or waits again where they come by themselves (``spark_comes``), or
    in the queue ``IMPORTS`` where it was taken for a small one.
    """
    taken = leases.take(import_id)
    found = get(import_id)
    if not taken:
        return found
    say(import_id, {"type": "status", "status": found.status})
    received = Received(import_id=import_id, attempt=found.options.get("attempts", 0))
    outcome: tuple[Import.Status, str] | None = None
    try:
        for outcome in _receive(found, received, publish):
            if outcome[0] != Import.Status.COMPLETE:
                continue
            if nothing := received.nothing_read():
                outcome = Import.Status.FAILED, nothing
            elif not patiently(lambda: complete(import_id, received)):
                outcome = Import.Status.CANCELLED, ""
    except ParentStops:
        if outcome is None and patiently(lambda: begin_again(import_id, received.attempt)):
            return get(import_id)
        outcome = outcome or (Import.Status.FAILED, "The worker was stopped meanwhile.")
    except ChildFailed as error:
        received.log = received.log or kept_lines(error.lines)
        problem = why(error, "import") if isinstance(error, ChildKilled) else str(error)
        outcome = outcome or (Import.Status.FAILED, problem)
    except (storage.StorageError, NoSuchCluster, ClusterError) as error:
        # What the child said itself is clearer than how it ended afterwards.
        outcome = outcome or (Import.Status.FAILED, str(error))
    except DatabaseError as error:
        reason = str(error).partition("\n")[0]
        outcome = Import.Status.FAILED, f"The database could not store the import's timelines: {reason}"
    remove_unpacked(import_id, received.attempt)
    if not patiently(lambda: _attempt(import_id, received.attempt).exists()):
        # This process stood still, and another worker began again meanwhile. Or it was deleted.
        found = get(import_id)
        if found.finished is not None:
            storage.collect(import_id)
        return found
    if received.spark_missing and queue_of(found) == RUNS:
        Import.objects.filter(pk=import_id).update(options=found.options | {"queue": IMPORTS})
        spark_comes = True
    if received.spark_missing and spark_comes:
        return patiently(lambda: wait_for_spark(import_id))
    silent = Import.Status.FAILED, "The import ended without saying that it was done."
    return patiently(lambda: finish(import_id, *(outcome or silent), received))


def _receive(
    found: Import, received: Received, publish: Callable[[Mapping[str, Any]], None]
) -> Iterator[tuple[Import.Status, str]]:
    """Has the child read it to its end; yields what the import has come to, once that is known."""
    groups = found.options.get("groups")

    def holds() -> bool:
        if received.is_newly_stuck():
            patiently(lambda: save_progress(found.id, received))
        return patiently(lambda: renew(found.id, received.attempt))

    watch = Watch(holds)
    paths, topics = found.paths, found.options.get("topics") or {}
    if (cluster := topic_copy.cluster_of(paths)) is not None:
        if missing := missing_packages():
            received.spark_missing = True
            yield Import.Status.FAILED, f"Reading a topic needs Spark. {how_to_install(missing)}"
            return
        into = copied_topic(cluster)
        for message in topic_copy.copy_topic(cluster, into, found.master or None, watch):
            if message["type"] == "error":
                watch.ended = True
                yield Import.Status.FAILED, str(message["message"])
                return
            received.take(message)
            patiently(lambda: save_progress(found.id, received))
            publish(received.progress)
        if watch.stopped:
            yield Import.Status.CANCELLED, ""
            return
        paths, topics = topic_copy.read_from(into)
    question = {
        "paths": paths,
        "store": settings.STORE_URL,
        "rights": settings.FILE_RIGHTS,
        "folder": found.id,
        "scratch": str(unpacked(found.id, received.attempt)),
        "engine": found.options.get("engine") or settings.IMPORT_ENGINE,
        "master": found.master or None,
        "groups": groups,
        "from_ms": found.options.get("from_ms"),
        "until_ms": found.options.get("until_ms"),
        "topics": topics,
        "settings": found.options.get("settings") or {},
        "earlier": importing.earlier(groups),
        # One of a command does not begin again.
        "resume": received.attempt > 0,
    }
    reported_s = 0.0
    for message in children.messages(question, watch):
        received.take(message)
        if message["type"] == "error":
            watch.ended = True
            yield Import.Status.FAILED, str(message["message"])
            continue
        if message["type"] == "done":
            watch.ended = True
            yield Import.Status.COMPLETE, ""
            continue
        if received.stage_began or time.monotonic() - reported_s >= ANNOUNCE_EVERY_S:
            reported_s = time.monotonic()
            patiently(lambda: save_progress(found.id, received))
            publish(received.progress)
    if watch.stopped:
        yield Import.Status.CANCELLED, ""


def wait_for_spark(import_id: str) -> Import:
    """Put a running import back: nothing of it was read. One that was cancelled meanwhile stays so."""
    progress = {"stage": GETTING_SPARK, "stages": []}
    waits = Import.objects.filter(pk=import_id, status=Import.Status.RUNNING).update(
        status=Import.Status.WAITING, progress=progress, lease_until=end_of_wait()
    )
    if waits:
        say(import_id, {"type": "status", "status": Import.Status.WAITING})
        say(import_id, {"type": "progress", **progress, "timelines": 0})
    return get(import_id)


def save_progress(import_id: str, received: Received) -> None:
    received.stage_began = False
    _attempt(import_id, received.attempt).filter(status=Import.Status.RUNNING).update(
        progress=received.progress, report=received.report()
    )
    say(import_id, {"type": "progress", **received.counts()})


def _attempt(import_id: str, attempt: int) -> QuerySet[Import]:
    """The import's row while no later worker has begun it again."""
    found = Import.objects.filter(pk=import_id)
    return found.filter(options__attempts=attempt) if attempt else found


def renew(import_id: str, attempt: int = 0) -> bool:
    """Keep the lease of a running import; false if it was cancelled or deleted, or another worker has it."""
    held = _attempt(import_id, attempt).filter(status=Import.Status.RUNNING)
    return bool(held.update(lease_until=end_of_lease()))


def complete(import_id: str, received: Received) -> bool:
    """Store the timelines and end the import, both or neither; false if it was cancelled or deleted meanwhile."""
    with transaction.atomic():
        running = _attempt(import_id, received.attempt).filter(status=Import.Status.RUNNING)
        # First, so that who cancels now waits for the end of this transaction, and finds that it is too late.
        if not running.update(status=Import.Status.COMPLETE, finished=timezone.now()):
            return False
        received.store()
        found = get(import_id)
        if not found.options.get("named") and (title := title_of_groups(received.timelines)):
            Import.objects.filter(pk=import_id).update(title=title[:TITLE_LENGTH_MOST])
    return True


GROUPS_NAMED_MOST = 2
"""Groups that an import's name lists; the others are counted."""


def title_of_groups(timelines: Sequence[Mapping[str, Any]]) -> str:
    """An import's name by its groups, those of most entries first: what it was given was named by a broker's disk.

    >>> title_of_groups([{"group": "a", "entries": 1}, {"group": "b", "entries": 9}, {"group": "c", "entries": 5}])
    'b, c and 1 more'
    """
    ordered = sorted(timelines, key=lambda timeline: (-timeline["entries"], timeline["group"]))
    names = list(dict.fromkeys(shown_name(str(timeline["group"])) for timeline in ordered))
    shown, more = names[:GROUPS_NAMED_MOST], len(names) - GROUPS_NAMED_MOST
    return f"{', '.join(shown)} and {more} more" if more > 0 else " and ".join(shown)


@makes_room
def finish(import_id: str, status: Import.Status, problem: str, received: Received) -> Import:
    """End an import with its report. What was uploaded for it stays where it failed, so that it can be read again."""
    # Packs of what was not kept, and what an earlier attempt had finished; one that was deleted meanwhile left packs, too.
    storage.collect(import_id)
    get(import_id)
    ended = Import.objects.filter(pk=import_id)
    ended.update(progress=received.progress, report=received.report(), lease_until=None)
    ended.filter(status=Import.Status.RUNNING).update(status=status, problem=problem, finished=timezone.now())
    found = get(import_id)
    if found.status != Import.Status.FAILED:
        remove_upload(import_id)
    say(import_id, {"type": "status", "status": found.status, "problem": found.problem})
    return found


def can_be_repeated(found: Import) -> bool:
    """Whether a failed import can be read again from the files that it was given."""
    return found.status == Import.Status.FAILED and all(
        "://" in path or Path(path).exists() for path in found.paths
    )


def repeat(import_id: str) -> bool:
    """Have a failed import wait for its turn again; false where it did not fail, or its files are gone."""
    found = get(import_id)
    if not can_be_repeated(found):
        return False
    failed = Import.objects.filter(pk=import_id, status=Import.Status.FAILED)
    again = failed.update(
        status=Import.Status.WAITING,
        problem="",
        finished=None,
        progress={"stage": "Waiting for its turn"},
        report={},
        options=found.options | {"attempts": 0},
        lease_until=end_of_wait(),
    )
    if again:
        say(import_id, {"type": "status", "status": Import.Status.WAITING})
    return bool(again)


@makes_room
def cancel(import_id: str) -> bool:
    """Stop an import; nothing of it is kept. False if it had ended. Its task notices within a second."""
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


@makes_room
def delete(import_id: str) -> None:
    """Remove an import, and the timelines that no other import contains; their room on the disk is free again."""
    found = get(import_id)
    remove_upload(import_id)
    with transaction.atomic():
        listed = Import.timelines.through.objects.filter(timeline_id=OuterRef("pk"))
        alone = found.timelines.exclude(Exists(listed.exclude(import_id=import_id)))
        gone = list(alone.values_list("pk", flat=True))
        found.delete()
        storage.delete_all(gone)
        transaction.on_commit(lambda: storage.collect(import_id))


def uploads() -> Path:
    """Where uploaded files are kept until their import was read, or is deleted."""
    return Path(settings.UPLOAD_FOLDER or Path(settings.VAR) / "imports")


def unpacked(import_id: str, attempt: int = 0) -> Path:
    """Where an attempt's archives are unpacked while it is read: a worker that stood still may come back next to the one after it."""
    return uploads() / f"{import_id}.{attempt}.unpacked"


def copied_topic(cluster_id: str) -> Path:
    """Where the copy of a cluster's offsets topic is kept."""
    return uploads() / f"{cluster_id}.topic"


def remove_unpacked(import_id: str, attempt: int) -> None:
    shutil.rmtree(unpacked(import_id, attempt), ignore_errors=True)


def remove_upload(import_id: str) -> None:
    folder = get(import_id).options.get("folder")
    # Only what an upload made is ever removed, whatever the row contains.
    if folder and Path(folder).parent == uploads():
        shutil.rmtree(folder, ignore_errors=True)


ATTEMPTS_MOST = 3
"""Workers that may end over one import: it is likely the import's fault, and a fourth one would end of it, too."""


@makes_room
def begin_again(import_id: str, attempt: int, **facts: Any) -> bool:
    """Put a running import of a worker that ended back, for the next look at what is lost to queue it; false for one of a command, or
    after ``ATTEMPTS_MOST`` workers. The groups that it had finished are taken over."""
    if not 0 < attempt < ATTEMPTS_MOST:
        return False
    progress = {"stage": "Begins again, since its worker ended"}
    back = (
        _attempt(import_id, attempt)
        .filter(status=Import.Status.RUNNING, **facts)
        .update(status=Import.Status.WAITING, progress=progress, report={}, lease_until=from_now())
    )
    if back:
        remove_unpacked(import_id, attempt)
        log.warning("Import %s begins again: the worker that had it has ended.", import_id)
        say(import_id, {"type": "status", "status": Import.Status.WAITING})
    return bool(back)


@makes_room
def interrupt(import_id: str) -> None:
    """Have an import whose lease expired begin again, or report it as failed, and remove what it had written. What was uploaded stays."""
    attempt = get(import_id).options.get("attempts", 0)
    if begin_again(import_id, attempt, lease_until__lte=from_now()):
        return
    problem = f"Its worker ended, or could not reach the database for {LEASE_S} s."
    if leases.interrupt(import_id, Import.Status.FAILED, problem):
        remove_unpacked(import_id, attempt)
        storage.collect(import_id)
        say(import_id, {"type": "status", "status": Import.Status.FAILED, "problem": problem})
