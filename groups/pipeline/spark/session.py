"""Opens the SparkSession of an import or a sweep: on this machine by default, on a cluster by its master's address.

Most of a small import is Spark's own start, so a local session is tuned for starting: the quick compiler and the
serial collector, no web page, no code generation (the work is in Python), and an archive of loaded classes (AppCDS)
that the first import leaves behind for all later ones.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from groups.pipeline.spark.java import Java, find_java
from groups.places import ROOT, data_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

CACHE = data_folder() / "spark"
"""Where the shim, the class archive and Spark's scratch files stand."""

DRIVER_MEMORY = os.environ.get("REBALANCE_SPARK_MEMORY") or "480m"
"""Heap of a local session: rows live in Spark's cache on the disk, so that this is about the least that Spark takes."""

WORKER_MEMORY = os.environ.get("REBALANCE_WORKER_MEMORY") or "4g"
"""Address space of each Python worker of a local session, of which its libraries map more than a gigabyte. A log that would take more, as
broken and malicious ones do, ends its import with a sentence; the machine goes on."""

SMALL_HEAP = ("-Xms96m", "-Xmn64m", "-XX:MinHeapFreeRatio=20", "-XX:MaxHeapFreeRatio=40")
"""What passes through is freed at once, so that a small part for what is young does; the rest is collected before it grows."""

ARCHIVE_IN_PLACE = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
"""Java moves the archive of classes to another address at each start, which writes to most of its 160 MB: as long as it is there."""

JVM_EXIT_TIMEOUT_S = 60
"""Writing the class archive takes about five seconds; a JVM that takes longer than this hangs."""

UNFINISHED = ".writing"

FOLDING_BYTES = 16 * 1024 * 1024
"""Sources a task of the folding stage: small enough that its sort stays in memory and that progress moves, large enough
to be worth a task."""

FOLDING_TASKS_GREATEST = 1000

ROWS_IN_MEMORY = 64
"""Rows of Spark's cache and of a worker's input at a time: each holds up to half a megabyte of records."""

ARROW_BYTES = 4 * 1024 * 1024


DRIVER_NAME = "SPARK_LOCAL_HOSTNAME"
LOOPBACK_NAME = "localhost"

DRAWS_SECRET = re.compile(r"local(\[.*\])?")
"""Masters with which Spark draws a secret of its own for each session. A cluster's is its configuration's: docs/how-to/run-for-a-team.md."""


class SessionFailed(Exception):
    """Spark did not start; the message is one line with what it said last."""


def open_session(
    *,
    master: str | None = None,
    cache: Path = CACHE,
    archive: bool = False,
    work: str = "import",
    rooms: Sequence[str] = ("groups",),
) -> SparkSession:
    """A session ready for ``groups.pipeline.transformations``, or for other ``work``.

    ``master`` is Spark's master URL, ``local[*]`` when None. Under ``spark-submit`` that sets the master and all else.
    With ``archive`` the JVM writes the class archive when it is closed. ``rooms`` are the packages that the workers of
    a cluster are sent.
    Raises ``groups.pipeline.spark.java.NoJava`` and ``SessionFailed``.
    """
    cache.mkdir(parents=True, exist_ok=True)
    remove_leftovers(cache)
    java = find_java(cache)
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Workers import the product's packages from here, whatever folder the job was started in.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Java has some forty threads: with a heap of the C library for each, what they free is kept in pieces.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")

    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"Rebalance Explorer {work}")
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        master = master or "local[*]"
        for_tasks_of(master)
        builder = builder.master(master)
    for key, value in settings(java, master=master, cache=cache, archive=archive).items():
        builder = builder.config(key, value)
    scratch(cache).mkdir(parents=True, exist_ok=True)
    log = scratch(cache) / "spark.log"
    try:
        with output_to(log):
            session = builder.getOrCreate()
    except Exception as error:
        raise SessionFailed(f"Spark did not start: {(last_lines(cache) or [str(error)])[-1]}") from error
    session.sparkContext.setLogLevel("ERROR")
    if not is_local(str(session.sparkContext.master)):
        session.sparkContext.addPyFile(str(packed(rooms, cache)))
    return session


def for_tasks_of(master: str) -> None:
    """Set in the environment what Spark takes from there: how tasks reach the driver, and which Python they run.

    Tasks of this machine come over loopback. Those of a cluster come from other machines: to the name of this one, or
    to what its ``spark-defaults.conf`` or ``SPARK_LOCAL_HOSTNAME`` contains; and their Python may be in another place.
    """
    if is_local(master):
        os.environ.setdefault(DRIVER_NAME, LOOPBACK_NAME)
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        if os.environ.get(DRIVER_NAME) == LOOPBACK_NAME:
            del os.environ[DRIVER_NAME]
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


