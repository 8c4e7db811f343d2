"""The copying as a process of its own: a JSON request in, JSON Lines out.

``python -m groups.archiving.job`` reads a line::

    {"properties": {"bootstrap.servers": "…"}, "by_hand": false, "into": "/…", "every_s": 60, "once": false, "master": null}

and writes, a line each:

* ``{"type": "starting"}`` as soon as the cluster was asked, and Spark is started;
* ``{"type": "batch", "batch", "partitions", "records", "bytes"}`` behind each micro-batch that had news: what the folder
  holds then;
* ``{"type": "waiting", "message", "for_s"}`` where the cluster does not answer: the query is started again from its checkpoint;
* ``{"type": "error", "message": "one line"}`` where it cannot go on. With ``once`` it ends when all is read that was there.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from groups.archiving.fetching import look
from groups.archiving.segments import ArchiveError, positions, write_whole
from groups.archiving.source import SINK, SOURCE, keep_topics, sink_of, source_of
from groups.child_side import Lines
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import settings_of
from groups.pipeline.spark.child import answer_request, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CHECKPOINT: Final = "checkpoint"
CLUSTER: Final = "cluster.json"

REPORTED_EVERY_S: Final = 1
"""How often the query is looked at."""

WAIT_LEAST_S: Final = 2.0
WAIT_MOST_S: Final = 60.0
"""Between two queries of which the first one failed by the cluster's fault."""

_CAUSES: Final = re.compile(r"(ArchiveError|ClusterError): (.+)")
"""What the tasks and the planner raise, in Python's words within Spark's."""


def main() -> int:
    return answer_request(run, work="archiving", refusals=(ArchiveError, ClusterError))


def run(request: Mapping[str, Any], lines: Lines) -> None:
    settings = settings_of(request["properties"], by_hand=request.get("by_hand", False))
    folder = Path(request["into"])
    with alone(folder):
        cluster_id, _, topics = asyncio.run(look(settings))
        belongs(folder, cluster_id)
        keep_topics(folder, topics)
        lines.say({"type": "starting"})
        with spark_session(master=request.get("master") or None, work="archive") as session:
            session.dataSource.register(source_of(settings, folder))
            session.dataSource.register(sink_of(folder))
            copy(session, folder, lines, every_s=request["every_s"], once=request["once"])


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds the folder, which is made where there is none; two queries of one folder would append the same."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise ArchiveError(f"{folder} cannot be written to: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ArchiveError(f"Another process copies into {folder} already.") from None
        yield


def belongs(folder: Path, cluster_id: str) -> None:
    """A folder is of one cluster: offsets of another would stand between its own."""
    file = folder / CLUSTER
    if not file.exists():
        write_whole(file, json.dumps({"cluster_id": cluster_id}).encode())
        return
    known = json.loads(file.read_bytes())["cluster_id"]
    if known != cluster_id:
        raise ArchiveError(f"{folder} is of cluster {known}, and this is {cluster_id}: give another folder.")


def copy(session: SparkSession, folder: Path, lines: Lines, *, every_s: float, once: bool) -> None:
    """Run the query until it ends by itself (``once``) or the process does; again where the cluster failed it."""
    wait_s, said = WAIT_LEAST_S, Said(lines, folder)
    while True:
        query = start(session, folder, every_s=every_s, once=once)
        try:
            follow(query, said)
            return
        except Exception as error:
            cause = cause_of(error)
            if once or not isinstance(cause, ClusterError):
                raise cause from error
            if said.restarted():
                wait_s = WAIT_LEAST_S
            lines.say({"type": "waiting", "message": str(cause), "for_s": wait_s})
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, WAIT_MOST_S)
        finally:
            query.stop()


def start(session: SparkSession, folder: Path, *, every_s: float, once: bool) -> StreamingQuery:
    """The query, from the offsets of its checkpoint."""
    writer = (
        session.readStream.format(SOURCE)
        .load()
        .writeStream.format(SINK)
        .option("checkpointLocation", (folder / CHECKPOINT).absolute().as_uri())
    )
    timed = writer.trigger(availableNow=True) if once else writer.trigger(processingTime=f"{every_s} seconds")
    return timed.start()


def follow(query: StreamingQuery, said: Said) -> None:
    """Reports each micro-batch until the query ends; raises the query's error."""
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(REPORTED_EVERY_S))
        said.look(query)


class Said:
    """What the query's micro-batches reported."""

    def __init__(self, lines: Lines, folder: Path) -> None:
        self._lines = lines
        self._folder = folder
        self._batch = -1
        self._is_new = False

    def look(self, query: StreamingQuery) -> None:
        progress = query.lastProgress
        if progress is None or not progress["numInputRows"] or progress["batchId"] == self._batch:
            return
        self._batch, self._is_new = progress["batchId"], True
        held = positions(self._folder).values()
        self._lines.say(
            {
                "type": "batch",
                "batch": self._batch,
                "partitions": sum(1 for each in held if each.records),
                "records": sum(each.records for each in held),
                "bytes": sum(each.bytes for each in held),
            }
        )

    def restarted(self) -> bool:
        """Whether something was reported since the last time."""
        was, self._is_new = self._is_new, False
        return was


def cause_of(error: Exception) -> Exception:
    """Our own error in the pages that Spark makes of it; the error itself where there is none."""
    found = _CAUSES.findall(str(error))
    if not found:
        return error
    name, reason = found[-1]
    return (
        ArchiveError(reason.strip()) if name == "ArchiveError" else ClusterError(Fault.SILENT, reason.strip())
    )


if __name__ == "__main__":
    sys.exit(main())
