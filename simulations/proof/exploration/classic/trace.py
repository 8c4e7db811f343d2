"""A way through worlds with classic members as a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from groups.history.entries import Entry, Kind
from simulations.proof.exploration.actions import ActionKind as StepKind
from simulations.proof.exploration.actions import Step, unpacked
from simulations.proof.exploration.classic.kept import Coordinated
from simulations.proof.exploration.classic.processes import ClassicProcess
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.state_layout import PROCESSES, SCRIPT, UNBORN, World
from simulations.proof.exploration.trace import SENTENCES as OF_BOTH
from simulations.proof.exploration.trace import STEP_MS, Telling, in_words, violated
from simulations.protocol.client.consumer import Call

SENTENCES: Mapping[StepKind, str] = {
    **OF_BOTH,
    StepKind.APPEND: "the records that answers wait for are committed",
    StepKind.START: "the process that follows {who} starts",
    StepKind.METADATA: "{who} fetches metadata",
    StepKind.UNANSWERED: "a request of {who} that nobody will answer times out",
    StepKind.JOIN_PHASE: "the join phase ends",
    StepKind.SYNC_PHASE: "the time to ask for an assignment is over",
    StepKind.FORGET: "the session of an id expires that no process has",
}


def timeline(worlds: ClassicWorlds, trace: Sequence[Step], invariant: str, says: str) -> list[Entry]:
    """The entries of a trace, and at its end the invariant that it breaks."""
    telling = ClassicTelling(worlds)
    world = worlds.first()
    telling.begin(world)
    for step in trace:
        after, _ = worlds.take(world, step)
        telling.step(step, world, after)
        world = after
    return violated(telling, invariant, says)


def sentence(worlds: ClassicWorlds, world: World, step: Step) -> str:
    """What a step is, in words."""
    return in_words(worlds.plan, SENTENCES, world, step)


class ClassicTelling(Telling):
    """``step`` is told right behind ``worlds.take`` of it."""

    def __init__(self, worlds: ClassicWorlds) -> None:
        super().__init__(worlds.plan, worlds.names, worlds.first_entries)
        self._worlds = worlds

    def begin(self, world: World) -> None:
        super().begin(world)
        for slot, call in self._worlds.first_calls:
            self._call(slot, world, call)
        for slot in range(len(world) - PROCESSES):
            process = self._process(world, slot)
            if process is not None and process.calling is not None:
                self._callback(process.member_id, process.calling, "start")

    def step(self, step: Step, world: World, after: World) -> None:
        """The entries of one step."""
        self._at_ms += STEP_MS
        kind, slot = unpacked(step)
        self._fault(kind, slot, world)
        before = self._process(world, slot)
        if kind is StepKind.RETURN and before is not None and before.calling is not None:
            self._callback(before.member_id, before.calling, "end")
        for told in self._worlds.taken:
            if isinstance(told, Coordinated):
                self._copy(told.entries)
            else:
                for call in told[1]:
                    self._call(told[0], after, call)
        for at in range(len(world) - PROCESSES):
            old, new = self._process(world, at), self._process(after, at)
            if new is None or new.calling is None:
                continue
            same = old is not None and old.calling is not None and old.calling == new.calling
            if not same or (kind is StepKind.RETURN and at == slot):
                self._callback(new.member_id, new.calling, "start")

    def _copy(self, entries: Iterable[Entry]) -> None:
        """An answer that comes later than its own step names its request, which stands under another number here."""
        begin = len(self.entries)
        super()._copy(entries)
        for at in range(begin, len(self.entries)):
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

    def _call(self, slot: int, world: World, call: Call) -> None:
        """A callback that took no time."""
        process = self._process(world, slot)
        assert process is not None
        self._callback(process.member_id, call, "start")
        self._callback(process.member_id, call, "end")

    def _fault(self, kind: StepKind, slot: int, world: World) -> None:
        who: str | None = None
        action = None
        if kind is StepKind.SCRIPT:
            action = self._worlds.plan.script[world[SCRIPT]]
            slots = self._worlds.plan.slots_of.get(action.who, ())
            born = [process for at in slots if (process := self._process(world, at)) is not None]
            who = born[-1].member_id if born else None
        elif kind in (StepKind.LOSE, StepKind.DUPLICATE):
            process = self._process(world, slot)
            who = process.member_id if process is not None else None
        self.fault(kind, action, who)

    def _process(self, world: World, slot: int) -> ClassicProcess | None:
        number = world[PROCESSES + slot] if PROCESSES + slot < len(world) else UNBORN
        return self._worlds.processes.parts[number] if number != UNBORN else None
