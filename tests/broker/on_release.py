"""``python -m tests.broker.on_release RELEASE [NAME…]`` plays the scripted exchanges on a broker of a release and judges them.

Each group is judged by the rules of that release and by those of each other one that is simulated: what differs between two
releases shows as differences of a recording of the one that is judged as the other.
"""

from __future__ import annotations

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


def recorded(
    folder: Path, release: str, groups: Collection[str], judges: Collection[Release]
) -> dict[Release, Conformed]:
    """These exchanges and improvised groups on one broker of the release, judged by the rules of each of ``judges``."""
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
    return {judge: conform(node, {**stage.problems, **problems}, release=judge) for judge in judges}


def main(release: str, *names: str) -> None:
    groups = names or (*EXCHANGES, *DRAWN)
    judges = [each for each in Release if each.rules.consumer_protocol]
    with tempfile.TemporaryDirectory() as folder:
        found = recorded(Path(folder), release, groups, judges)
    for judge, conformed in found.items():
        differing = {
            group: verdict["differences"]
            for group, verdict in conformed.verdicts.items()
            if verdict["differences"] and not (group in EXCHANGES and EXCHANGES[group].differs)
        }
        total = sum(map(len, differing.values()))
        sys.stdout.write(f"{release} judged as {judge}: {total} differences in {len(differing)} groups\n")
        if judge is release_of(release):
            for group, differences in differing.items():
                for each in differences:
                    sys.stdout.write(f"{group}: {json.dumps(each)}\n")
            for group, problem in conformed.problems.items():
                sys.stdout.write(f"{group}: {type(problem).__name__}: {problem}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
