"""The settings that hold for a group, and whether its answers and its timers keep to them (G.1).

A group's own settings hold from their next use on, also at a coordinator that takes the group over; a timer that runs
keeps the length that it was started with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from groups.history.entries import Entry
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import Member
from simulations.invariants.violations import Violations

SESSION: Final = "session"
REBALANCE: Final = "rebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What holds for a request: the broker's value, or the group's own."""

    session_timeout_ms: int
    heartbeat_interval_ms: int

    def with_own(self, config: Mapping[str, int]) -> Held:
        """With the settings that the group sets from here on."""
        return replace(
            self,
            session_timeout_ms=config.get("session_timeout_ms", self.session_timeout_ms),
            heartbeat_interval_ms=config.get("heartbeat_interval_ms", self.heartbeat_interval_ms),
        )


class SettingsChecks:
    """``_due`` has, by timer and member, when it was started by what was handled, and when it may run out at the earliest."""

    def __init__(self, violations: Violations, held: Held) -> None:
        self._violations = violations
        self._held = held
        self._of_request: dict[int, Held] = {}
        self._due: dict[tuple[str, str], tuple[int, int]] = {}

    def configured(self, config: Mapping[str, int]) -> None:
        self._held = self._held.with_own(config)

    def request(self, entry: Entry) -> None:
        """A request is handled with the settings of now, whenever it takes effect."""
        if entry.payload.get("steady"):
            self._starts(SESSION, entry.actor, entry.at_ms, entry.at_ms + self._held.session_timeout_ms)
        else:
            self._of_request[entry.sequence] = self._held

    def response(self, entry: Entry, asked: HandledRequest | None) -> None:
        held = self._of_request.pop(entry.cause or 0, None)
        body = entry.payload["body"]
        if entry.payload["api"] != "ConsumerGroupHeartbeat":
            return
        if held is None or asked is None or body.get("errorCode") or asked.body.get("memberEpoch", -1) < 0:
            return
        interval_ms = body.get("heartbeatIntervalMs")
        if interval_ms not in (None, held.heartbeat_interval_ms):
            who = asked.entry.actor
            text = f"{who} receives a heartbeat interval of {interval_ms} ms, and {held.heartbeat_interval_ms} ms are set"
            self._add("settings_hold", text, (asked.entry.sequence, entry.sequence), who)

    def failed_over(self) -> None:
        """Timers restart at the next coordinator; requests to the last one are not answered any more."""
        self._due.clear()
        self._of_request.clear()

    def timer(self, entry: Entry, asked: HandledRequest | None, member: Member | None) -> None:
        """A timer's entry; ``member`` is as its records say, after what started the timer."""
        payload = entry.payload
        timer, who, deadline_ms = payload["timer"], payload["member"], payload.get("deadline_ms")
        if who is None or deadline_ms is None or timer not in (SESSION, REBALANCE):
            return
        match payload["event"]:
            case "started":
                self._started(entry, timer, who, deadline_ms, asked, member)
            case "cancelled":
                self._due.pop((timer, who), None)
            case "fired":
                self._fired(entry, timer, who, deadline_ms)

    def _started(
        self,
        entry: Entry,
        timer: str,
        who: str,
        deadline_ms: int,
        asked: HandledRequest | None,
        member: Member | None,
    ) -> None:
        from_ms, held = entry.at_ms, self._held
        if asked is not None:
            # Else it is the timer of a member that was loaded.
            from_ms, held = asked.entry.at_ms, self._of_request.get(asked.entry.sequence, held)
        self._starts(timer, who, from_ms, deadline_ms)
        length_ms = held.session_timeout_ms
        if timer == REBALANCE:
            length_ms = member.rebalance_timeout_ms if member is not None else 0
        if deadline_ms - from_ms != length_ms:
            text = f"The {timer} timer of {who} is started for {deadline_ms - from_ms} ms, and {length_ms} ms are set"
            self._add("timer_length", text, (entry.cause or 0, entry.sequence), who)

    def _starts(self, timer: str, who: str, from_ms: int, until_ms: int) -> None:
        """What was handled later counts, whichever takes effect first."""
        known = self._due.get((timer, who))
        if known is None or known[0] <= from_ms:
            self._due[timer, who] = from_ms, until_ms

    def _fired(self, entry: Entry, timer: str, who: str, deadline_ms: int) -> None:
        from_ms, until_ms = self._due.pop((timer, who), (0, deadline_ms))
        if min(deadline_ms, entry.at_ms) < until_ms:
            early_ms = until_ms - min(deadline_ms, entry.at_ms)
            text = f"The {timer} timer of {who}, started at {from_ms}, runs out {early_ms} ms before its time"
            self._add("timer_length", text, (entry.cause or 0, entry.sequence), who)

    def _add(self, invariant: str, text: str, proof: tuple[int, ...], who: str) -> None:
        self._violations.add(invariant, text, proof, (who,))
