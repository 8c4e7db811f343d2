"""Classic groups whose requests are drawn at random: what no script thought of, asked of a real broker.

``python -m tests.broker.classic.improvised 0-199`` plays a group for each seed on one broker and prints what the
simulated coordinator would have answered or written otherwise; the tests play a few.

The simulated coordinator goes along while a group is played, so that no request is sent when a timer is about to run
out: which of the two comes first then, nobody could tell from the recording.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..node import Node, running
from .acting import Classic
from .line import now_ms
from .recording import SETTINGS, Recording, write
from .repeating import Repeated, differences
from .transcript import Sent, Transcript

NAMES = "ABCDEF"
STEPS = 40
NEAR_MS = 250
"""A timer is not raced for: requests keep this far from when it runs out."""

END_S = 10
"""Until most of what is parked at the end is answered."""

ROUNDS = (("range",), ("range", "sticky"), ("sticky", "range"), ("roundrobin", "range", "sticky"))
SESSIONS_MS = (4_000, 6_000, 45_000, 45_000)
REBALANCES_MS = (3_000, 4_000, 6_000)


CONSUMERS = ("N", "M")


def is_mixed(seed: int) -> bool:
    """Each third group has members of both protocols."""
    return seed % 3 == 2


def name_of(seed: int) -> str:
    return f"{'mixed' if is_mixed(seed) else 'classic'}-improvised-{seed}"


class Improvised:
    """One group's members, of whom some are static, and what they do next. Refusals are answers like others."""

    def __init__(self, group: Classic, seed: int) -> None:
        self._group = group
        self._drawn = drawn = random.Random(seed)
        self._instances = {name: f"i-{name}" for name in NAMES if drawn.random() < 0.35}
        self._session = {name: drawn.choice(SESSIONS_MS) for name in NAMES}
        self._rebalance = {name: drawn.choice(REBALANCES_MS) for name in NAMES}
        self._offered = {name: drawn.choice(ROUNDS) for name in NAMES}
        self._version = {name: drawn.choice((9, 9, 9, 8, 5, 3)) for name in NAMES}
        told = group.transcript
        self._beside = Repeated(told.settings, told.topics, told.group)
        self._seen = 0

    def play(self, steps: int = STEPS) -> None:
        for _ in range(steps):
            acts = self._acts()
            act = self._drawn.choices(list(acts), weights=list(acts.values()))[0]
            self._keep_away()
            act(self, self._drawn.choice(NAMES))
        with contextlib.suppress(AssertionError):
            # The ids of those that still wait are told by their answers alone.
            self._group.settle(END_S)
        self._keep_away()

    def _acts(self) -> dict[Callable[[Any, str], None], float]:
        return {**_ACTS}

    def _keep_away(self) -> None:
        """Waits until the next timer is not near, as far as the coordinator beside knows the group."""
        for _ in range(50):
            events = self._group.transcript.events
            while self._seen < len(events):
                event = events[self._seen]
                assert isinstance(event, Sent)
                self._beside.send(event)
                self._seen += 1
            self._beside.pass_until(now_ms() - NEAR_MS)
            deadline = self._beside.next_deadline_ms()
            if deadline is None or deadline - now_ms() > NEAR_MS + 200:
                return
            self._group.pause(0.1)

    def join(self, name: str) -> None:
        version = self._version[name]
        fields: dict[str, Any] = {
            "session_ms": self._session[name],
            "rebalance_ms": self._rebalance[name],
            "protocols": dict.fromkeys(self._offered[name]),
            "version": version,
        }
        if version >= 5 and name in self._instances:
            fields["instance"] = self._instances[name]
        if self._drawn.random() < 0.15:
            fields["protocols"] = dict.fromkeys(self._drawn.choice(ROUNDS))
        if self._drawn.random() < 0.15:
            fields["topics"] = self._drawn.choice((("foo",), ("foo", "bar"), ("bar",)))
        if self._drawn.random() < (0.3 if name in self._instances else 0.05):
            fields["member_id"] = ""
        self._group.join(name, **fields)

    def everybody_joins(self, _name: str) -> None:
        names = list(NAMES)
        self._drawn.shuffle(names)
        for name in names:
            if name in self._group.ids:
                self._keep_away()
                self.join(name)

    def sync(self, name: str) -> None:
        assign: dict[str, dict[str, list[int]]] = {}
        if name == self._group.leader or self._drawn.random() < 0.1:
            members = [each for each in self._group.ids if self._drawn.random() < 0.9]
            assign = {each: {"foo": [at % 4]} for at, each in enumerate(members)}
        version = self._drawn.choice((5, 5, 4, 3))
        generation = None if self._drawn.random() < 0.9 else self._drawn.randrange(4)
        self._group.sync(name, assign, protocol=self._protocol(), generation=generation, version=version)

    def everybody_syncs(self, _name: str) -> None:
        for name in (*(each for each in NAMES if each != self._group.leader), self._group.leader):
            if name in self._group.ids:
                self._keep_away()
                self.sync(name)

    def beat(self, name: str) -> None:
        generation = None if self._drawn.random() < 0.9 else self._drawn.randrange(4)
        self._group.beat(name, generation=generation)

    def everybody_beats(self, _name: str) -> None:
        for name in NAMES:
            if name in self._group.ids:
                self._group.beat(name)

    def leave(self, name: str) -> None:
        if name in self._group.ids:
            if name in self._instances and self._drawn.random() < 0.5:
                self._group.leave_entries(("", self._instances[name]))
            else:
                self._group.leave(name, version=self._drawn.choice((5, 4, 2)))

    def forget(self, name: str) -> None:
        """A new process: it does not know its id."""
        if name not in self._instances:
            self._group.ids.pop(name, None)

    def commit(self, name: str) -> None:
        offsets = {n: self._drawn.randrange(99) for n in self._drawn.sample(range(5), 2)}
        stranger = self._drawn.random() < 0.2
        generation = -1 if stranger else None
        member_id = "" if stranger and self._drawn.random() < 0.5 else None
        version = self._drawn.choice((9, 10, 8, 6))
        topic = self._drawn.choice(("foo", "bar"))
        self._group.commit(
            name, offsets, generation=generation, member_id=member_id, topic=topic, version=version
        )

    def describe(self, _name: str) -> None:
        self._group.describe()

    def fetch(self, _name: str) -> None:
        self._group.fetch()

    def delete_offsets(self, _name: str) -> None:
        self._group.delete_offsets(self._drawn.choice(("foo", "bar")), [0, 1])

    def delete(self, _name: str) -> None:
        self._group.delete()

    def wait(self, _name: str) -> None:
        self._group.pause(self._drawn.choice((0.3, 0.8, 1.5)))

    def _protocol(self) -> str:
        """The name that the group chose, as somebody was told."""
        for event in reversed(self._group.transcript.events):
            if not isinstance(event, Sent) or event.api != "JoinGroup" or event.answer is None:
                continue
            if event.answer.get("protocolName"):
                return str(event.answer["protocolName"])
        return "range"


