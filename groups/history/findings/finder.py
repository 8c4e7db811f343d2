"""The finder: an incremental fold over steps, from which all findings of a timeline are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple, TypedDict

from groups.history.entries import Entry, Kind, Provenance
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holdings import members_of
from groups.history.evidence.holes import is_hole
from groups.history.evidence.incidents import Incidents
from groups.history.evidence.lives import COMINGS_KEPT_MAX, Going, Lives
from groups.history.evidence.ownership import Ownership
from groups.history.evidence.rhythm import Rhythm
from groups.history.evidence.steps import Step
from groups.history.evidence.unread_partitions import Reading
from groups.history.findings.commit_rhythm import follow_aborted, follow_commits, follow_holders, follow_run
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import POLLS, Began, Facts
from groups.history.findings.finding import Finding
from groups.history.findings.log_notes import LogNotes
from groups.history.findings.patterns.pattern import DeclaredPattern
from groups.history.findings.registry import finders
from groups.history.findings.release_changed import releases_shown
from groups.history.findings.silent import SilentSpan, silent_spans
from groups.history.frames.shapes import NO_FRAME, Frame
from groups.history.replay.commit_runs import CommitRun, run_of
from groups.history.replay.record_types import OFFSET_TYPES
from groups.history.state.classic_group import LEFT
from groups.history.state.declared import As, Named, document
from groups.history.state.epochs import LEAVE_GROUP_STATIC_MEMBER_EPOCH, ModernMember
from groups.history.state.group import Protocol, State
from groups.history.state.plain import Plain, from_plain, to_plain
from groups.history.story.cause import Cause, reason_of
from groups.history.story.epochs import Epochs
from groups.history.story.moments import begins_midway

_RECORD: Final = Kind.RECORD

RECORDS: Final = "records"
COMMITS: Final = "commits"
"""A source of its own among the records: of some logs it is the only one, and others lack it."""

SOURCES: Final[Mapping[Kind, str]] = {
    Kind.RECORD: RECORDS,
    Kind.REQUEST: "requests",
    Kind.RESPONSE: "requests",
    Kind.TIMER: "timers",
    Kind.CALLBACK: "callbacks",
    Kind.FAULT: "faults",
    Kind.NOTE: "notes",
    Kind.OBSERVATION: "observations",
    Kind.COMMITS: COMMITS,
}
"""What a finding calls the entries that it was read from."""


class Untold(TypedDict):
    """A pattern that a log cannot show; ``lacks`` are the sources that are missing."""

    kind: str
    title: str
    lacks: list[str]


class Counts(NamedTuple):
    """Members that joined and were removed, commit requests, partitions that moved, and those without an owner now."""

    joined: int
    removed: int
    commits: int
    moves: int
    unassigned: int


_Watches = dict[type, Watch]


def _begun() -> _Watches:
    return {each.watch: each.watch() for each in finders() if each.watch is not None}


def _by_name(watches: _Watches) -> Plain:
    return {of.__name__: to_plain(watch) for of, watch in watches.items()}


def _by_class(stored: Plain) -> _Watches:
    return {of: from_plain(of, stored[of.__name__]) for of in _begun()}


@document
@dataclass(slots=True)
class Finder:
    """An incremental fold over steps."""

    cast: DisplayNames = field(default_factory=DisplayNames)
    epochs: Epochs = field(default_factory=Epochs)
    ownership: Ownership = field(default_factory=Ownership)
    lives: Lives = field(default_factory=Lives)
    rhythm: Rhythm = field(default_factory=Rhythm)
    reading: Reading = field(default_factory=Reading)
    troubles: Incidents = field(default_factory=Incidents)
    _began: Began | None = None
    _midway: int | None = None
    _deleted: int | None = None
    _holes: bool = False
    notes: LogNotes = field(default_factory=LogNotes)
    _watches: Annotated[_Watches, As(object, _by_name, _by_class)] = field(default_factory=_begun)
    _sources: Annotated[set[str], As(list[str], sorted, set)] = field(default_factory=set)
    _stirred: list[str] = field(default_factory=list)
    """Who came or went last, and how many moves there had been."""
    _stirred_at: Annotated[int, Named("stirred")] = 0
    _last_ms: Annotated[int, Named("last")] = 0
    _last_sequence: Annotated[int, Named("last")] = 0
    _watching: dict[Kind, list[Watch]] = field(init=False)
    """Which watch is asked of what, and which of records after which members hold something else."""
    _watching_moves: list[Watch] = field(init=False)

    def __post_init__(self) -> None:
        watches = self._watches.values()
        self._watching = {kind: [watch for watch in watches if kind in watch.kinds] for kind in Kind}
        self._watching_moves = [watch for watch in self._watching[_RECORD] if watch.sees_moves]

    # -- the fold

    def add(self, step: Step, cause: Cause | None) -> None:
        """Fold one settled step; ``cause`` is the request or timer that brought it about, where known."""
        self._passes(step.after)
        last = step.entries[-1]
        if last.kind is _RECORD:
            if step.same_group and not step.anomalies:
                self._add_commit(step, last)
                return
            if step.moves_only:
                self._add_moves(step, last)
                return
        if last.kind is Kind.COMMITS and not step.anomalies:
            self.add_commits(step.before, step.after, run_of(last))
            return
        self.reading.add(step)
        hole = self.notes.is_compacted(step, last)
        emptied = self.lives.is_emptied
        self._lives(step, cause)
        forming = self.lives.forming is not None and not self.lives.forming.over
        left = [
            member_id
            for member_id in step.removed
            if reason_of(cause, step.before.classic.gone.get(member_id), member_id)[0] == LEFT
        ]
        self.ownership.add(step, left=left, hole=hole, forming=forming, stirred=self._stirred)
        follow_holders(self.rhythm, self.ownership, step, hole=hole or is_hole(step))
        follow_commits(self.rhythm, self.ownership, step, emptied=emptied)
        follow_aborted(self.rhythm, step)
        self.epochs.add(step)
        self.notes.add(step)
        self._notes_source(last)
        for watch in self._watching.get(last.kind, ()):
            watch.add(step)

    def _add_moves(self, step: Step, last: Entry) -> None:
        """Fold records after which members hold something else, and nothing else is another.

        That is nearly every record of a group that rebalances: what has nothing to learn of it is not asked.
        """
        hole = self.notes.is_compacted(step, last)
        self.lives.change(step)
        self._deleted = None
        forming = self.lives.forming is not None and not self.lives.forming.over
        self.ownership.add_moves(step, hole=hole, forming=forming, stirred=self._stirred)
        if step.members or hole:
            follow_holders(self.rhythm, self.ownership, step, hole=hole)
        if RECORDS not in self._sources:
            self._notes_source(last)
        for watch in self._watching_moves:
            watch.add(step)

    def _notes_source(self, last: Entry) -> None:
        if last.kind is not Kind.RECORD or last.payload.get("type") not in OFFSET_TYPES:
            # A coordinator's own lines show a rebalance under way, too; that is no poll.
            by_line = last.kind is Kind.OBSERVATION and last.actor == "coordinator"
            self._sources.add(SOURCES[Kind.NOTE if by_line else last.kind])
            polled = SOURCES[Kind.OBSERVATION] in self._sources
            if last.kind is Kind.RECORD and last.provenance is Provenance.INFERRED and polled:
                self._sources.add(POLLS)
        elif last.payload.get("value"):
            self._sources.add(COMMITS)

    def add_commits(self, before: State, after: State, run: CommitRun) -> None:
        """Fold the units of a run of commits, which begins at ``before`` and ends at ``after``."""
        self._passes(after)
        self._deleted = run.last if after.deleted else None
        # A commit to a group that was deleted begins a simple one, in which nobody owns anything.
        step = Step((), before, after)
        self.ownership.add_commits(step)
        if step.migrates:
            follow_holders(self.rhythm, self.ownership, step, hole=True)
        follow_run(self.rhythm, self.ownership, before, run, emptied=self.lives.is_emptied)
        if run.requests:
            self._sources.add(COMMITS)
            self.notes.commits += run.requests
            self.notes.commits_sequence = run.last_request

    def _passes(self, after: State) -> None:
        self._last_ms, self._last_sequence = after.at_ms, after.sequence

    def _add_commit(self, step: Step, last: Entry) -> None:
        """Fold records that change no group: commits, and tombstones of a group that is not there."""
        self._deleted = step.sequence if step.after.deleted else None
        if step.migrates or step.after.protocol is Protocol.SHARE:
            self.ownership.add(step)
            if step.migrates:
                follow_holders(self.rhythm, self.ownership, step, hole=True)
        follow_commits(self.rhythm, self.ownership, step, emptied=self.lives.is_emptied)
        if last.payload["type"] == 1 and last.payload.get("value"):
            self._notes_source(last)
            self.notes.commits += 1
            self.notes.commits_sequence = step.sequence

    @property
    def counts(self) -> Counts:
        """Of all: those that are listed one by one, and the rest."""
        return Counts(
            joined=self.lives.comings_count,
            removed=self.lives.goings_count,
            commits=self.notes.commits,
            moves=self.ownership.moves_count,
            unassigned=len(self.ownership.free),
        )

    # -- members

    def _lives(self, step: Step, cause: Cause | None) -> None:
        """Who came and went; a name is free for a process that returns once it has gone."""
        self._midways(step)
        if not step.same_group:
            self.lives.change(step)
        for member_id in step.removed:
            self._goes(step, member_id, cause)
        active = [old for old in step.replaced if self._is_replaced(step, old)]
        for member_id in (*step.found, *step.joined, *step.replaced.values()):
            self._meet(step, member_id)
        for member_id in step.joined:
            self.lives.comes(step, self.cast, member_id)
        for member_id in (*step.found, *step.replaced.values()):
            self.lives.was_there(self.cast, member_id)
        came = (*step.joined, *step.removed, *step.replaced.values())
        if came:
            lanes = {self.cast.lane(member_id) for member_id in came[:COMINGS_KEPT_MAX]}
            if self._stirred_at == self.ownership.moves_count and len(self._stirred) < COMINGS_KEPT_MAX:
                # Nothing moved since the last one came or went: what moves next follows both.
                lanes |= set(self._stirred)
            self._stirred, self._stirred_at = sorted(lanes), self.ownership.moves_count
        self.troubles.add(step, active)
        if not step.same_group:
            self.lives.empties(step)
        self._deleted = step.sequence if step.after.deleted else None

    def _midways(self, step: Step) -> None:
        self._holes = self._holes or is_hole(step)
        if self._holes:
            # A member that is first seen now may have joined between two polls.
            return
        if self._midway is None and begins_midway(step):
            self._midway = step.sequence
        if step.found:
            # A log or a scenario that starts with a group under way shows its members one by one, or all at once.
            self._began = self._began or {
                "members": [],
                "sequence": step.sequence,
                "count": 0,
                "at_ms": step.after.at_ms,
            }
            self._began["count"] += len(step.found)
            room = COMINGS_KEPT_MAX - len(self._began["members"])
            self._began["members"] += step.found[:room]

    def _goes(self, step: Step, member_id: str, cause: Cause | None) -> None:
        why, needs = reason_of(cause, step.before.classic.gone.get(member_id), member_id)
        going = Going(member_id, self.cast.lane(member_id), step.sequence, step.after.at_ms, why, needs)
        if cause is not None and why == "session_expired" and member_id in cause.members:
            going.expired_ms = cause.timeout_ms
        going.killed_ms, going.killed_sequence = self.reading.killed.pop(member_id, (None, None))
        quiet = self.rhythm.since_last_commit(member_id, step.after.at_ms)
        if quiet is not None:
            going.quiet_ms, going.limit_ms = quiet
            kept = len(self.rhythm.silences)
            silence = self.rhythm.ends(member_id, step.after.at_ms, step.sequence, "removed")
            if silence is not None and len(self.rhythm.silences) > kept:
                going.silence = kept
        elif (committed_ms := self.rhythm.last_commit_ms(member_id)) is not None:
            going.quiet_ms = step.after.at_ms - committed_ms
        member = members_of(step.before).get(member_id)
        if member is not None:
            self.cast.goes(member_id, member.client_id)
        self.lives.goes(step, going)

    def _is_replaced(self, step: Step, old: str) -> bool:
        """Ends the facts of a static member that is replaced; whether it committed until then, and had not left for now."""
        quiet = self.rhythm.since_last_commit(old, step.after.at_ms)
        self.rhythm.ends(old, step.after.at_ms, step.sequence, "replaced")
        member = members_of(step.before).get(old)
        if member is None:
            return False
        self.cast.goes(old, member.client_id)
        away = isinstance(member, ModernMember) and member.epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH
        return quiet is not None and quiet[0] <= quiet[1] and not away

    def _meet(self, step: Step, member_id: str) -> None:
        member = members_of(step.after).get(member_id)
        if member is not None:
            self.cast.meet(
                member_id,
                step.entries[0].sequence,
                client_id=member.client_id,
                host=member.client_host,
                instance_id=member.instance_id,
                at_ms=step.after.at_ms,
            )
            self.cast.comes(member_id, member.client_id, member.client_host, step.after.at_ms)

    # -- findings

    def findings(self, frame: Frame) -> list[Finding]:
        """All findings so far; ``frame`` is the last one and gives topic ids their names."""
        facts = self._facts(frame)
        classic = facts.epochs.generations > 0
        consumer = facts.epochs.count > facts.epochs.generations
        found: list[Finding] = []
        for declared in finders():
            some = declared.find(facts)
            if isinstance(declared, DeclaredPattern) and classic != consumer:
                fits = declared.pattern.fitting
                some = [
                    fits(one, classic=classic, consumer=consumer) if one.get("pattern") else one
                    for one in some
                ]
            found += some
        return found

    def undecided(self, findings: Sequence[Finding]) -> list[Untold]:
        """Patterns that the log neither shows nor rules out, since it lacks the sources that they need.

        A log without member records yields none.
        """
        if not self.lives.comings_count and self._began is None:
            return []
        shown, present = {one["kind"] for one in findings}, frozenset(self._sources)
        lacking = [
            (each.pattern, each.pattern.lacks(present))
            for each in finders()
            if isinstance(each, DeclaredPattern) and each.pattern.kind not in shown
        ]
        return [
            Untold(kind=pattern.kind, title=pattern.title, lacks=list(lacks))
            for pattern, lacks in lacking
            if lacks is not None
        ]

    def silences(self) -> list[SilentSpan]:
        """Where members were assigned and silent, for drawing: as far as the evidence goes, by time."""
        return silent_spans(self._facts(NO_FRAME))

    def releases(self) -> list[str]:
        """What the records show of the releases of the brokers that wrote them, by time."""
        return releases_shown(self._facts(NO_FRAME))

    def _facts(self, frame: Frame) -> Facts:
        return Facts(
            frame=frame,
            cast=self.cast,
            epochs=self.epochs,
            ownership=self.ownership,
            lives=self.lives,
            rhythm=self.rhythm,
            reading=self.reading,
            troubles=self.troubles,
            notes=self.notes,
            watches=self._watches,
            sources=frozenset(self._sources),
            began=self._began,
            midway=self._midway,
            deleted=self._deleted,
            last_ms=self._last_ms,
            last_sequence=self._last_sequence,
        )
