"""Whether what is claimed of partitions is true: times without an owner, moves, and who was waited for."""

from __future__ import annotations

from .claims import Claim
from .world import COMMIT_SLACK_MS, GOING_MS, LEAD_MS, RECORD_MS, Span, World


def is_stopped(claim: Claim, world: World, partition: str) -> bool:
    """From the last commit before a hole in the readings to the first record after it (or to the removal in it)."""
    slack_ms = world.commit_ms + COMMIT_SLACK_MS
    to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
    reads = {who for who, _ in world.readers(partition)}
    spans = [
        (span.from_ms, span.to_ms)
        for who, span in world.holes(partition)
        if not claim.clients or who in claim.clients
    ]
    if reads >= set(claim.clients):
        # While there is no broker nobody reads.
        moved = world.of("coordinator_moved")
        spans += [(each["at_ms"], each["at_ms"] + (each["duration_ms"] or 0)) for each in moved]
    return any(
        start - slack_ms <= claim.from_ms <= start + LEAD_MS and to_ms <= end + slack_ms
        for start, end in spans
    )


def no_owner(claim: Claim, world: World) -> str | None:
    """While it was unassigned no process read it: but for the moments that callback and record lie apart."""
    to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
    for partition in claim.partitions:
        for client, span in world.readers(partition):
            both = min(to_ms, span.to_ms) - max(claim.from_ms, span.from_ms)
            if both > RECORD_MS:
                return f"{client} read {partition} for {both / 1000:.1f} s of it"
        handed = any(
            span.from_ms - RECORD_MS <= to_ms and claim.from_ms <= span.to_ms + RECORD_MS
            for _, span in world.holes(partition)
        )
        begins = [span.from_ms for _, span in world.readers(partition)]
        # A partition that is new has nobody before its first reader.
        first = bool(begins) and abs(min(begins) - to_ms) <= RECORD_MS
        if not handed and not first:
            return f"{partition} was handed from nobody to nobody then"
    return None if claim.partitions else "names no partition"


def moved(claim: Claim, world: World) -> str | None:
    """The one read it before, the other begins to about then; what a client is given it may have no time to read."""
    at_ms = claim.to_ms or claim.from_ms
    if not claim.clients:
        return "names no client"
    before, after = claim.clients[0], claim.clients[-1]
    for partition in claim.partitions:
        readers = world.readers(partition)
        if not any(who == before and span.from_ms <= at_ms for who, span in readers):
            return f"{before} had not read {partition}"
        begins = any(who == after and abs(span.from_ms - at_ms) <= GOING_MS for who, span in readers)
        died = any(
            abs(each["at_ms"] - at_ms) <= GOING_MS for each in world.of("killed", "left", client=after)
        )
        if not begins and not died:
            return f"{after} did not begin to read {partition} then"
    return None


def moves(claim: Claim, world: World) -> str | None:
    """How many they were is the log's own; that all followed one client is true if nobody else came or went."""
    follows = claim.data.get("follows")
    if follows is None:
        return None
    others = {
        client
        for each in world.incident
        for client in each["clients"]
        if each["kind"] in ("joined", "rejoined", "left", "removed", "poll_overrun")
    }
    known = next((client for client in others if str(follows).split("~")[0].split(" ")[0] == client), None)
    return None if others == {known} else f"{', '.join(sorted(others))} came or went"


def waited(claim: Claim, world: World) -> str | None:
    """The holder read it when the wait began, or still had it by name; when the wait was over it read it no longer."""
    to_ms = world.end_ms if claim.to_ms is None else claim.to_ms
    for partition in claim.partitions:
        readers = world.readers(partition)
        held = any(
            who in claim.clients
            and span.from_ms <= claim.from_ms + RECORD_MS
            and span.to_ms <= to_ms + RECORD_MS
            and _next_start(readers, span, world) >= claim.from_ms - RECORD_MS
            for who, span in readers
        )
        if not held:
            return f"{', '.join(claim.clients)} did not hold {partition} then"
    return None


def _next_start(readers: list[tuple[str, Span]], after: Span, world: World) -> int:
    """When the next process began to read; the end of the recording, where none did."""
    return min((span.from_ms for _, span in readers if span.from_ms > after.from_ms), default=world.end_ms)
