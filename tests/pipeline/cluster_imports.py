"""Imports on one machine and on a cluster, each into a database of its own, and what they have stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.pipeline.spark_cluster import Account, Cluster
from tests.serving import ROOT

LIMIT_S = 3_600

Stored = list[tuple[str, int, str]]
"""Group, entries and digest of each timeline, by group."""


def imported(
    log: Path, var: Path, *, on: Cluster | None = None, kills: Sequence[Callable[[], None]] = (),
    account: Account | None = None, more: Mapping[str, str] | None = None,
) -> Stored:  # fmt: skip
    """What an import of the log stores, by ``account`` where one is given.

    ``kills`` are called one after the other, each at another line of progress while groups are folded.
    """
    environment = {**os.environ, "REBALANCE_VAR": str(var), **(more or {})}
    python, options = sys.executable, dict[str, Any]()
    if account is not None:
        python, options = account.python, account.options
        environment |= account.environment
    if on is None:
        environment.pop("DATABASE_URL", None)
    else:
        # A database of the services begins empty.
        subprocess.run(
            [python, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"],
            env=environment, check=True, **options,
        )  # fmt: skip
    words = [python, str(ROOT / "manage.py"), "import_log", str(log)]
    if on is not None:
        environment |= on.environment
        words += ["--master", on.url]
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    assert process.stderr is not None
    said, left = [], list(kills)
    for line in process.stderr:
        said.append(line)
        if left and line.startswith("Folding"):
            left.pop(0)()
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, "".join(said)
    assert not left, "all kills were to happen while the log is folded"
    report = json.loads(out)
    assert report["records"]["skipped"] == []
    assert report["engine"].get("executors_lost", 0) == len(kills), report["engine"]
    return _stored(python, environment, options)


def _stored(python: str, environment: dict[str, str], options: dict[str, Any]) -> Stored:
    script = (
        "import json; from groups.models import Timeline;"
        "print(json.dumps(list(Timeline.objects.filter(source='import').order_by('group')"
        ".values_list('group', 'last', 'digest'))))"
    )
    done = subprocess.run(
        [python, str(ROOT / "manage.py"), "shell", "--verbosity", "0", "-c", script],
        env=environment, capture_output=True, text=True, check=True, **options,
    )  # fmt: skip
    found: list[Any] = json.loads(done.stdout)
    return [tuple(row) for row in found]


def unfinished(store: Path) -> list[Path]:
    """Files that a killed task had begun to write and nobody has cleared away."""
    return [path for path in store.rglob("*") if path.name.startswith(".")]
