"""Worlds, and what can happen in them: one step of a member, of the coordinator, of the script or of chance.

A world is a tuple of numbers: the coordinator, how far the script has come, what is left of the budgets, and a number
for each process. Parts are kept in pools, and what a part can do next is computed once: a world's steps are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from groups.history.entries import Entry
from simulations.checking import rules
from simulations.coordinator.messages import Heartbeat
from simulations.coordinator.outcome import SESSION, TimerStart
from simulations.coordinator.shard import Shard
from simulations.engine.beginning import by_id, start_records, topics_note
from simulations.exploration.actions import Budgets, Kind, Step, packed
from simulations.exploration.canonical import as_they_are, canonical
from simulations.exploration.coordinators import Coordinating, Coordinator, Wrongs
from simulations.exploration.coordinators import Step as CoordinatorStep
from simulations.exploration.plan import Plan
from simulations.exploration.pools import Pool
from simulations.exploration.processes import Done, Process, Processes
from simulations.exploration.script import Script
from simulations.exploration.telling import NOW_MS
from simulations.exploration.topics import Bits
from simulations.scenario import Verb

World = tuple[int, ...]

COORDINATOR, SCRIPT, LOSSES, DUPLICATES, TIMERS, FAIL_OVERS, PROCESSES = range(7)
"""Where what stands in a world; from ``PROCESSES`` on the processes."""

UNBORN: Final = -1
"""A process that has not started."""

TELLS: Final = frozenset({Verb.SUBSCRIBE, Verb.COMMIT})
"""Lines of the script after which the next heartbeat of a process may be another one."""

STARTS: Final = frozenset({Verb.JOIN, Verb.RESTART})

Next = tuple[Step, World, Wrongs]

Taken = tuple[Step, int, int, int, int, Wrongs]
"""A step of a process: the coordinator and the process after it, what it takes of losses and duplicates."""


class Worlds:
    """All worlds of one plan. ``reduced`` leaves out orders that nobody can tell apart; see the docs for which.

    ``ranked``: epochs count by their ranks; without it they count as they are.
    """

    def __init__(self, plan: Plan, budgets: Budgets, *, reduced: bool = True, ranked: bool = True) -> None:
        self.plan = plan
        self.bits = Bits()
        self.names = {topic.topic_id: name for name, topic in plan.image.topics.items()}
        self.coordinating = Coordinating(plan.semantics, self.bits, self.names)
        self.acting = Processes(self.bits, self.names)
        self.coordinators: Pool[Coordinator] = Pool(Coordinator.key)
        self.processes: Pool[Process] = Pool(Process.key)
        self.script = Script(self)
        self._budgets = budgets
        self._reduced = reduced
        self._ranked = ranked
        self._slot_of = {plan.member_id(slot): slot for slot in range(len(plan.slots))}
        self._coordinated: dict[Hashable, CoordinatorStep] = {}
        self._known: dict[tuple[int, int, int, bool, bool], list[Taken]] = {}
        self._said: dict[Hashable, bool] = {}
        self._facts: list[tuple[str, int, bool]] = []
        self._restarts = any(action.verb is Verb.RESTART for action in plan.script)
        self._first_entries: tuple[Entry, ...] = ()

    # The beginning.

    def first(self) -> World:
        plan, budgets = self.plan, self._budgets
        scenario, start = plan.scenario, plan.scenario.start
        shard = Shard(scenario.group, plan.semantics, plan.settings, plan.image)
        topics = topics_note(plan.image, tuple(scenario.topics))["topics"]
        parts = [UNBORN] * len(plan.slots)
        if start is None:
            coordinator = self.coordinating.first(shard, topics)
        else:
            length_ms = plan.settings.session_timeout_ms
            sessions = [
                TimerStart(timer=SESSION, member_id=member.name, length_ms=length_ms)
                for member in start.members
            ]
            records = start_records(scenario, start, plan.image, plan.semantics)
            coordinator = self.coordinating.first(shard, topics, tuple(records), tuple(sessions))
            for member in start.members:
                slot = plan.slots_of[member.name][0]
                owned = by_id(plan.image, member.owned)
                consumer = plan.consumer(slot)
                consumer.adopt(
                    epoch=member.epoch,
                    owned=owned,
                    names=scenario.members[member.name].subscribe,
                    interval_ms=plan.settings.heartbeat_interval_ms,
                    first_beat_ms=NOW_MS + plan.settings.heartbeat_interval_ms,
                )
                mask = self.bits.of_topics(owned)
                parts[slot] = self.processes.add(Process(consumer=consumer, owned=mask, said=mask))
        self._first_entries = coordinator.entries
        left = (budgets.losses, budgets.duplicates, budgets.timers, budgets.fail_overs)
        return (self.coordinators.add(coordinator.after), 0, *left, *parts)

    def first_entries(self) -> tuple[Entry, ...]:
        """Entries of the group that is there at the start."""
        return self._first_entries

    # What tells worlds apart.

    def form(self, world: World) -> World:
        """The world with its epochs as ranks: two worlds of one form have the same future."""
        if not self._ranked:
            return world
        masks = self.processes.masks
        mask = self.coordinators.masks[world[COORDINATOR]]
        for number in world[PROCESSES:]:
            if number != UNBORN:
                mask |= masks[number]
        canonical_of = self.processes.canonical
        return (
            self.coordinators.canonical(world[COORDINATOR], mask),
            *world[SCRIPT:PROCESSES],
            *[n if n == UNBORN else canonical_of(n, mask) for n in world[PROCESSES:]],
        )

    def converged(self, world: World) -> bool:
        """Whether all that lives has come to rest where the group wants it."""
        if world[SCRIPT] < len(self.plan.script):
            return False
        coordinator = self.coordinators.parts[world[COORDINATOR]]
        if not coordinator.converged:
            return False
        live = set()
        for number in world[PROCESSES:]:
            if number == UNBORN or not (process := self.processes.parts[number]).counts:
                continue
            if process.owned != coordinator.assigned.get(process.member_id):
                return False
            live.add(process.member_id)
        return live == coordinator.checks.members.keys()

    # What can happen.

    def following(self, world: World) -> Iterator[Next]:
        """Every step that can be taken next, with the world that it leads to and the rules that this one breaks."""
        checked = self._checked
        while len(self._facts) < len(self.processes):
            self._facts.append(_facts_of(self.processes.parts[len(self._facts)]))
        coordinator, script, losses, duplicates = world[:TIMERS]
        rest = world[TIMERS:PROCESSES]
        for slot, number in enumerate(world[PROCESSES:]):
            if number == UNBORN:
                continue
            place = (coordinator, script, number, losses > 0, duplicates > 0)
            taken = self._known.get(place)
            if taken is None:
                taken = self._known[place] = list(self._of_process(world, slot, number))
            before, behind = world[PROCESSES : PROCESSES + slot], world[PROCESSES + slot + 1 :]
            for step, after, process, lost, again, wrong in taken:
                left = (losses - lost, duplicates - again)
                yield checked(step, (after, script, *left, *rest, *before, process, *behind), wrong)
        if script < len(self.plan.script):
            yield checked(packed(Kind.SCRIPT), *self.script.take(world))
        yield from self._of_coordinator(world)
        if self._restarts:
            yield from self._of_followed(world)

    def take(self, world: World, step: Step) -> tuple[World, Wrongs]:
        """The world that a step leads to, one of those that can be taken."""
        for other, after, wrong in self.following(world):
            if other == step:
                return after, wrong
        raise KeyError(step)

    def _of_process(self, world: World, slot: int, number: int) -> Iterator[Taken]:
        """The steps that a process takes by itself or with the coordinator; they touch no other process."""
        coordinator = world[COORDINATOR]
        process = self.processes.parts[number]
        if process.requests:
            yield self._arrive(Kind.ARRIVE, world, slot, process)
            if world[DUPLICATES] and not process.stale:
                yield self._arrive(Kind.DUPLICATE, world, slot, process)
        if not process.runs:
            return
        if process.answers and not process.follows:
            yield self._own(Kind.ANSWER, world, slot, self.acting.answered(process))
        if process.calling is not None:
            yield self._own(Kind.RETURN, world, slot, self.acting.returned(process))
        lossy = world[LOSSES] > 0
        if not process.requests:
            beaten = self.acting.beat(process)
            if beaten.after.requests:
                if self._apart(world, slot):
                    yield self._own(Kind.SEND, world, slot, beaten)
                if self._reduced:
                    step, after, other, _, _, wrong = self._arrive(Kind.BEAT, world, slot, beaten.after)
                    yield step, after, other, 0, 0, beaten.wrong + wrong
                if lossy and not process.answers:
                    lost = self._own(Kind.LOSE, world, slot, self.acting.disconnected(beaten.after))
                    yield lost[0], coordinator, lost[2], 1, 0, beaten.wrong + lost[5]
        if lossy and (process.requests or process.answers):
            lost = self._own(Kind.LOSE, world, slot, self.acting.disconnected(process))
            yield lost[0], coordinator, lost[2], 1, 0, lost[5]

    def _own(self, kind: Kind, world: World, slot: int, done: Done) -> Taken:
        process = self.settled(world, slot, done.after)
        return packed(kind, slot), world[COORDINATOR], process, 0, 0, done.wrong

    def _arrive(self, kind: Kind, world: World, slot: int, process: Process) -> Taken:
        """The oldest request arrives; as a duplicate it stays on its way, as one that nobody waits for."""
        again = kind is Kind.DUPLICATE
        number, before = world[COORDINATOR], self.coordinators.parts[world[COORDINATOR]]
        if process.stale:
            return self._own(kind, world, slot, self.acting.moved(process))
        (request, wanted), *rest = process.requests
        step_of = self.coordinate(
            number,
            canonical(request, as_they_are),
            lambda coordinator: self.coordinating.handle(coordinator, request),
        )
        assert step_of.answer is not None
        left = ((request, False), *rest) if again else tuple(rest)
        answers = (*process.answers, (request, step_of.answer)) if wanted else process.answers
        after = self.coordinators.add(step_of.after)
        who = process.member_id
        gone = before.held.get(who, 0) & ~self.coordinators.parts[after].held.get(who, 0)
        unsaid = gone & process.owned & ~process.said if isinstance(request, Heartbeat) else 0
        process = replace(
            process, requests=left, answers=answers, misunderstood=process.misunderstood | unsaid
        )
        wrong = step_of.wrong
        if self._reduced and process.runs and not process.follows and self._is_quiet(world, slot, process):
            done = self.acting.answered(process)
            process, wrong = done.after, wrong + done.wrong
        return packed(kind, slot), after, self.settled(world, slot, process), 0, int(again), wrong

    def _apart(self, world: World, slot: int) -> bool:
        """Whether it matters that a heartbeat which nobody asked for is on its way for a while."""
        if not self._reduced or world[DUPLICATES]:
            return True
        script = self.plan.script
        return world[SCRIPT] < len(script) and script[world[SCRIPT]].who == self.plan.slots[slot][0]

    def _is_quiet(self, world: World, slot: int, process: Process) -> bool:
        """Whether an answer can arrive at once; not if the script may still tell its process something meanwhile."""
        return not self._is_said(world, slot, TELLS) and self.acting.is_quiet(process)

    def _is_said(self, world: World, slot: int, verbs: frozenset[Verb]) -> bool:
        """Whether one of these is still to come in the script for the member of the process."""
        place = (world[SCRIPT], slot, verbs)
        known = self._said.get(place)
        if known is None:
            name, rest = self.plan.slots[slot][0], self.plan.script[world[SCRIPT] :]
            known = self._said[place] = any(a.who == name and a.verb in verbs for a in rest)
        return known

    def settled(self, world: World, slot: int, process: Process) -> int:
        """The number of the process; one that has closed is as good as gone if nothing starts it again."""
        if process.alive and process.deaf and not self._is_said(world, slot, STARTS):
            process = self.acting.killed(process).after
        if self._reduced and process.stale and process.runs and not process.answers:
            process = self._found_out(process)
        return self.processes.add(process)

    def _found_out(self, process: Process) -> Process:
        """It tries its old coordinator in vain, now instead of later: what matters is that it tells all anew then."""
        if not process.requests:
            process = self.acting.beat(process).after
        return self.acting.moved(process).after if process.requests else process

    def _of_followed(self, world: World) -> Iterator[Next]:
        """An answer to a process that is to be followed may start another one."""
        for slot, number in enumerate(world[PROCESSES:]):
            if number == UNBORN:
                continue
            process = self.processes.parts[number]
            if process.follows and process.runs and process.answers:
                done = self.acting.answered(process)
                after, wrong = self.script.answered(world, slot, done)
                yield self._checked(packed(Kind.ANSWER, slot), after, wrong)

    # Steps of the coordinator.

    def coordinate(
        self, number: int, what: Hashable, take: Callable[[Coordinator], CoordinatorStep]
    ) -> CoordinatorStep:
        """A step of the coordinator, taken once."""
        known = self._coordinated.get((number, what))
        if known is None:
            known = self._coordinated[number, what] = replace(
                take(self.coordinators.parts[number]), entries=()
            )
        return known

    def coordinated(
        self, world: World, what: Hashable, take: Callable[[Coordinator], CoordinatorStep]
    ) -> tuple[World, Wrongs]:
        """The world after a step that no process takes part in."""
        step = self.coordinate(world[COORDINATOR], what, take)
        return (self.coordinators.add(step.after), *world[1:]), step.wrong

    def _of_coordinator(self, world: World) -> Iterator[Next]:
        coordinator = self.coordinators.parts[world[COORDINATOR]]
        for timer in coordinator.timers:
            name, member_id = timer
            slot, natural = 0, True
            if member_id is not None:
                slot = self._slot_of[member_id]
                natural = not self._facts[world[PROCESSES + slot]][2]
            if not natural and not world[TIMERS]:
                continue
            after, wrong = self.coordinated(world, timer, partial(self.coordinating.expire, timer=timer))
            if not natural:
                after = (*after[:TIMERS], after[TIMERS] - 1, *after[TIMERS + 1 :])
            kind = Kind.ASSIGNMENT if member_id is None else Kind.REBALANCE
            yield self._checked(packed(Kind.SESSION if name == SESSION else kind, slot), after, wrong)
        for number, task in enumerate(coordinator.tasks):
            after, wrong = self.coordinated(
                world, ("task", number), partial(self.coordinating.resolve, task=task)
            )
            yield self._checked(packed(Kind.TASK, number), after, wrong)
        if world[FAIL_OVERS]:
            after, wrong = self.fail_over(world)
            after = (*after[:FAIL_OVERS], after[FAIL_OVERS] - 1, *after[FAIL_OVERS + 1 :])
            yield self._checked(packed(Kind.FAIL_OVER), after, wrong)

    def fail_over(self, world: World) -> tuple[World, Wrongs]:
        """Another broker takes over; every process that runs has to find out with its next request."""
        after, wrong = self.coordinated(world, "fail over", self.coordinating.fail_over)
        parts = list(after)
        for at in range(PROCESSES, len(parts)):
            if parts[at] == UNBORN:
                continue
            process = self.processes.parts[parts[at]]
            if process.deaf:
                parts[at] = self.processes.add(replace(process, requests=()))
            elif not process.stale:
                parts[at] = self.settled(world, at - PROCESSES, replace(process, stale=True))
        return tuple(parts), wrong

    # What is asked of every world.

    def _checked(self, step: Step, world: World, wrong: Wrongs) -> Next:
        """The step, with what clients and coordinator together break in the world after it."""
        held, facts = self.coordinators.parts[world[COORDINATOR]].held, self._facts
        while len(facts) < len(self.processes):
            facts.append(_facts_of(self.processes.parts[len(facts)]))
        taken = 0
        for number in world[PROCESSES:]:
            if number == UNBORN:
                continue
            who, owned, _ = facts[number]
            if not owned or (theirs := held.get(who)) is None:
                continue
            if owned & (taken | ~theirs):
                return step, world, wrong + self._together(world)
            taken |= owned
        return step, world, wrong

    def _together(self, world: World) -> Wrongs:
        """The broken rules in words."""
        held = self.coordinators.parts[world[COORDINATOR]].held
        parts = [self.processes.parts[number] for number in world[PROCESSES:] if number != UNBORN]
        known = [process for process in parts if process.member_id in held]
        found: list[rules.Wrong] = []
        for process in known:
            who, owned = process.member_id, self._named(process.owned & ~process.misunderstood)
            found += rules.still_owns(who, owned - self._named(held[who]), owned)
            for other in known:
                if other.member_id < who:
                    both = owned & self._named(other.owned & ~other.misunderstood)
                    found += rules.begins_with_anothers(who, other.member_id, both)
        return tuple((invariant, says) for invariant, says, _ in found)

    def _named(self, mask: int) -> set[tuple[str, int]]:
        return {(self.names.get(topic_id, topic_id), n) for topic_id, n in self.bits.partitions(mask)}


def _facts_of(process: Process) -> tuple[str, int, bool]:
    """What is asked of a process in every world: whose it is, what it owns and should, and whether it counts."""
    return process.member_id, process.owned & ~process.misunderstood, process.counts
