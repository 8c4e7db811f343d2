"""Replay of faults: a killed process, a coordinator that fails over, a cut, a pause, a clock that jumps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.entries import Entry
from groups.history.replay import consumer, joining
from groups.history.replay.clients import put_all, with_client
from groups.history.replay.fields import integer, text
from groups.history.state.copying import replace
from groups.history.state.group import ANYBODY, Client, Coordinator, State, Timers
from groups.history.state.versions import drop, put
from groups.releases import EARLIER, release_of

LOST_PROCESSES: Final = frozenset({"kill"})
"""Faults after which a client owns nothing, since there is no process any more."""


def replay_fault(state: State, entry: Entry) -> State:
    """A killed process owns nothing; a coordinator that fails over forgets its timers and its parked requests.

    What a client suffers is remembered as long as it lasts: it does not move, is cut off, its clock is wrong.
    """
    payload = entry.payload
    fault, member_id, peer = payload["fault"], text(payload.get("member")), text(payload.get("peer"))
    if fault in LOST_PROCESSES and member_id is not None and state.clients is not None:
        before, clients = state.clients.get(member_id), drop(state.clients, member_id)
        killed = Client(killed=True, heartbeat_ms=None if before is None else before.heartbeat_ms)
        is_member = member_id in state.modern.members
        return replace(state, clients=put(clients, member_id, killed) if is_member else clients)
    if fault == "fail_over":
        release = text(payload.get("release"))
        state = consumer.served_by(state, EARLIER if release is None else release_of(release))
        state = joining.failed_over(state)
        phase = replace(state.classic, phase=None) if state.classic.phase is not None else state.classic
        timers: Mapping[str, Timers] | None = {} if state.timers is not None else None
        return replace(state, timers=timers, classic=phase, coordinator=_new_coordinator(entry))
    if fault in ("cut", "heal"):
        return _cut_or_healed(state, member_id, peer or ANYBODY, cuts=fault == "cut")
    if member_id is None:
        return state
    if fault in ("pause", "resume"):
        return with_client(state, member_id, {"paused": fault == "pause"})
    if fault == "clock_jump" and isinstance(by_ms := payload.get("by_ms"), int):
        client = (state.clients or {}).get(member_id) or Client()
        return with_client(state, member_id, {"clock_ms": client.clock_ms + by_ms})
    return state


def _new_coordinator(entry: Entry) -> Coordinator:
    """A cut is a machine's; the new coordinator is on another one."""
    name, epoch, loading_ms = (entry.payload.get(key) for key in ("coordinator", "epoch", "loading_ms"))
    return Coordinator(
        name=text(name),
        epoch=integer(epoch) if epoch is not None else None,
        loading_until_ms=entry.at_ms + integer(loading_ms) if loading_ms is not None else None,
    )


def _cut_or_healed(state: State, member_id: str | None, peer: str, *, cuts: bool) -> State:
    """``member_id`` is ``None`` for the coordinator's broker; healed without a name, also for the whole network."""

    def changed(cut: tuple[str, ...]) -> tuple[str, ...]:
        rest = tuple(each for each in cut if each != peer)
        return (*rest, peer) if cuts else rest

    if member_id is not None:
        client = (state.clients or {}).get(member_id) or Client()
        return with_client(state, member_id, {"cut": changed(client.cut)})
    coordinator = state.coordinator or Coordinator()
    if cuts or peer in coordinator.cut:
        return replace(state, coordinator=replace(coordinator, cut=changed(coordinator.cut)))
    if peer != ANYBODY:
        return state
    clients = state.clients or {}
    mended = {key: replace(client, cut=()) for key, client in clients.items() if client.cut}
    return replace(state, clients=put_all(clients, mended)) if mended else state
