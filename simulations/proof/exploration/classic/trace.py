"""A way through worlds with classic members as a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from groups.history.entries import Entry, Kind
from simulations.proof.exploration.actions import ActionKind as StepKind
from simulations.proof.exploration.actions import Step
from simulations.proof.exploration.classic.kept import Coordinated
from simulations.proof.exploration.classic.processes import ClassicProcess
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.state_layout import PROCESSES, UNBORN, World
from simulations.proof.exploration.trace import SENTENCES as OF_BOTH
from simulations.proof.exploration.trace import Telling, in_words, told
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
    return told(ClassicTelling(worlds), worlds, trace, invariant, says)


def sentence(worlds: ClassicWorlds, world: World, step: Step) -> str:
    """What a step is, in words."""
    return in_words(worlds.plan, SENTENCES, world, step)


class ClassicTelling(Telling):
    """Worlds with classic members keep what the coordinator did in the step that was taken last."""

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

    def _taken(self, step: Step, world: World, after: World) -> None:
        for each in self._worlds.taken:
            if isinstance(each, Coordinated):
                self._copy(each.entries)
            else:
                slot, calls = each
                for call in calls:
                    self._call(slot, after, call)

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

    def _process(self, world: World, slot: int) -> ClassicProcess | None:
        number = world[PROCESSES + slot] if PROCESSES + slot < len(world) else UNBORN
        return self._worlds.processes.parts[number] if number != UNBORN else None