@contextlib.contextmanager
def output_to(log: Path) -> Iterator[None]:
    """Gives whatever is started meanwhile a file in the place of standard output and error.

    Java and its Python workers talk on both; the job's own standard output carries JSON Lines.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


LOG_LINES_MOST = 20
LOG_LINE_LENGTH_MOST = 400


def last_lines(cache: Path = CACHE) -> list[str]:
    """The last lines that Spark, Java and its Python workers wrote, without the frames of Java's stacks."""
    log = scratch(cache) / "spark.log"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()] if log.exists() else []
    messages = [line[:LOG_LINE_LENGTH_MOST] for line in lines if line and not line.startswith(("at ", "..."))]
    return messages[-LOG_LINES_MOST:]


def is_local(master: str) -> bool:
    """Whether tasks run on this machine, in threads of the driver's Java."""
    return master.startswith("local")


def settings(java: Java, *, master: str | None, cache: Path, archive: bool = False) -> dict[str, str]:
    """Spark's settings for this import; a cluster's memory and cores are its own configuration's business."""
    common = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_IN_MEMORY),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(ARROW_BYTES),
        "spark.sql.inMemoryColumnarStorage.batchSize": str(ROWS_IN_MEMORY),
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
    }
    if master is None or not is_local(master):
        return common
    if DRAWS_SECRET.fullmatch(master):
        # Every account of the machine reaches loopback. Spark draws the secret itself, in memory: one that is passed here
        # would stand on Java's command line, which every account can read, too.
        common["spark.authenticate"] = "true"
    return common | {
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.executor.pyspark.memory": WORKER_MEMORY,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(scratch(cache)),
        "spark.sql.warehouse.dir": str(cache / "warehouse"),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.shuffle.compress": "false",
        "spark.driver.extraJavaOptions": " ".join(java_options(java, cache, archive=archive)),
    }


def folding_tasks(source_bytes: int, cores: int) -> int:
    """How many tasks fold: one for a small log, else at least one a core, never so many that starting them dominates."""
    wanted = -(-source_bytes // FOLDING_BYTES)
    if wanted > 1:
        wanted = -(-wanted // cores) * cores
    return max(1, min(FOLDING_TASKS_GREATEST, wanted))


def java_options(java: Java, cache: Path, *, archive: bool = False) -> list[str]:
    """Options for a quick start; the class archive, once it is there, halves the time until a session is open."""
    options = [
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xlog:disable",
        "-Xlog:all=error:stderr",
        *SMALL_HEAP,
    ]
    if not java.base_archive:
        return options
    known = class_archive(java, cache)
    if known.exists():
        return [*options, *ARCHIVE_IN_PLACE, f"-XX:SharedArchiveFile={known}"]
    return [*options, f"-XX:ArchiveClassesAtExit={unfinished(known)}"] if archive else options


def close_session(session: SparkSession, cache: Path = CACHE) -> None:
    """Stops Spark and its JVM, and waits for the class archive where the session was opened to write it.

    The JVM writes it while it exits and may be killed meanwhile, so the file takes its name only after an exit that
    went well.
    """
    jvm = jvm_of(session)
    session.stop()
    shutil.rmtree(scratch(cache), ignore_errors=True)
    if jvm is None or jvm.stdin is None:
        return
    # The JVM ends when the pipe from Python does.
    jvm.stdin.close()
    try:
        status = jvm.wait(timeout=JVM_EXIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        jvm.kill()
        return
    for written in cache.glob(f"*{UNFINISHED}.{os.getpid()}"):
        if status == 0:
            written.replace(written.with_suffix("").with_suffix(".jsa"))
        else:
            written.unlink()


def jvm_of(session: SparkSession) -> subprocess.Popen[bytes] | None:
    """The Java process of a session that this process started."""
    gateway = session.sparkContext._gateway
    jvm: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    return jvm


def scratch(cache: Path) -> Path:
    """Where this process' Spark keeps its cache and its log; named so that another process can recognise whose it is."""
    return cache / "scratch" / str(os.getpid())


def remove_leftovers(cache: Path) -> None:
    """Removes what imports left behind that were killed: their process is gone."""
    for folder in (cache / "scratch").glob("*"):
        if folder.name.isascii() and folder.name.isdigit() and not _is_alive(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    for written in cache.glob(f"*{UNFINISHED}.*"):
        if not _is_alive(int(written.suffix[1:])):
            written.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def class_archive(java: Java, cache: Path) -> Path:
    """Where the class archive of this Java and this Spark is."""
    from pyspark import __version__

    return cache / f"classes-{java.version}-{__version__.replace('.', '-')}.jsa"


def packed(rooms: Sequence[str], cache: Path) -> Path:
    """These packages of the product as a zip, for the workers of a cluster."""
    target = cache / f"{'-'.join(rooms)}.zip"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for room in rooms:
            for file in sorted((ROOT / room).rglob("*.py")):
                archive.write(file, file.relative_to(ROOT))
    target.write_bytes(held.getvalue())
    return target


def unfinished(archive: Path) -> Path:
    """The name under which this process' JVM writes the archive: no other process touches it."""
    return archive.with_suffix(f"{UNFINISHED}.{os.getpid()}")
