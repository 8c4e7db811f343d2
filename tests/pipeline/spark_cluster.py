"""A standalone Spark cluster on loopback: a master and workers of one core, as a team would run them on machines."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from groups.pipeline.spark.java import find_java
from groups.pipeline.spark.session import CACHE

READY_S = 120

EXECUTOR_MEMORY = "512m"


@dataclass(slots=True)
class Cluster:
    """``url`` is the master's; ``workers`` are its processes, each of which may be killed."""

    url: str
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill_worker(self) -> None:
        """As a machine that goes away: the worker and its executor end without a word."""
        worker = self.workers.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Starts it, with its logs in ``folder``, and ends it."""
    port, page = _free_port(), _free_port()
    java = find_java(CACHE)
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_CONF_DIR": str(folder),
        "PYSPARK_PYTHON": sys.executable,
    }
    (folder / "spark-defaults.conf").write_text(
        f"spark.executor.memory {EXECUTOR_MEMORY}\nspark.executor.cores 1\nspark.driver.memory 480m\n"
        "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\n"
    )
    found = Cluster(url=f"spark://127.0.0.1:{port}", environment=environment)
    master = _start(
        folder / "master.log",
        environment,
        "org.apache.spark.deploy.master.Master",
        *("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)),
    )
    try:
        for number in range(workers):
            found.workers.append(
                _start(
                    folder / f"worker-{number}.log",
                    environment,
                    "org.apache.spark.deploy.worker.Worker",
                    *(
                        "--host",
                        "127.0.0.1",
                        "-c",
                        "1",
                        "-m",
                        "1g",
                        "--webui-port",
                        str(_free_port()),
                        found.url,
                    ),
                )
            )
        _wait(page, workers)
        yield found
    finally:
        for process in (*found.workers, master):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _start(log: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    spark_class = Path(environment["SPARK_HOME"]) / "bin" / "spark-class"
    with log.open("wb") as out:
        return subprocess.Popen(
            [str(spark_class), *words], env=environment, stdout=out, stderr=out, start_new_session=True
        )


def _wait(page: int, workers: int) -> None:
    end_s = time.monotonic() + READY_S
    while time.monotonic() < end_s:
        with contextlib.suppress(OSError):
            told = urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=5).read().decode()
            if told.count('"state" : "ALIVE"') >= workers:
                return
        time.sleep(0.3)
    raise TimeoutError(f"the cluster's {workers} workers were not there within {READY_S} s")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
