"""Pairs of recordings on a real broker: an incident, and the same script with a remedy; next to what the product predicts.

``python -m tests.incidents.remedy_pairs without|predict|with``, in this order: records the incidents, writes what "What would have
helped" predicts of each from its log alone, and records the same scripts with the remedies. The figures are in ``remedies/figures.json``.
The truth is what clients print of each record that they read; see ``tests.clusters.lag_at_length``.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple, cast

from groups.history.entries import Entry, EntryLine
from groups.history.frames.frame import frame
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.fork.values import Moment
from simulations.remedies.incident import of_log
from simulations.remedies.searching import search
from simulations.remedies.values import Incident
from tests.broker.members import Member, Program
from tests.broker.node import Node, running
from tests.clusters.lag_at_length import PACE, Read, Traffic, now_ms, pauses, read_by
from tests.pipeline.folds import fold_paths

from .claims import mine
from .segments import packed, unpacked

FOLDER: Final = Path(__file__).parent / "remedies"
FIGURES: Final = FOLDER / "figures.json"
INCIDENTS: Final = FOLDER / "without.tar.xz"
SETTLED_S: Final = 20.0
"""Kafka's longest usual heartbeat interval is 5 s, and a rhythm of commits needs four of them."""

SEEDS: Final = 20

BROKER: Final = {
    # Kafka's own defaults, which the tests' broker shortens: a log of records has none of them.
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.initial.rebalance.delay.ms": 3_000,
}
CLIENT: Final = {"auto.commit.interval.ms": 2_000, "member.reads": "true"}
EAGER: Final = {"partition.assignment.strategy": "range"}
COOPERATIVE: Final = {"partition.assignment.strategy": "cooperative-sticky"}
JAVA: Final = "org.apache.kafka.clients.consumer."

Step = tuple[float, str, str]
"""Seconds after the moment; ``kill``, ``leave`` or ``start``; the member."""


