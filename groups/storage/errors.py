"""What storage refuses. Each message is one line that a person may read as it is."""

from __future__ import annotations

from groups.jobs.serving import RUNS, why_not_served


class StorageError(Exception):
    """The base of all of them."""


class NoSuchTimeline(StorageError):
    def __init__(self, timeline_id: str) -> None:
        super().__init__(
            f"There is no timeline {timeline_id!r}. `manage.py timeline list` shows what is stored."
        )


class LeaseLost(StorageError):
    """Another writer has the timeline, or it was cancelled, ended or deleted: stop, and store nothing more."""


class SequenceGap(StorageError):
    """A batch does not follow on what is stored."""

    def __init__(self, timeline_id: str, *, expected: int, first: int) -> None:
        super().__init__(
            f"Timeline {timeline_id}: the next entry must be {expected}, but the batch begins with {first}."
        )


class NotReady(StorageError):
    """What the fold made of the timeline is of another version: an older one's is being made again."""

    def __init__(self, timeline_id: str, *, is_newer: bool = False) -> None:
        super().__init__(
            f"Timeline {timeline_id} was prepared by a newer version of Rebalance Explorer: update this server, and start it again."
            if is_newer
            else f"Timeline {timeline_id} is being prepared for this version; "
            f"{why_not_served(RUNS) or 'it is ready in a moment.'}"
        )


class BadName(StorageError):
    """A topic name that cannot be taken."""


class CannotOpen(StorageError):
    """A stored log cannot be read: its files are gone or damaged."""
