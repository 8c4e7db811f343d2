"""Release changed: brokers of different releases wrote a group's records, as while they are rolled.

Needs: records. Claims: from which record on another release is shown, and what shows it (``groups.releases.evidence``). Cannot know:
when the broker was rolled, only the first record after it that one of both releases alone writes; of a group without such records,
anything. The proposal's records are of no release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Declared, Row, Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.state.group import Semantics
from groups.releases import Bounds, RecordEvidence
from groups.releases.evidence import EMPTIED_WITHOUT

KEPT_MAX: Final = 50
"""Stretches of a log that are kept: a broker is rolled a few times."""


@dataclass(slots=True)
class ReleaseStretch:
    """Records that one release can have written: its first sign, and what its signs allow."""

    sequence: int
    at_ms: int
    bounds: Bounds


@dataclass(slots=True)
class ReleaseStretches(Watch):
    """``stretches`` in order: each contradicts the one before."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    stretches: list[ReleaseStretch] = field(default_factory=list)
    count: int = 0

    def add(self, step: Step) -> None:
        if step.after.semantics is not Semantics.KAFKA:
            return
        for sign in _signs(step):
            last = self.stretches[-1].bounds if self.stretches else Bounds()
            bounds = last.with_seen(sign)
            if not self.stretches or bounds.contradict:
                self.count += 1
                if len(self.stretches) < KEPT_MAX:
                    own = Bounds().with_seen(sign)
                    self.stretches.append(ReleaseStretch(step.sequence, step.after.at_ms, own))
            else:
                self.stretches[-1].bounds = bounds


def _signs(step: Step) -> list[str]:
    """What the step's records show of the release that wrote them."""
    before, after = step.before.consumer.members, step.after.consumer.members
    # Only the last member's removal shows something by who is left.
    evidence = RecordEvidence(_members=set() if after else set(before))
    signs = []
    for entry in step.entries:
        record_type, value = entry.payload.get("type"), entry.payload.get("value")
        if entry.kind is not Kind.RECORD or not isinstance(record_type, int):
            continue
        if not isinstance(value, Mapping | None):
            continue  # A log from anywhere may have values that are none.
        key = entry.payload.get("key")
        if sign := evidence.record(record_type, key if isinstance(key, Mapping) else {}, value):
            signs.append(sign)
    if evidence.end().before_why == EMPTIED_WITHOUT and EMPTIED_WITHOUT not in signs:
        signs.append(EMPTIED_WITHOUT)
    return signs


def found_release_changes(facts: Facts) -> Iterator[Finding]:
    """``release_changed``: each, from the first record that shows another release."""
    watch = facts.watch(ReleaseStretches)
    for last, stretch in zip(watch.stretches, watch.stretches[1:], strict=False):
        signs = [why for why in (stretch.bounds.since_why, stretch.bounds.before_why) if why]
        yield finding(
            "release_changed",
            f"Kafka's release changed ({last.bounds.named}, then {stretch.bounds.named}): {'; '.join(signs)}",
            [stretch.sequence],
            at_ms=stretch.at_ms,
            before=last.bounds.named,
            release=stretch.bounds.named,
            steps=[each.sequence for each in watch.stretches[1:]],
            count=watch.count - 1,
        )


def releases_shown(facts: Facts) -> list[str]:
    """What the records show of the releases that wrote them, one after the other; nothing where they show none."""
    return [each.bounds.named for each in facts.watch(ReleaseStretches).stretches]


FINDER: Final = Declared(
    place=92,
    find=found_release_changes,
    rows=(Row(kinds=("release_changed",), needs="records"),),
    watch=ReleaseStretches,
)
