"""``python -m tests.broker.unit_tests``: records Kafka's own unit tests, plays them by each release's rules, prints what differs.

``--keep`` puts what can be played into the fixture; ``--kept`` plays the fixture, without Java.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from groups.releases import EARLIER, NEWEST, Release

from . import recording
from .playing import Event, each_test, play


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write the fixture")
    parser.add_argument("--kept", action="store_true", help="play the fixture")
    asked = parser.parse_args()
    if asked.kept:
        lines = list(recording.kept())
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "recorded.jsonl"
            recording.record(file)
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    tests = list(each_test(lines))
    for release in (EARLIER, NEWEST):
        _report(tests, release)
    if asked.keep:
        playable = {name for name, events in tests if play(name, events, EARLIER).compared}
        recording.keep(_of(lines, playable))


def _report(tests: Sequence[tuple[str, Sequence[Event]]], release: Release) -> None:
    counts: Counter[str] = Counter()
    for name, events in tests:
        played = play(name, events, release)
        for difference in played.differences:
            sys.stdout.write(f"{release}: {name}: {difference}\n")
        counts["events equal"] += played.compared
        if played.differences:
            counts["different"] += 1
        elif played.unplayed is not None:
            counts["not played to the end"] += 1
            counts[f"  {played.unplayed}"] += 1
        else:
            counts["equal" if played.compared else "with nothing to compare"] += 1
    sys.stdout.write(f"{release}: {len(tests)} tests\n")
    sys.stdout.write("".join(f"{count:6} {what}\n" for what, count in sorted(counts.items())))


def _of(lines: Sequence[str], names: set[str]) -> list[str]:
    """The lines of these tests."""
    kept: list[str] = []
    for name, its_lines in _by_test(lines):
        if name in names:
            kept += its_lines
    return kept


def _by_test(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith('{"what":"test"'):
            found.append((line.split('"test":"', 1)[1].rsplit('"', 1)[0], []))
        found[-1][1].append(line)
    return found


if __name__ == "__main__":
    main()
