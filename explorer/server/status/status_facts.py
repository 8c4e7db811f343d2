"""What the status page shows, read now: this process, what it needs, queues, live clusters, disks, and the log's last lines."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypedDict

from django.conf import settings
from django.db import DatabaseError, connection

from explorer.push import hub
from explorer.push.sockets import SOCKETS_MOST
from explorer.server.health.checks import check
from explorer.server.queues import queue_counts
from explorer.server.status.last_lines import LogLine, last_lines
from groups.cluster_models import Cluster
from groups.places import VERSION

STARTED_MS: Final = int(time.time() * 1000)


class ServerStatus(TypedDict):
    """The process that answers; others of a team have their own. ``memory_bytes``: its resident memory now, where Linux has it, else the most so far."""

    version: str
    python: str
    process: int
    host: str
    started_ms: int
    memory_bytes: int
    sockets: int
    sockets_most: int


class PartStatus(TypedDict):
    """One part that the server needs. ``problem`` is empty where it is well."""

    part: str
    problem: str


class QueueStatus(TypedDict):
    """What waits for a worker and what a worker has, of one queue."""

    queue: str
    waiting: int
    running: int


class ClusterStatus(TypedDict):
    """A live cluster: who watches it and how long ago it last looked (Unix milliseconds; ``None``: never)."""

    id: str
    name: str
    status: str
    problem: str
    watcher: str
    look_ms: int | None
    took_ms: int | None
    groups: int


class DiskStatus(TypedDict):
    """A file system on which something of ours lies."""

    what: list[str]
    free_bytes: int
    size_bytes: int


class Status(TypedDict):
    """All of the page. ``database_bytes`` is ``None`` where the database does not answer."""

    server: ServerStatus
    parts: list[PartStatus]
    queues: list[QueueStatus]
    clusters: list[ClusterStatus]
    disks: list[DiskStatus]
    database_bytes: int | None
    lines: list[LogLine]


def status() -> Status:
    """Raises nothing: while the database is away its part has the problem, and queues and clusters are empty."""
    parts: list[PartStatus] = [{"part": part, "problem": problem} for part, problem in check().items()]
    found: Status = {
        "server": _server(),
        "parts": parts,
        "queues": [],
        "clusters": [],
        "disks": list(_disks()),
        "database_bytes": None,
        "lines": last_lines(),
    }
    try:
        found["queues"] = [
            {"queue": queue, "waiting": count.waiting, "running": count.running}
            for queue, count in queue_counts().items()
        ]
        found["clusters"] = list(_clusters())
        found["database_bytes"] = _database_bytes()
    except DatabaseError:
        connection.close()
    return found


def _server() -> ServerStatus:
    return {
        "version": VERSION,
        "python": platform.python_version(),
        "process": os.getpid(),
        "host": platform.node(),
        "started_ms": STARTED_MS,
        "memory_bytes": _memory_bytes(),
        "sockets": hub.process_counts().sockets,
        "sockets_most": SOCKETS_MOST,
    }


def _memory_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()


def _clusters() -> Iterator[ClusterStatus]:
    for cluster in Cluster.objects.all():
        seen = cluster.seen
        yield {
            "id": cluster.pk,
            "name": cluster.name,
            "status": cluster.status,
            "problem": cluster.problem,
            "watcher": cluster.lease_owner,
            "look_ms": seen.get("at_ms"),
            "took_ms": seen.get("took_ms"),
            "groups": seen.get("groups") or 0,
        }


def _disks() -> Iterator[DiskStatus]:
    """A row for each file system, with what lies there; a store beyond this machine's has none."""
    places = {
        "data folder": settings.VAR,
        "uploads": settings.UPLOAD_FOLDER or settings.VAR,
        "store": settings.STORE_URL,
    }
    by_device: dict[int, DiskStatus] = {}
    for what, place in places.items():
        folder = _nearest(Path(str(place)))
        if folder is None:
            continue
        usage = shutil.disk_usage(folder)
        row = by_device.setdefault(
            folder.stat().st_dev, {"what": [], "free_bytes": usage.free, "size_bytes": usage.total}
        )
        row["what"].append(what)
    yield from by_device.values()


def _nearest(place: Path) -> Path | None:
    """The folder, or the one above it that exists; ``None`` of a URL."""
    if "://" in str(place) or not place.is_absolute():
        return None
    return next((each for each in (place, *place.parents) if each.is_dir()), None)


def _database_bytes() -> int:
    if connection.vendor == "sqlite":
        name = str(settings.DATABASES["default"]["NAME"])
        return sum(path.stat().st_size for path in Path(name).parent.glob(f"{Path(name).name}*"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])
