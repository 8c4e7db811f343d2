"""What random scenarios have to reach, by the names under which ``Coverage`` counts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.state.group import Semantics
from simulations.invariants import INVARIANTS
from simulations.proof.fuzzing.batches import STATES
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.presets import PRESETS, Preset, weights_of
from simulations.world.scenario.brokers import OF_BROKERS

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
