"""Which session and rebalance timers run, and which of those that should do not (G.1 #9 and #15)."""

from __future__ import annotations

from copy import copy

from groups.history.entries import Entry
from simulations.invariants.group import Group
from simulations.invariants.model import LEFT_FOR_NOW, UNREVOKED, Member
from simulations.invariants.violations import Violations, named


class TimerChecks:
    """``_sessionless`` and ``_untimed`` are members of which a timer should run and does not; ``_useless`` run for nothing."""

    def __init__(self, violations: Violations, group: Group, *, kafka: bool) -> None:
        self._kafka = kafka
        self._violations = violations
        self._group = group
        self._running: dict[str, set[str]] = {"session": set(), "rebalance": set()}
        self._sessionless: dict[str, None] = {}
        self._untimed: dict[str, None] = {}
        self._useless: dict[tuple[str, str], int] = {}

    def copy(self, violations: Violations, group: Group) -> TimerChecks:
        """These checks as they stand, to go on along another way."""
        other = copy(self)
        other._violations, other._group = violations, group
        other._running = {timer: set(names) for timer, names in self._running.items()}
        other._sessionless, other._untimed = dict(self._sessionless), dict(self._untimed)
        other._useless = dict(self._useless)
        return other

    def note(self, entry: Entry) -> None:
        """A timer's entry."""
        payload = entry.payload
        who, running = payload["member"], self._running.get(payload["timer"])
        if running is None or who is None:
            return
        waiting = self._sessionless if payload["timer"] == "session" else self._untimed
        if payload["event"] == "started":
            running.add(who)
            waiting.pop(who, None)
            return
        running.discard(who)
        self._useless.pop((payload["timer"], who), None)
        member = self._group.members.get(who)
        if member is not None and (waiting is self._sessionless or member.state == UNREVOKED):
            waiting[who] = None

    def wrote(self, entry: Entry, who: str, new: Member | None) -> None:
        """A record changed the member, or removed it."""
        self._untimed.pop(who, None)
        if new is None:
            self._sessionless.pop(who, None)
            for timer, running in self._running.items():
                if who in running:
                    self._useless[timer, who] = entry.sequence
            return
        self._useless.pop(("session", who), None)
        if who not in self._running["session"]:
            self._sessionless[who] = None
        waits = who in self._running["rebalance"]
        if new.state == UNREVOKED and not waits:
            self._untimed[who] = None
        if new.state == UNREVOKED or new.epoch == LEFT_FOR_NOW:
            self._useless.pop(("rebalance", who), None)
        elif waits and self._kafka:
            self._useless["rebalance", who] = entry.sequence

    def settled(self) -> None:
        """A unit is over: the timers of those whose place another member took go on in the released coordinator, and find nobody."""
        if self._kafka and self._group.replaced:
            for name, holder in self._group.replaced.items():
                if holder != name:
                    for timer in self._running:
                        self._useless.pop((timer, holder), None)

    def failed_over(self) -> None:
        """A new coordinator has no timer yet."""
        members = self._group.members
        for running in self._running.values():
            running.clear()
        self._useless.clear()
        self._sessionless = dict.fromkeys(members)
        self._untimed = {name: None for name, member in members.items() if member.state == UNREVOKED}

    def run(self, entry: Entry) -> None:
        """Asked where a request ends: in between, timers are still being started."""
        for who in self._sessionless:
            self._add("session", f"No session timer runs for {who}", entry, who)
        for who in self._untimed:
            if self._group.members[who].epoch > 0:
                self._add("unrevoked", f"{who} is to give up, and no rebalance timer runs", entry, who)
        for (timer, who), wrote in self._useless.items():
            text = f"A {timer} timer runs for {who}, which needs none"
            self._violations.add("needed_timers", text, (wrote, entry.sequence), (who,))

    def revocation(self, entry: Entry, who: str, less: list[tuple[str, int]]) -> None:
        """The proposal keeps no record of it: only the answer asks a member to give something up."""
        waits = who in self._running["rebalance"]
        if less and not waits:
            text = f"{who} is asked to revoke {named(less)}, and no rebalance timer runs"
            self._add("unrevoked", text, entry, who, less)
        elif waits and not less:
            self._useless["rebalance", who] = self._group.members[who].wrote
        else:
            self._useless.pop(("rebalance", who), None)

    def _add(
        self, invariant: str, text: str, entry: Entry, who: str, which: list[tuple[str, int]] | None = None
    ) -> None:
        proof = (self._group.members[who].wrote, entry.sequence)
        self._violations.add(invariant, text, proof, (who,), which or ())
