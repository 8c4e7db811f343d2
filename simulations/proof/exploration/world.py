"""Worlds, and what can happen in them: one step of a member, of the coordinator, of the script or of chance.

A world is a tuple of numbers: the coordinator, how far the script has come, what is left of the budgets, and a number
for each process. Parts are kept in pools, and what a part can do next is computed once: a world's steps are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from struct import Struct
from typing import NamedTuple

from groups.history.entries import Entry
from simulations.invariants import rules
from simulations.proof.exploration.actions import ActionKind, Budgets, Step, packed
from simulations.proof.exploration.canonical import as_they_are, canonical
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import (
    Answer,
    Coordinator,
    CoordinatorRuntime,
    CoordinatorStep,
    Wrongs,
)
from simulations.proof.exploration.interning import Interner
from simulations.proof.exploration.moves import Moves, Taken
from simulations.proof.exploration.partition_bits import Bits
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.processes import Process, Processes
from simulations.proof.exploration.script import Script
from simulations.proof.exploration.state_layout import (
    COORDINATOR,
    FAIL_OVERS,
    PROCESSES,
    SCRIPT,
    TIMERS,
    UNBORN,
    Form,
    World,
)
from simulations.protocol.coordinator.consumer.outcome import SESSION, TimerStart
from simulations.protocol.coordinator.shard import Shard
from simulations.world.engine.initial_state import by_id, start_records, topics_note
from simulations.world.scenario import Verb

Next = tuple[Step, World, Wrongs]

Offer = tuple[Step, int, Hashable, Callable[[Coordinator], CoordinatorStep]]
"""A step of the coordinator alone: whose timeout it is, or ``UNBORN``, its name, and how it is taken."""


class Coordinated(NamedTuple):
    """A step of the coordinator as it is kept: ``after`` by its number, the answer with its key."""

    after: int
    wrong: Wrongs
    answer: Answer | None
    said: Hashable


class Worlds:
    """All worlds of one plan. ``reduced`` leaves out orders that nobody can tell apart; see the docs for which.

    ``ranked``: epochs count by their ranks; without it they count as they are. ``unhurried``: a line of the script waits
    until the group has come to rest.
    """

    def __init__(
        self,
        plan: Plan,
        budgets: Budgets,
        *,
        reduced: bool = True,
        ranked: bool = True,
        unhurried: bool = False,
    ) -> None:
        self.plan = plan
        self.bits = Bits()
        self.names = {topic.topic_id: name for name, topic in plan.image.topics.items()}
        self.coordinating = CoordinatorRuntime(plan.semantics, self.bits, self.names)
        self.acting = Processes(self.bits, self.names)
        self.coordinators: Interner[Coordinator] = Interner(Coordinator.key)
        self.processes: Interner[Process] = Interner(Process.key)
        self.script = Script(self)
        self.moves = Moves(self, reduced=reduced)
        self._budgets = budgets
        self._unhurried = unhurried
        self._ranked = ranked
        self._slot_of = {plan.member_id(slot): slot for slot in range(len(plan.slots))}
        self._coordinated: dict[Hashable, Coordinated] = {}
        self._known: dict[tuple[int, int, int, bool, bool], list[Taken]] = {}
        self._offers: dict[int, list[Offer]] = {}
        self._facts: list[tuple[str, int, bool]] = []
        self._restarts = any(action.verb is Verb.RESTART for action in plan.script)
        self._first_entries: tuple[Entry, ...] = ()
        self._pack = Struct(f"{PROCESSES + len(plan.slots)}i").pack

    # The beginning.

    def first(self) -> World:
        plan, budgets = self.plan, self._budgets
        scenario, start = plan.scenario, plan.scenario.start
        shard = Shard(scenario.group, plan.semantics, plan.settings, plan.image)
        topics = topics_note(plan.image, tuple(scenario.topics), {})["topics"]
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

    def form(self, world: World) -> Form:
        """The world with its epochs as ranks: two worlds of one form have the same future."""
        if not self._ranked:
            return self._pack(*world)
        masks = self.processes.masks
        mask = self.coordinators.masks[world[COORDINATOR]]
        for number in world[PROCESSES:]:
            if number != UNBORN:
                mask |= masks[number]
        of_processes = self.processes.forms[mask]
        return self._pack(
            self.coordinators.forms[mask][world[COORDINATOR]],
            *world[SCRIPT:PROCESSES],
            *[of_processes[number] for number in world[PROCESSES:]],
        )

    def owner(self, world: World) -> int:
        """A number that all worlds of one form share; it tells who walks them where an exploration is shared out."""
        own = self.processes.own
        found = self.coordinators.own[world[COORDINATOR]] + sum(world[SCRIPT:PROCESSES])
        for number in world[PROCESSES:]:
            # Of the golden ratio: neighbours come to lie apart.
            found = (found * 2654435769 + (own[number] if number != UNBORN else 0)) & 0xFFFFFFFF
        return found >> 8

    def converged(self, world: World) -> bool:
        """Whether all that lives has come to rest where the group wants it."""
        return world[SCRIPT] == len(self.plan.script) and self._rests(world)

    def _rests(self, world: World) -> bool:
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
                taken = self._known[place] = list(self.moves.following(world, slot, number))
            before, behind = world[PROCESSES : PROCESSES + slot], world[PROCESSES + slot + 1 :]
            for step, after, process, lost, again, wrong in taken:
                left = (losses - lost, duplicates - again)
                yield checked(step, (after, script, *left, *rest, *before, process, *behind), wrong)
        if script < len(self.plan.script) and (not self._unhurried or self._rests(world)):
            yield checked(packed(ActionKind.SCRIPT), *self.script.take(world))
        yield from self._of_coordinator(world)
        if self._restarts:
            yield from self._of_followed(world)

    def untaken(self, world: World) -> list[Hashable]:
        """What a step from here would do for the first time; nothing new comes of the others."""
        coordinator, script, losses, duplicates = world[:TIMERS]
        places = [
            (coordinator, script, number, losses > 0, duplicates > 0)
            for number in world[PROCESSES:]
            if number != UNBORN
        ]
        missing: list[Hashable] = [place for place in places if place not in self._known]
        if script < len(self.plan.script) and (line := self.script.place(world)) not in self.script.taken:
            missing.append(line)
        if coordinator not in self._offers:
            missing.append(coordinator)
        else:
            for _, slot, what, _ in self._offers[coordinator]:
                natural = slot == UNBORN or not self._facts[world[PROCESSES + slot]][2]
                if (natural or world[TIMERS]) and (coordinator, what) not in self._coordinated:
                    missing.append((coordinator, what))
        if world[FAIL_OVERS]:
            if (coordinator, "fail over") not in self._coordinated:
                missing.append((coordinator, "fail over"))
            missing += [
                (script, number)
                for number in world[PROCESSES:]
                if number != UNBORN and not self.moves.is_outdated(script, number)
            ]
        if self._restarts and any(
            number != UNBORN and self.processes.parts[number].follows for number in world[PROCESSES:]
        ):
            missing.append(world)
        return missing

    def take(self, world: World, step: Step) -> tuple[World, Wrongs]:
        """The world that a step leads to, one of those that can be taken."""
        for other, after, wrong in self.following(world):
            if other == step:
                return after, wrong
        raise KeyError(step)

    def _of_followed(self, world: World) -> Iterator[Next]:
        """An answer to a process that is to be followed may start another one."""
        for slot, number in enumerate(world[PROCESSES:]):
            if number == UNBORN:
                continue
            process = self.processes.parts[number]
            if process.follows and process.runs and process.answers:
                done = self.acting.answered(process)
                after, wrong = self.script.answered(world, slot, done)
                yield self._checked(packed(ActionKind.ANSWER, slot), after, wrong)

    # Steps of the coordinator.

    def coordinate(
        self, number: int, what: Hashable, take: Callable[[Coordinator], CoordinatorStep]
    ) -> Coordinated:
        """A step of the coordinator, taken once."""
        known = self._coordinated.get((number, what))
        if known is None:
            step = take(self.coordinators.parts[number])
            said = canonical(step.answer, as_they_are)
            known = Coordinated(self.coordinators.add(step.after), step.wrong, step.answer, said)
            self._coordinated[number, what] = known
        return known

    def coordinated(
        self, world: World, what: Hashable, take: Callable[[Coordinator], CoordinatorStep]
    ) -> tuple[World, Wrongs]:
        """The world after a step that no process takes part in."""
        known = self.coordinate(world[COORDINATOR], what, take)
        return (known.after, *world[1:]), known.wrong

    def _of_coordinator(self, world: World) -> Iterator[Next]:
        coordinator = world[COORDINATOR]
        offers = self._offers.get(coordinator)
        if offers is None:
            offers = self._offers[coordinator] = list(self._offered(coordinator))
        for step, slot, what, take in offers:
            left = world[TIMERS]
            if slot != UNBORN and self._facts[world[PROCESSES + slot]][2]:
                # Nobody has to expect that the timeout of a process runs out that lives.
                if not left:
                    continue
                left -= 1
            known = self._coordinated.get((coordinator, what)) or self.coordinate(coordinator, what, take)
            after = (known.after, *world[1:TIMERS], left, *world[TIMERS + 1 :])
            yield self._checked(step, after, known.wrong)
        if world[FAIL_OVERS]:
            changed, wrong = self.fail_over(world)
            changed = (*changed[:FAIL_OVERS], changed[FAIL_OVERS] - 1, *changed[FAIL_OVERS + 1 :])
            yield self._checked(packed(ActionKind.FAIL_OVER), changed, wrong)

    def _offered(self, number: int) -> Iterator[Offer]:
        """Timers that may run out, and tasks that may be done."""
        node = self.coordinators.parts[number]
        for timer in node.timers:
            name, member_id = timer
            expire = partial(self.coordinating.expire, timer=timer)
            if member_id is None:
                yield packed(ActionKind.ASSIGNMENT), UNBORN, timer, expire
            else:
                slot = self._slot_of[member_id]
                yield (
                    packed(ActionKind.SESSION if name == SESSION else ActionKind.REBALANCE, slot),
                    slot,
                    timer,
                    expire,
                )
        for at, task in enumerate(node.tasks):
            yield (
                packed(ActionKind.TASK, at),
                UNBORN,
                ("task", at),
                partial(self.coordinating.resolve, task=task),
            )

    def fail_over(self, world: World) -> tuple[World, Wrongs]:
        """Another broker takes over; every process that runs has to find out with its next request."""
        after, wrong = self.coordinated(world, "fail over", self.coordinating.fail_over)
        parts = [
            number if number == UNBORN else self.moves.outdated(world, slot, number)
            for slot, number in enumerate(world[PROCESSES:])
        ]
        return (*after[:PROCESSES], *parts), wrong

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
