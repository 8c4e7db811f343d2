"""Which release wrote a group's records, as far as they show it: what only one release writes, and from where on in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from groups.releases.release import EARLIER, Release
from groups.releases.table import Version, version_of

GROUP_EPOCH: Final = 3
PARTITION_METADATA: Final = 4
MEMBER: Final = 5
TARGET_EPOCH: Final = 6

EMPTIED_WITH: Final = "when a group emptied, its target epoch followed (a type 6 without a time)"
EMPTIED_WITHOUT: Final = "when a group emptied, its target epoch stayed behind (no type 6)"
TIMED_TARGET: Final = "targets have a time (type 6)"
OLD_METADATA: Final = "the topics' partitions are written down (type 4)"
TRANSACTION_FIELD: Final = "a TxnOffsetCommit in the request log has the field generationIdOrMemberEpoch"
TRANSACTION_OLD_FIELD: Final = "a TxnOffsetCommit in the request log has the field generationId"
NEW_VERSION: Final = "the request log has a version of an API that only later releases have"

NEWEST_APIS: Final = (
    (28, 6, "4.4", "TxnOffsetCommit 6"),
    (8, 10, "4.2", "OffsetCommit 10"),
    (76, 1, "4.1", "ShareGroupHeartbeat 1"),
    (68, 1, "4.0", "ConsumerGroupHeartbeat 1"),
)
"""By API key and version, the first release that offers it, the newest first: what ApiVersions shows of a broker's release.

4.2 and 4.3 offer the same. The finalized ``metadata.version`` is no sign: it stays behind while brokers are rolled.
"""

_SINCE: Final[Mapping[str, str]] = {
    EMPTIED_WITH: "4.4",
    TIMED_TARGET: "4.3",
    TRANSACTION_FIELD: "4.4",
    NEW_VERSION: "4.4",
}
"""By what is seen, the first release that does it."""

_BEFORE: Final[Mapping[str, str]] = {
    EMPTIED_WITHOUT: "4.4",
    OLD_METADATA: "4.1",
    TRANSACTION_OLD_FIELD: "4.4",
}
"""By what is seen, the first release that does not do it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """``since`` is the least release that it can be, ``before`` the least that it cannot; ``why`` by what is seen, ``None`` for unknown."""

    since: str | None = None
    before: str | None = None
    since_why: str | None = None
    before_why: str | None = None

    @property
    def contradict(self) -> bool:
        """Two releases wrote it."""
        return (
            self.since is not None
            and self.before is not None
            and version_of(self.before) <= version_of(self.since)
        )

    @property
    def release(self) -> Release | None:
        """The one simulated release that it can be; ``None`` if nothing shows one, or two are shown."""
        return self.candidates[0] if len(self.candidates) == 1 else None

    @property
    def candidates(self) -> tuple[Release, ...]:
        """The simulated releases that it can be, of each minor the newest patch, the oldest first; none if two are shown."""
        if self.contradict:
            return ()
        able = [each for each in Release if each.rules.consumer_protocol and self._may_be(version_of(each))]
        return tuple({version_of(each)[:2]: each for each in sorted(able, key=version_of)}.values())

    @property
    def reason(self) -> str:
        """``4.4 or later: …``; what is known, in words."""
        if self.contradict:
            return f"records of two releases: {self.since} or later, as {self.since_why}; older than {self.before}, as {self.before_why}"
        known = [f"{self.since} or later, as {self.since_why}"] if self.since is not None else []
        if self.before is not None:
            known.append(f"older than {self.before}, as {self.before_why}")
        return "; ".join(known) or "the release cannot be known from it"

    @property
    def named(self) -> str:
        """``4.2 or 4.3``, ``4.4 or later``, ``older than 4.0``: the releases that it can be."""
        if self.since is None:
            return f"older than {self.before}" if self.before is not None else "any release"
        if self.before is None:
            return f"{self.since} or later"
        major, minor = version_of(self.before)
        last = f"{major}.{minor - 1}"
        return self.since if self.since == last else f"{self.since} to {last}"

    def _may_be(self, version: Version) -> bool:
        return (self.since is None or version_of(self.since) <= version) and (
            self.before is None or version < version_of(self.before)
        )

    def with_seen(self, what: str) -> Bounds:
        """The bounds after something was seen that only some releases do."""
        since, before = _SINCE.get(what), _BEFORE.get(what)
        if since is not None and (self.since is None or version_of(self.since) < version_of(since)):
            return Bounds(since=since, since_why=what, before=self.before, before_why=self.before_why)
        if before is not None and (self.before is None or version_of(before) < version_of(self.before)):
            return Bounds(since=self.since, since_why=self.since_why, before=before, before_why=what)
        return self


