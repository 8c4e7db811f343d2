"""Whether a claim is true of what was done: a rule for each kind of finding, by its structured fields.

A rule returns ``None`` where the claim holds, else what is wrong with it. A kind without a rule is an error: somebody who adds
a finder says here how it is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .claims import Claim
from .facts import Kind
from .truth_of_partitions import is_stopped, moved, moves, no_owner, waited
from .world import COMMIT_SLACK_MS, GOING_MS, JOINING_MS, LEAD_MS, RECORD_MS, World

Rule = Callable[[Claim, World], str | None]

CAUSES: Mapping[str, frozenset[str]] = {
    "session_expired": frozenset({"session_expired"}),
    "poll_overrun": frozenset({"poll_overrun"}),
    "rebalance_timeout": frozenset({"rebalance_timeout"}),
    # A client that is late to poll leaves by itself: that is true of it, and tells less.
    "left": frozenset({"left", "poll_overrun"}),
    # "Its process ended or froze" and "it was frozen or did not poll in time".
    "stopped": frozenset({"session_expired"}),
    "stalled": frozenset({"session_expired", "poll_overrun"}),
}
"""What the product says a removal looks like → what the coordinator's log or the script says of it."""

ALWAYS_TRUE = frozenset({"epochs", "commits"})
"""Counts of records: the log's own, compared with Kafka's tools elsewhere."""


OF_WORK = frozenset({"moves", "moved", "no_owner", "first_assigned", "idle_members"})
"""Kinds that are not judged of a group that is no consumer's: its tasks are in no client's callbacks."""


CHANGES: frozenset[Kind] = frozenset(
    {
        "joined",
        "rejoined",
        "left",
        "removed",
        "topic_grown",
        "topic_deleted",
        "migration",
        "group_deleted",
        "strategy_changed",
        "given",
    }
)
"""What ends a time in which a group is stable."""


def false_because(claim: Claim, world: World) -> str | None:
    """``None`` if the claim is true."""
    if claim.kind in ALWAYS_TRUE or (claim.kind in OF_WORK and world.of("group_type")):
        return None
    rule = RULES.get(claim.kind)
    return rule(claim, world) if rule is not None else f"no rule judges findings of kind {claim.kind}"


def _joined(claim: Claim, world: World) -> str | None:
    for client in claim.clients:
        came = world.near(claim.from_ms, "joined", "rejoined", client=client, after_ms=JOINING_MS)
        if came is None:
            return f"{client} did not join then"
        # In the next life of a group that was deleted everybody is new.
        first = claim.timeline > 1 or claim.data.get("again", 1) == 1
        new = came["kind"] == "joined" or claim.timeline > 1
        if first != new and came["at_ms"] >= world.all["began_ms"]:
            return f"{client} had {'' if first else 'not '}been there before"
    return None if claim.clients else "names no client"


def _formed(claim: Claim, world: World) -> str | None:
    wrong = [
        one
        for one in claim.clients
        if world.near(claim.from_ms, "joined", "rejoined", client=one, before_ms=60_000, after_ms=JOINING_MS)
        is None
    ]
    return f"{', '.join(wrong)} did not join then" if wrong else None


def _removed(claim: Claim, world: World) -> str | None:
    looks = claim.data.get("why") or claim.data.get("looks_like")
    for client in claim.clients:
        gone = [
            each
            for kind in ("removed", "left", "group_deleted")
            for each in world.of(kind, client=client if kind != "group_deleted" else None)
            if -LEAD_MS <= claim.from_ms - each["at_ms"] <= GOING_MS
        ]
        if not gone:
            return f"{client} was not removed then"
        causes = {each.get("cause") or "left" for each in gone}
        if looks is not None and not causes & CAUSES.get(looks, frozenset()):
            return f"{client} went otherwise: {', '.join(sorted(causes))}"
    return None if claim.clients else "names no client"


