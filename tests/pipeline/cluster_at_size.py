"""``python -m tests.pipeline.cluster_at_size [RECORDS]``: an import on a Spark cluster of another account that loses an executor and a worker.

Server and workers run as two accounts with one group in common, as docs/how-to/run-for-a-team.md has it; only root can make them, and they are removed
at the end. While groups are folded one executor is killed, and when its worker has started another one, a whole worker. What
is stored is compared with an import of the same log on this machine alone. A report as JSON; exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks.generated.mixes import typical
from tests.pipeline.cluster_imports import imported, unfinished
from tests.pipeline.spark_cluster import Account, Cluster, cluster

RECORDS: Final = 2_000_000
WORKERS: Final = 2
REPLACED_S: Final = 600
"""A worker starts another executor within so long."""


class NotPossible(Exception):
    """The machine cannot run this; the message states why."""


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@contextlib.contextmanager
def accounts(python: Path) -> Iterator[tuple[Account, Account]]:
    """The server's account and the workers', with one group in common, which are removed at the end; ``python`` is a new folder."""
    if os.geteuid() != 0:
        raise NotPossible("accounts for server and workers are made by root alone: run it as root")
    if shutil.which("useradd") is None:
        raise NotPossible("this machine has no useradd")
    group = f"rebalance-{os.getpid()}"
    names = [f"{group}-{part}" for part in ("web", "spark")]
    with contextlib.ExitStack() as stack:
        subprocess.run(["groupadd", group], check=True)
        stack.callback(subprocess.run, ["groupdel", group], check=True)
        for name in names:
            words = ["useradd", "--no-create-home", "--home-dir", "/nonexistent", "--gid", group, name]
            subprocess.run(words, check=True)
            stack.callback(subprocess.run, ["userdel", name], check=True)
        copied = copied_python(python)
        server, workers = (Account(name=name, group=group, python=copied) for name in names)
        yield server, workers


def copied_python(folder: Path) -> str:
    """This Python at a path that other accounts reach; its packages stay where they are."""
    base = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = folder / "lib"
    shutil.copytree(
        base / "lib" / version,
        library / version,
        ignore=shutil.ignore_patterns("test", "*-packages", "config-*"),
    )
    for shared in base.glob("lib/libpython*.so*"):
        shutil.copy(shared, library)
    copied = folder / "bin" / version
    copied.parent.mkdir()
    shutil.copy(base / "bin" / version, copied)
    return str(copied)


def when_replaced(two: Cluster) -> Callable[[], None]:
    """Kills a worker with its executor once the executor that was killed before has a successor."""

    def kill() -> None:
        deadline = time.monotonic() + REPLACED_S
        while len(two.executors()) < WORKERS:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"no executor took the place of the one that was killed within {REPLACED_S} s"
                )
            time.sleep(0.2)
        say("Killing a worker …")
        two.kill_worker()

    return kill


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pipeline.cluster_at_size", description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=RECORDS, help="default: %(default)s")
    options = parser.parse_args()
    if options.records < 1:
        parser.error(f"RECORDS is {options.records}; at least 1 is needed")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="rebalance-cluster-") as name,
            accounts(Path(name) / "python") as (server, workers),
        ):
            Path(name).chmod(0o755)
            result = compared(Path(name), options.records, server, workers)
    except NotPossible as problem:
        say(f"Skipped: {problem}.")
        return 2
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
    return 0 if result["equal"] and not result["unfinished"] and result["writers"] == [workers.name] else 1


def compared(folder: Path, records: int, server: Account, workers: Account) -> dict[str, object]:
    say(f"Writing {records} records …")
    written = typical(folder / "log", records)
    say("Importing them on this machine alone …")
    alone = imported(written.files[0].parent, folder / "alone")
    store, var, place = folder / "store", folder / "var", folder / "cluster"
    for made, mode in ((store, 0o2770), (var, 0o700), (place, 0o755)):
        made.mkdir()
        shutil.chown(made, server.name, server.group)
        made.chmod(mode)
    say("Importing them on the cluster …")
    with cluster(place, WORKERS, workers) as two:

        def kill_executor() -> None:
            say("Killing an executor …")
            two.kill_executor()

        shared = imported(
            written.files[0].parent,
            var,
            on=two,
            kills=[kill_executor, when_replaced(two)],
            account=server,
            more={"STORE_URL": str(store), "FILE_RIGHTS": "group"},
        )
    return {
        "records": written.records,
        "bytes": written.size_bytes,
        "timelines": len(alone),
        "entries": sum(last for _, last, _ in alone),
        "equal": shared == alone,
        "differences": [one[0] for one in set(alone) ^ set(shared)][:30],
        "unfinished": [str(path.relative_to(store)) for path in unfinished(store)],
        "writers": sorted({path.owner() for path in store.rglob("*.pack")}),
    }


if __name__ == "__main__":
    sys.exit(main())
