"""Counts what runs reached: a fuzzer that never gets a member fenced says nothing about fencing.

``expected`` names all that has to be reached, ``Coverage`` counts it from scenarios and entries alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.group import Semantics
from groups.releases import release_of
from simulations.invariants import INVARIANTS
from simulations.invariants.payloads import AnyAnswer, AnyRequest
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.presets import PRESETS, Preset, weights_of
from simulations.world.scenario import Scenario
from simulations.world.scenario.brokers import OF_BROKERS

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


_CLASSIC_REACHED: Final = (
    *(f"callback on_partitions_{name}" for name in ("assigned", "lost", "revoked")),
    *(f"request {api}" for api in ("JoinGroup", "SyncGroup", "LeaveGroup", "OffsetCommit")),
    *(f"timer {timer} fired" for timer in ("join", "session", "sync")),
    *(f"error {code}" for code in (14, 16, 23, 25, 27, 79, 82)),
    "fault poll_throws",
    "generation",
    "rested",
)
"""What puts the invariants of classic groups to the test: every kind of request, refusal, timer and callback."""

_MIXED_REACHED: Final = (
    *_CLASSIC_REACHED,
    *(f"error {code}" for code in (22, 69)),
    *(f"state {name}" for name in STATES.values()),
    "upgrade",
    "downgrade",
    "classic member of a consumer group",
)


_ROLLING_REACHED: Final = (
    *(f"verb {verb}" for verb in OF_BROKERS),
    *(f"broker {event}" for event in ("starts", "stops")),
    *(f"broker back with a release {protocols}" for protocols in ("older", "serving")),
    *(f"feature at {level}" for level in (0, 1)),
)
"""What happens to brokers of the preset ``rolling``."""

_REFUSED: Final = ("error 35", "older broker skips records")
"""And what comes of it where there are members of the consumer protocol."""


def expected_of(groups: Groups | str, presets: Iterable[str] = PRESETS) -> list[str]:
    """``expected``, of classic and of mixed groups."""
    presets = tuple(presets)
    reached: tuple[str, ...] = _CLASSIC_REACHED if groups == Groups.CLASSIC else _MIXED_REACHED
    if Preset.ROLLING in presets:
        reached += _ROLLING_REACHED if groups == Groups.CLASSIC else (*_ROLLING_REACHED, *_REFUSED)
    return sorted({*_verbs(presets, classic=True), *reached})


def _verbs(presets: Iterable[str], *, classic: bool) -> set[str]:
    """Those that are drawn; ``rolling`` draws what the others do, and beside it what happens to brokers."""
    chosen = set(presets)
    rough = PRESETS if Preset.ROLLING in chosen else [preset for preset in PRESETS if preset in chosen]
    return {f"verb {verb}" for preset in rough for verb in weights_of(preset, classic=classic)}


def precondition(invariant: str, semantics: Semantics) -> str:
    """The name of the count that says how often an invariant was put to the test; empty where it is never asked."""
    own = _RECORDED_KAFKA if semantics is Semantics.KAFKA else _RECORDED_KIP
    return own[invariant] if invariant in own else _RECORDED[invariant]


def expected(semantics: Semantics, presets: Iterable[str] = PRESETS) -> list[str]:
    """Everything that runs have to reach, by the names under which it is counted."""
    presets = tuple(presets)
    rolling = {*_ROLLING_REACHED, *_REFUSED} if Preset.ROLLING in presets else set()
    names = {precondition(name, semantics) for name in INVARIANTS} - {""}
    states = {f"state {name}" for name in STATES.values()}
    if semantics is Semantics.KIP:
        states.discard("state unrevoked")  # The proposal's records know no such state.
    errors = {f"error {code}" for code in ERRORS[semantics]}
    return sorted({*_verbs(presets, classic=False), *names, *states, *errors, *REACHED, *rolling})


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
            # Whoever writes next of those that are away, or in their place.
            self.counts["static return"] += value["memberEpoch"] > 0 and value["previousMemberEpoch"] == 0

    def _changes(self, number: int, entry: Entry, ended: bool) -> None:
        """A unit that ends the one kind of group and begins the other."""
        before, self._ended = self._ended, (number, entry.unit) if ended else None
        if not ended and before is not None and before[1] == entry.unit and before[0] != number:
            self.counts["downgrade" if number == 2 else "upgrade"] += 1
