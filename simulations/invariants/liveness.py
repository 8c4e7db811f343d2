"""Liveness (G.4), in two phases: as long as something disturbs the group only safety counts; then it has to converge.

What disturbs are faults, changed topics, members that come, go or subscribe otherwise. Each begins the time again.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.invariants.clients import ClientChecks
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.model import UNREVOKED, Member
from simulations.invariants.violations import Violations

HEARTBEAT_ROUNDS: Final = 4
"""To hear of the target, to acknowledge, to hear of what others released, and one that was just under way."""

REVOCATIONS: Final = 2
"""A member that is waited for ignores a newer target; after the first one it may have to give up again."""


EXPRESSIONS_MS: Final = 10_000
"""Released Kafka resolves expressions no sooner than this after it last did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What may be: the longest that things may take, in milliseconds, and who may fail.

    ``travel_ms`` is one way of a message, ``settle_ms`` from when something is handled until it is committed,
    ``metadata_ms`` until a broker knows of a topic. ``retry_ms`` is how long a client waits for an answer that got
    lost; it counts once messages have been.
    """

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    travel_ms: int = 0
    settle_ms: int = 0
    metadata_ms: int = 0
    retry_ms: int = 0
    server_errors: bool = False
    """Whether requests may fail with UNKNOWN_SERVER_ERROR: the assignor throws where a scenario has that, or a batch is too small."""

    def convergence_ms(self, rebalance_timeout_ms: int) -> int:
        round_ms = self.heartbeat_interval_ms + 2 * self.travel_ms + self.settle_ms
        rounds_ms = HEARTBEAT_ROUNDS * round_ms + self.metadata_ms
        waits_ms = self.session_timeout_ms + REVOCATIONS * rebalance_timeout_ms
        return waits_ms + self.assignment_interval_ms + rounds_ms


class LivenessChecks:
    """``due`` is asked at every entry and looks at nothing until something may be late."""

    def __init__(
        self,
        violations: Violations,
        group: GroupChecks,
        clients: ClientChecks,
        semantics: Semantics,
        bounds: Bounds,
    ) -> None:
        self._violations = violations
        self._group = group
        self._clients = clients
        self._kafka = semantics is Semantics.KAFKA
        self._bounds = bounds
        self._disturbed: Entry | None = None
        self._rebalance_timeout_ms = 0
        self._demanded = False
        self.tied = False
        """Whether the group cannot come to rest, by the rules of its release."""
        self._waits_ms = 0
        self._retries = False
        self._cut_off = False
        self._loaded_ms = 0
        self._last_seen: dict[str, tuple[int, int]] = {}
        self._silences: list[tuple[int, str]] = []
        self._waits: dict[str, Entry] = {}
        self._deadlines: list[tuple[int, int, str]] = []
        self._asks: dict[str, tuple[frozenset[str], str, int]] = {}
        self._unheeded: dict[str, int] = {}
        self._by_expression: set[str] = set()
        self._cannot_say: set[str] = set()
        """Whose clients have forgotten that they dropped an expression."""

    def asks_for(self, who: str, names: frozenset[str], regex: str, at_ms: int) -> None:
        """What the application of a member subscribes to from here on."""
        self._asks[who] = names, regex, at_ms
        if regex:
            self._by_expression.add(who)
            self._cannot_say.discard(who)
        self._heeds(who)

    def asked(self, entry: Entry) -> None:
        """A client whose request failed sends everything again, and an expression that it has no more is not a part of that."""
        who, body = entry.actor, entry.payload["body"]
        if body.get("rebalanceTimeoutMs") in (None, -1) or body.get("subscribedTopicRegex") is not None:
            return
        member = self._group.members.get(who)
        if member is not None and member.regex and not self._asks.get(who, (None, "", 0))[1]:
            self._cannot_say.add(who)
            self._heeds(who)

    def _heeds(self, who: str) -> None:
        """Looks whether a member's record states what its application asked for last."""
        self._unheeded.pop(who, None)
        member = self._group.members.get(who)
        if member is not None and member.epoch >= 0 and who in self._asks:
            names, regex, asked_ms = self._asks[who]
            # A join names no expression if there is none: who takes an instance over keeps the one that it had.
            inherits = member.instance is not None and not regex and who not in self._by_expression
            keeps = inherits or who in self._cannot_say
            if member.names != names or not (keeps or member.regex == regex):
                self._unheeded[who] = asked_ms

    def disturbed(self, entry: Entry) -> None:
        self._disturbed, self._demanded = entry, False

    def travels(self, travel_ms: int) -> None:
        """Messages may take longer from here on."""
        bounds = self._bounds
        self._bounds = replace(bounds, travel_ms=max(bounds.travel_ms, travel_ms))

    def configured(self, config: Mapping[str, int]) -> None:
        """The group's own settings from here on; bounds only grow, since timers that run keep their length."""
        bounds = self._bounds
        self._bounds = replace(
            bounds,
            session_timeout_ms=max(bounds.session_timeout_ms, config.get("session_timeout_ms", 0)),
            heartbeat_interval_ms=max(bounds.heartbeat_interval_ms, config.get("heartbeat_interval_ms", 0)),
            assignment_interval_ms=max(
                bounds.assignment_interval_ms, config.get("assignment_interval_ms", 0)
            ),
        )

    def clock_jumped(self, by_ms: int) -> None:
        """A member that waits by that clock waits so much longer, or has waited for nothing."""
        self._waits_ms += by_ms

    def message_lost(self) -> None:
        """Somebody waits for an answer in vain."""
        if not self._retries:
            self._retries = True
            self._waits_ms += self._bounds.retry_ms

    def cut_off(self, entry: Entry, *, cut: bool) -> None:
        """A coordinator that cannot reach its replicas commits nothing; when it can, every wait restarts."""
        self._cut_off = cut
        self._restart_waits(entry, max(entry.at_ms, self._loaded_ms))

    def seen(self, entry: Entry, who: str) -> None:
        if who not in self._last_seen:
            heapq.heappush(self._silences, (entry.at_ms + self._silence_ms, who))
            self._last_seen[who] = (entry.at_ms, entry.sequence)
        elif entry.at_ms >= self._last_seen[who][0]:
            # What a coordinator hears while it is loading is forgotten: sessions begin when it has loaded.
            self._last_seen[who] = (entry.at_ms, entry.sequence)

    @property
    def _silence_ms(self) -> int:
        return self._bounds.session_timeout_ms + self._bounds.settle_ms

    def first_seen(self, entry: Entry, who: str) -> None:
        """A member that was there before the log: its session begins here."""
        if who not in self._last_seen:
            self.seen(entry, who)

    def failed_over(self, entry: Entry) -> None:
        """Timers start again when the log has been read."""
        self._cut_off = False
        self._loaded_ms = entry.at_ms + entry.payload.get("loading_ms", 0)
        self._restart_waits(entry, self._loaded_ms)

    def _restart_waits(self, entry: Entry, from_ms: int) -> None:
        for who in self._last_seen:
            self._last_seen[who] = (from_ms, entry.sequence)
        if not self._kafka:
            # No record shows who was asked to give up: the new coordinator asks again.
            self._waits.clear()
        for who in self._waits:
            self._wait(entry, who, from_ms)

    def settled(self, entry: Entry) -> None:
        """A unit of records is over."""
        group = self._group
        for who, old in group.touched.items():
            new = group.members.get(who)
            self._heeds(who)
            if new is None:
                self._last_seen.pop(who, None)
                self._waits.pop(who, None)
            else:
                self._rebalance_timeout_ms = max(self._rebalance_timeout_ms, new.rebalance_timeout_ms)
                if self._kafka and new.state == UNREVOKED and new.epoch > 0:
                    if old is None or new.wrote != old.wrote:
                        self._wait(entry, who)
                elif self._kafka:
                    self._waits.pop(who, None)
            if old is None or new is None or _comes_or_goes(old, new):
                self.disturbed(entry)

    def rebalance_timer(self, entry: Entry, who: str) -> None:
        """The only sign that a proposal's member was asked to give up."""
        if self._kafka:
            return
        if entry.payload["event"] == "started":
            self._wait(entry, who)
        else:
            self._waits.pop(who, None)

    def _wait(self, entry: Entry, who: str, from_ms: int | None = None) -> None:
        member = self._group.members.get(who)
        if member is not None and member.rebalance_timeout_ms >= 0:
            self._waits[who] = entry
            since_ms = entry.at_ms if from_ms is None else from_ms
            deadline_ms = since_ms + member.rebalance_timeout_ms + self._bounds.settle_ms
            heapq.heappush(self._deadlines, (deadline_ms, entry.sequence, who))

    def due(self, at_ms: int, sequence: int) -> None:
        """Who is late at this time?"""
        if self._cut_off:
            return
        while self._silences and self._silences[0][0] < at_ms:
            _, who = heapq.heappop(self._silences)
            last_seen = self._last_seen.get(who)
            if last_seen is None:
                continue
            deadline_ms = last_seen[0] + self._silence_ms
            if deadline_ms >= at_ms:
                heapq.heappush(self._silences, (deadline_ms, who))
                continue
            del self._last_seen[who]
            if who in self._group.members:
                text = f"{who} is silent for longer than its session timeout, and still a member"
                self._violations.add("session_timeout", text, (last_seen[1], sequence), (who,))
        while self._deadlines and self._deadlines[0][0] < at_ms:
            _, since, who = heapq.heappop(self._deadlines)
            waits = self._waits.get(who)
            if waits is not None and waits.sequence == since:
                text = f"{who} is waited for longer than its rebalance timeout"
                self._violations.add("rebalance_timeout", text, (since, sequence), (who,))
        if self._disturbed is None or self._demanded or self.tied or self._is_well:
            return
        bound_ms = self._bounds.convergence_ms(self._rebalance_timeout_ms) + self._waits_ms
        if self._by_expression:
            bound_ms += EXPRESSIONS_MS
        if at_ms - self._disturbed.at_ms > bound_ms:
            self.demand(sequence, at_ms - bound_ms)

    @property
    def _is_well(self) -> bool:
        """Whether nothing could be demanded; asked at every entry."""
        group = self._group
        return not self._clients.behind and not self._unheeded and (not group.members or self._rests)

    @property
    def _rests(self) -> bool:
        """Whether everybody is at a target that is whole for what there is now."""
        group = self._group
        return group.converged and group.targets.is_of_now(group.members)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        """Converged, and undisturbed for longer than this."""
        if self._disturbed is not None and at_ms - self._disturbed.at_ms <= for_ms:
            return False
        if self._unheeded:
            return False
        return not self._group.members or (self._rests and not self._clients.behind)

    def demand(self, sequence: int, before_ms: int | None = None) -> None:
        """Whatever the bound: the group has to have converged by now.

        A client may be about to give up what it has, to leave: it counts if it was behind ``before_ms`` already.
        """
        if self.tied:
            return
        group = self._group
        since = self._disturbed.sequence if self._disturbed is not None else 0
        if group.members and not group.converged:
            proof = (since, group.epoch_wrote, sequence)
            text = f"Nothing disturbs the group any more, and it is not Stable at epoch {group.epoch}"
            self._violations.add("group_converges", text, proof)
            late = sorted(who for who, member in group.members.items() if member.epoch != group.epoch)
            if late:
                text = f"{late[0]} does not reach epoch {group.epoch}"
                if len(late) > 1:
                    text = f"{len(late)} members, {late[0]} among them, do not reach epoch {group.epoch}"
                self._violations.add("members_converge", text, proof, late)
            self._demanded = True
        elif group.members and not group.targets.is_of_now(group.members):
            group.targets.at_rest(sequence, group.members)
            self._demanded = True
        elif unheeded := sorted(
            who for who, asked_ms in self._unheeded.items() if before_ms is None or asked_ms <= before_ms
        ):
            text = f"The records of {unheeded[0]} do not say what its application subscribes to"
            self._violations.add("application_is_heeded", text, (since, sequence), unheeded)
            self._demanded = True
        elif late := sorted(
            who
            for who, since_ms in self._clients.behind.items()
            if before_ms is None or since_ms <= before_ms
        ):
            text = f"The client of {late[0]} does not own what is assigned to it"
            self._violations.add("partitions_processed", text, (since, sequence), late)
            self._demanded = True


def _comes_or_goes(old: Member, new: Member) -> bool:
    """Whether it subscribes otherwise, or, a static one, leaves for now or is back."""
    return (old.names, old.regex, old.epoch < 0) != (new.names, new.regex, new.epoch < 0)
