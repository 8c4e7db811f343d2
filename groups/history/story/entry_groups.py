"""Exchanges: entries that belong together, so that the board rests once where one thing happened.

A request, the records that it brought about, the timers that it moved and its answer are one exchange. Entries of an
exchange are neighbours: whatever does not belong closes it. So where exchanges begin and end depends on the entries
alone, never on how they were batched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holders import Holders
from groups.history.evidence.steps import Step, epoch_of
from groups.history.state.consumption import READS
from groups.history.state.group import Protocol, State
from groups.history.story.cause import Cause
from groups.history.story.moment import Moment
from groups.history.story.moments import sentence_of
from groups.history.story.sentences import COORDINATOR, Sentence, joined

CAUSES_KEPT_MAX: Final = 4_096
"""Requests and timers that may still be named as a cause; an answer or a record comes long before that many more."""

BY_THE_SCRIPT: Final = "the scenario's script sent the request, and not the member's client"
HEARTBEAT_APIS: Final = frozenset({"ConsumerGroupHeartbeat", "Heartbeat"})


class EntryGroup:
    """One exchange under way."""

    def __init__(self, entry: Entry) -> None:
        self.first = entry.sequence
        self.last = entry.sequence
        self.root = entry.cause if entry.cause is not None and not _is_step(entry) else entry.sequence
        self.request = entry if entry.kind is Kind.REQUEST else None
        self.steps: list[Step] = []
        self._has_unit = entry.kind is Kind.RECORD
        self._unit_open = not entry.settled
        self._notes = [entry] if _is_step(entry) else []

    def takes(self, entry: Entry) -> bool:
        """Whether the next entry belongs to this exchange."""
        if self._unit_open:
            return True
        if _is_step(entry):
            return True
        if entry.cause is None or not (entry.cause == self.root or self.first <= entry.cause <= self.last):
            return False
        if entry.kind is Kind.RECORD:
            return not self._has_unit and not self._notes
        if entry.kind is Kind.TIMER:
            return entry.payload.get("event") != "fired"
        return entry.kind in (Kind.RESPONSE, Kind.CALLBACK) or _is_reads(entry)

    def add(self, entry: Entry) -> None:
        self.last = entry.sequence
        self._has_unit = self._has_unit or entry.kind is Kind.RECORD
        self._unit_open = not entry.settled
        if _is_step(entry):
            self._notes.append(entry)

    def moment(self, cast: DisplayNames, causes: Causes, holders: Holders) -> Moment | None:
        """The moment that the exchange is, or ``None`` if it changed and said nothing."""
        known = []
        for step in self.steps:
            holders.add(step)
            said = sentence_of(step, cast, holders, causes.of(step))
            if said is not None:
                known.append((step, said))
        sentence = self._sentence(cast, [said for _, said in known])
        if sentence is None:
            return None
        step = known[-1][0] if known else self.steps[-1]
        explicit = step.entries[0].cause
        moment: Moment = {
            "sequence": self.last,
            "first": self.first,
            "at_ms": step.after.at_ms,
            "actor": sentence.actor,
            "shape": sentence.shape,
            "says": sentence.text,
            "epoch": _known_epoch(self.steps[-1].after),
            "cause": explicit if explicit is not None and explicit < self.first else None,
            "step": None,
        }
        if self._notes:
            # One moment can end several rows of a proposal's table; the last one contains where it is.
            moment["step"] = self._notes[-1].payload.get("step")
            moment["narration"] = " ".join(self._narrations())
        return moment

    def _sentence(self, cast: DisplayNames, known: list[Sentence]) -> Sentence | None:
        if known:
            texts = [each.text for each in known]
            if self.request is not None and self.request.payload.get("scripted"):
                texts.append(BY_THE_SCRIPT)
            return Sentence(known[0].shape, known[0].actor, joined(texts))
        if not self._notes:
            return None
        if self.request is not None and self.request.payload.get("api") in HEARTBEAT_APIS:
            who = self.request.actor
            return Sentence("note", who, f"{cast.name(who)} heartbeats; no change")
        text = " ".join(self._narrations())
        return Sentence("note", COORDINATOR, text) if text else None

    def _narrations(self) -> list[str]:
        return [str(note.payload["says"]) for note in self._notes if note.payload.get("says")]


def _known_epoch(state: State) -> int | None:
    """The group epoch, or the generation; ``None`` in a log that begins in the middle, until a record reports it."""
    classic = state.protocol is Protocol.CLASSIC
    recorded = state.classic.recorded if classic else state.modern.epoch_recorded
    if not recorded and state.partial:
        return None
    return state.classic.known_generation if classic else epoch_of(state)


def _is_reads(entry: Entry) -> bool:
    """A callback, or a fault, changes what a client reads."""
    return entry.kind is Kind.NOTE and entry.payload.get("note") == READS


def _is_step(entry: Entry) -> bool:
    return entry.kind is Kind.NOTE and entry.payload.get("note") == "step"


class Causes:
    """The latest requests and timers, by sequence, so that a record's sentence can name its cause."""

    def __init__(self, causes: Iterable[Cause] = ()) -> None:
        self._causes = {cause.sequence: cause for cause in causes}

    def add(self, entry: Entry, before: State) -> None:
        """Remember an entry that may be a cause; ``before`` is the state that it came to."""
        cause = Cause.of(entry, before) if entry.kind is not Kind.RECORD else None
        if cause is None:
            return
        self._causes[entry.sequence] = cause
        if len(self._causes) > CAUSES_KEPT_MAX:
            del self._causes[next(iter(self._causes))]

    def of(self, step: Step) -> Cause | None:
        sequence = step.entries[0].cause
        return self._causes.get(sequence) if sequence is not None else None

    def __iter__(self) -> Iterator[Cause]:
        return iter(self._causes.values())
