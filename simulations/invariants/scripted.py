"""Requests that a script wrote itself: no client is behind them, so that no client is blamed for them.

One that is refused leaves the group as it was, and nothing else hears of it. One that is accepted speaks for a member whose client
knows nothing of it: from there on nothing of the run is judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.group import State
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.side_checker import SideChecker
from simulations.invariants.violations import Violation

ACCEPTED: Final = "a request that the script sent was accepted, and no client is behind it"

READ_ALONE: Final = "OffsetFetch"


class ScriptedChecker(SideChecker):
    """Hides what the script sends from ``inner``, until one of it is accepted."""

    def __init__(self, inner: RunChecker) -> None:
        super().__init__(inner)
        self._asked: set[int] = set()
        """Entries of requests that the script sent."""
        self._accepted = False

    def see(self, entry: Entry, state: State) -> list[Violation]:
        if entry.kind is Kind.REQUEST and entry.payload.get("scripted"):
            self._asked.add(entry.sequence)
            return self._hidden(entry, state)
        answers = entry.kind is Kind.RESPONSE and entry.payload.get("request", entry.cause) in self._asked
        if answers and is_refused(entry.payload):
            return self._hidden(entry, state)
        if answers or entry.cause in self._asked:
            self._accepted = True
        return [] if self._accepted else super().see(entry, state)

    def steady(self, entry: Entry) -> list[Violation]:
        return [] if self._accepted else super().steady(entry)

    def end(self, at_ms: int) -> list[Violation]:
        return [] if self._accepted else super().end(at_ms)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        return self._accepted or super().has_rested(at_ms, for_ms)

    def demand_convergence(self) -> list[Violation]:
        return [] if self._accepted else super().demand_convergence()

    @property
    def unjudged(self) -> str | None:
        return ACCEPTED if self._accepted else super().unjudged

    def _hidden(self, entry: Entry, state: State) -> list[Violation]:
        """The entry is passed on without content: sequences have no gap."""
        if self._accepted:
            return []
        silent = replace(entry, kind=Kind.NOTE, payload={"note": "scripted"}, cause=None)
        return super().see(silent, state)


def is_refused(payload: Payload) -> bool:
    """Whether an answer means that nothing was done: an error of the whole, or of each partition or member; or it only reads."""
    body = payload["body"]
    if payload["api"] == READ_ALONE or body.get("errorCode"):
        return True
    parts = [part for topic in body.get("topics", ()) for part in topic.get("partitions", ())]
    parts += [each for each in body.get("members", ()) if "errorCode" in each]
    return bool(parts) and all(part["errorCode"] for part in parts)
