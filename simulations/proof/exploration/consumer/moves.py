"""Steps that a process takes, by itself or with the coordinator: each is taken once for the states that decide it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simulations.proof.exploration.actions import ActionKind, Step, packed
from simulations.proof.exploration.canonical import as_they_are, of_message
from simulations.proof.exploration.consumer.processes import ConsumerProcess
from simulations.proof.exploration.coordinator_entries import Answer
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.plan import STARTS
from simulations.proof.exploration.processes import Done
from simulations.proof.exploration.state_layout import COORDINATOR, DUPLICATES, LOSSES, SCRIPT, UNBORN, World
from simulations.world.scenario import Verb

if TYPE_CHECKING:
    from simulations.proof.exploration.consumer.world import ConsumerWorlds

REPORTED_VERBS: Final = frozenset({Verb.SUBSCRIBE, Verb.COMMIT})
"""Lines of the script after which the next heartbeat of a process may be another one."""

Taken = tuple[Step, int, int, int, int, Wrongs]
"""A step of a process: the coordinator and the process after it, what it takes of losses and duplicates."""


class Moves:
    """Takes the steps of processes. ``reduced`` leaves out orders that nobody can distinguish."""

    def __init__(self, worlds: ConsumerWorlds, *, reduced: bool) -> None:
        self._worlds = worlds
        self._acting = worlds.acting
        self._reduced = reduced
        self._beaten: dict[int, Done[ConsumerProcess]] = {}
        self._requested: dict[int, Hashable] = {}
        self._alone: dict[Hashable, Taken] = {}
        self._handled_by_place: dict[Hashable, tuple[int, Wrongs]] = {}
        self._outdated: dict[tuple[int, int], int] = {}
        self._said: dict[Hashable, bool] = {}

    def following(self, world: World, slot: int, number: int) -> Iterator[Taken]:
        """The steps that a process takes by itself or with the coordinator; they touch no other process."""
        coordinator = world[COORDINATOR]
        process = self._worlds.processes.parts[number]
        acting, alone = self._acting, self._by_itself
        if process.requests:
            yield self._arrive(ActionKind.ARRIVE, world, slot, process, number)
        if not process.runs:
            return
        doubles = world[DUPLICATES] > 0 and not process.stale
        if process.requests and doubles:
            yield self._arrive(ActionKind.DUPLICATE, world, slot, process, number)
        if process.answers and not process.follows:
            yield alone(ActionKind.ANSWER, world, slot, number, lambda: acting.answered(process))
        if process.calling is not None:
            yield alone(ActionKind.RETURN, world, slot, number, lambda: acting.returned(process))
        lossy = world[LOSSES] > 0
        if not process.requests:
            beaten = self._beaten.get(number)
            if beaten is None:
                beaten = self._beaten[number] = acting.beat(process)
            sent = beaten.after
            if sent.requests:
                if self._apart(world, slot):
                    yield alone(ActionKind.SEND, world, slot, number, lambda: beaten)
                if self._reduced:
                    # Of the beaten process, which no world has: its number is the other one's, inverted.
                    step, after, other, _, _, wrong = self._arrive(
                        ActionKind.BEAT, world, slot, sent, ~number
                    )
                    yield step, after, other, 0, 0, beaten.wrong + wrong
                    if doubles:
                        doubled = self._arrive(ActionKind.DUPLICATE, world, slot, sent, ~number)
                        yield *doubled[:5], beaten.wrong + doubled[5]
                if lossy and not process.answers:
                    lost = alone(ActionKind.LOSE, world, slot, ~number, lambda: acting.disconnected(sent))
                    yield lost[0], coordinator, lost[2], 1, 0, beaten.wrong + lost[5]
        if lossy and (process.requests or process.answers):
            lost = alone(ActionKind.LOSE, world, slot, number, lambda: acting.disconnected(process))
            yield lost[0], coordinator, lost[2], 1, 0, lost[5]

    def _by_itself(
        self,
        kind: ActionKind,
        world: World,
        slot: int,
        number: int,
        take: Callable[[], Done[ConsumerProcess]],
    ) -> Taken:
        """A step that the coordinator has no part in, taken once."""
        place = (kind, world[SCRIPT], number)
        known = self._alone.get(place)
        if known is None:
            done = take()
            after = self.settled(world, slot, done.after)
            known = self._alone[place] = (packed(kind, slot), UNBORN, after, 0, 0, done.wrong)
        return known[0], world[COORDINATOR], *known[2:]

    def _arrive(
        self, kind: ActionKind, world: World, slot: int, process: ConsumerProcess, number: int
    ) -> Taken:
        """The oldest request arrives; of a duplicate the connection breaks then, and its client asks again.

        ``number`` distinguishes the process from all others.
        """
        breaks = kind is ActionKind.DUPLICATE
        coordinator, before = world[COORDINATOR], self._worlds.coordinators.parts[world[COORDINATOR]]
        if process.stale:
            return self._by_itself(kind, world, slot, number, lambda: self._acting.moved(process))
        request, _, who = process.requests[0]
        asked = self._requested.get(number)
        if asked is None:
            # With the sender: a first heartbeat of the proposal has no id, and two of them differ by nothing else.
            asked = self._requested[number] = of_message(request, as_they_are), who
        known = self._worlds.coordinate(
            coordinator, asked, lambda node: self._worlds.coordinating.handle(node, request, who, 0)
        )
        ((_, answer, said),) = known.answers
        held = self._worlds.coordinators.parts[known.after].held.get(who, 0)
        missed = self._acting.misses(process, request, before.held.get(who, 0), held)
        place = (kind, world[SCRIPT], number, said, missed)
        given = self._handled_by_place.get(place)
        if given is None:
            given = self._handled_by_place[place] = self._handled(
                world, slot, process, answer, missed, breaks=breaks
            )
        return packed(kind, slot), known.after, given[0], 0, int(breaks), known.wrong + given[1]

    def _handled(
        self,
        world: World,
        slot: int,
        process: ConsumerProcess,
        answer: Answer,
        missed: tuple[int, int],
        *,
        breaks: bool,
    ) -> tuple[int, Wrongs]:
        """The number of the process after its oldest request was handled, and what it breaks by the answer.

        ``missed``: what was taken away, though it owns it, and though it may yet begin with it.
        """
        unsaid, unbegun = missed
        process = replace(process, misunderstood=process.misunderstood | unsaid, unbegun=unbegun)
        if breaks:
            lost = self._acting.disconnected(process)
            return self.settled(world, slot, lost.after), lost.wrong
        (request, wanted, _), *rest = process.requests
        answers = (*process.answers, (request, answer)) if wanted else process.answers
        process = replace(process, requests=tuple(rest), answers=answers)
        wrong: Wrongs = ()
        if self._reduced and process.runs and not process.follows and self._is_quiet(world, slot, process):
            done = self._acting.answered(process)
            process, wrong = done.after, done.wrong
        return self.settled(world, slot, process), wrong

    def _apart(self, world: World, slot: int) -> bool:
        """Whether it matters that a heartbeat which nobody asked for is on its way for a while."""
        if not self._reduced:
            return True
        script = self._worlds.plan.script
        return world[SCRIPT] < len(script) and script[world[SCRIPT]].who == self._worlds.plan.slots[slot][0]

    def _is_quiet(self, world: World, slot: int, process: ConsumerProcess) -> bool:
        """Whether an answer can arrive at once; not if the script may still notify its process something meanwhile."""
        return not self._is_said(world, slot, REPORTED_VERBS) and self._acting.is_quiet(process)

    def _is_said(self, world: World, slot: int, verbs: frozenset[Verb]) -> bool:
        """Whether one of these is still to come in the script for the member of the process."""
        place = (world[SCRIPT], slot, verbs)
        known = self._said.get(place)
        if known is None:
            name, rest = self._worlds.plan.slots[slot][0], self._worlds.plan.script[world[SCRIPT] :]
            known = self._said[place] = any(a.who == name and a.verb in verbs for a in rest)
        return known

    def settled(self, world: World, slot: int, process: ConsumerProcess) -> int:
        """The number of the process; one that has closed is as good as gone if nothing starts it again."""
        if process.deaf and not self._is_said(world, slot, STARTS):
            process = self._acting.killed(process).after
        if self._reduced and process.stale and process.runs and not process.answers:
            process = self._found_out(process)
        return self._worlds.processes.add(process)

    def _found_out(self, process: ConsumerProcess) -> ConsumerProcess:
        """It tries its old coordinator in vain, now instead of later: what matters is that it reports all again then."""
        if not process.requests:
            process = self._acting.beat(process).after
        return self._acting.moved(process).after if process.requests else process

    def is_outdated(self, script: int, number: int) -> bool:
        """Whether it was asked before what this process is when the coordinator has moved."""
        return (script, number) in self._outdated

    def outdated(self, world: World, slot: int, number: int) -> int:
        """The process when the coordinator has moved."""
        place = (world[SCRIPT], number)
        known = self._outdated.get(place)
        if known is None:
            process = self._worlds.processes.parts[number]
            if process.deaf:
                known = self._worlds.processes.add(replace(process, requests=()))
            elif process.stale:
                known = number
            else:
                known = self.settled(world, slot, replace(process, stale=True))
            self._outdated[place] = known
        return known
