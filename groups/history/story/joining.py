"""Sentences of a classic group's joining phase, where it is known (``ClassicGroup.barrier``)."""

from __future__ import annotations

from typing import Final

from groups.history.entries import Entry
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.steps import Step
from groups.history.replay.fields import mapping, text
from groups.history.replay.joining import FENCES, MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS
from groups.history.state.classic_group import COMPLETING_REBALANCE, PREPARING_REBALANCE
from groups.history.story.sentences import COORDINATOR, Sentence
from groups.history.words import counted, partitions

CLASSIC_APIS: Final = frozenset({"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"})

TURNED_AWAY: Final = {
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    26: "INVALID_SESSION_TIMEOUT",
    81: "GROUP_MAX_SIZE_REACHED",
}


def arrival_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """Who comes to the barrier, and why; who leaves."""
    api, who = entry.payload.get("api"), cast.name(entry.actor)
    before, after = step.before.classic.barrier, step.after.classic.barrier
    assert after is not None
    if api == "JoinGroup" and entry.actor in after.joined:
        reason = after.reasons.get(entry.actor)
        return Sentence(
            "join", entry.actor, f"{who} sends JoinGroup" + (f": \u201c{reason}\u201d" if reason else "")
        )
    if api == "SyncGroup" and before is not None and entry.actor in after.synced:
        if entry.actor == after.leader:
            return Sentence("note", entry.actor, f"{who} leads: it assigns and sends SyncGroup")
        return Sentence("note", entry.actor, f"{who} sends SyncGroup and waits for the leader\u2019s")
    return leave_sentence(entry, cast) if api == "LeaveGroup" else None


def leave_sentence(entry: Entry, cast: DisplayNames) -> Sentence:
    """A LeaveGroup, with the reason that it gives."""
    left = mapping(entry.payload.get("body")).get("members")
    reason = text(mapping(left[0]).get("reason")) if left else None
    sentence = f"{cast.name(entry.actor)} leaves" + (f": \u201c{reason}\u201d" if reason else "")
    return Sentence("leave", entry.actor, sentence)


def response_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """Which members are sent into a rebalance, which pass, and which are turned away."""
    to = text(entry.payload.get("to")) or ""
    body, api, who = mapping(entry.payload.get("body")), entry.payload.get("api"), cast.name(to)
    code = body.get("errorCode")
    if code == MEMBER_ID_REQUIRED:
        return None
    if code == REBALANCE_IN_PROGRESS:
        return Sentence("note", to, f"{who} is told to join again (REBALANCE_IN_PROGRESS)")
    if isinstance(code, int) and code in FENCES:
        return Sentence("fence", to, f"{who} is no member any more ({FENCES[code]}) and has to join again")
    if code:
        return Sentence("fault", to, f"{who} is refused: {TURNED_AWAY.get(int(code), f'error {code}')}")
    was, now = step.before.classic.phase, step.after.classic.phase
    if api == "JoinGroup" and now == COMPLETING_REBALANCE and was in (PREPARING_REBALANCE, None):
        leader = text(body.get("leader"))
        led = f"; {cast.name(leader)} leads" if leader else ""
        return Sentence("state", COORDINATOR, f"All have joined: generation {body.get('generationId')}{led}")
    return None


def observation_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """The phase of a classic group that its coordinator described: no record contains it."""
    before, after = step.before.classic, step.after.classic
    if before is after or (before.phase, before.shown.keys()) == (after.phase, after.shown.keys()):
        return None
    if after.phase is None:
        return Sentence(
            "state", COORDINATOR, f"{entry.payload['state']} again, as its coordinator describes it"
        )
    members = counted(len(after.shown), "member")
    return Sentence("state", COORDINATOR, f"{after.phase} with {members}, as its coordinator describes it")


def handover_sentence(entry: Entry, cast: DisplayNames) -> Sentence | None:
    """What a member stops reading and begins to read: in the classic protocol only its callbacks show it."""
    payload, who = entry.payload, cast.name(entry.actor)
    keys = [(str(t), int(p)) for t, ps in mapping(payload.get("partitions")).items() for p in ps]
    starts = payload.get("phase") == "start"
    if not keys:
        return None
    if payload.get("callback") == "on_partitions_assigned":
        return Sentence("gain", entry.actor, f"{who} reads {partitions(keys)}") if starts else None
    if starts:
        return Sentence("revoke", entry.actor, f"{who} revokes {partitions(keys)}")
    return Sentence("acknowledge", entry.actor, f"{who} has revoked {partitions(keys)}")
