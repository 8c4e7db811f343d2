"""Phrases that several sentences of a verdict have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from groups.history.findings.kinds import ByKind, NoOwner, Unread
from groups.history.verdict.text import Part
from groups.history.words import duration, listed_partitions, was_or_were

UNASSIGNED_LEAST_MS: Final = 2_000
"""A hand-over from one member to the next takes up to a heartbeat; a shorter interval is only in the sums."""


TWO_ROUNDS_MOST_MS: Final = 10_000
"""Between the two rounds of a cooperative rebalance lie a heartbeat and a join phase; a longer interval is news."""


def is_hand_over(one: NoOwner, by_kind: ByKind) -> bool:
    """Whether a partition was unassigned between two owners for no longer than its protocol takes for that."""
    second = {step for each in by_kind.get("two_round_cooperative", ()) for step in each["steps"]}
    most_ms = TWO_ROUNDS_MOST_MS if one["sequences"][-1] in second else UNASSIGNED_LEAST_MS
    return one["forming"] or one["length_ms"] < most_ms


def unassigned_words(free: Sequence[NoOwner]) -> str:
    """``foo-1 and foo-2 were unassigned for 0.8 s``, of intervals of one length."""
    names = sorted({one["partition"] for one in free})
    what = listed_partitions(names, free[0]["noun"])
    return f"{what} {was_or_were(names)} unassigned for {duration(free[0]['length_ms'])}"


def unread_of(faults: Collection[int | None], by_kind: ByKind) -> list[Unread]:
    """The ``unread`` findings of faults, by the entries of these."""
    return [one for one in by_kind.get("unread", ()) if one["sequences"][0] in faults]


def unread_parts(unread: Sequence[Unread]) -> tuple[list[Part], int]:
    """``; nobody read foo-0 and -1 for up to 10.7 s``, and how long that was; nothing of none."""
    if not unread:
        return [], 0
    longest = max(unread, key=lambda one: one["length_ms"])
    names = sorted({one["partition"] for one in unread})
    up_to = "up to " if len({duration(one["length_ms"]) for one in unread}) > 1 else ""
    to_the_end = " up to the end" if longest["open"] else ""
    text = f"nobody read {listed_partitions(names)} for {up_to}{duration(longest['length_ms'])}{to_the_end}"
    steps = [one["sequences"][0] for one in unread]
    return [Part("; "), Part(text, longest["sequences"][0], steps)], longest["length_ms"]


def looping_names(by_kind: ByKind) -> set[str]:
    """Who comes and goes again and again."""
    return {one["name"] for one in (*by_kind.get("crash_loop", ()), *by_kind.get("left_and_back", ()))}


def small(text: str) -> str:
    """A finding's sentence as a clause: Kafka's names keep their letters."""
    return text[0].lower() + text[1:] if text.startswith(("The ", "Rebalance storm")) else text
