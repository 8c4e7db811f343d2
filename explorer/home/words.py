"""Words of the first page and of the help page."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


def ago(age: timedelta) -> str:
    """How long ago, as one says it."""
    if age < MINUTE:
        return "just now"
    if age < HOUR:
        return f"{age // MINUTE} min ago"
    if age < DAY:
        return f"{age // HOUR} h ago"
    return "yesterday" if age < 2 * DAY else f"{age // DAY} days ago"


GLOSSARY: Final[tuple[tuple[str, str], ...]] = (
    ("Group epoch", "A number that grows with every change of the group's members, subscriptions or topics."),
    ("Target assignment", "What every member should own. It is worked out anew for a new group epoch."),
    ("Assignment epoch", "The group epoch that the target assignment was worked out for."),
    (
        "Member epoch",
        "The epoch that a member has reached. Behind the group epoch it has not been told, or has not let go yet.",
    ),
    ("Current assignment", "What a member owns now, by what the coordinator knows."),
    (
        "Pending revocation",
        "Partitions that a member has been told to give up and has not acknowledged. It stays at its old epoch until then.",
    ),
    (
        "No owner",
        "Nobody owns the partition in the coordinator's view. A released partition is free until its new owner's heartbeat.",
    ),
    ("Generation", "The classic protocol's epoch: it grows with every rebalance, for all members at once."),
    (
        "Share group",
        "Several members may read one partition at a time, so a partition has readers and no owner.",
    ),
    (
        "Streams group, task",
        "A Kafka Streams application. Its members hold tasks: 0_2 is partition 2 of subtopology 0. Standby and "
        "warm-up tasks are copies, named at the end of a lane.",
    ),
    ("Session timeout", "Without a heartbeat for this long, a member is removed."),
    ("Rebalance timeout", "A member that has not given up its partitions within this time is removed."),
    ("Instance id", "A name that a static member keeps over restarts, so that its partitions wait for it."),
    (
        "Step",
        "What one request changed, as a whole. The states in between never existed, so nothing rests there.",
    ),
    ("Gap", "Something is missing in the log. What happened there is not known and is not invented."),
)
