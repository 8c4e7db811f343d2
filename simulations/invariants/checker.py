"""The checker of a run: shows each entry to what is interested in it, and gives the violations where a unit ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from groups.history.entries import Entry, Kind, NotedTopic, Payload
from groups.history.replay.fold import replay_record
from groups.history.state.group import Semantics, State, initial_state
from simulations.invariants.clients import ClientChecks
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.known_faults import TIED
from simulations.invariants.liveness import Bounds, LivenessChecks
from simulations.invariants.model import Member, Topics
from simulations.invariants.settings import Held, SettingsChecks
from simulations.invariants.ties import AssignorTies
from simulations.invariants.violations import Partition, Violation, Violations, named


class LeftoverChecks:
    """``record`` takes the records of a unit, ``settled`` looks at it where it ends."""

    def __init__(self, violations: Violations, topics: Topics, *, kafka: bool) -> None:
        self._violations = violations
        self._topics = topics
        self._kafka = kafka
        self._offsets: dict[Partition, int] = {}
        self._expressions: dict[str, int] = {}
        self._gone: dict[str, int] = {}
        self._removed: dict[Partition, int] = {}
        self._looks = False
        self._group_goes = False
        self._deletes = False
        self._expires = 0
        self._loading_until_ms = 0

    def record(self, entry: Entry) -> None:
        key, value = entry.payload.get("key"), entry.payload.get("value")
        if key is None:
            return
        match entry.payload["type"]:
            case 1:
                where = (key["topic"], key["partition"])
                if value is not None:
                    self._offsets[where] = entry.sequence
                elif self._offsets.pop(where, 0):
                    self._removed[where] = entry.sequence
            case 3 if value is None:
                self._group_goes = True
            case 5:
                self._looks = True
            case 16:
                self._looks = True
                if value is None:
                    self._expressions.pop(key["regularExpression"], None)
                else:
                    self._expressions[key["regularExpression"]] = entry.sequence

    def note(self, entry: Entry) -> None:
        """A note of the world around the group."""
        match entry.payload["note"]:
            case "delete_group":
                self._deletes = not entry.payload["error"]
            case "expire_offsets":
                self._expires = entry.sequence
            case "topics":
                self._note_topics(entry, entry.payload["topics"])

    def _note_topics(self, entry: Entry, topics: Mapping[str, NotedTopic | None]) -> None:
        for name, topic in topics.items():
            if topic is not None and topic.get("id") in (None, self._topics.ids.get(name, topic.get("id"))):
                self._gone.pop(name, None)
            elif entry.at_ms > self._loading_until_ms and any(where[0] == name for where in self._offsets):
                # A coordinator that is loading has no offsets to remove yet, and is not checked again.
                self._gone[name] = entry.sequence

    def failed_over(self, entry: Entry) -> None:
        """What the last coordinator was about to remove nobody removes any more."""
        self._gone.clear()
        self._deletes = False
        self._loading_until_ms = entry.at_ms + entry.payload.get("loading_ms", 0)

    def settled(self, entry: Entry, members: Mapping[str, Member]) -> None:
        """A unit is over."""
        self._offsets_removed(entry)
        if self._looks and self._kafka:
            self._looks = False
            self._expressions_kept(entry, members)

    def _offsets_removed(self, entry: Entry) -> None:
        removed, self._removed = self._removed, {}
        goes, self._group_goes = self._group_goes or self._deletes, False
        if not removed:
            return
        self._deletes = False
        if goes or (self._expires and entry.cause == self._expires):
            return
        strange = [where for where in removed if where[0] in self._topics.ids and where[0] not in self._gone]
        if strange:
            text = f"Offsets of {named(strange)} are removed, and neither the topic nor the group is deleted"
            self._violations.add("offsets_go_along", text, (*removed.values(), entry.sequence), (), strange)
        for where in removed:
            if where[0] in self._gone and not any(each[0] == where[0] for each in self._offsets):
                del self._gone[where[0]]

    def _expressions_kept(self, entry: Entry, members: Mapping[str, Member]) -> None:
        used = {member.regex for member in members.values() if member.regex}
        for regex, sequence in self._expressions.items():
            if regex not in used:
                text = f"The topics of the expression {regex} are kept, and no member has it"
                self._violations.add("expressions_go_along", text, (sequence, entry.sequence))

    def at_rest(self, sequence: int) -> None:
        """Everything had time enough."""
        for name, since in self._gone.items():
            if left := [where for where in self._offsets if where[0] == name]:
                text = f"The topic {name} is deleted, and offsets of {named(left)} are still there"
                self._violations.add("offsets_go_along", text, (since, sequence), (), left)


Key = tuple[int, tuple[tuple[str, object], ...]]


class CompactionChecks:
    """Keeps the newest record of each key, and replays them where a new coordinator would load them."""

    def __init__(self, violations: Violations) -> None:
        self._violations = violations
        self._newest: dict[Key, Payload] = {}

    def record(self, entry: Entry) -> None:
        payload = entry.payload
        if payload.get("key") is None:
            return
        key = (payload["type"], tuple(sorted(payload["key"].items())))
        self._newest.pop(key, None)
        self._newest[key] = payload

    def failed_over(self, entry: Entry, state: State) -> None:
        """Asked with the tombstones, and when they have had their time."""
        for tombstones in (True, False):
            loaded = initial_state(state.group, state.semantics, release=state.release)
            for record in self._newest.values():
                if tombstones or record["value"] is not None:
                    loaded = replace(replay_record(loaded, record), anomalies=())
            if not _same(loaded, state):
                kept = "with" if tombstones else "without"
                text = f"The compacted log, {kept} tombstones, gives another group than the whole log"
                self._violations.add("compacted_log", text, (entry.sequence,))
                return


def _same(loaded: State, state: State) -> bool:
    if state.deleted or loaded.deleted:
        return state.deleted == loaded.deleted or not (state.consumer.members or loaded.consumer.members)
    # What an expression matches is in no record of the proposal: the next coordinator finds it by itself.
    whole = replace(state.consumer, regexes={}) if state.semantics is Semantics.KIP else state.consumer
    return loaded.consumer == whole and loaded.offsets == state.offsets


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