@dataclass(slots=True)
class RecordEvidence:
    """``record`` takes the records of one group in the order of its log; ``bounds`` is what they show so far.

    A group empties when a group epoch with the hash 0 follows the tombstone of a member while the log has no other.
    """

    bounds: Bounds = field(default_factory=Bounds)
    _members: set[str] = field(default_factory=set)
    _removed: bool = False
    _emptied: bool = False
    """The last record ended with an empty group: the next one shows whether the target follows."""

    def record(
        self, record_type: int, key: Mapping[str, object], value: Mapping[str, object] | None
    ) -> str | None:
        """What this record shows of the release, if anything."""
        seen = self._after_emptied(record_type, value)
        if record_type == MEMBER:
            who = str(key.get("memberId"))
            self._removed = value is None and who in self._members
            (self._members.discard if value is None else self._members.add)(who)
        elif record_type == GROUP_EPOCH and value is not None:
            self._emptied = self._removed and not self._members and not value.get("metadataHash")
            self._removed = False
        elif record_type == PARTITION_METADATA and value is not None:
            seen = OLD_METADATA
        elif record_type == TARGET_EPOCH and value is not None and value.get("assignmentTimestamp"):
            seen = TIMED_TARGET
        if seen is not None:
            self.bounds = self.bounds.with_seen(seen)
        return seen

    def end(self) -> Bounds:
        """The log is over, or read up to here."""
        if self._emptied:
            self._emptied = False
            self.bounds = self.bounds.with_seen(EMPTIED_WITHOUT)
        return self.bounds

    def _after_emptied(self, record_type: int, value: Mapping[str, object] | None) -> str | None:
        if not self._emptied:
            return None
        self._emptied = False
        follows = record_type == TARGET_EPOCH and value is not None and not value.get("assignmentTimestamp")
        return EMPTIED_WITH if follows else EMPTIED_WITHOUT


def bounds_of_apis(versions: Mapping[int, tuple[int, int]]) -> Bounds:
    """What a broker's ApiVersions shows: by API key the least and the greatest version that it offers."""
    before = before_why = None
    for key, version, since, name in NEWEST_APIS:
        if key in versions and versions[key][1] >= version:
            why = f"it offers {name}"
            return Bounds(since=since, since_why=why, before=before, before_why=before_why)
        before, before_why = since, f"it does not offer {name}"
    return Bounds(before=before, before_why=before_why)


def release_by(bounds: Bounds) -> tuple[Release, str]:
    """The release to judge by, and why it is that one."""
    able = bounds.candidates
    if len(able) == 1:
        return able[0], bounds.reason
    taken = able[0] if able and EARLIER not in able else EARLIER
    return taken, f"{bounds.reason}; {taken} is taken"


def _all_bounds_of_records() -> list[Bounds]:
    newest, oldest = (None, TIMED_TARGET, EMPTIED_WITH), (None, EMPTIED_WITHOUT, OLD_METADATA)
    found = []
    for seen in product(newest, oldest):
        bounds = Bounds()
        for what in filter(None, seen):
            bounds = bounds.with_seen(what)
        found.append(bounds)
    return found


REASONS: Final[Mapping[str, str]] = {
    bounds.named: bounds.reason for bounds in _all_bounds_of_records() if not bounds.contradict
}
"""By the releases that records are named to be of (``Bounds.named``), what shows it: each name has one reason alone."""
