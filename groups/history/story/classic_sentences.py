"""Sentences of a classic group: its records hold results of rebalances alone, one a generation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.lives import EAGER
from groups.history.evidence.steps import Key, Step
from groups.history.state.classic_group import EXPIRED, LEFT, TIMED_OUT, ClassicGroup
from groups.history.state.group import State
from groups.history.story.cause import Cause, reason_of
from groups.history.story.sentences import COORDINATOR, Sentence, named, reason_unknown
from groups.history.words import counted, is_or_are, partitions

GONE: Final = {
    LEFT: "has left",
    EXPIRED: "is gone, as its session expired",
    TIMED_OUT: "is removed, as it did not rejoin in time",
}


def classic_sentence(step: Step, cast: DisplayNames, cause: Cause | None) -> Sentence | None:
    """The sentence of a type 2 record, or ``None`` if it changed nothing that is shown."""
    before, after = step.before.classic, step.after.classic
    if not after.recorded:
        return None
    reasons = {one: reason_of(cause, before.gone.get(one), one)[0] for one in step.removed}
    leaves = bool(reasons) and set(reasons.values()) == {LEFT}
    if not after.members:
        if before.members and all(before.gone.get(one) in GONE for one in step.removed):
            # How they went is in the sentences of their own entries.
            return Sentence("state", COORDINATOR, f"The group is empty{_generation(after, ', ')}")
        if before.members:
            who = named(cast, step.removed)
            gone = (
                f"{who} leave{'s' if len(step.removed) == 1 else ''}" if leaves else f"{who} {_is(step)} gone"
            )
            return Sentence("remove", COORDINATOR, f"{gone}; the group is empty{_generation(after, ', ')}")
        if before.recorded:
            return None
        empty = (
            f"The group is empty{_generation(after, ', ')}"
            if after.known_generation != 0
            else "The group begins, empty"
        )
        return Sentence("state", COORDINATOR, empty)
    if step.found:
        there = f"{named(cast, step.found)} {is_or_are(step.found)} there{_generation(after, ', at ')}"
        return Sentence("state", step.found[0], there)
    if step.replaced:
        old, new = next(iter(step.replaced.items()))
        return Sentence("join", new, f"{cast.name(new)} replaces {cast.name(old)} (same group.instance.id)")
    moved = _moved(step, cast) + _stopped(step)
    known = [one for one in step.removed if reasons[one] is not None]
    if known and (before.gone or not leaves):
        gone = "; ".join(f"{cast.name(one)} {GONE[reasons[one] or '']}" for one in known)
        rest = [one for one in step.removed if one not in known]
        gone += f"; {named(cast, rest)} {is_or_are(rest)} gone, {reason_unknown(step)}" if rest else ""
        joined = f"; {named(cast, step.joined)} joined" if step.joined else ""
        return Sentence("target", COORDINATOR, f"Generation {after.generation}{moved}; {gone}{joined}")
    if step.removed:
        why = "" if leaves else f"; {reason_unknown(step)}"
        verb = ("leaves" if len(step.removed) == 1 else "leave") if leaves else f"{_is(step)} gone"
        joined = f"; {named(cast, step.joined)} joined" if step.joined else ""
        text = f"{named(cast, step.removed)} {verb}{why}{joined}{_generation(after, '; ')}{moved}"
        return Sentence("leave" if leaves else "remove", step.removed[0], text)
    if step.joined:
        joins = "joins" if len(step.joined) == 1 else "join"
        return Sentence(
            "join", step.joined[0], f"{named(cast, step.joined)} {joins}{_generation(after, '; ')}{moved}"
        )
    if after.known_generation is None and moved:
        return Sentence("target", COORDINATOR, f"Another assignment{moved}")
    if before.generation == after.generation:
        return None
    nothing = "" if _moved(step, cast) else ": nothing moves"
    return Sentence("target", COORDINATOR, f"Generation {after.generation}{nothing}{moved}")


def _generation(after: ClassicGroup, before: str) -> str:
    """`` generation 3`` behind ``before``; empty if it is not known."""
    return "" if after.known_generation is None else f"{before}generation {after.generation}"


def _stopped(step: Step) -> str:
    """That an eager assignor lets every member give everything up first; for how long, no record reports."""
    before, after = step.before.classic, step.after.classic
    if after.protocol_name not in EAGER or before.generation == after.generation or after.barrier is not None:
        return ""
    if not before.members.keys() & after.members.keys():
        return ""
    return f"; every member stopped for it (inferred: {after.protocol_name} is eager)"


def _is(step: Step) -> str:
    return is_or_are(step.removed)


def _moved(step: Step, cast: DisplayNames) -> str:
    gains = {change.member_id: change.gained for change in step.members if change.gained}
    taken = {key for keys in gains.values() for key in keys}
    free = {key for change in step.members for key in change.released} - taken
    if not gains:
        return f": {partitions(free)} {is_or_are(free)} unassigned" if free else ""
    if len(gains) > 3:
        total = sum(len(keys) for keys in gains.values())
        return f": {counted(total, 'partition')} to {len(gains)} members"
    return ": " + "; ".join(
        f"{cast.name(member_id)} gets {_names(step.after, keys)}" for member_id, keys in gains.items()
    )


def _names(_state: State, keys: Iterable[Key]) -> str:
    return partitions(keys)
