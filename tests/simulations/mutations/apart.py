"""A mutation is tried in a process of its own: what it changes stays there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.simulations.mutations.mutated import ROOT
from tests.simulations.mutations.mutation import Mutation


def tried_apart(module: str, mutation: Mutation, *words: str) -> Any:
    """What ``python -m tests.simulations.mutations.MODULE NAME WORD …`` prints as JSON; ``RuntimeError`` if it ends badly."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.simulations.mutations.{module}", mutation.name, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{mutation.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)
