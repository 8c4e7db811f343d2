"""How long a run is given to come to rest when nothing disturbs it any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from simulations.invariants import Bounds
from simulations.world.engine.checked_run import bounds_of
from simulations.world.scenario import Scenario, Verb
from simulations.world.scenario.actions import EVERYTHING

DISTURBANCES: Final = 3
"""The script's end may still throw members out, one after another, and each begins the bound again."""


ROUNDS: Final = 4
"""Of a classic rebalance until nothing moves any more: two are usual, Kafka's own tests allow four."""


class ClassicTimes(NamedTuple):
    """What the settings of a member of the classic protocol, or of its next process, say of time; 0 where they say nothing."""

    heartbeat_interval_ms: int = 0
    session_timeout_ms: int = 0
    metadata_max_age_ms: int = 0


def times_of(settings: Mapping[str, object]) -> ClassicTimes:
    """The times among settings by their names."""
    known = {name: settings.get(name) for name in ClassicTimes._fields}
    return ClassicTimes(**{name: value for name, value in known.items() if isinstance(value, int)})


def quiescence_ms(bounds: Bounds, rebalance_timeout_ms: int) -> int:
    """``DISTURBANCES`` times the bound of convergence, and whatever a client may wait in vain for answers before."""
    return DISTURBANCES * (bounds.convergence_ms(rebalance_timeout_ms) + bounds.retry_ms)


def rounds_ms(bounds: Bounds, rebalance_timeout_ms: int, members: Iterable[ClassicTimes]) -> int:
    """What members of the classic protocol may take next to the bound of the others.

    The leader sees a topic grow when its metadata are too old; each round of a rebalance is seen at a heartbeat, and
    joined within the rebalance timeout.
    """
    known = list(members)
    round_ms = rebalance_timeout_ms + 4 * bounds.travel_ms + bounds.settle_ms
    round_ms += max((member.heartbeat_interval_ms for member in known), default=0)
    waits_ms = max((member.session_timeout_ms for member in known), default=0)
    waits_ms += max((member.metadata_max_age_ms for member in known), default=0)
    return DISTURBANCES * (ROUNDS * round_ms + waits_ms)


def quiescence_of(scenario: Scenario) -> int:
    """The same, of a scenario, in milliseconds."""
    longest_ms = max(member.rebalance_timeout_ms for member in scenario.members.values())
    bounds = bounds_of(scenario)
    classic = _classic_times(scenario)
    quiet_ms = quiescence_ms(bounds, longest_ms)
    return quiet_ms + rounds_ms(bounds, longest_ms, classic) if classic else quiet_ms


def _classic_times(scenario: Scenario) -> list[ClassicTimes]:
    """Of each member of the classic protocol, and what bounces change."""
    settings = [member.classic for member in scenario.members.values() if member.classic is not None]
    known = [
        ClassicTimes(each.heartbeat_interval_ms, each.session_timeout_ms, each.metadata_max_age_ms)
        for each in settings
    ]
    return known + [times_of(action.changes) for action in scenario.script if action.changes]


def rest_of(scenario: Scenario) -> int:
    """How long, in milliseconds, a group that is well is watched: by then nobody silent is a member any more."""
    bounds = bounds_of(scenario)
    session_ms, interval_ms, age_ms = bounds.session_timeout_ms, bounds.heartbeat_interval_ms, 0
    for known in _classic_times(scenario):
        session_ms = max(session_ms, known.session_timeout_ms)
        interval_ms = max(interval_ms, known.heartbeat_interval_ms)
        age_ms = max(age_ms, known.metadata_max_age_ms)
    return session_ms + age_ms + 2 * (interval_ms + bounds.travel_ms)


def least_rebalance_timeout_ms(callback_ms: int, heartbeat_interval_ms: int, travel_ms: int) -> int:
    """Long enough for a member to hear that it is to give up, to do so, and to say it, once behind another callback.

    ``travel_ms`` is a message's way, and what it waits for replicas: an automatic commit comes before the callback.
    """
    return 2 * callback_ms + 4 * travel_ms + heartbeat_interval_ms


def least_session_timeout_ms(heartbeat_interval_ms: int, travel_ms: int) -> int:
    """Long enough for a heartbeat and its answer, and for one more."""
    return 2 * (heartbeat_interval_ms + 2 * travel_ms)


def can_rest(scenario: Scenario) -> bool:
    """Whether the group can come to rest at all once its script is over.

    A member that is always late is thrown out, comes back and is thrown out again for ever: that is no mistake of the
    simulator. So at the end nobody may stand still or be slower than its timeouts allow, and the network must be whole.
    """
    interval_ms = scenario.settings.heartbeat_interval_ms
    travel_ms = scenario.network.delay_ms[1] + scenario.replication_ms
    if scenario.settings.session_timeout_ms < least_session_timeout_ms(interval_ms, travel_ms):
        return False
    for member in scenario.members.values():
        classic = member.classic
        if classic is not None and classic.session_timeout_ms < least_session_timeout_ms(
            classic.heartbeat_interval_ms, travel_ms
        ):
            return False
    interval_ms = max([interval_ms, *(known.heartbeat_interval_ms for known in _classic_times(scenario))])
    callbacks_ms = {name: member.callback_ms for name, member in scenario.members.items()}
    slowed_ms, paused = dict.fromkeys(callbacks_ms, 0), dict.fromkeys(callbacks_ms, False)
    is_whole = scenario.network.loss == scenario.network.duplicate == 0
    for action in scenario.script:
        match action.verb:
            case Verb.CUT | Verb.NETWORK | Verb.FAIL_OVER:
                is_whole = False
            case Verb.HEAL if action.who == EVERYTHING:
                is_whole = True
            case Verb.SLOW_REVOKE:
                slowed_ms[action.who] = action.length_ms or 0
            case Verb.PAUSE:
                paused[action.who] = True
            case Verb.RESUME | Verb.KILL | Verb.RESTART | Verb.BOUNCE:
                paused[action.who] = False
    return is_whole and not any(
        paused[name]
        or member.rebalance_timeout_ms
        < least_rebalance_timeout_ms(max(callbacks_ms[name], slowed_ms[name]), interval_ms, travel_ms)
        for name, member in scenario.members.items()
    )
