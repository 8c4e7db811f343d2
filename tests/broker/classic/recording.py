"""All scripted exchanges on one broker, side by side, and what it wrote; ``python -m tests.broker.classic.recording``.

With ``--write`` the transcripts become the fixture that tests without a broker repeat.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from simulations.proof.conformance import Report
from simulations.proof.conformance.configs import BROKER_SETTINGS
from simulations.recorded_files import read

from ..conformed import conform
from ..node import SETTINGS as NODE_SETTINGS
from ..node import Node, running, wait_for_topic
from .acting import Classic
from .exchanges import EXCHANGES, Exchange
from .repeating import differences
from .transcript import Transcript, Written

FIXTURES = Path(__file__).parents[2] / "simulations" / "fixtures"
FIXTURE = FIXTURES / "classic-exchanges.jsonl.gz"
IMPROVISED = FIXTURES / "classic-improvised.jsonl.gz"

SETTINGS: Mapping[str, object] = {
    "group.initial.rebalance.delay.ms": 1_000,
    "group.max.size": 5,
    "group.consumer.max.size": 5,
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.migration.policy": "bidirectional",
}
"""On top of the node's own: a first join phase that can be watched, and groups that can be full."""

TOPICS = {"foo": 4, "bar": 3}

WARM = 8
"""Groups that are played beforehand, in each partition of the offsets topic."""

AT_ONCE = 16
"""Exchanges side by side: each waits for most of its time, and two cores have to serve all of them."""


class Recording:
    """Plays exchanges on a node; ``problems`` has what went wrong with a script itself, by its name."""

    def __init__(self, node: Node, settings: Mapping[str, object] = SETTINGS) -> None:
        self.node = node
        told = {**NODE_SETTINGS, **settings}
        self._settings = {name: str(told[name]) for name in BROKER_SETTINGS if name in told}
        self._topics: dict[str, tuple[str, int]] = {}
        self._groups: dict[str, Classic] = {}
        self.problems: dict[str, Exception] = {}

    def make_topics(self) -> None:
        with self.node.connect() as connection:
            for name, count in TOPICS.items():
                self._topics[name] = connection.create_topic(name, count), count
        for name in TOPICS:
            wait_for_topic(self.node, name, beside="classic")

    def warm_up(self) -> None:
        """The first requests of a fresh broker take it seconds, in which groups beside each other change places."""

        def one(number: int) -> None:
            name = f"warm-{number}"
            group = Classic(self.node, name, Transcript(group=name, settings={}, topics=self._topics))
            for _ in range(2):
                group.form("A", "B")
                group.commit("A", {0: 1})
                group.describe()
                group.leave("A", "B")
                group.ids.clear()
            group.close()

        with ThreadPoolExecutor(WARM) as pool:
            list(pool.map(one, range(WARM)))

    def play(self, plays: Mapping[str, Callable[[Classic], None]], *, keep: bool = False) -> None:
        """Plays each script with a group of its name; ``keep`` those groups that go on after a restart."""

        def one(name: str) -> None:
            try:
                group = self._groups.get(name)
                if group is None:
                    transcript = Transcript(group=name, settings=self._settings, topics=self._topics)
                    group = self._groups[name] = Classic(self.node, name, transcript)
                try:
                    plays[name](group)
                finally:
                    if not keep:
                        group.close()
            except Exception as problem:
                self.problems[name] = problem

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(one, plays))

    def restart(self) -> None:
        kept = [name for name, group in self._groups.items() if not group.transcript.end_ms]
        for name in kept:
            self._groups[name].hang_up()
        self.node.stop()
        self.node.start()
        for name in kept:
            self._groups[name].reconnect(self.node)
        self.warm_up()

    def finish(self) -> dict[str, Transcript]:
        """Stops the node; the transcripts with what it wrote of each group until its script had ended."""
        self.node.stop()
        files = read("/dev/null", [str(self.node.data)], timedelta())
        for name, group in self._groups.items():
            group.transcript.written = [
                Written(at_ms=each.at_ms, payload=each.payload)
                for each in files.written.get(name, ())
                if each.at_ms <= group.transcript.end_ms
            ]
        return {name: group.transcript for name, group in self._groups.items()}


class Recorded(NamedTuple):
    """By group: what was sent, answered and written, what went wrong with the script itself, and what ``conform`` says of the
    broker's own request log."""

    transcripts: dict[str, Transcript]
    problems: dict[str, Exception]
    verdicts: dict[str, Report]


def record(folder: Path, exchanges: Iterable[Exchange]) -> Recorded:
    """All exchanges played, a broker for each policy."""
    every = Recorded({}, {}, {})
    listed = list(exchanges)
    for policy in dict.fromkeys(each.policy for each in listed):
        settings = {**SETTINGS, "group.consumer.migration.policy": policy}
        with running(folder / policy, settings, request_log=True) as node:
            found, wrong = _record(node, settings, [each for each in listed if each.policy == policy])
        every.transcripts.update(found)
        every.problems.update(wrong)
        every.verdicts.update(conform(node, {}, settings).verdicts)
    return every


def _record(
    node: Node, settings: Mapping[str, object], listed: list[Exchange]
) -> tuple[dict[str, Transcript], dict[str, Exception]]:
    recording = Recording(node, settings)
    recording.make_topics()
    recording.warm_up()
    recording.play({each.name: each.play for each in listed if each.after_restart is None})
    second = {each.name: each.after_restart for each in listed if each.after_restart is not None}
    if second:
        recording.play({each.name: each.play for each in listed if each.name in second}, keep=True)
        recording.restart()
        recording.play(second)
    return recording.finish(), recording.problems


@cache
def recorded(path: Path = FIXTURE) -> dict[str, Transcript]:
    """A fixture, by group; shared, not to be changed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        transcripts = [Transcript.from_json(json.loads(line)) for line in file]
    return {each.group: each for each in transcripts}


def write(transcripts: Mapping[str, Transcript], path: Path = FIXTURE) -> None:
    lines = "".join(
        f"{json.dumps(transcripts[name].to_json(), separators=(',', ':'))}\n" for name in sorted(transcripts)
    )
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.broker.classic.recording", description=__doc__)
    parser.add_argument("names", nargs="*", help="exchanges; all if none is named")
    parser.add_argument("--write", action="store_true", help="write the fixture; what is not named stays")
    parser.add_argument("--out", type=Path, help="where to write it instead")
    options = parser.parse_args()
    chosen = [EXCHANGES[name] for name in options.names] or list(EXCHANGES.values())
    with tempfile.TemporaryDirectory() as folder:
        transcripts, problems, _ = record(Path(folder), chosen)
    for name, problem in problems.items():
        sys.stdout.write(f"{name} was not played to its end: {problem!r}\n")
    differing = 0
    for name, transcript in transcripts.items():
        found = differences(transcript)
        differing += bool(found)
        for line in found:
            sys.stdout.write(f"{name}: {line}\n")
    if options.write or options.out:
        kept = recorded() if options.names and not options.out else {}
        write({**kept, **transcripts}, options.out or FIXTURE)
    sys.stdout.write(f"{len(transcripts)} groups, {differing} differ\n")
    return 1 if differing or problems else 0


if __name__ == "__main__":
    sys.exit(main())
