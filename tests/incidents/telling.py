"""Whether a fact is told: a rule for each kind of fact finds the claim that tells it, by structured fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .claims import Claim, Said
from .facts import Fact, Kind
from .truth import CAUSES
from .world import COMMIT_SLACK_MS, GOING_MS, JOINING_MS, LEAD_MS, RECORD_MS, World

Finder = Callable[[Fact, Said, World], Claim | None]


def told_by(fact: Fact, said: Said, world: World) -> Claim | None:
    """The claim that tells the fact, or ``None``. Every kind of fact has a rule."""
    return FINDERS[fact["kind"]](fact, said, world)


def _of(said: Said, *kinds: str) -> Iterable[Claim]:
    return (each for each in said.claims if each.kind in kinds)


def _then(claim: Claim, fact: Fact, *, after_ms: int = RECORD_MS) -> bool:
    """A record comes after what it tells."""
    return -LEAD_MS <= claim.from_ms - fact["at_ms"] <= after_ms


def _covers(claim: Claim, fact: Fact, world: World, *, slack_ms: int = RECORD_MS) -> bool:
    to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
    return claim.from_ms - slack_ms <= fact["at_ms"] <= to_ms + slack_ms


def _names(claim: Claim, fact: Fact) -> bool:
    return set(fact["clients"]) <= set(claim.clients)


def _joined(fact: Fact, said: Said, world: World) -> Claim | None:
    again = fact["kind"] == "rejoined"
    for claim in _of(said, "joined", "replaced"):
        # In the next life of a group that was deleted everybody is new.
        knows = claim.kind == "replaced" or claim.timeline > 1 or not again or claim.data.get("again", 1) > 1
        if _names(claim, fact) and knows and _then(claim, fact, after_ms=JOINING_MS):
            return claim
    return None


def _left(fact: Fact, said: Said, world: World) -> Claim | None:
    """That it left, not only that it is gone; of a static member, that it was away."""
    for claim in _of(said, "removed"):
        looks = claim.data.get("why") or claim.data.get("looks_like")
        if _names(claim, fact) and looks == "left" and _then(claim, fact, after_ms=GOING_MS):
            return claim
    seats = {each["client_id"] for each in world.all["processes"] if each["instance_id"] is not None}
    for claim in _of(said, "silent", "replaced", "away"):
        if (
            set(fact["clients"]) <= seats
            and _names(claim, fact)
            and _covers(claim, fact, world, slack_ms=GOING_MS)
        ):
            return claim
    return None


def _gone(fact: Fact, said: Said, world: World) -> Claim | None:
    """That it was removed, for whatever reason."""
    gone = (
        each for each in _of(said, "removed") if _names(each, fact) and _then(each, fact, after_ms=GOING_MS)
    )
    return next(gone, None)


def _removed(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "removed"):
        looks = claim.data.get("why") or claim.data.get("looks_like")
        right = looks not in (None, "left") and fact.get("cause") in CAUSES.get(looks, frozenset())
        if _names(claim, fact) and right and _then(claim, fact, after_ms=GOING_MS):
            return claim
    return None


def _silent(fact: Fact, said: Said, world: World) -> Claim | None:
    """By its member, with its partitions; from its last commit, to its removal or the next commit."""
    end_ms = fact["at_ms"] + (fact["duration_ms"] or 0)
    slack_ms = world.commit_ms + COMMIT_SLACK_MS
    for claim in _of(said, "silent", "away"):
        to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
        begins = -slack_ms <= claim.from_ms - fact["at_ms"] <= LEAD_MS
        if _names(claim, fact) and begins and abs(to_ms - end_ms) <= slack_ms and _has(claim, fact):
            return claim
    return None


def _has(claim: Claim, fact: Fact) -> bool:
    return set(fact["partitions"]) <= set(claim.partitions)


def _unassigned(fact: Fact, said: Said, world: World) -> Claim | None:
    """Each of its partitions, for about as long."""
    first = None
    for partition in fact["partitions"]:
        claim = next(
            (
                each
                for each in _of(said, "no_owner")
                if partition in each.partitions
                and abs(each.from_ms - fact["at_ms"]) <= RECORD_MS
                and abs((each.data.get("length_ms") or 0) - (fact["duration_ms"] or 0)) <= RECORD_MS
            ),
            None,
        )
        if claim is None:
            return None
        first = first or claim
    return first


def _slow_revocation(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "waited_for", "slow_revocation"):
        length_ms = claim.data.get("length_ms") or 0
        near = abs(length_ms - (fact["duration_ms"] or 0)) <= RECORD_MS
        if _names(claim, fact) and near and _has(claim, fact) and _covers(claim, fact, world):
            return claim
    return None


def _overrun(fact: Fact, said: Said, world: World) -> Claim | None:
    until_ms = fact["at_ms"] + (fact["duration_ms"] or 0)
    for claim in _of(said, "removed", "left_and_back"):
        looks = claim.data.get("why") or claim.data.get("looks_like")
        near = any(
            fact["at_ms"] <= at_ms <= until_ms + RECORD_MS for at_ms in (*claim.steps_ms, claim.from_ms)
        )
        if _names(claim, fact) and looks in ("poll_overrun", "stalled") and near:
            return claim
    return None


def _whole(*kinds: str, count: bool = False) -> Finder:
    """A claim of the kind that names the fact's clients and partitions, within its time; as often, where ``count``."""

    def find(fact: Fact, said: Said, world: World) -> Claim | None:
        until_ms = fact["at_ms"] + (fact["duration_ms"] or 0)
        for claim in _of(said, *kinds):
            to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
            meets = claim.from_ms <= until_ms + 2 * GOING_MS and to_ms >= fact["at_ms"] - LEAD_MS
            often = not count or claim.data["count"] == fact.get("times")
            if meets and often and _names(claim, fact) and _has(claim, fact):
                return claim
        return None

    return find


