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
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from groups.releases import EARLIER, Release, UnknownRelease, release_of

from . import improvised, played
from .conformed import Conformed, conform
from .exchanges import EXCHANGES, regexes
from .jars import BrokerUnavailableError
from .node import Node, running
from .played import Stage

RELEASES: Final = ("4.0.2", "4.1.2", "4.2.1", "4.3.0", "4.3.1", "4.4.0")
"""Those that Maven has, the newest patch of each; another one is named on the command line."""

DRAWN: Final[Mapping[str, int]] = {improvised.name_of(seed): seed for seed in range(12)}

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ROOT / "var" / "releases"
PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
HEAD: Final = "| exchange |"
FIELD_HEAD: Final = "| what differs |"
OUTCOMES: Final = ("equal", "different", "not as scripted", "not run")

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


def played_on(node: Node, groups: Collection[str]) -> dict[str, Exception]:
    """Plays these exchanges and improvised groups on the running node; what went wrong with one, by its name."""
    stage = Stage(exchange for name, exchange in EXCHANGES.items() if name in groups)
    with ThreadPoolExecutor(1) as pool:
        drawn = pool.submit(improvised.play, node, [DRAWN[name] for name in groups if name in DRAWN])
        stage.play(node)
        problems = drawn.result()
    if any(each.after_restart for each in stage.exchanges):
        stage.first_acts(node)
        node.stop()
        node.start()
        stage.second_acts(node)
    return {**stage.problems, **problems}


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
    limit_s = None if release == judge else JUDGED_LIMIT_S
    with tempfile.TemporaryDirectory() as folder:
        with running(Path(folder), played.SETTINGS, request_log=True, release=release) as node:
            problems = played_on(node, groups)
        return result_of(conform(node, problems, release=judge, limit_s=limit_s))


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
    differing = _differing(lines)
    told = [f"{len(differing)} different"] if differing else []
    if len(differing) < len(lines):
        told.append("not as scripted")
    return ", ".join(told) or "equal"


def by_field(results: Mapping[str, Result]) -> str:
    """A row for each field that differs of some release, with the groups in which it does; then what became of all groups."""
    groups = {name: _groups_by_field(result) for name, result in results.items()}
    totals = {
        name: Counter(_outcome(result.get(group)) for group in EXCHANGES) for name, result in results.items()
    }
    rows = [
        (field, [len(found.get(field, ())) for found in groups.values()])
        for field in sorted({field for found in groups.values() for field in found})
    ]
    rows += [(f"*{outcome}*", [total[outcome] for total in totals.values()]) for outcome in OUTCOMES]
    head = f"{FIELD_HEAD} {' | '.join(results)} |\n|---|{'---|' * len(results)}\n"
    return head + "".join(f"| {name} | {' | '.join(map(str, counts))} |\n" for name, counts in rows)


def _outcome(lines: Sequence[str] | None) -> str:
    if lines is None:
        return "not run"
    return "equal" if not lines else "different" if _differing(lines) else "not as scripted"


def _groups_by_field(result: Result) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for group, lines in result.items():
        for difference in map(json.loads, _differing(lines)):
            recorded, simulated = difference["recorded"], difference["simulated"]
            known = recorded if isinstance(recorded, dict) else simulated
            record_type = known.get("type") if isinstance(known, dict) else None
            fields = set(_fields(recorded, simulated)) if record_type is not None else {"answers"}
            for field in fields:
                place = f"type {record_type}, `{field}`" if field else f"type {record_type}, there or not"
                found.setdefault(field if record_type is None else place, set()).add(group)
    return found


def _fields(one: object, other: object, path: str = "") -> Iterator[str]:
    """The last names of the fields in which two records differ; of one that is there alone its own."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one.keys() | other.keys():
            yield from _fields(one.get(name), other.get(name), name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for mine, theirs in zip(one, other, strict=True):
            yield from _fields(mine, theirs, path)
    elif one != other:
        yield path


def _differing(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.startswith(NOT_PLAYED)]


def write(head: str, table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = re.sub(rf"^{re.escape(head)}.*\n(?:\|.*\n)*", lambda _: table, text, flags=re.MULTILINE)
    PAGE.write_text(made, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", default=RELEASES)
    parser.add_argument("--groups", help="these alone, with commas between them; nothing is kept then")
    parser.add_argument("--as", dest="judge", help="judge by the rules of this release")
    parser.add_argument("--write", action="store_true", help="write the matrix into its page")
    asked = parser.parse_args()
    try:
        judge_all(asked)
    except BrokerUnavailableError as problem:
        parser.exit(2, f"{problem}\n")


def judge_all(asked: argparse.Namespace) -> None:
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
    by_others = {name: result for name, result in results.items() if name not in {*Release}}
    by_own = {name: result for name, result in results.items() if name not in by_others}
    for head, shown, table in ((HEAD, by_own, matrix), (FIELD_HEAD, by_others, by_field)):
        if shown:
            sys.stdout.write(table(shown))
            if asked.write:
                write(head, table(shown))


if __name__ == "__main__":
    main()