def bounced(apart_s: float, away_s: float, members: str) -> tuple[Step, ...]:
    """Each member closes and starts again, in this order."""
    steps = [
        (place * apart_s + more_s, act, who)
        for place, who in enumerate(members)
        for more_s, act in ((0.0, "leave"), (away_s, "start"))
    ]
    return tuple(sorted(steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``remedied`` are settings that the remedy changes; ``{}`` in a value is the member. ``otherwise`` is the remedy's own script."""

    remedy: str
    title: str
    members: str
    settings: Mapping[str, object]
    script: tuple[Step, ...]
    until_s: float
    remedied: Mapping[str, object] = field(default_factory=dict)
    otherwise: tuple[Step, ...] = ()
    longer_s: float = 0
    program: Program = "rdkafka"


STATIC: Final = {"group.instance.id": "{}"}
KILLED: Final[tuple[Step, ...]] = ((0, "kill", "b"),)

PAIRS: Final = {
    "static-killed": Pair(
        remedy="static",
        title="kill -9, started again after 5 s",
        members="ab",
        settings={"partition.assignment.strategy": f"{JAVA}RangeAssignor"},
        script=(*KILLED, (5, "start", "b")),
        until_s=90,
        remedied=STATIC,
        program="java",
    ),
    "longer-session": Pair(
        remedy="session-90000",
        title="kill -9, started again after 20 s, sessions of 10 s",
        members="ab",
        settings=EAGER | {"session.timeout.ms": 10_000},
        script=(*KILLED, (20, "start", "b")),
        until_s=130,
        remedied={"session.timeout.ms": 90_000},
    ),
    "poll-interval": Pair(
        remedy="poll-60000",
        title="one member is bounced",
        members="abc",
        settings=EAGER,
        script=bounced(0, 6, "c"),
        until_s=45,
        remedied={"max.poll.interval.ms": 60_000},
    ),
    "cooperative": Pair(
        remedy="cooperative",
        title="four members are bounced, 20 s apart",
        members="abcd",
        settings=EAGER,
        script=bounced(20, 4, "abcd"),
        until_s=95,
        remedied=COOPERATIVE,
    ),
    "consumer": Pair(
        remedy="consumer",
        title="three members are bounced, 20 s apart",
        members="abc",
        settings=EAGER,
        script=bounced(20, 4, "abc"),
        until_s=80,
        remedied={"group.protocol": "consumer", "partition.assignment.strategy": None},
    ),
    "assignor": Pair(
        remedy="assignor-sticky",
        title="one member is bounced",
        members="abc",
        settings={"partition.assignment.strategy": f"{JAVA}RangeAssignor"},
        script=bounced(0, 6, "c"),
        until_s=45,
        remedied={"partition.assignment.strategy": f"{JAVA}StickyAssignor"},
        program="java",
    ),
    "slower": Pair(
        remedy="slower",
        title="three members are bounced, 6 s apart",
        members="abc",
        settings=EAGER,
        script=bounced(6, 8, "abc"),
        until_s=60,
        otherwise=bounced(60, 8, "abc"),
        longer_s=110,
    ),
    "leader-last": Pair(
        remedy="leader-last",
        title="three members are bounced, the leader first",
        members="abc",
        settings=EAGER,
        script=bounced(15, 4, "abc"),
        until_s=65,
        otherwise=bounced(15, 4, "bca"),
    ),
    "shorter-session": Pair(
        remedy="session-10000",
        title="kill -9, not started again",
        members="ab",
        settings=COOPERATIVE,
        script=KILLED,
        until_s=80,
        remedied={"session.timeout.ms": 10_000},
    ),
    "static-closed": Pair(
        remedy="static",
        title="one member closes, started again after 15 s",
        members="ab",
        settings=COOPERATIVE,
        script=bounced(0, 15, "b"),
        until_s=50,
        remedied=STATIC,
    ),
}  # fmt: skip


class Playing:
    """One half of a pair as it is played."""

    def __init__(self, node: Node, name: str, topic: str, *, remedied: bool) -> None:
        self._node, self.name, self._topic = node, name, topic
        self._pair = pair = PAIRS[name]
        settings = {**CLIENT, **pair.settings, **(pair.remedied if remedied else {})}
        self._settings = {key: value for key, value in settings.items() if value is not None}
        self._script = pair.otherwise if remedied and pair.otherwise else pair.script
        self._length_s = pair.until_s + (pair.longer_s if remedied else 0)
        self._running: dict[str, Member] = {}
        # A process takes 1 s to start, or 28 s where others use the machine: those of the script are there before it begins.
        self._ready: dict[str, list[Member]] = {who: [] for who in pair.members}
        self.members: list[Member] = []
        self.began_ms = self.ended_ms = 0

    def form(self) -> None:
        """All members run and have read; the first one is the leader of a classic group."""
        first, *others = list(self._pair.members)
        for who in (first, *others, *(who for _, act, who in self._script if act == "start")):
            self._ready[who].append(self._process(who))
        for member in self.members:
            member.wait_for("ready")
        for some in ([first], others):
            for who in some:
                self._start(who)
            for who in some:
                self._running[who].wait_for("at ")

    def play(self) -> None:
        began_s, self.began_ms = time.monotonic(), now_ms()
        for at_s, act, who in self._script:
            time.sleep(max(0.0, began_s + at_s - time.monotonic()))
            if act == "start":
                self._start(who)
            else:
                member = self._running.pop(who)
                member.kill() if act == "kill" else member.leave()
        time.sleep(max(0.0, began_s + self._length_s - time.monotonic()))
        self.ended_ms = now_ms()
        self.end()

    def end(self) -> None:
        for member in self.members:
            member.kill()

    def _start(self, who: str) -> None:
        self._running[who] = self._ready[who].pop(0)
        self._running[who].join()

    def _process(self, who: str) -> Member:
        settings = {key: str(value).format(who) for key, value in self._settings.items()}
        member = Member(
            self._node, f"{self.name}-{who}", self.name, self._topic, settings, 0, self._pair.program
        )
        self.members.append(member.start())
        return member

    def figures(self, topic: str, written: list[list[int]]) -> dict[str, int]:
        return {
            "began_ms": self.began_ms,
            "ended_ms": self.ended_ms,
            "not_read_ms": sum(
                not_read_ms(some, written[partition], self.began_ms, self.ended_ms)
                for partition, some in read_by(self.members, topic).items()
            ),
        }


def not_read_ms(some: list[Read], times: list[int], from_ms: int, to_ms: int) -> int:
    """How long nobody read a partition that had records, with the times at its ends."""
    furthest = max((each.offset for each in some if each.at_ms < from_ms), default=-1)
    late = [each for each in some if from_ms <= each.at_ms < to_ms]
    ends = Read(from_ms, -1), Read(to_ms, -1)
    return sum(later - stopped for _, stopped, later in pauses([ends[0], *late, ends[1]], times, furthest))


def record(names: Iterable[str], *, remedied: bool) -> dict[str, dict[str, int]]:
    """Plays one half of each of these pairs side by side: they mostly wait. Of the incidents it keeps the log."""
    with tempfile.TemporaryDirectory() as here, contextlib.ExitStack() as leftovers:
        with running(Path(here) / "node", BROKER) as node:
            traffic = Traffic(node, PACE, by_java=False)
            some = [Playing(node, name, traffic.topic, remedied=remedied) for name in names]
            for each in some:
                leftovers.callback(each.end)
            with traffic.flowing(), ThreadPoolExecutor(len(some)) as pool:
                list(pool.map(Playing.form, some))
                time.sleep(SETTLED_S)
                list(pool.map(Playing.play, some))
            written = traffic.written_ms()
        if not remedied:
            INCIDENTS.write_bytes(packed(node.data))
        return {each.name: each.figures(traffic.topic, written) for each in some}


def incident(name: str, began_ms: int, ended_ms: int) -> Incident:
    """The recorded incident as an import of its log alone has it, from the last entry before the moment on."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(unpacked(INCIDENTS.read_bytes(), Path(folder)))
        folds = fold_paths(data, groups=[name], until_ms=ended_ms)
    (timeline,) = mine(folds, name)
    entries = [Entry.from_json(cast(EntryLine, each)) for each in folds.entries(timeline)]
    summary = folds.index(timeline)["summary"]
    state = initial_state(name)
    for entry in entries:
        if entry.at_ms > began_ms:
            break
        state = replay(state, entry)
    return of_log(Moment(frame=frame(state), cast=summary["cast"]), entries, summary["findings"])


def predicted(name: str, measured: Mapping[str, int], seeds: int = SEEDS) -> dict[str, Any]:
    """The row of the pair's remedy, with the replay's, in medians: as the search has them, which is left then."""
    for each in search(incident(name, measured["began_ms"], measured["ended_ms"]), seeds):
        rows = {row["key"]: row for row in each["answer"]["rows"]}
        if PAIRS[name].remedy in rows:
            break
    else:
        return {"why": each["answer"]["why"]}
    replayed, remedied = (rows[key]["not_read_ms"] for key in ("replay", PAIRS[name].remedy))
    assert replayed is not None
    assert remedied is not None
    return {
        "outcome": rows[PAIRS[name].remedy]["outcome"],
        "replay_ms": replayed["median"],
        "remedy_ms": remedied["median"],
    }


SAME_MS: Final = 1_000


class Compared(NamedTuple):
    """What a remedy did, what it saved, what was predicted that it saves, and what two recordings of one half differ by, in ms."""

    did: str
    saved_ms: int
    predicted_ms: int
    noise_ms: int


UNDECIDED: Final = "undecided"


def compared(figures: Mapping[str, Any]) -> Compared:
    """Of one pair. What is saved is undecided if it is not more than two recordings of one half differ by."""
    halves = [figures[half]["not_read_ms"] for half in ("without", "with")]
    noise_ms = max(SAME_MS, *(max(each) - min(each) for each in halves))
    saved_ms = round(mean(halves[0]) - mean(halves[1]))
    did = UNDECIDED if abs(saved_ms) <= noise_ms else "less" if saved_ms > 0 else "more"
    predicted_ms = figures["predicted"]["replay_ms"] - figures["predicted"]["remedy_ms"]
    return Compared(did, saved_ms, predicted_ms, noise_ms)


def table(figures: Mapping[str, Any]) -> str:
    """The figures of all pairs in the order of ``PAIRS``, in partition-seconds not read."""
    rows = [
        "| incident | remedy | without | predicted | with | predicted | it did | predicted | saved | predicted | noise |"
    ]
    rows.append("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, pair in PAIRS.items():
        known = figures[name]
        did, *found_ms = compared(known)
        cells = [pair.title, f"`{pair.remedy}`"]
        for half, key in (("without", "replay_ms"), ("with", "remedy_ms")):
            cells.append(" and ".join(f"{each / 1000:.1f}" for each in known[half]["not_read_ms"]))
            cells.append(f"{known['predicted'][key] / 1000:.1f}")
        cells += [did, known["predicted"]["outcome"], *(f"{each / 1000:.1f}" for each in found_ms)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def main(halves: list[str]) -> int:
    figures: dict[str, Any] = json.loads(FIGURES.read_bytes()) if FIGURES.exists() else {}
    for half in halves:
        if half == "predict":
            for name in PAIRS:
                figures[name]["predicted"] = predicted(name, figures[name]["without"])
            continue
        for name, found in record(PAIRS, remedied=half == "with").items():
            before = figures.setdefault(name, {}).get(half, {}).get("not_read_ms", [])
            figures[name][half] = found | {"not_read_ms": [*before, found["not_read_ms"]]}
    FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
