"""The offsets topic of a cluster that is added, as an import's source: ``archive_log``'s job copies it, read-only, and the copy is read.

The copy stays for a while with its checkpoint, so that the next import of the cluster reads only what is new.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from groups.archiving.segments import LOG, TOPICS
from groups.cluster_models import Cluster
from groups.jobs.children import run_child
from groups.pipeline.reading.archives import UNPACKED_BYTES_MOST
from groups.watching import registry

JOB: Final = "groups.archiving.job"

SCHEME: Final = "cluster://"
"""Before a cluster's id it is a path of an import."""

EVERY_S: Final = 1.0


def cluster_of(paths: list[str]) -> str | None:
    """The id of the cluster whose topic is to be read; ``None`` for files."""
    return paths[0].removeprefix(SCHEME) if paths and paths[0].startswith(SCHEME) else None


def copy_topic(
    cluster_id: str, into: Path, master: str | None, cancelled: Callable[[], bool]
) -> Iterator[dict[str, Any]]:
    """Copies what is new to the topic's end; progress messages, and an error's. Raises ``NoSuchCluster`` and ``ChildFailed``."""
    cluster = registry.get(cluster_id)
    into.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Folders that nobody has touched for long are removed (``explorer.server.retention``).
    into.touch()
    question = {
        "properties": registry.properties_of(cluster),
        "by_hand": cluster.origin == Cluster.Origin.PAGE,
        "into": str(into),
        "every_s": EVERY_S,
        "once": True,
        "master": master,
    }
    size = 0
    stage = "Connecting to the cluster"
    yield _progress(stage, 0)
    for message in run_child(JOB, question=question, cancelled=cancelled):
        match message["type"]:
            case "starting":
                yield _progress("Starting Spark", 0)
            case "batch":
                yield _progress("Copying the topic", message["records"])
                size = _bytes_in(into)
            case "error":
                yield message
        if size > UNPACKED_BYTES_MOST:
            break
    else:
        return
    # The job has ended with the loop: nobody writes any more.
    shutil.rmtree(into)
    yield {
        "type": "error",
        "message": f"The topic has more than {size:,} bytes, and an import at most {UNPACKED_BYTES_MOST:,}: copy it with `archive_log`, and import a part.",
    }


def read_from(into: Path) -> tuple[list[str], Mapping[str, Any]]:
    """The paths of the copy, and the names of its topics."""
    topics = into / TOPICS
    return [str(into / LOG)], orjson.loads(topics.read_bytes()) if topics.exists() else {}


def _bytes_in(folder: Path) -> int:
    """What a job that is still writing has written; a file or a folder that goes meanwhile counts nothing."""
    size = 0
    # `rglob` raises where a folder goes while it is read: Spark removes those of tasks that are done.
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += Path(root, name).stat().st_size
    return size


def _progress(stage: str, records: int) -> dict[str, Any]:
    copied = [{"name": "Copied", "done": records, "of": None, "unit": "records"}] if records else []
    return {"type": "progress", "stage": stage, "stages": copied, "bytes": 0, "remaining_s": None}
