"""The checker of a run: shows each entry to what is interested in it, and gives the violations where a unit ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics, State
from simulations.invariants.clients import ClientChecks
from simulations.invariants.compaction import CompactionChecks
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.known_faults import TIED
from simulations.invariants.leftovers import LeftoverChecks
from simulations.invariants.liveness import Bounds, LivenessChecks
from simulations.invariants.model import Topics
from simulations.invariants.settings import Held, SettingsChecks
from simulations.invariants.ties import AssignorTies
from simulations.invariants.violations import Violation, Violations

INVARIANT_FAULT: Final = "invariant"
"""The ``fault`` of an entry that reports a violation."""

GONE: Final = frozenset({"kill", "restart", "crash"})
"""Faults after which a process owns nothing."""


class Checker:
    """``see`` each entry of a consumer group's run, in order, from its first on."""

    def __init__(self, semantics: Semantics | str, bounds: Bounds | None = None) -> None:
        rules, limits = Semantics(semantics), bounds or Bounds()
        self._violations = Violations()
        self._topics = Topics()
        self._group = GroupChecks(self._violations, self._topics, rules)
        if limits.server_errors:
            self._group.assignor_may_throw()
        self._clients = ClientChecks(
            self._violations, self._topics, self._group, rules, limits.travel_ms, limits.retry_ms
        )
        self._liveness = LivenessChecks(self._violations, self._group, self._clients, rules, limits)
        self._compaction = CompactionChecks(self._violations)
        self._leftovers = LeftoverChecks(self._violations, self._topics, kafka=rules is Semantics.KAFKA)
        held = Held(
            session_timeout_ms=limits.session_timeout_ms, heartbeat_interval_ms=limits.heartbeat_interval_ms
        )
        self._settings = SettingsChecks(self._violations, held)
        self._ties = AssignorTies()
        self._last = 0
        self._offset: int | None = None

    def see(self, entry: Entry, state: State) -> list[Violation]:
        """The invariants that the entry broke; ``state`` is the one after it. None are reported within a unit."""
        self._follows(entry)
        match entry.kind:
            case Kind.RECORD:
                self._ties.record(entry, state)
                self._liveness.tied = self._ties.goes_on
                self._compaction.record(entry)
                self._leftovers.record(entry)
                if state.anomalies:
                    self._anomalies(entry, state)
                if self._group.record(entry, state):
                    self._leftovers.settled(entry, self._group.members)
                    self._clients.settled(entry)
                    self._liveness.settled(entry)
            case Kind.REQUEST if entry.payload.get("steady"):
                return self._beats(entry)
            case Kind.REQUEST:
                self._group.request(entry)
                self._settings.request(entry)
                self._clients.request(entry)
                if _keeps_session(entry):
                    self._liveness.seen(entry, entry.actor)
                    self._liveness.asked(entry)
            case Kind.RESPONSE:
                asked = self._group.response(entry)
                self._settings.response(entry, asked)
                self._clients.response(entry, asked)
            case Kind.CALLBACK:
                self._clients.callback(entry)
            case Kind.TIMER:
                self._timer(entry)
            case Kind.FAULT:
                self._fault(entry, state)
            case Kind.NOTE if entry.payload["note"] == "topics":
                self._clients.note_topics(entry.payload["topics"])
                self._leftovers.note(entry)
                self._topics.there_are(entry.payload["topics"])
                self._group.targets.topics_changed()
                self._liveness.disturbed(entry)
            case Kind.NOTE if entry.payload["note"] == "regexes":
                for regex, topics in entry.payload["regexes"].items():
                    self._topics.matches(regex, topics, entry.sequence)
                self._group.targets.subscriptions_changed()
            case Kind.NOTE if entry.payload["note"] == "config":
                self._liveness.configured(entry.payload["config"])
                self._settings.configured(entry.payload["config"])
            case Kind.NOTE if entry.payload["note"] in ("delete_group", "expire_offsets"):
                self._leftovers.note(entry)
        if not entry.settled:
            return []
        self._clients.due(entry.at_ms)
        self._liveness.due(entry.at_ms, entry.sequence)
        return self._violations.take()

    def steady(self, entry: Entry) -> list[Violation]:
        """``see``, of a steady heartbeat, which most entries are."""
        self._follows(entry)
        return self._beats(entry)

    def _beats(self, entry: Entry) -> list[Violation]:
        self._clients.request(entry)
        self._settings.request(entry)
        self._liveness.seen(entry, entry.actor)
        self._group.timers_run(entry)
        self._clients.due(entry.at_ms)
        self._liveness.due(entry.at_ms, entry.sequence)
        return self._violations.take()

    def end(self, at_ms: int) -> list[Violation]:
        """The run is over at this time: members that should have heartbeated by now did not."""
        self._clients.due(at_ms)
        self._liveness.due(at_ms, self._last)
        return self._violations.take()

    def travels(self, travel_ms: int) -> None:
        """From now on a message may take so long; bounds only grow, since older ones may be under way."""
        self._clients.travel_ms = max(self._clients.travel_ms, travel_ms)
        self._liveness.travels(travel_ms)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        """Whether the group has converged, and nothing has disturbed it for longer than this."""
        return self._liveness.has_rested(at_ms, for_ms)

    def demand_convergence(self) -> list[Violation]:
        """Everything was healed, and there was time enough."""
        self._liveness.demand(self._last)
        self._leftovers.at_rest(self._last)
        return self._violations.take()

    def _follows(self, entry: Entry) -> None:
        last, self._last = self._last, entry.sequence
        if last and entry.sequence != last + 1:
            text = f"Entry {entry.sequence} follows entry {last}"
            self._violations.add("dense_log", text, (last, entry.sequence))
        if entry.cause is not None and entry.cause >= entry.sequence:
            text = f"Entry {entry.sequence} is the effect of entry {entry.cause}, which comes later"
            self._violations.add("dense_log", text, (entry.sequence,))
        if entry.offset is None:
            return
        offset, self._offset = self._offset, entry.offset
        if offset is not None and entry.offset != offset + 1:
            text = f"The record at offset {entry.offset} follows the one at {offset}"
            self._violations.add("dense_log", text, (entry.sequence,))

    def asks_for(self, who: str, names: Iterable[str], regex: str | None, at_ms: int) -> None:
        """What the application of a member subscribes to from here on."""
        self._liveness.asks_for(who, frozenset(names), regex or "", at_ms)

    @property
    def known_fault(self) -> str | None:
        """No client of the consumer protocol is older than the coordinator."""
        return None

    @property
    def unjudged(self) -> str | None:
        """What the end of a run could not be asked: that a tied group rests, or why nobody can say whether the target is whole."""
        return TIED if self._ties.goes_on else self._group.targets.unjudged(self._group.members)

    def _anomalies(self, entry: Entry, state: State) -> None:
        for anomaly in state.anomalies:
            text = f"The records of a simulated coordinator cannot be: {anomaly.kind}"
            self._violations.add("no_anomaly", text, (entry.sequence,))

    def _timer(self, entry: Entry) -> None:
        who = entry.payload["member"]
        asked = self._group.asked(entry.cause)
        self._settings.timer(entry, asked, self._group.members.get(who) if who is not None else None)
        self._group.timer(entry)
        if who is None:
            return
        if entry.payload["timer"] == "rebalance":
            self._liveness.rebalance_timer(entry, who)
        elif entry.payload["timer"] == "session" and entry.payload["event"] == "started":
            self._liveness.first_seen(entry, who)

    def _fault(self, entry: Entry, state: State) -> None:
        fault, who = entry.payload["fault"], entry.payload.get("member")
        if fault == INVARIANT_FAULT:
            return
        self._liveness.disturbed(entry)
        match fault:
            case "fail_over":
                self._clients.commits.lost(None, entry.at_ms)
                self._group.failed_over()
                self._settings.failed_over()
                self._leftovers.failed_over(entry)
                self._liveness.failed_over(entry)
                self._compaction.failed_over(entry, state)
            case "cut" | "heal" if who is None:
                self._liveness.cut_off(entry, cut=fault == "cut")
            case "clock_jump":
                self._liveness.clock_jumped(abs(entry.payload.get("by_ms", 0)))
            case "lost_message":
                self._liveness.message_lost()
                self._clients.commits.lost(str(who), entry.at_ms)
                if entry.payload.get("epoch", 0) < 0:
                    self._clients.left(str(who), entry)
            case "duplicated_message":
                self._clients.commits.lost(str(who), entry.at_ms)
            case _ if fault in GONE and who is not None:
                self._clients.killed(who)


def _keeps_session(entry: Entry) -> bool:
    """Whether the sender's session restarts, if the request is accepted: no leave and no commit does that."""
    payload = entry.payload
    return payload["api"] == "ConsumerGroupHeartbeat" and int(payload["body"]["memberEpoch"]) >= 0
