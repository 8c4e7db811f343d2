"""``python -m tests.broker.on_release RELEASE [NAME…]`` plays the scripted exchanges on a broker of a release and judges them.

Each group is judged by the rules of that release; with ``--as OTHER`` by those of another one, where the differences are those
that the table of rules names.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from groups.releases import Release, release_of

from . import improvised, played
from .conformed import Conformed, conform
from .exchanges import EXCHANGES
from .node import running
from .played import Stage

DRAWN: Mapping[str, int] = {improvised.name_of(seed): seed for seed in range(12)}


def recorded(folder: Path, release: str, groups: Collection[str], judge: Release) -> Conformed:
    """These exchanges and improvised groups on one broker of the release, judged by the rules of ``judge``."""
    stage = Stage(exchange for name, exchange in EXCHANGES.items() if name in groups)
    with running(folder, played.SETTINGS, request_log=True, release=release) as node:
        with ThreadPoolExecutor(1) as pool:
            drawn = pool.submit(improvised.play, node, [DRAWN[name] for name in groups if name in DRAWN])
            stage.play(node)
            problems = drawn.result()
        stage.first_acts(node)
        node.stop()
        node.start()
        stage.second_acts(node)
    return conform(node, {**stage.problems, **problems}, release=judge)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release")
    parser.add_argument("names", nargs="*", default=[*EXCHANGES, *DRAWN])
    parser.add_argument("--as", dest="judge")
    asked = parser.parse_args()
    judge = release_of(asked.judge or asked.release)
    with tempfile.TemporaryDirectory() as folder:
        conformed = recorded(Path(folder), asked.release, asked.names, judge)
    differing = {
        group: verdict["differences"]
        for group, verdict in conformed.verdicts.items()
        if verdict["differences"] and not (group in EXCHANGES and EXCHANGES[group].differs)
    }
    for group, differences in differing.items():
        for each in differences:
            sys.stdout.write(f"{group}: {json.dumps(each)}\n")
    for group, problem in conformed.problems.items():
        sys.stdout.write(f"{group} was not played to its end: {type(problem).__name__}: {problem}\n")
    count = sum(map(len, differing.values()))
    sys.stdout.write(
        f"{asked.release} judged as {judge}: {len(conformed.verdicts)} groups, {count} differences in {len(differing)}\n"
    )


if __name__ == "__main__":
    main()