def _flapping(fact: Fact, said: Said, world: World) -> Claim | None:
    """By its partitions where the fact has some; else by those who came and went."""
    if fact["partitions"]:
        return next((each for each in _of(said, "flapping") if _has(each, fact)), None)
    return next(
        (each for each in _of(said, "flapping", "storm") if each.clients and _names(each, fact)), None
    )


def _scaled(fact: Fact, said: Said, world: World) -> Claim | None:
    """Each of the new clients is told to have joined."""
    joined = [each for each in _of(said, "joined") if set(each.clients) & set(fact["clients"])]
    everyone = {client for each in joined for client in each.clients} >= set(fact["clients"])
    return joined[0] if joined and everyone else None


def _idle(fact: Fact, said: Said, world: World) -> Claim | None:
    """That it was idle at that time."""
    for claim in _of(said, "idle_members"):
        until_ms = world.end_ms if claim.to_ms is None else claim.to_ms
        if _names(claim, fact) and until_ms >= fact["at_ms"]:
            return claim
    return None


def _strategy(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "strategy_changed"):
        if claim.data["after"] == fact.get("detail") and _then(claim, fact, after_ms=GOING_MS):
            return claim
    return None


def _rounds(fact: Fact, said: Said, world: World) -> Claim | None:
    """Each round, of all these clients."""
    rounds = [each for each in _of(said, "rolling_restart") if each.data["rounds"] == fact.get("times")]
    until_ms = fact["at_ms"] + (fact["duration_ms"] or 0) + GOING_MS
    whole = [
        each for each in rounds if _names(each, fact) and fact["at_ms"] - LEAD_MS <= each.from_ms <= until_ms
    ]
    return (
        whole[0]
        if {each.data["round"] for each in whole} == {*range(1, (fact.get("times") or 0) + 1)}
        else None
    )


def _given(fact: Fact, said: Said, world: World) -> Claim | None:
    """By one claim, or by a move of each of the partitions to that client."""
    for claim in _of(said, "first_assigned"):
        if _names(claim, fact) and _has(claim, fact) and abs(claim.from_ms - fact["at_ms"]) <= RECORD_MS:
            return claim
    moves = [
        each
        for each in _of(said, "moved")
        if each.clients[-1:] == tuple(fact["clients"]) and abs(each.from_ms - fact["at_ms"]) <= RECORD_MS
    ]
    there = {partition for each in moves for partition in each.partitions}
    return moves[0] if moves and set(fact["partitions"]) <= there else None


def _leader(fact: Fact, said: Said, world: World) -> Claim | None:
    """Who led last by then."""
    led = [
        each for each in _of(said, "group_type", "leader_changed") if each.from_ms <= fact["at_ms"] + LEAD_MS
    ]
    last = max(led, key=lambda each: each.from_ms, default=None)
    return last if last is not None and _names(last, fact) else None


def _group_type(fact: Fact, said: Said, world: World) -> Claim | None:
    types = [each for each in _of(said, "group_type") if each.data["protocol_type"] == fact.get("detail")]
    return types[0] if types else None