def _silent(claim: Claim, world: World) -> str | None:
    for partition in claim.partitions:
        held = [
            each
            for each in world.of("transactions_aborted", "transaction_open")
            if partition in each["partitions"] and claim.from_ms <= each["at_ms"] + RECORD_MS
        ]
        # Whoever gets a partition whose offset a transaction holds waits, and reads nothing.
        waits = claim.kind == "stopped" and any(
            (claim.to_ms or world.end_ms) >= each["at_ms"] for each in held
        )
        if not waits and not is_stopped(claim, world, partition):
            return f"{partition} was read"
    return None if claim.partitions else "names no partition"


def _group_stopped(claim: Claim, world: World) -> str | None:
    """It begins when the last of its members stopped: each partition has a hole then, which lasts as long."""
    slack_ms = world.commit_ms + COMMIT_SLACK_MS
    to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
    for partition in claim.partitions:
        if not any(
            hole.from_ms - slack_ms <= claim.from_ms < hole.to_ms and to_ms <= hole.to_ms + slack_ms
            for _, hole in world.holes(partition)
        ):
            return f"{partition} was read"
    return None if claim.partitions else "names no partition"


def _happened(*kinds: Kind, after_ms: int = RECORD_MS) -> Rule:
    """A fact of one of these kinds, of the claim's client where it names one, when the claim says."""

    def rule(claim: Claim, world: World) -> str | None:
        for each in world.of(*kinds):
            to_ms = each["at_ms"] + (each["duration_ms"] or 0)
            named = not claim.clients or not each["clients"] or set(claim.clients) & set(each["clients"])
            if named and each["at_ms"] - LEAD_MS <= claim.from_ms <= to_ms + after_ms:
                return None
        return f"no {' or '.join(kinds)} then"

    return rule


def _counted(kind: Kind) -> Rule:
    """As often as it happened to that client, after the group had formed."""

    def rule(claim: Claim, world: World) -> str | None:
        for client in claim.clients:
            times = len(
                [each for each in world.of(kind, client=client) if each["at_ms"] >= world.all["began_ms"]]
            )
            if claim.data["count"] != times:
                return f"{client}: {times} times, not {claim.data['count']}"
        return None if claim.clients else "names no client"

    return rule


def _crash_loop(claim: Claim, world: World) -> str | None:
    return _counted("killed")(claim, world) and _counted("left")(claim, world)


def _left_and_back(claim: Claim, world: World) -> str | None:
    return _counted("poll_overrun")(claim, world) and _counted("frozen")(claim, world)


def _flapping(claim: Claim, world: World) -> str | None:
    for partition in claim.partitions:
        readers = world.changes(partition)
        back = sum(who in readers[:at] for at, who in enumerate(readers))
        if back < 2:
            return f"{partition} went {' → '.join(readers)}"
    return None if claim.partitions else "names no partition"


def _storm(claim: Claim, world: World) -> str | None:
    to_ms = claim.to_ms or claim.from_ms
    within = [
        each for each in world.incident if claim.from_ms - GOING_MS <= each["at_ms"] <= to_ms + RECORD_MS
    ]
    acts = [each for each in within if each["kind"] in ("killed", "left", "frozen", "poll_overrun")]
    often = [one for one in claim.clients if sum(one in each["clients"] for each in acts) > 1]
    return (
        None if often or (not claim.clients and len(acts) > 2) else "no client came and went more than once"
    )


def _rolling(claim: Claim, world: World) -> str | None:
    for client in claim.clients:
        ends = [span.to_ms for span in world.processes(client)]
        starts = [span.from_ms for span in world.processes(client)]
        inside = any(claim.from_ms - GOING_MS <= end <= (claim.to_ms or world.end_ms) for end in ends)
        if not inside or len(starts) < 2:
            return f"{client} was not restarted then"
    return None if len(claim.clients) > 1 else "names fewer than two clients"


def _idle(claim: Claim, world: World) -> str | None:
    for client in claim.clients:
        for partition in world.all["readings"]:
            until_ms = world.end_ms if claim.to_ms is None else claim.to_ms - RECORD_MS
            if any(
                who == client and span.to_ms > claim.from_ms + RECORD_MS and span.from_ms < until_ms
                for who, span in world.readers(partition)
            ):
                return f"{client} read {partition}"
    return None if claim.clients else "names no client"


