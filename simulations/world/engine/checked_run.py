"""A run with its checker: every run is checked, as it goes on, and reports in its own log what it broke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.invariants import (
    AuthorizedChecker,
    Bounds,
    Checker,
    ClassicClientChecker,
    ClassicLimits,
    ConsumptionChecker,
    MixedChecker,
    RunChecker,
    ScriptedChecker,
    ServedChecker,
)
from simulations.protocol.coordinator.settings import Settings
from simulations.world.engine.network import longest_ms
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import Scenario, Verb
from simulations.world.scenario.brokers import OF_BROKERS
from simulations.world.scenario.classic_members import CLASSIC

REQUEST_TIMEOUT_MS: Final = 30_000
"""``request.timeout.ms`` of the consumers."""

SENT_AGAIN_MS: Final = REQUEST_TIMEOUT_MS + 1_000
"""A request whose answer is lost is sent again so late at most: ``retry.backoff.max.ms`` after its timeout."""


def run(
    scenario: Scenario, semantics: Semantics | str | None = None, seed: int | None = None
) -> Iterator[Entry]:
    """The entries of a run, in order, as they come about; defaults are the scenario's. ``RunTooLong`` at the bound."""
    chosen = Semantics(semantics) if semantics is not None else scenario.semantics
    simulation = Simulation(scenario, chosen, scenario.seed if seed is None else seed)
    simulation.log.checker = checker_of(scenario, chosen)
    yield from simulation.entries()
    simulation.log.end(scenario.start_ms + scenario.until_ms)
    yield from simulation.log.fresh


def checker_of(scenario: Scenario, semantics: Semantics) -> RunChecker:
    """Who looks at a run: also at records where topics have a rate, at ACLs that deny, at brokers that change."""
    checker = _of_protocols(scenario, semantics)
    rates = [topic.rate for topic in scenario.topics.values()] + [action.rate for action in scenario.script]
    if any(rate is not None for rate in rates):
        seeks = any(action.verb is Verb.COMMIT and action.offset is not None for action in scenario.script)
        checker = ConsumptionChecker(checker, seeks=seeks, again_ms=SENT_AGAIN_MS)
    denies = scenario.denied or any(action.verb in (Verb.DENY, Verb.ALLOW) for action in scenario.script)
    if denies:
        checker = AuthorizedChecker(checker)
    settings = scenario.settings
    changes = any(action.verb in OF_BROKERS for action in scenario.script)
    mixed = bool(settings.other_releases)
    off = not (settings.group_version and settings.release.rules.consumer_protocol)
    if changes or mixed or off:
        level, release = settings.group_version, str(settings.release)
        checker = ServedChecker(checker, semantics=semantics, level=level, release=release)
    if any(action.verb is Verb.SEND for action in scenario.script):
        checker = ScriptedChecker(checker)
    return checker


def _of_protocols(scenario: Scenario, semantics: Semantics) -> RunChecker:
    """With members of the classic protocol other rules hold."""
    classic = {member.classic is not None for member in scenario.members.values()}
    classic |= {
        action.changes["protocol"] == CLASSIC for action in scenario.script if "protocol" in action.changes
    }
    if classic == {True}:
        return ClassicClientChecker(bounds=bounds_of(scenario), limits=limits_of(scenario))
    if True in classic:
        policy = scenario.settings.migration_policy
        return MixedChecker(bounds_of(scenario), semantics, migrates=policy.upgrades or policy.downgrades)
    return Checker(semantics, bounds_of(scenario))


def _has_small_batches(settings: Settings) -> bool:
    """Whether records of an operation may be larger than a batch: with Kafka's limit no group here is so large."""
    return settings.max_message_bytes < Settings().max_message_bytes


def limits_of(scenario: Scenario) -> ClassicLimits:
    """What the broker of a scenario is set to, as far as groups of the classic protocol ask."""
    settings = scenario.settings
    return ClassicLimits(
        initial_delay_ms=settings.initial_rebalance_delay_ms,
        least_session_ms=settings.classic_min_session_timeout_ms,
        most_session_ms=settings.classic_max_session_timeout_ms,
        most_members=settings.classic_max_size,
        may_fail=_has_small_batches(settings),
    )


def bounds_of(scenario: Scenario) -> Bounds:
    """How long things may take in a scenario."""
    settings = scenario.settings
    return Bounds(
        session_timeout_ms=settings.session_timeout_ms,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment_interval_ms=max(settings.assignment_interval_ms, settings.assignor_time_ms),
        travel_ms=longest_ms(scenario.network),
        settle_ms=scenario.replication_ms + max(0, settings.append_linger_ms),
        metadata_ms=scenario.metadata_delay_ms,
        retry_ms=REQUEST_TIMEOUT_MS,
        server_errors=bool(settings.scripted) or _has_small_batches(settings),
    )
