"""The timeline of a trace: what happened on the way to a violation, as entries that open like those of any run.

The clock of an exploration stands still; here each step is told a tenth of a second after the one before, so that a
reader can go from one to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from groups.history.entries import Entry, Kind, Payload, Provenance
from simulations.invariants import INVARIANT_FAULT
from simulations.proof.exploration.actions import ActionKind as StepKind
from simulations.proof.exploration.actions import Step, unpacked
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import Coordinator, Wrongs, topics_note
from simulations.proof.exploration.plan import OF_TOPICS, Plan
from simulations.proof.exploration.processes import Process
from simulations.proof.exploration.state_layout import COORDINATOR as AT_COORDINATOR
from simulations.proof.exploration.state_layout import PROCESSES, SCRIPT, UNBORN, World
from simulations.proof.exploration.world import Worlds
from simulations.protocol.client.consumer import Call
from simulations.world.engine.log import COORDINATOR
from simulations.world.scenario import Verb

STEP_MS: Final = 100
"""Time between two steps of a trace."""

FAULTS: Final[dict[Verb, str]] = {Verb.KILL: "kill", Verb.PAUSE: "pause", Verb.RESUME: "resume"}


def timeline(worlds: Worlds, trace: Sequence[Step], invariant: str, says: str) -> list[Entry]:
    """The entries of a trace, and at its end the invariant that it breaks."""
    return told(_Telling(worlds), worlds, trace, invariant, says)


class Walked(Protocol):
    """Worlds of either kind."""

    def first(self) -> World: ...

    def take(self, world: World, step: Step) -> tuple[World, Wrongs]: ...


class Told(Protocol):
    """What a timeline says of a process of either kind."""

    @property
    def member_id(self) -> str: ...

    @property
    def calling(self) -> Call | None: ...


def told(telling: Telling, worlds: Walked, trace: Sequence[Step], invariant: str, says: str) -> list[Entry]:
    """The entries of a trace, walked once more, and at its end the invariant that it breaks."""
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
        "says": says,
        "sequences": [last],
        "members": [],
        "partitions": {},
    }
    telling.write(Kind.FAULT, COORDINATOR, fault, cause=last)
    return telling.entries


def sentence(worlds: Worlds, world: World, step: Step) -> str:
    """What a step is, in words."""
    return in_words(worlds.plan, SENTENCES, world, step)


def in_words(plan: Plan, sentences: Mapping[StepKind, str], world: World, step: Step) -> str:
    """What a step of any worlds is; ``sentences`` has each kind's, with ``{who}`` for the process."""
    kind, slot = unpacked(step)
    who = plan.member_id(slot) if slot < len(plan.slots) else ""
    if kind is StepKind.SCRIPT:
        action = plan.script[world[SCRIPT]]
        return f"{action.verb} {action.who}"
    return sentences[kind].format(who=who)


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
}


class Telling(ABC):
    """Writes entries behind each other, with sequences, offsets and batches of their own.

    ``step`` is told right behind the ``take`` of it. What a step did at the coordinator each kind of worlds tells by itself.
    """

    def __init__(self, plan: Plan, names: Mapping[str, str], first: Iterable[Entry]) -> None:
        self.entries: list[Entry] = []
        self._plan = plan
        self._names = names
        self._first = first
        self._at_ms = NOW_MS
        self._offset = 0
        self._batch = 0

    def begin(self, world: World) -> None:
        """The topics, and the group that is there already."""
        image = self._plan.image
        self.write(Kind.NOTE, COORDINATOR, topics_note(image, image.topics))
        self._copy(self._first)

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
        self._taken(step, world, after)
        for at in range(len(world) - PROCESSES):
            old, new = self._process(world, at), self._process(after, at)
            if new is None or new.calling is None:
                continue
            same = old is not None and old.calling == new.calling
            if not same or (kind is StepKind.RETURN and at == slot):
                self._callback(new.member_id, new.calling, "start")

    @abstractmethod
    def _taken(self, step: Step, world: World, after: World) -> None:
        """What the coordinator made of the step, and callbacks that took no time."""

    @abstractmethod
    def _process(self, world: World, slot: int) -> Told | None:
        """The process of a slot, if there is one by now."""

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
        partitions = {self._names.get(t, t): list(numbers) for t, numbers in call.partitions.items()}
        payload = {"callback": str(call.callback), "phase": phase, "partitions": partitions}
        self.write(Kind.CALLBACK, who, payload)

    def _copy(self, entries: Iterable[Entry]) -> None:
        """Entries that were numbered elsewhere; what they name of each other is moved with them."""
        entries = list(entries)
        if not entries:
            return
        by = len(self.entries) + 1 - entries[0].sequence
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


class _Telling(Telling):
    """Of worlds whose members all speak the consumer protocol."""

    def __init__(self, worlds: Worlds) -> None:
        super().__init__(worlds.plan, worlds.names, worlds.first_entries())
        self._worlds = worlds

    def _taken(self, step: Step, world: World, after: World) -> None:
        kind, slot = unpacked(step)
        self._copy(self._of_coordinator(kind, slot, world, self._process(world, slot)))

    def _process(self, world: World, slot: int) -> Process | None:
        number = world[PROCESSES + slot] if PROCESSES + slot < len(world) else UNBORN
        return self._worlds.processes.parts[number] if number != UNBORN else None

    def _of_coordinator(
        self, kind: StepKind, slot: int, world: World, process: Process | None
    ) -> Iterable[Entry]:
        """What the coordinator's part of the step is told by: the step is taken once more, and told."""
        worlds = self._worlds
        node = worlds.coordinators.parts[world[AT_COORDINATOR]]
        taking = worlds.coordinating
        match kind:
            case StepKind.ARRIVE | StepKind.DUPLICATE | StepKind.BEAT:
                assert process is not None
                if not process.requests:
                    process = worlds.acting.beat(process).after
                return () if process.stale else taking.handle(node, process.requests[0][0]).entries
            case StepKind.ASSIGNMENT:
                (timer,) = [timer for timer in node.timers if timer[1] is None]
                return taking.expire(node, timer).entries
            case StepKind.SESSION | StepKind.REBALANCE:
                return taking.expire(node, (kind.name.lower(), worlds.plan.member_id(slot))).entries
            case StepKind.TASK:
                return taking.resolve(node, node.tasks[slot]).entries
            case StepKind.FAIL_OVER:
                return taking.fail_over(node).entries
            case StepKind.SCRIPT:
                return self._of_script(world, node)
            case _:
                return ()

    def _of_script(self, world: World, node: Coordinator) -> Iterable[Entry]:
        worlds = self._worlds
        action = worlds.plan.script[world[SCRIPT]]
        if action.verb is Verb.FAIL_OVER:
            return worlds.coordinating.fail_over(node).entries
        if action.verb not in OF_TOPICS:
            return ()
        image = worlds.plan.image_after(node.shard.image, action)
        return worlds.coordinating.metadata(node, image, (action.who,)).entries
