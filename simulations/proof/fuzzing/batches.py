"""What a block of seeds gives: which of them break something, and what they reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.group import Semantics
from groups.releases import NEWEST, release_of
from simulations.invariants.payloads import AnyAnswer, AnyRequest
from simulations.proof.fuzzing.generator import scenario_of
from simulations.proof.fuzzing.groups import Groups, semantics_of
from simulations.proof.fuzzing.presets import PRESETS
from simulations.proof.fuzzing.verdict import Broken, Verdict, verdict_on
from simulations.world.scenario import Scenario

STATES: Final[Mapping[int, str]] = {0: "stable", 1: "unrevoked", 2: "unreleased"}


class Coverage:
    """Counts by name; ``ran`` each scenario, then ``see`` its entries, then ``ended`` it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._answered: dict[str, int] = {}
        self._static: set[str] = set()
        self._away: set[str] = set()
        self._held: dict[str, set[tuple[str, int]]] = {}
        self._wrote: set[int] = set()
        self._ended: tuple[int, int | None] | None = None
        """The record that ended a group's kind last, 2 or 3, and its unit."""

    def ran(self, scenario: Scenario) -> None:
        self.counts.update(f"verb {action.verb}" for action in scenario.script)
        self._answered.clear()
        self._static.clear()
        self._away.clear()
        self._held.clear()
        self._wrote.clear()

    def ended(self) -> None:
        """The run broke nothing, and its group came to rest."""
        self.counts["rested"] += 1

    def see(self, entry: Entry) -> None:
        payload = entry.payload
        match entry.kind:
            case Kind.RECORD:
                self._record(entry, payload)
            case Kind.TIMER:
                self.counts[f"timer {payload['timer']} {payload['event']}"] += 1
            case Kind.CALLBACK if payload["phase"] == "start":
                self.counts[f"callback {payload['callback']}"] += 1
            case Kind.FAULT:
                self.counts[f"fault {payload['fault']}"] += 1
                self.counts["older broker skips records"] += bool(payload.get("skipped"))
            case Kind.NOTE if payload["note"] == "feature":
                self.counts[f"feature at {payload['level']}"] += 1
            case Kind.NOTE if payload["note"] == "broker":
                self.counts[f"broker {payload['event']}"] += 1
                protocols = "serving" if release_of(payload["release"]).rules.consumer_protocol else "older"
                self.counts[f"broker back with a release {protocols}"] += payload["event"] == "starts"
            case Kind.REQUEST:
                self._request(entry.actor, payload["api"], payload["body"])
            case Kind.RESPONSE:
                self._response(payload)

    def _request(self, who: str, api: str, body: AnyRequest) -> None:
        self.counts[f"request {api}"] += 1
        if api == "OffsetCommit":
            self.counts["commit"] += 1
        elif api == "ConsumerGroupHeartbeat":
            epoch = body["memberEpoch"]
            if epoch == -2:
                self.counts["static leave"] += 1
            if 0 < epoch < self._answered.get(who, 0) and body.get("topicPartitions") is not None:
                self.counts["asked again"] += 1

    def _response(self, payload: Payload) -> None:
        body: AnyAnswer = payload["body"]
        if code := body.get("errorCode"):
            self.counts[f"error {code}"] += 1
            self.counts["refused"] += 1
        elif payload["api"] == "ConsumerGroupHeartbeat":
            self._answered[str(payload["to"])] = body["memberEpoch"]
        for topic in body.get("topics") or ():
            for answer in topic.get("partitions") or ():
                if answer.get("errorCode"):
                    self.counts[f"error {answer['errorCode']} of a commit"] += 1

    def _record(self, entry: Entry, payload: Payload) -> None:
        number, value = payload["type"], payload["value"]
        self.counts[f"record {number}"] += 1
        if entry.unit == entry.sequence and entry.cause is not None:
            self.counts["request that writes"] += 1
        if number == 2 and value is not None and value["members"]:
            self.counts["generation"] += 1
        if number == 5 and value is not None and value.get("classicMemberMetadata") is not None:
            self.counts["classic member of a consumer group"] += 1
        if number in (2, 3):
            self._changes(number, entry, value is None)
        if number != 8 or value is None:
            return
        who = payload["key"]["memberId"]
        held = {
            (topic["topicId"], partition)
            for part in ("assignedPartitions", "partitionsPendingRevocation")
            for topic in value.get(part) or ()
            for partition in topic["partitions"]
        }
        if held:
            self.counts["record 8 assigns"] += 1
        if self._held.get(who, set()) - held:
            self.counts["gave up"] += 1
        self._held[who] = held
        if (state := value.get("state")) is not None:
            self.counts[f"state {STATES.get(state, state)}"] += 1
        if value["memberEpoch"] == -2:
            self._away.add(who)
        elif self._away:
            # Anyone who writes next of those that are away, or in their place.
            self.counts["static return"] += value["memberEpoch"] > 0 and value["previousMemberEpoch"] == 0

    def _changes(self, number: int, entry: Entry, ended: bool) -> None:
        """A unit that ends the one kind of group and begins the other."""
        before, self._ended = self._ended, (number, entry.unit) if ended else None
        if not ended and before is not None and before[1] == entry.unit and before[0] != number:
            self.counts["downgrade" if number == 2 else "upgrade"] += 1


