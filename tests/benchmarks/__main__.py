"""``python -m tests.benchmarks [NAME…]``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from tests.benchmarks import (
    assignors,
    board,
    coordinator,
    exploration,
    forks,
    history,
    imports,
    large,
    lessons,
    live,
    live_commits,
    live_lag,
    live_pull,
    live_sockets,
    pages,
    pipeline,
    sharing,
    sizing,
    sockets,
    starting,
    sweeps,
    together,
    troubles,
    wire,
)
from tests.benchmarks.figures import Figure

BENCHMARKS: dict[str, Callable[[], Iterable[Figure]]] = {
    "start": starting.run,
    "pages": pages.run,
    "troubles": troubles.run,
    "lessons": lessons.run,
    "board": board.run,
    "sockets": sockets.run,
    "live": live.run,
    "live-commits": live_commits.run,
    "live-lag": live_lag.run,
    "live-pull": live_pull.run,
    "live-sockets": live_sockets.run,
    "together": together.run,
    "forks": forks.run,
    "sharing": sharing.run,
    "import": pipeline.run,
    "imports": imports.run,
    "sizing": sizing.run,
    "fold": history.run,
    "large": large.run,
    "decode": wire.run,
    "assignors": assignors.run,
    "coordinator": coordinator.run,
    "sweep": sweeps.run,
    "explore": exploration.run,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"No benchmark {unknown[0]!r}: there are {', '.join(BENCHMARKS)}.\n")
        return 2
    sys.stdout.write("| what | measured | goal |\n|---|---:|---:|\n")
    for name in names or BENCHMARKS:
        for figure in BENCHMARKS[name]():
            sys.stdout.write(figure.row() + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