def _of_partitions(*kinds: str) -> Finder:
    """A claim of the kind that has the fact's partitions, within its time, of as many and of the same producer as the fact tells."""

    def find(fact: Fact, said: Said, world: World) -> Claim | None:
        until_ms = fact["at_ms"] + (fact["duration_ms"] or 0)
        for claim in _of(said, *kinds):
            to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
            meets = claim.from_ms <= until_ms + RECORD_MS and to_ms >= fact["at_ms"] - COMMIT_SLACK_MS
            often = fact.get("times") in (None, claim.data.get("count"))
            same = claim.data.get("producer") is None or fact.get("detail") in (
                None,
                str(claim.data["producer"]),
            )
            if (
                meets
                and often
                and same
                and _has(claim, fact)
                and set(claim.clients) <= set(fact["clients"] or claim.clients)
            ):
                return claim
        return None

    return find


def _quiet_since(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "stable"):
        if (
            claim.from_ms <= fact["at_ms"] + RECORD_MS
            and (claim.to_ms or world.end_ms) >= world.end_ms - 2 * RECORD_MS
        ):
            return claim
    return None


def _topic(*kinds: str) -> Finder:
    def find(fact: Fact, said: Said, world: World) -> Claim | None:
        for claim in _of(said, *kinds):
            topics = {claim.data.get("topic"), *(claim.data.get("topics") or ())}
            if fact.get("detail") in topics and _then(claim, fact, after_ms=4 * GOING_MS):
                return claim
        return None

    return find


def _moved(fact: Fact, said: Said, world: World) -> Claim | None:
    """The first record under the new coordinator comes when it has loaded and somebody writes."""
    after_ms = (fact["duration_ms"] or 0) + GOING_MS
    return next(
        (each for each in _of(said, "coordinator_moved") if _then(each, fact, after_ms=after_ms)), None
    )


def _migrated(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "migrated"):
        near = -LEAD_MS - RECORD_MS <= claim.from_ms - fact["at_ms"] <= JOINING_MS
        if claim.data.get("to") == fact.get("detail") and near:
            return claim
    return None


def _eager(fact: Fact, said: Said, world: World) -> Claim | None:
    for claim in _of(said, "eager_rebalance"):
        if any(-LEAD_MS <= at_ms - fact["at_ms"] <= GOING_MS for at_ms in claim.steps_ms):
            return claim
    return None


def _compacted(fact: Fact, said: Said, world: World) -> Claim | None:
    """With how many offsets are gone."""
    for claim in _of(said, "gap", "compacted"):
        if fact.get("times") in (
            claim.data.get("gone"),
            claim.data.get("offsets"),
            claim.data.get("missing"),
        ):
            return claim
    return None


def _emptied(fact: Fact, said: Said, world: World) -> Claim | None:
    return next((each for each in _of(said, "emptied") if _then(each, fact)), None)


def _deleted(fact: Fact, said: Said, world: World) -> Claim | None:
    return next((each for each in _of(said, "deleted") if _then(each, fact)), None)


def _quiet(fact: Fact, said: Said, world: World) -> Claim | None:
    """For all of that time, but for the last commits."""
    for claim in _of(said, "stable"):
        long_enough = (claim.data.get("length_ms") or 0) >= (fact["duration_ms"] or 0) * 0.95
        if claim.data.get("throughout") and long_enough:
            return claim
    return None


def _never(fact: Fact, said: Said, world: World) -> Claim | None:
    return None


FINDERS: Mapping[Kind, Finder] = {
    "joined": _joined,
    "rejoined": _joined,
    "left": _left,
    "removed": _removed,
    "silent": _silent,
    "unassigned": _unassigned,
    "emptied": _emptied,
    "revocation_slow": _slow_revocation,
    "poll_overrun": _overrun,
    "rolling_deploy": _whole("rolling_restart", count=True),
    "crash_loop": _whole("crash_loop", count=True),
    "flapping": _flapping,
    "scaled": _scaled,
    "idle_member": _idle,
    "twin_instance": _whole("twin_instance"),
    "topic_created": _topic("matched", "topics_remade", "partitions_added", "first_assigned"),
    "topic_grown": _topic("partitions_added"),
    "topic_deleted": _topic("topics_deleted"),
    "coordinator_moved": _moved,
    "migration": _migrated,
    "eager_rebalance": _eager,
    "compacted": _compacted,
    "group_deleted": _deleted,
    "quiet": _quiet,
    "quiet_since": _quiet_since,
    "strategy_changed": _strategy,
    "rolled_in_rounds": _rounds,
    "given": _given,
    "group_type": _group_type,
    "leader": _leader,
    "gone": _gone,
    "transactions_aborted": _of_partitions("aborted_transactions"),
    "transaction_open": _of_partitions("open_transaction"),
    "offsets_set": _of_partitions("offsets_set"),
    "silent_partition": _of_partitions("passed_over"),
    # What was done to a process is told by what followed: its silence and its removal.
    "killed": _never,
    "frozen": _never,
    "paused": _never,
}
"""Kind of fact → how the claim is found that tells it."""
