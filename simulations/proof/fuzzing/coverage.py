"""Counts what runs reached: a fuzzer that never gets a member fenced says nothing about fencing.

``expected`` names all that has to be reached, ``Coverage`` counts it from scenarios and entries alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from simulations.invariants import INVARIANTS
from simulations.proof.fuzzing.presets import PRESETS, WEIGHTS
from simulations.world.scenario import Scenario

STATES: Final[Mapping[int, str]] = {0: "stable", 1: "unrevoked", 2: "unreleased"}

_RECORDED: Final = {
    "one_holder": "record 8 assigns",
    "partition_epochs": "record 8 assigns",
    "group_epochs": "record 3",
    "member_epoch": "record 8",
    "previous_epoch": "record 8",
    "whole_target": "record 6",
    "target_replayed": "record 7",
    "stable": "record 8",
    "gained_from_target": "record 8 assigns",
    "group_state": "record 8",
    "memory_is_replay": "record 8",
    "compacted_log": "fault fail_over",
    "revoked_by_acknowledgement": "gave up",
    "accepted_or_refused": "refused",
    "as_asked": "record 5",
    "assignor_answers": "record 6",
    "settings_hold": "verb set_config",
    "timer_length": "timer session fired",
    "offsets_go_along": "verb delete_topic",
    "no_anomaly": "record 8",
    "current_target": "rested",
    "application_is_heeded": "verb subscribe",
    "session": "timer session started",
    "needed_timers": "timer session cancelled",
    "one_instance": "static return",
    "dense_log": "record 3",
    "one_batch": "request that writes",
    "refused_writes_nothing": "refused",
    "lost_answer": "asked again",
    "one_processor": "callback on_partitions_assigned",
    "owned_is_held": "callback on_partitions_assigned",
    "callbacks": "callback on_partitions_lost",
    "given_up_is_left_alone": "commit",
    "commit_epoch": "commit",
    "group_converges": "rested",
    "members_converge": "rested",
    "partitions_processed": "rested",
    "rebalance_timeout": "timer rebalance fired",
    "session_timeout": "timer session fired",
}
"""What has to have been there for an invariant to have been asked at all."""

_RECORDED_KAFKA: Final = {
    "unrevoked": "state unrevoked",
    "unreleased": "state unreleased",
    "pending_is_not_assigned": "state unrevoked",
    "assignment_epochs": "record 8 assigns",
    "expressions_go_along": "record 16",
}
_RECORDED_KIP: Final = {
    "unrevoked": "timer rebalance started",
    "unreleased": "state unreleased",
    "pending_is_not_assigned": "record 8 assigns",
    "assignment_epochs": "",
    "expressions_go_along": "",
}

ERRORS: Final[Mapping[Semantics, tuple[int, ...]]] = {
    Semantics.KAFKA: (14, 16, 25, 81, 82, 110, 111),
    Semantics.KIP: (14, 16, 25, 81, 82, 110, 111),
}
"""Error codes of heartbeats that scripts have to provoke. 110 takes two answers lost in a row, and a target in between."""

REACHED: Final = (
    "asked again",
    "callback on_partitions_assigned",
    "callback on_partitions_lost",
    "callback on_partitions_revoked",
    "static leave",
    "static return",
    "timer rebalance fired",
    "timer session fired",
)


def precondition(invariant: str, semantics: Semantics) -> str:
    """The name of the count that says how often an invariant was put to the test; empty where it is never asked."""
    own = _RECORDED_KAFKA if semantics is Semantics.KAFKA else _RECORDED_KIP
    return own[invariant] if invariant in own else _RECORDED[invariant]


def expected(semantics: Semantics, presets: Iterable[str] = PRESETS) -> list[str]:
    """Everything that runs have to reach, by the names under which it is counted."""
    verbs = {f"verb {verb}" for preset in PRESETS if preset in set(presets) for verb in WEIGHTS[preset]}
    names = {precondition(name, semantics) for name in INVARIANTS} - {""}
    states = {f"state {name}" for name in STATES.values()}
    if semantics is Semantics.KIP:
        states.discard("state unrevoked")  # The proposal's records know no such state.
    errors = {f"error {code}" for code in ERRORS[semantics]}
    return sorted({*verbs, *names, *states, *errors, *REACHED})


class Coverage:
    """Counts by name; ``ran`` each scenario, then ``see`` its entries, then ``ended`` it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._answered: dict[str, int] = {}
        self._static: set[str] = set()
        self._away: set[str] = set()
        self._held: dict[str, set[tuple[str, int]]] = {}
        self._wrote: set[int] = set()

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
            case Kind.REQUEST:
                self._request(entry.actor, payload["api"], payload["body"])
            case Kind.RESPONSE:
                self._response(payload)

    def _request(self, who: str, api: str, body: Mapping[str, Any]) -> None:
        if api == "OffsetCommit":
            self.counts["commit"] += 1
        elif api == "ConsumerGroupHeartbeat":
            epoch = body["memberEpoch"]
            if epoch == -2:
                self.counts["static leave"] += 1
            if 0 < epoch < self._answered.get(who, 0) and body.get("topicPartitions") is not None:
                self.counts["asked again"] += 1

    def _response(self, payload: Mapping[str, Any]) -> None:
        body = payload["body"]
        if code := body.get("errorCode"):
            self.counts[f"error {code}"] += 1
            self.counts["refused"] += 1
        elif payload["api"] == "ConsumerGroupHeartbeat":
            self._answered[str(payload["to"])] = body["memberEpoch"]
        for topic in body.get("topics") or ():
            for answer in topic.get("partitions") or ():
                if answer.get("errorCode"):
                    self.counts[f"error {answer['errorCode']} of a commit"] += 1

    def _record(self, entry: Entry, payload: Mapping[str, Any]) -> None:
        number, value = payload["type"], payload["value"]
        self.counts[f"record {number}"] += 1
        if entry.unit == entry.sequence and entry.cause is not None:
            self.counts["request that writes"] += 1
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
            # Whoever writes next of those that are away, or in their place.
            self.counts["static return"] += value["memberEpoch"] > 0 and value["previousMemberEpoch"] == 0