_ACTS: dict[Callable[[Any, str], None], float] = {
    Improvised.join: 26,
    Improvised.everybody_joins: 9,
    Improvised.sync: 10,
    Improvised.everybody_syncs: 9,
    Improvised.beat: 10,
    Improvised.everybody_beats: 4,
    Improvised.leave: 5,
    Improvised.forget: 3,
    Improvised.commit: 7,
    Improvised.describe: 6,
    Improvised.fetch: 2,
    Improvised.delete_offsets: 2,
    Improvised.delete: 1,
    Improvised.wait: 7,
}
"""With how often each is done."""


class Mixed(Improvised):
    """The same with members of the consumer protocol beside them, so that the group changes its kind again and again."""

    def _acts(self) -> dict[Callable[[Any, str], None], float]:
        return {**super()._acts(), **_MIXED_ACTS}

    def consumer_joins(self, _name: str) -> None:
        name = self._drawn.choice(CONSUMERS)
        topics = self._drawn.choice((("foo",), ("foo", "bar")))
        self._group.consume_join(name, topics)

    def consumers_go_on(self, _name: str) -> None:
        for name in CONSUMERS:
            if self._group.epochs.get(name, 0) > 0:
                self._group.consume_ack(name)

    def consumer_beats(self, _name: str) -> None:
        self._group.consume(self._drawn.choice(CONSUMERS))

    def consumer_leaves(self, _name: str) -> None:
        self._group.consume(self._drawn.choice(CONSUMERS), -1)

    def describe(self, _name: str) -> None:
        self._group.describe()
        self._group.describe_consumers()


_MIXED_ACTS: dict[Callable[[Any, str], None], float] = {
    Mixed.consumer_joins: 9,
    Mixed.consumers_go_on: 12,
    Mixed.consumer_beats: 6,
    Mixed.consumer_leaves: 6,
}


def play(node: Node, seeds: Iterable[int]) -> tuple[dict[str, Transcript], dict[str, Exception]]:
    """A group for each seed, side by side; their transcripts, and what went wrong with the playing, by group."""

    def one(seed: int) -> Callable[[Classic], None]:
        return lambda group: (Mixed if is_mixed(seed) else Improvised)(group, seed).play()

    recording = Recording(node)
    recording.make_topics()
    recording.warm_up()
    recording.play({name_of(seed): one(seed) for seed in seeds})
    return recording.finish(), recording.problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.broker.classic.improvised", description=__doc__)
    parser.add_argument("seeds", metavar="A-B", help="first and last seed, or one alone")
    parser.add_argument("--out", type=Path, help="keep the transcripts there")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), SETTINGS) as node:
        transcripts, problems = play(node, seeds)
    for name, problem in problems.items():
        sys.stderr.write(f"{name} was not played to its end: {problem!r}\n")
    differing = 0
    for name, transcript in transcripts.items():
        found = differences(transcript)
        differing += bool(found)
        for line in found:
            sys.stdout.write(f"{name}: {line}\n")
    if options.out:
        write(transcripts, options.out)
    requests = sum(len(transcript.events) for transcript in transcripts.values())
    sys.stdout.write(f"{len(seeds)} groups, {requests} requests, {differing} groups differ\n")
    return 1 if differing or problems else 0


if __name__ == "__main__":
    sys.exit(main())
