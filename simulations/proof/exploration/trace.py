"""The timeline of a trace: what happened on the way to a violation, as entries that open like those of any run.

The clock of an exploration does not move; here each step receives a tenth of a second after the one before, so that a
reader can go from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from groups.history.entries import Entry, Kind, Payload, Provenance
from simulations.invariants import INVARIANT_FAULT
from simulations.proof.exploration.actions import ActionKind as StepKind
from simulations.proof.exploration.actions import Step, unpacked
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.processes import Process
from simulations.proof.exploration.search import AnyWorlds
from simulations.proof.exploration.state_layout import PROCESSES, SCRIPT, UNBORN, World
from simulations.proof.exploration.world import Calls
from simulations.protocol.client.consumer import Call
from simulations.world.engine.initial_state import first_note
from simulations.world.engine.log import COORDINATOR
from simulations.world.scenario import Verb

STEP_MS: Final = 100
"""Time between two steps of a trace."""

FAULTS: Final[dict[Verb, str]] = {Verb.KILL: "kill", Verb.PAUSE: "pause", Verb.RESUME: "resume"}


def timeline(worlds: AnyWorlds, trace: Sequence[Step], invariant: str, text: str) -> list[Entry]:
    """The entries of a trace, walked once more, and at its end the invariant that it breaks."""
    telling = _Telling(worlds)
    world = worlds.first()
    telling.begin(world)
    for step in trace:
        after, _ = worlds.take(world, step)
        telling.step(step, world, after)
        world = after
    last = telling.entries[-1].sequence
    fault: Payload = {
        "fault": INVARIANT_FAULT,
        "member": None,
        "invariant": invariant,
        "says": text,
        "sequences": [last],
        "members": [],
        "partitions": {},
    }
    telling.write(Kind.FAULT, COORDINATOR, fault, cause=last)
    return telling.entries


def sentence(worlds: AnyWorlds, world: World, step: Step) -> str:
    """What a step is, in words."""
    plan = worlds.plan
    kind, slot = unpacked(step)
    who = plan.member_id(slot) if slot < len(plan.slots) else ""
    if kind is StepKind.SCRIPT:
        action = plan.script[world[SCRIPT]]
        return f"{action.verb} {action.who}"
    return SENTENCES[kind].format(who=who)


SENTENCES: Final = {
    StepKind.BEAT: "{who} sends a heartbeat, and it arrives",
    StepKind.SEND: "{who} sends a heartbeat",
    StepKind.ARRIVE: "a request of {who} arrives",
    StepKind.ANSWER: "{who} gets an answer",
    StepKind.RETURN: "a callback of {who} returns",
    StepKind.ASSIGNMENT: "the target assignment is computed",
    StepKind.TASK: "the regular expressions are resolved",
    StepKind.SESSION: "the session of {who} expires",
    StepKind.REBALANCE: "the rebalance timeout of {who} expires",
    StepKind.LOSE: "the connection of {who} breaks",
    StepKind.DUPLICATE: "a request of {who} arrives, its connection breaks, and it asks again",
    StepKind.FAIL_OVER: "another broker takes the group over",
    StepKind.APPEND: "the records that answers wait for are committed",
    StepKind.START: "the process that follows {who} starts",
    StepKind.METADATA: "{who} fetches metadata",
    StepKind.UNANSWERED: "a request of {who} that nobody will answer times out",
    StepKind.JOIN_PHASE: "the join phase ends",
    StepKind.SYNC_PHASE: "the time to ask for an assignment is over",
    StepKind.FORGET: "the session of an id expires that no process has",
    StepKind.COMPUTE: "the time of {who} to compute the assignment is over",
}
"""Each kind of step, with ``{who}`` for the process."""


class _Telling:
    """Writes entries behind each other, with sequences, offsets and batches of their own.

    ``step`` is reported right behind the ``take`` of it, which leaves what the step did next to what a world shows.
    """

    def __init__(self, worlds: AnyWorlds) -> None:
        self.entries: list[Entry] = []
        self._worlds = worlds
        self._plan = worlds.plan
        self._at_ms = NOW_MS
        self._offset = 0
        self._batch = 0

    def begin(self, world: World) -> None:
        """The topics, the group that is there already, and the callbacks of its members."""
        image, slots = self._plan.image, range(len(world) - PROCESSES)
        release = self._plan.scenario.settings.release
        note = first_note(image, tuple(image.topics), {}, self._plan.semantics, release)
        self.write(Kind.NOTE, COORDINATOR, note)
        self._copy(self._worlds.first_entries)
        for slot, call in self._worlds.first_calls:
            self._call(slot, world, call)
        for process in (self._process(world, slot) for slot in slots):
            if process is not None and process.calling is not None:
                self._callback(process.member_id, process.calling, "start")

    def write(self, kind: Kind, actor: str, payload: Payload, *, cause: int | None = None) -> None:
        self.entries.append(
            Entry(
                sequence=len(self.entries) + 1,
                at_ms=self._at_ms,
                kind=kind,
                actor=actor,
                cause=cause,
                provenance=Provenance.SIMULATED,
                payload=payload,
            )
        )

    def step(self, step: Step, world: World, after: World) -> None:
        """The entries of one step."""
        self._at_ms += STEP_MS
        kind, slot = unpacked(step)
        self._fault(kind, slot, world)
        before = self._process(world, slot)
        if kind is StepKind.RETURN and before is not None and before.calling is not None:
            self._callback(before.member_id, before.calling, "end")
        self._done(after)
        for at in range(len(world) - PROCESSES):
            old, new = self._process(world, at), self._process(after, at)
            if new is None or new.calling is None:
                continue
            same = old is not None and old.calling == new.calling
            if not same or (kind is StepKind.RETURN and at == slot):
                self._callback(new.member_id, new.calling, "start")

    def _done(self, after: World) -> None:
        """What the coordinator made of the step, and callbacks that took no time."""
        for deed in self._worlds.deeds:
            if not isinstance(deed, Calls):
                self._copy(deed)
                continue
            for call in deed.calls:
                self._call(deed.slot, after, call)

    def _call(self, slot: int, world: World, call: Call) -> None:
        """A callback that took no time."""
        process = self._process(world, slot)
        assert process is not None
        self._callback(process.member_id, call, "start")
        self._callback(process.member_id, call, "end")

    def _process(self, world: World, slot: int) -> Process | None:
        """The process of a slot, if there is one by now."""
        number = world[PROCESSES + slot] if PROCESSES + slot < len(world) else UNBORN
        return self._worlds.processes.parts[number] if number != UNBORN else None

    def _fault(self, kind: StepKind, slot: int, world: World) -> None:
        """The fault that a step is, if it is one."""
        fault: str | None = None
        slots: Sequence[int] = (slot,)
        if kind is StepKind.SCRIPT:
            action = self._plan.script[world[SCRIPT]]
            fault, slots = FAULTS.get(action.verb), self._plan.slots_of.get(action.who, ())
        elif kind in (StepKind.LOSE, StepKind.DUPLICATE):
            fault = "lost_message" if kind is StepKind.LOSE else "duplicated_message"
        if fault is None:
            return
        born = [process for at in slots if (process := self._process(world, at)) is not None]
        who = born[-1].member_id if born else None
        self.write(Kind.FAULT, who or COORDINATOR, {"fault": fault, "member": who})

    def _callback(self, who: str, call: Call, phase: str) -> None:
        partitions = {self._worlds.names.get(t, t): list(numbers) for t, numbers in call.partitions.items()}
        payload = {"callback": str(call.callback), "phase": phase, "partitions": partitions}
        self.write(Kind.CALLBACK, who, payload)

    def _copy(self, entries: Iterable[Entry]) -> None:
        """Entries that were numbered elsewhere; what they name of each other is moved with them."""
        entries = list(entries)
        if not entries:
            return
        first = len(self.entries)
        by = first + 1 - entries[0].sequence
        batches: dict[int, int] = {}
        for entry in entries:
            moved = replace(
                entry,
                sequence=entry.sequence + by,
                at_ms=self._at_ms,
                cause=entry.cause + by if entry.cause is not None else None,
            )
            if "deadline_ms" in entry.payload:
                deadline_ms = entry.payload["deadline_ms"] - NOW_MS + self._at_ms
                moved = replace(moved, payload={**entry.payload, "deadline_ms": deadline_ms})
            if entry.kind is Kind.RECORD:
                assert entry.batch is not None
                assert entry.unit is not None
                if entry.batch not in batches:
                    batches[entry.batch] = self._batch
                    self._batch += 1
                moved = replace(moved, offset=self._offset, batch=batches[entry.batch], unit=entry.unit + by)
                self._offset += 1
            self.entries.append(moved)
        self._renumber(first)

    def _renumber(self, first: int) -> None:
        """An answer that comes later than its own step names its request, which is under another number here."""
        for at in range(first, len(self.entries)):
            answer = self.entries[at]
            if "request" not in answer.payload:
                continue
            asked = (str(answer.payload["to"]), answer.payload["api"])
            request = next(
                entry.sequence
                for entry in reversed(self.entries[:at])
                if entry.kind is Kind.REQUEST and (entry.actor, entry.payload["api"]) == asked
            )
            self.entries[at] = replace(answer, payload={**answer.payload, "request": request})
