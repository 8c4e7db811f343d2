"""``make releases``: the scripted exchanges on a real broker of each release, judged, as a matrix.

``python -m tests.broker.releases [RELEASE…]`` plays what has not been played yet; what came of a release is kept in ``var/releases``, so
that it goes on where it was ended. A release that is simulated is judged by its own rules, any other by those of the nearest
simulated one, ``--as`` names others. ``--write`` puts the matrix into its page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from groups.releases import EARLIER, Release, UnknownRelease, release_of

from . import improvised, played
from .conformed import Conformed, conform
from .exchanges import EXCHANGES, regexes
from .node import running
from .played import Stage

RELEASES: Final = ("4.0.2", "4.1.2", "4.2.1", "4.3.0", "4.3.1", "4.4.0")
"""Those that Maven has, the newest patch of each; another one is named on the command line."""

DRAWN: Final[Mapping[str, int]] = {improvised.name_of(seed): seed for seed in range(12)}

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ROOT / "var" / "releases"
PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
HEAD: Final = "| exchange |"

Result = dict[str, list[str]]
"""By group what differs, a line each; nothing where all is equal."""

JUDGED_LIMIT_S: Final = 5
"""Processor time for one group that is judged by another release's rules: most take a tenth of a second, and see ``groups_of``."""

NOT_PLAYED: Final = "not played to its end: "


def judge_of(release: str) -> Release:
    try:
        return release_of(release)
    except UnknownRelease:
        return EARLIER


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
    limit_s = None if release == judge else JUDGED_LIMIT_S
    return conform(node, {**stage.problems, **problems}, release=judge, limit_s=limit_s)


def result_of(conformed: Conformed) -> Result:
    """What differs that differs by no other rule than the release's."""
    found: Result = {}
    for group, verdict in sorted(conformed.verdicts.items()):
        by_rule = group in EXCHANGES and EXCHANGES[group].differs
        found[group] = [] if by_rule else [json.dumps(each) for each in verdict["differences"]]
    for group, problem in conformed.problems.items():
        found.setdefault(group, []).append(f"{NOT_PLAYED}{type(problem).__name__}: {problem}"[:500])
    return found


def groups_of(release: str, judge: Release) -> tuple[str, ...]:
    """All where the release is judged by its own rules; by another one's neither improvised groups nor those with expressions.

    These differ from their beginning on, and each topic of all the exchanges concerns an expression: at every place the search for
    an order that agrees tries hundreds of ways in which the broker may have heard of topics, hours for one group, and none agrees.
    """
    if judge == release:
        return (*EXCHANGES, *DRAWN)
    return tuple(name for name, exchange in EXCHANGES.items() if exchange.about != regexes.ABOUT)


def kept(release: str, judge: Release) -> Path:
    return KEPT / f"{release} as {judge}.json"


def play(release: str, judge: Release, groups: Collection[str]) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        return result_of(recorded(Path(folder), release, groups, judge))


def matrix(results: Mapping[str, Result]) -> str:
    """A row for each group in which some release is not equal, and one that counts the others."""
    groups = [
        group for group in (*EXCHANGES, *DRAWN) if any(result.get(group) for result in results.values())
    ]
    lines = [f"{HEAD} {' | '.join(results)} |", f"|---|{'---|' * len(results)}"]
    for group in groups:
        cells = (_cell(result.get(group)) for result in results.values())
        lines.append(f"| `{group}` | {' | '.join(cells)} |")
    counts = (f"{sum(not lines for lines in result.values())} equal" for result in results.values())
    lines.append(f"| groups | {' | '.join(counts)} |")
    return "".join(f"{line}\n" for line in lines)


def _cell(lines: Sequence[str] | None) -> str:
    if lines is None:
        return "not run"
    differing = [line for line in lines if not line.startswith(NOT_PLAYED)]
    told = [f"{len(differing)} different"] if differing else []
    if len(differing) < len(lines):
        told.append("not as scripted")
    return ", ".join(told) or "equal"


def write(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = re.sub(rf"^{re.escape(HEAD)}.*\n(?:\|.*\n)*", lambda _: table, text, flags=re.MULTILINE)
    PAGE.write_text(made, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", default=RELEASES)
    parser.add_argument("--groups", help="these alone, with commas between them; nothing is kept then")
    parser.add_argument("--as", dest="judge", help="judge by the rules of this release")
    parser.add_argument("--write", action="store_true", help="write the matrix into its page")
    asked = parser.parse_args()
    results: dict[str, Result] = {}
    for release in asked.releases:
        judge = release_of(asked.judge) if asked.judge else judge_of(release)
        file, name = kept(release, judge), release if judge == release else f"{release} as {judge}"
        if asked.groups:
            results[name] = play(release, judge, asked.groups.split(","))
        elif file.exists():
            results[name] = json.loads(file.read_text())
        else:
            results[name] = play(release, judge, groups_of(release, judge))
            KEPT.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(results[name], indent=1))
        for group, lines in results[name].items():
            for line in lines:
                sys.stdout.write(f"{name}: {group}: {line}\n")
    sys.stdout.write(matrix(results))
    if asked.write:
        write(matrix(results))


if __name__ == "__main__":
    main()
