"""Classic groups: their protocol type where it is not a consumer's, who leads them, and the assignor that they change to.

Needs: type 2 records, which name the protocol type, the chosen protocol and the leader of each generation.
Claims: which protocol type; which member led from when on; when the chosen assignor became another one, and who joined then.
Cannot know: which other assignors the members name. A coordinator chooses one that every member names.
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
from groups.history.state.classic_group import CONSUMER_PROTOCOL_TYPE
from groups.history.state.group import Protocol
from groups.history.words import listed

KNOWN_TYPES: Final[Mapping[str, str]] = {
    "connect": "Kafka Connect workers",
    "sr": "Schema Registry instances",
}
"""What members of a protocol type are, in the words of their own documentation."""

KEPT_MAX: Final = 200
"""Changes of the assignor, and of the leader, that are kept one by one."""


@dataclass(slots=True)
class Chosen:
    """A protocol that a generation chose; ``members`` joined in that step."""

    at_ms: int
    sequence: int
    generation: int
    before: str
    after: str
    members: list[str]
    emptied: bool
    """Whether the group had no member before."""


@dataclass(slots=True)
class Leading:
    """A member that leads from a generation on."""

    at_ms: int
    sequence: int
    generation: int
    member: str


@dataclass(slots=True)
class ClassicChanges(Watch):
    """The chosen protocol, and the leader of a group that is not a consumer's, as long as the group is a classic one."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    first: int = 0
    chosen: str | None = None
    changes: list[Chosen] = field(default_factory=list)
    leaders: list[Leading] = field(default_factory=list)

    def add(self, step: Step) -> None:
        if step.after.protocol is not Protocol.CLASSIC:
            self.chosen = None
            return
        before, after = step.before.classic, step.after.classic
        if not after.members or before is after:
            return
        if after.protocol_type not in ("", self.protocol_type):
            self.protocol_type, self.first = after.protocol_type, step.sequence
        if (
            self.protocol_type != CONSUMER_PROTOCOL_TYPE
            and after.leader is not None
            and len(self.leaders) < KEPT_MAX
        ):
            leading = self.leaders[-1].member if self.leaders else None
            if leading != after.leader:
                now_ms = step.after.at_ms
                self.leaders.append(Leading(now_ms, step.sequence, after.generation, after.leader))
        if not after.protocol_name:
            return
        if self.chosen not in (None, after.protocol_name) and len(self.changes) < KEPT_MAX:
            self.changes.append(
                Chosen(
                    step.after.at_ms,
                    step.sequence,
                    after.generation,
                    str(self.chosen),
                    after.protocol_name,
                    [*step.joined, *step.replaced.values()],
                    not before.members,
                )
            )
        self.chosen = after.protocol_name


def found_classic(facts: Facts) -> list[Finding]:
    """``group_type`` and each ``leader_changed`` of a group that is no consumer's; each ``strategy_changed``."""
    watch = facts.watch(ClassicChanges)
    return [*_types(facts, watch), *_strategies(facts, watch)]


def _types(facts: Facts, watch: ClassicChanges) -> Iterator[Finding]:
    if watch.protocol_type == CONSUMER_PROTOCOL_TYPE or not watch.leaders:
        return
    first = watch.leaders[0]
    known = KNOWN_TYPES.get(watch.protocol_type)
    what = (
        f"{known} (protocol type {watch.protocol_type})" if known else f"protocol type {watch.protocol_type}"
    )
    yield finding(
        "group_type",
        f"A group of {what}; {facts.process(first.member)} led it in generation {first.generation:,}",
        [watch.first],
        at_ms=first.at_ms,
        member=first.member,
        name=facts.process(first.member),
        more={"protocol_type": watch.protocol_type, "generation": first.generation},
    )
    for one in watch.leaders[1:]:
        name = facts.process(one.member)
        yield finding(
            "leader_changed",
            f"{name} became the leader (generation {one.generation:,})",
            [one.sequence],
            at_ms=one.at_ms,
            member=one.member,
            name=name,
            count=len(watch.leaders) - 1,
            steps=[each.sequence for each in watch.leaders[1:]],
        )


def _strategies(facts: Facts, watch: ClassicChanges) -> Iterator[Finding]:
    word = "assignor" if watch.protocol_type == CONSUMER_PROTOCOL_TYPE else "protocol"
    for one in watch.changes:
        names = list(dict.fromkeys(facts.process(member) for member in one.members))
        when = f", when {listed(names)} joined" if names and not one.emptied else ""
        when = ", while the group was empty" if one.emptied else when
        yield finding(
            "strategy_changed",
            f"The group's {word} changed from {one.before} to {one.after} (generation {one.generation:,}){when}",
            [one.sequence],
            at_ms=one.at_ms,
            names=names,
            members=one.members,
            count=len(watch.changes),
            steps=[each.sequence for each in watch.changes],
            more={"before": one.before, "after": one.after, "generation": one.generation},
        )


FINDER: Final = Declared(
    place=97,
    find=found_classic,
    watch=ClassicChanges,
    rows=(
        Row(kinds=("group_type", "leader_changed"), needs="records"),
        Row(kinds=("strategy_changed",), needs="records", incident=True),
    ),
)
