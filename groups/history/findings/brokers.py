"""Brokers that change: the feature ``group.version`` is raised or lowered, and brokers are rolled to another release.

Needs: a simulation's notes (``feature``, ``broker``). Claims: when, what brokers serve from then on, and whose heartbeat was refused
for it. Cannot know: anything of a log of records, which holds neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.incidents import member_of
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Declared, Row, Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.replay.fields import text
from groups.history.story.events import UNSUPPORTED_VERSION
from groups.history.words import listed, was_or_were

KEPT_MAX: Final = 100
"""Of each, those that are listed one by one: the first ones."""

NAMED_MAX: Final = 6

Level = tuple[int, int, str, int, int | None]
"""Sequence, time, the feature, its level, and the one before; ``None``: it was so from the beginning on."""

Start = tuple[int, int, str, str, str]
"""Sequence, time, a broker that is back, its release, and the one before."""


@dataclass(slots=True)
class BrokerChanges(Watch):
    """What notes report about brokers."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NOTE})

    levels: list[Level] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)

    def add(self, step: Step) -> None:
        entry = step.entries[-1]
        note = entry.payload.get("note")
        if note == "feature" and len(self.levels) < KEPT_MAX:
            self._level(entry)
        elif note == "broker" and entry.payload.get("event") == "starts" and len(self.starts) < KEPT_MAX:
            self._start(entry)

    def _level(self, entry: Entry) -> None:
        level, before = entry.payload.get("level"), entry.payload.get("before")
        if isinstance(level, int) and isinstance(before, int | None):
            feature = str(entry.payload.get("feature"))
            self.levels.append((entry.sequence, entry.at_ms, feature, level, before))

    def _start(self, entry: Entry) -> None:
        release, before = text(entry.payload.get("release")), text(entry.payload.get("before"))
        if release is not None and before is not None:
            self.starts.append(
                (entry.sequence, entry.at_ms, str(entry.payload.get("broker")), release, before)
            )


def found_changes(facts: Facts) -> list[Finding]:
    """``feature``: each change of its level; ``rolled``: brokers that came back one after the other with one release."""
    changes = facts.watch(BrokerChanges)
    return [*_features(facts, changes.levels), *_rolls(changes.starts)]


def _features(facts: Facts, levels: list[Level]) -> Iterator[Finding]:
    for place, (sequence, at_ms, feature, level, before) in enumerate(levels):
        until = levels[place + 1][0] if place + 1 < len(levels) else None
        refused = [
            one
            for one in facts.troubles.kept["refused"]
            if one["code"] == UNSUPPORTED_VERSION
            and sequence < one["sequence"]
            and (until is None or one["sequence"] < until)
        ]
        serves = "served" if level else "did not serve"
        if before is None:
            sentence = f"{feature} was {level}: brokers {serves} the consumer protocol"
        else:
            way = "upgraded" if level > before else "downgraded"
            sentence = f"{feature} was {way} from {before} to {level}: from then on brokers {serves} the consumer protocol"
        names = sorted({facts.name(member_of(one)) for one in refused})
        if names and not level:
            sentence += f", and {listed(names, NAMED_MAX)} {was_or_were(names)} refused"
        steps = [sequence, *(one["sequence"] for one in refused)]
        yield finding(
            "feature",
            sentence,
            steps,
            needs=["notes", *(["requests"] if refused else [])],
            at_ms=at_ms,
            feature=feature,
            level=level,
            before=before,
            refused=[one["member"] for one in refused],
            count=len(levels),
            steps=[one[0] for one in levels],
        )


def _rolls(starts: list[Start]) -> Iterator[Finding]:
    rounds: list[list[Start]] = []
    for one in starts:
        if rounds and rounds[-1][-1][3:] == one[3:] and one[2] not in {each[2] for each in rounds[-1]}:
            rounds[-1].append(one)
        else:
            rounds.append([one])
    for some in rounds:
        names, (_, at_ms, _, release, before) = [one[2] for one in some], some[0]
        to = f"from {before} to {release}" if before != release else f"and came back with {release}"
        steps = [one[0] for one in some]
        yield finding(
            "rolled",
            f"{listed(names)} {was_or_were(names)} rolled {to}",
            steps,
            needs=["notes"],
            at_ms=at_ms,
            brokers=names,
            release=release,
            before=before,
            count=len(rounds),
            steps=steps,
        )


FINDER: Final = Declared(
    place=15,
    find=found_changes,
    watch=BrokerChanges,
    rows=(
        Row(kinds=("feature",), incident=True),
        Row(kinds=("rolled",)),
    ),
)