BLOCK_SEEDS: Final = 50
"""Seeds that are answered at once: a second or two, so that progress shows and cancelling is quick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A seed whose run broke something."""

    seed: int
    semantics: str
    broken: Broken
    groups: str = Groups.CONSUMER


@dataclass(slots=True, kw_only=True)
class Answer:
    """Of a block, or of many together.

    ``unknown`` counts runs that broke nothing and were not asked everything, by what; ``counts`` by ``name_of``, where they
    were asked for.
    """

    runs: int = 0
    found: list[Found] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, other: Answer) -> None:
        self.runs += other.runs
        self.found += other.found
        self.unknown.update(other.unknown)
        for semantics, counts in other.counts.items():
            self.counts.setdefault(semantics, Counter()).update(counts)


def answer(
    first: int,
    last: int,
    semantics: Sequence[str],
    presets: Sequence[str] = PRESETS,
    groups: Sequence[str] = (Groups.CONSUMER,),
    *,
    covered: bool = False,
    release: str = NEWEST,
) -> Answer:
    """Runs the seeds ``first`` to ``last`` of each kind of group in each of the semantics that it runs in."""
    known = Answer()
    for kind, rules in kinds_of(groups, semantics):
        coverage = Coverage()
        for seed in range(first, last + 1):
            verdict = judged(seed, rules, presets, coverage if covered else None, kind, release)
            known.runs += 1
            if verdict.broken is not None:
                known.found.append(Found(seed=seed, semantics=rules, broken=verdict.broken, groups=kind))
            if verdict.unknown is not None:
                known.unknown[verdict.unknown] += 1
        if covered:
            known.counts[name_of(kind, rules)] = coverage.counts
    return known


def kinds_of(groups: Sequence[str], semantics: Sequence[str]) -> list[tuple[str, str]]:
    """Each kind of group with each of the semantics that it runs in."""
    return [(str(kind), str(rules)) for kind in groups for rules in semantics_of(kind, semantics)]


def name_of(groups: str, semantics: str) -> str:
    """What runs of such groups are called: by their semantics, or by their kind where that is another than usual.

    Mixed groups run in both semantics; `kafka` is not named.
    """
    if groups == Groups.CONSUMER:
        return str(semantics)
    return str(groups) if semantics == Semantics.KAFKA else f"{groups}-{semantics}"


def judged(
    seed: int,
    semantics: Semantics | str,
    presets: Sequence[str] = PRESETS,
    coverage: Coverage | None = None,
    groups: str = Groups.CONSUMER,
    release: str = NEWEST,
) -> Verdict:
    """The verdict on one seed."""
    scenario = scenario_of(seed, semantics, presets, groups, release_of(release))
    if coverage is None:
        return verdict_on(scenario, semantics)
    coverage.ran(scenario)
    verdict = verdict_on(scenario, semantics, coverage.see)
    if verdict.broken is None:
        coverage.ended()
    return verdict


def blocks(first: int, last: int) -> list[tuple[int, int]]:
    """First and last seed of each block."""
    return [(start, min(start + BLOCK_SEEDS - 1, last)) for start in range(first, last + 1, BLOCK_SEEDS)]
