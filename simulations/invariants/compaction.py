"""What the log's cleaner may leave of a group's records has to give the same group (G.1 #16)."""

from __future__ import annotations

from dataclasses import replace

from groups.history.entries import Entry, Payload
from groups.history.replay.fold import replay_record
from groups.history.state.group import Semantics, State, initial_state
from simulations.invariants.violations import Violations

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