def _migrated(claim: Claim, world: World) -> str | None:
    for each in world.of("migration"):
        if (
            each.get("detail") == claim.data.get("to")
            and -LEAD_MS - RECORD_MS <= claim.from_ms - each["at_ms"] <= JOINING_MS
        ):
            return None
    return f"no migration to {claim.data.get('to')} then"


def _stable(claim: Claim, world: World) -> str | None:
    """No member and no topic came or went in that time; with ``throughout`` nothing at all was done to the group."""
    to_ms = claim.to_ms or world.end_ms
    # Of a group that was made again: of its second life.
    since_ms = (
        max((each["at_ms"] + 1 for each in world.of("group_deleted")), default=0) if claim.timeline > 1 else 0
    )
    for each in world.incident:
        inside = claim.from_ms + RECORD_MS < each["at_ms"] < to_ms and each["kind"] in CHANGES
        ever = (
            claim.data.get("throughout")
            and each["tellable"]
            and each["at_ms"] >= since_ms
            and each["kind"] not in ("quiet", "quiet_since", "idle_member")
            and not (claim.timeline > 1 and each["kind"] == "rejoined")
        )
        if inside or ever:
            return f"{each['sentence']}"
    return None


def _midway(claim: Claim, world: World) -> str | None:
    return None if world.of("compacted") else "the log begins with the group"


def _emptied(claim: Claim, world: World) -> str | None:
    return (
        None
        if all(each["ended_ms"] is not None for each in world.all["processes"]) or _nobody_read(claim, world)
        else _while_reborn(claim, world)
    )


def _nobody_read(claim: Claim, world: World) -> bool:
    """Whether no client had a partition in all of that time, which has an end."""
    return claim.to_ms is not None and not any(
        span.from_ms < claim.to_ms - RECORD_MS and span.to_ms > claim.from_ms + RECORD_MS
        for partition in world.all["readings"]
        for _, span in world.readers(partition)
    )


def _while_reborn(claim: Claim, world: World) -> str | None:
    """The first of several timelines ends empty."""
    return None if world.of("group_deleted") and claim.timeline == 1 else "clients were members at the end"


def _replaced(claim: Claim, world: World) -> str | None:
    return _happened("rejoined", "joined", "twin_instance", after_ms=JOINING_MS)(claim, world)


def _eager(claim: Claim, world: World) -> str | None:
    causes: tuple[Kind, ...] = (
        "eager_rebalance",
        "left",
        "joined",
        "rejoined",
        "removed",
        "topic_grown",
        "topic_created",
        "given",
    )
    known = [each["at_ms"] for each in world.of(*causes)]
    if world.all["protocol"] == "consumer":
        return "the group is none of the classic protocol"
    for at_ms in claim.steps_ms:
        if not any(-LEAD_MS <= at_ms - one <= 2 * GOING_MS for one in known):
            return "nobody came or went then"
    return None


def _matched(claim: Claim, world: World) -> str | None:
    """The group's expression matches every topic of the incident, once it is there."""
    made = {each.get("detail"): each["at_ms"] for each in world.of("topic_created")}
    known = {partition.rpartition("-")[0] for partition in world.all["readings"]} | made.keys()
    for topic in claim.data["topics"]:
        if topic not in known:
            return f"there is no topic {topic}"
        if claim.from_ms < made.get(topic, 0) - LEAD_MS:
            return f"{topic} was made later"
    return None


def _gap(claim: Claim, world: World) -> str | None:
    return None if world.of("compacted") else "the whole log is there"


def _always_false(claim: Claim, world: World) -> str | None:
    return "the broker wrote no such log"


def _expired(claim: Claim, world: World) -> str | None:
    """Each removal that it counts is one of these clients', and the coordinator's log says that a session expired."""
    gone = [
        each
        for client in claim.clients
        for each in world.of("removed", client=client)
        if each.get("cause") == "session_expired"
    ]
    for at_ms in claim.steps_ms:
        if not any(-LEAD_MS <= at_ms - each["at_ms"] <= GOING_MS for each in gone):
            return "no session of these clients expired then"
    named = {client for each in gone for client in each["clients"]}
    missing = [client for client in claim.clients if client not in named]
    return f"{', '.join(missing)} was not removed so" if missing else None


