"""A standalone Spark cluster on loopback: a master and workers of one core, as a team would run them on machines."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyspark

from groups.pipeline.spark.java import find_java
from groups.pipeline.spark.session import CACHE

READY_S = 120

EXECUTOR_MEMORY = "512m"


EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Another account of this machine, with the group that it has in common with the server's, and a Python that it may run."""

    name: str
    group: str
    python: str

    @property
    def options(self) -> dict[str, Any]:
        """Of ``subprocess``, to start a process as this account."""
        return {"user": self.name, "group": self.group, "extra_groups": [], "umask": 0o077}

    @property
    def environment(self) -> dict[str, str]:
        """Where its Python finds its own libraries and the packages of this one, and no folder of the account that starts it."""
        return {
            "PYTHONPATH": str(Path(pyspark.__file__).parent.parent),
            "LD_LIBRARY_PATH": str(Path(self.python).parent.parent / "lib"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": "/nonexistent",
        }


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

    def executors(self) -> list[int]:
        """Process ids of the executors that the workers have started."""
        groups = {worker.pid for worker in self.workers}
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (
                    EXECUTOR in process.joinpath("cmdline").read_text()
                    and os.getpgid(int(process.name)) in groups
                ):
                    found.append(int(process.name))
        return found

    def kill_executor(self) -> None:
        """As an executor that the kernel ends for its memory: its worker lives and starts another one."""
        os.kill(self.executors()[0], signal.SIGKILL)


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2, account: Account | None = None) -> Iterator[Cluster]:
    """Starts it, with its logs in ``folder``, and ends it; ``account`` runs the master and the workers."""
    port, page = _free_port(), _free_port()
    java = find_java(CACHE)
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_CONF_DIR": str(folder),
        "PYSPARK_PYTHON": account.python if account else sys.executable,
    }
    options: dict[str, Any] = {}
    if account:
        for part in ("work", "local"):
            (folder / part).mkdir()
            shutil.chown(folder / part, account.name, account.group)
        options = account.options
        options["env"] = environment | account.environment | {"SPARK_LOCAL_DIRS": str(folder / "local")}
    (folder / "spark-defaults.conf").write_text(
        f"spark.executor.memory {EXECUTOR_MEMORY}\nspark.executor.cores 1\nspark.driver.memory 480m\n"
        "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\n"
    )
    found = Cluster(url=f"spark://127.0.0.1:{port}", environment=environment)
    master = _start(
        folder / "master.log",
        {"env": environment, **options},
        "org.apache.spark.deploy.master.Master",
        *("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)),
    )
    try:
        for number in range(workers):
            found.workers.append(
                _start(
                    folder / f"worker-{number}.log",
                    {"env": environment, **options},
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


def _start(log: Path, options: dict[str, Any], *words: str) -> subprocess.Popen[bytes]:
    spark_class = Path(options["env"]["SPARK_HOME"]) / "bin" / "spark-class"
    with log.open("wb") as out:
        return subprocess.Popen(
            [str(spark_class), *words], stdout=out, stderr=out, start_new_session=True, **options
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
