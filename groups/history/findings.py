"""Findings: facts computed from the fold, each with the sequences that prove it and the sources that it needs.

A finding is ``{"kind", "says", "sequences": [...], "needs": [...], "certain": bool, ...}``. Kinds: ``midway``,
``began``, ``joined``, ``removed``, ``moved``, ``moves``, ``no_owner``, ``waited_for``, ``epochs``, ``commits``, ``emptied``,
``deleted``, ``two_clients``, ``partitions_added``, ``anomaly``, ``gap``, ``violation``, ``failed_over``, ``lost_batch``,
``fenced``, ``replaced``, ``topics_deleted``, ``topics_remade``, ``matched``. ``needs`` names what the fact was read from:
``records``, ``requests``, ``timers``, ``callbacks``, ``notes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from groups.history.classic_state import ClassicMember
from groups.history.commit_runs import CommitRun
from groups.history.entries import Entry, Kind
from groups.history.epochs import Epochs
from groups.history.modern_state import ModernMember
from groups.history.moments import Cause, begins_midway
from groups.history.names import Cast
from groups.history.ownership import Ownership, is_gap, is_hole
from groups.history.ownership_findings import Finding, finding, found_moves, found_no_owner, found_waits
from groups.history.state import TWO_OWNERS, Protocol, State
from groups.history.steps import Step
from groups.history.trouble_findings import found_troubles
from groups.history.troubles import Troubles
from groups.history.verdict import REASONS
from groups.history.volatile_moments import gap_words, overlap_words, still_had
from groups.history.words import PARTITIONS, TASKS, counted, listed

COMINGS_KEPT_MAX: Final = 200
"""Joins, and removals, that are told one by one; all are counted."""

GAPS_TOLD_MAX: Final = 100
"""Gaps of a log that are told one by one: a log with more of them is better read again from its source."""


class Counts(NamedTuple):
    """Members that joined and were removed, commit requests, partitions that moved, and those without an owner now."""

    joined: int
    removed: int
    commits: int
    moves: int
    unassigned: int


class Finder:
    """An incremental fold over steps; ``to_json`` and ``from_json`` carry it over a checkpoint."""

    def __init__(self) -> None:
        self.cast = Cast()
        self.epochs = Epochs()
        self.ownership = Ownership()
        self.troubles = Troubles()
        self.gaps: list[dict[str, Any]] = []
        self._joined: list[dict[str, Any]] = []
        self._removed: list[dict[str, Any]] = []
        self._began: dict[str, Any] | None = None
        self._midway: int | None = None
        self._deleted: int | None = None
        self._holes = False
        self._compacted_to: int | None = None
        """Up to this offset any record may be missing that a later one of the same key has replaced."""
        self._overlaps: list[dict[str, Any]] = []
        self._counts = {"joined": 0, "removed": 0, "commits": 0}
        self._commits_sequence = 0
        self._emptied: list[int] = []
        self._anomalies: dict[str, dict[str, Any]] = {}
        self._grown: list[dict[str, Any]] = []
        self._last_ms = 0

    def add(self, step: Step, cause: Cause | None) -> None:
        """Fold one settled step; ``cause`` is the request or timer that brought it about, where known."""
        self._last_ms = step.after.at_ms
        last = step.entries[-1]
        if step.same_group and not step.anomalies and last.kind is Kind.RECORD:
            self._add_commit(step, last)
            return
        for member_id in (*step.found, *step.joined, *step.replaced.values()):
            self._meet(step, member_id)
        self._came(step)
        self._went(step, cause)
        leaves = cause is not None and cause.leaves
        self.ownership.add(step, leaves=leaves, hole=self._is_compacted(step, last))
        self.epochs.add(step)
        self.troubles.add(step)
        self._grew(step)
        for anomaly in step.anomalies:
            known = self._anomalies.setdefault(
                anomaly.kind,
                {"says": anomaly.says, "member": anomaly.member, "count": 0, "first": step.sequence},
            )
            known["count"] += 1
            known["last"] = step.sequence
        if last.kind is Kind.CALLBACK and not step.anomalies and len(self._overlaps) < COMINGS_KEPT_MAX:
            both = still_had(step, last)
            if both:
                had = [[member_id, owned] for member_id, owned in both.items()]
                self._overlaps.append({"member": last.actor, "had": had, "sequence": step.sequence})
        if last.kind is Kind.RECORD and last.payload.get("type") == 1 and last.payload.get("value"):
            self._counts["commits"] += 1
            self._commits_sequence = step.sequence
        elif is_gap(last):
            if last.payload.get("compacted"):
                self._compacted_to = last.payload.get("to_offset")
            if len(self.gaps) < GAPS_TOLD_MAX:
                self.gaps.append({**last.payload, "sequence": step.sequence, "says": gap_words(last.payload)})

    def _is_compacted(self, step: Step, last: Entry) -> bool:
        """Whether records may be missing before this step that compaction took; so too before the first one beyond."""
        if self._compacted_to is None or last.offset is None:
            return False
        if last.offset > self._compacted_to:
            self._compacted_to = None
        return True

    def _add_commit(self, step: Step, last: Entry) -> None:
        """Fold records that change no group: commits, and tombstones of a group that is not there."""
        self._deleted = step.sequence if step.after.deleted else None
        if step.migrates or step.after.protocol is Protocol.SHARE:
            self.ownership.add(step)
        if last.payload["type"] == 1 and last.payload.get("value"):
            self._counts["commits"] += 1
            self._commits_sequence = step.sequence

    def add_commits(self, before: State, after: State, run: CommitRun) -> None:
        """Fold the units of a run of commits, which begins at ``before`` and ends at ``after``."""
        self._last_ms = run.last_ms
        self._deleted = run.last if after.deleted else None
        # A commit to a group that was deleted begins a simple one, in which nobody owns anything.
        self.ownership.add(Step(entries=(), before=before, after=after))
        if run.requests:
            self._counts["commits"] += run.requests
            self._commits_sequence = run.last_request

    @property
    def counts(self) -> Counts:
        """Of all that are told one by one, and beyond."""
        return Counts(**self._counts, moves=self.ownership.moves_count, unassigned=len(self.ownership.free))

    def _meet(self, step: Step, member_id: str) -> None:
        member = _member(step.after, member_id)
        if member is not None:
            self.cast.meet(
                member_id,
                step.entries[0].sequence,
                client_id=member.client_id,
                host=member.client_host,
                instance_id=member.instance_id,
            )

    def _came(self, step: Step) -> None:
        self._holes = self._holes or is_hole(step)
        if self._holes:
            # Who is first seen now may have come while nobody looked.
            self._joins(step)
            return
        if self._midway is None and begins_midway(step):
            self._midway = step.sequence
        if step.found:
            # A log or a scenario that starts with a group under way shows its members one by one, or all at once.
            self._began = self._began or {"members": [], "sequence": step.sequence, "count": 0}
            self._began["count"] += len(step.found)
            room = COMINGS_KEPT_MAX - len(self._began["members"])
            self._began["members"] += step.found[:room]
        self._joins(step)

    def _joins(self, step: Step) -> None:
        self._counts["joined"] += len(step.joined)
        for member_id in step.joined[: COMINGS_KEPT_MAX - len(self._joined)]:
            self._joined.append({"member": member_id, "sequence": step.sequence, "at_ms": step.after.at_ms})

    def _went(self, step: Step, cause: Cause | None) -> None:
        why, needs = _reason(cause)
        self._counts["removed"] += len(step.removed)
        for member_id in step.removed[: COMINGS_KEPT_MAX - len(self._removed)]:
            self._removed.append(
                {
                    "member": member_id,
                    "why": why,
                    "needs": needs,
                    "sequence": step.sequence,
                    "at_ms": step.after.at_ms,
                }
            )
        if step.removed and not _members(step.after):
            self._emptied = [step.sequence]
        elif step.joined or step.found:
            self._emptied = []
        self._deleted = step.sequence if step.after.deleted else None

    def _grew(self, step: Step) -> None:
        before, after = step.before.topics, step.after.topics
        if before is after:
            return
        for name, topic in after.items():
            old = before.get(name)
            same = old is not None and old.topic_id == topic.topic_id
            if old is None or not same or old.partitions is None or topic.partitions is None:
                continue
            if topic.partitions > old.partitions and len(self._grown) < COMINGS_KEPT_MAX:
                told = {"topic": name, "before": old.partitions, "after": topic.partitions}
                self._grown.append({**told, "sequence": step.sequence})

    def findings(self, frame: Mapping[str, Any]) -> list[Finding]:
        """All findings so far; ``frame`` is the last one and gives topic ids their names."""
        names = {topic["id"]: name for name, topic in frame["topics"].items() if topic.get("id") is not None}
        own, members = self.ownership, frame["members"]
        wording = TASKS if frame["protocol"] == Protocol.STREAMS else PARTITIONS
        return [
            *found_troubles(self.troubles, self.cast),
            *self._found_members(),
            *found_moves(own, self.cast, names, contradicted=TWO_OWNERS in self._anomalies, wording=wording),
            *found_no_owner(own, names, last_ms=self._last_ms, empty=not members, wording=wording),
            *found_waits(own, self.cast, names, last_ms=self._last_ms, members=members, wording=wording),
            *self._found_log(frame),
        ]

    def _found_members(self) -> list[Finding]:
        found: list[Finding] = []
        if self._midway is not None:
            found.append(finding("midway", "The log begins in the middle", [self._midway]))
        if self._began is not None:
            who = [self.cast.name(member_id) for member_id in self._began["members"]]
            sequences = [self._began["sequence"]]
            count = self._began["count"]
            whom = listed(who) if count == len(who) else counted(count, "member")
            says = f"{whom} {'was' if count == 1 else 'were'} there before"
            found.append(
                finding("began", says, sequences, members=self._began["members"], names=who, count=count)
            )
        for join in self._joined:
            who_joined = self.cast.name(join["member"])
            found.append(
                finding(
                    "joined",
                    f"{who_joined} joined",
                    [join["sequence"]],
                    member=join["member"],
                    name=who_joined,
                    at_ms=join["at_ms"],
                    count=self._counts["joined"],
                )
            )
        for removal in self._removed:
            who_left = self.cast.name(removal["member"])
            found.append(
                finding(
                    "removed",
                    f"{who_left} {REASONS[removal['why']][0]}",
                    [removal["sequence"]],
                    needs=removal["needs"],
                    member=removal["member"],
                    name=who_left,
                    why=removal["why"],
                    at_ms=removal["at_ms"],
                    count=self._counts["removed"],
                )
            )
        return found

    def _found_log(self, frame: Mapping[str, Any]) -> list[Finding]:
        found: list[Finding] = []
        for growth in self._grown:
            says = (
                f"{growth['topic']} grew from {growth['before']} to {counted(growth['after'], 'partition')}"
            )
            told = {key: growth[key] for key in ("topic", "before", "after")}
            found.append(finding("partitions_added", says, [growth["sequence"]], needs=["notes"], **told))
        starts = self.epochs.to_json()
        if starts:
            classic = frame["protocol"] == Protocol.CLASSIC
            word = "generation" if classic else "epoch"
            found.append(
                finding(
                    "epochs",
                    counted(self.epochs.count, word),
                    [starts[-1]["sequence"]],
                    count=self.epochs.count,
                    first=starts[0]["epoch"],
                    last=starts[-1]["epoch"],
                    classic=classic,
                )
            )
        if self._counts["commits"]:
            says = counted(self._counts["commits"], "commit")
            found.append(finding("commits", says, [self._commits_sequence], count=self._counts["commits"]))
        if self._deleted is not None:
            found.append(finding("deleted", "The group is deleted", [self._deleted]))
        elif self._emptied:
            found.append(finding("emptied", "The group is empty", list(self._emptied)))
        for overlap in self._overlaps:
            had = [
                (self.cast.name(member_id), [(name, number) for name, number in owned])
                for member_id, owned in overlap["had"]
            ]
            who = self.cast.name(overlap["member"])
            found.append(
                finding(
                    "two_clients",
                    overlap_words(who, had, over=True),
                    [overlap["sequence"]],
                    needs=["callbacks"],
                    member=overlap["member"],
                    name=who,
                    count=len(self._overlaps),
                )
            )
        for kind, known in self._anomalies.items():
            found.append(
                finding(
                    "anomaly",
                    known["says"],
                    sorted({known["first"], known["last"]}),
                    anomaly=kind,
                    member=known["member"],
                    count=known["count"],
                )
            )
        for gap in self.gaps:
            found.append(finding("gap", gap["says"], [gap["sequence"]], needs=["notes"]))
        return found

    def to_json(self) -> dict[str, Any]:
        """The whole state of the finder, JSON-ready."""
        return {
            "cast": self.cast.state_to_json(),
            "epochs": self.epochs.state_to_json(),
            "ownership": self.ownership.to_json(),
            "troubles": self.troubles.to_json(),
            "gaps": self.gaps,
            "joined": self._joined,
            "removed": self._removed,
            "began": self._began,
            "midway": self._midway,
            "deleted": self._deleted,
            "holes": self._holes,
            "compacted_to": self._compacted_to,
            "overlaps": self._overlaps,
            "counts": self._counts,
            "commits_sequence": self._commits_sequence,
            "emptied": self._emptied,
            "anomalies": self._anomalies,
            "grown": self._grown,
            "last_ms": self._last_ms,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finder:
        """The inverse of ``to_json``."""
        finder = cls()
        finder.cast = Cast.from_json(data["cast"])
        finder.epochs = Epochs.from_json(data["epochs"])
        finder.ownership = Ownership.from_json(data["ownership"])
        finder.troubles = Troubles.from_json(data["troubles"])
        finder.gaps = [dict(gap) for gap in data["gaps"]]
        finder._joined = [dict(join) for join in data["joined"]]
        finder._removed = [dict(removal) for removal in data["removed"]]
        finder._began = data["began"]
        finder._midway = data["midway"]
        finder._deleted = data["deleted"]
        finder._holes = data["holes"]
        finder._compacted_to = data["compacted_to"]
        finder._overlaps = [dict(overlap) for overlap in data["overlaps"]]
        finder._counts = dict(data["counts"])
        finder._commits_sequence = data["commits_sequence"]
        finder._emptied = list(data["emptied"])
        finder._anomalies = {kind: dict(known) for kind, known in data["anomalies"].items()}
        finder._grown = [dict(growth) for growth in data["grown"]]
        finder._last_ms = data["last_ms"]
        return finder


def _reason(cause: Cause | None) -> tuple[str | None, list[str]]:
    """Why members are gone, where a request or a timer tells it, and which sources tell it."""
    if cause is not None and cause.leaves:
        return "left", ["records", "requests"]
    if cause is not None and cause.timer == "session":
        return "session_expired", ["records", "timers"]
    if cause is not None and cause.timer == "rebalance":
        return "rebalance_timeout", ["records", "timers"]
    return None, ["records"]


def _members(state: State) -> Mapping[str, ModernMember | ClassicMember]:
    return state.classic.members if state.protocol is Protocol.CLASSIC else state.modern.members


def _member(state: State, member_id: str) -> ModernMember | ClassicMember | None:
    return _members(state).get(member_id)