def _group_type(claim: Claim, world: World) -> str | None:
    types = [each.get("detail") for each in world.of("group_type")]
    return None if claim.data["protocol_type"] in types else f"its protocol type is {types or 'consumer'}"


def _led(claim: Claim, world: World) -> str | None:
    """The coordinator took its assignment, and no other's, when the leader was looked at next."""
    later = [each for each in world.of("leader") if each["at_ms"] >= claim.from_ms - LEAD_MS]
    return None if later and set(claim.clients) <= set(later[0]["clients"]) else "another one led"


def _first_assigned(claim: Claim, world: World) -> str | None:
    for partition in claim.partitions:
        topic = partition.rpartition("-")[0]
        made_ms = max(
            (each["at_ms"] for each in world.of("topic_created") if each.get("detail") == topic), default=0
        )
        since = [(who, span) for who, span in world.readers(partition) if span.from_ms >= made_ms]
        client, span = next(iter(since), ("nobody", None))
        if client not in claim.clients or span is None or abs(span.from_ms - claim.from_ms) > 2 * RECORD_MS:
            return f"{partition} was read first by {client}"
    return None if claim.partitions else "names no partition"


def _churned(claim: Claim, world: World) -> str | None:
    """Who is named was removed and came back, or changed hands."""
    if not claim.clients:
        return "names no client"
    return _happened("removed", "left", "twin_instance")(claim, world) and _expired(claim, world)


RULES: Mapping[str, Rule] = {
    "midway": _midway,
    "began": lambda claim, world: None if world.of("compacted") else "the log begins with the group",
    "formed": _formed,
    "joined": _joined,
    "removed": _removed,
    "replaced": _replaced,
    "silent": _silent,
    "away": _silent,
    "stopped": _silent,
    "group_stopped": _group_stopped,
    "no_owner": no_owner,
    "moved": moved,
    "moves": moves,
    "waited_for": waited,
    "crash_loop": _crash_loop,
    "left_and_back": _left_and_back,
    "flapping": _flapping,
    "storm": _storm,
    "session_expiry": _expired,
    "poll_interval_exceeded": _counted("poll_overrun"),
    "slow_revocation": _happened("revocation_slow"),
    "static_churn": _churned,
    "two_round_cooperative": _eager,
    "rolling_restart": _rolling,
    "twin_instance": _happened("twin_instance"),
    "idle_members": _idle,
    "migrated": _migrated,
    "coordinator_moved": _happened("coordinator_moved", after_ms=4 * RECORD_MS),
    "partitions_added": _happened("topic_grown", "topic_created"),
    "topics_deleted": _happened("topic_deleted"),
    "topics_remade": _happened("topic_created"),
    "eager_rebalance": _eager,
    "stable": _stable,
    "matched": _matched,
    "gap": _gap,
    "emptied": _emptied,
    "deleted": _happened("group_deleted"),
    "offsets_deleted": _happened("topic_deleted", "group_deleted", after_ms=4 * RECORD_MS),
    "offset_back": _always_false,
    "offsets_set": _happened("offsets_set", after_ms=RECORD_MS),
    "two_writers": _always_false,
    "unowned_commits": _always_false,
    "open_transaction": _happened("transaction_open"),
    "aborted_transactions": _happened("transactions_aborted"),
    "strategy_changed": _happened("strategy_changed", after_ms=GOING_MS),
    "group_type": _group_type,
    "leader_changed": _led,
    "first_assigned": _first_assigned,
    "passed_over": _happened("silent_partition"),
    "two_owners": _always_false,
    "release_missing": _gap,
    "causeless_rebalances": _always_false,
    "short_rebalance_timeout": lambda claim, world: _removed(claim, world) and _always_false(claim, world),
    "anomaly": _always_false,
    "violation": _always_false,
    "two_clients": _always_false,
}
"""Kind of finding → how it is judged."""
