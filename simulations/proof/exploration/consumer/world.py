"""Worlds whose members all speak the consumer protocol: epochs count by their ranks, and worlds are shared out by their forms."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.invariants import rules
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.violations import named
from simulations.proof.exploration.actions import ActionKind, Budgets, Step, packed
from simulations.proof.exploration.consumer.moves import Moves, Taken
from simulations.proof.exploration.consumer.processes import ConsumerProcess, ConsumerProcesses
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import (
    Coordinator,
    CoordinatorRuntime,
    CoordinatorStep,
    Wrongs,
)
from simulations.proof.exploration.findings import NOT_ASKED
from simulations.proof.exploration.partition_bits import Bits
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.processes import Done
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
from simulations.proof.exploration.world import Next, Offer, Worlds
from simulations.protocol.client.consumer import Consumer
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import COMPUTE, REBALANCE, SESSION, TimerStart
from simulations.protocol.messages.groups import CommitAnswer, OffsetCommit
from simulations.world.engine.initial_state import by_id, start_records
from simulations.world.scenario import Verb

# -- The coordinator of a group whose members all speak the consumer protocol, and what worlds ask of it.


@dataclass(slots=True, kw_only=True)
class ConsumerCoordinator(Coordinator):
    """``held`` and ``assigned`` leave out members that are away; ``converged``: everybody is STABLE at the group epoch."""

    converged: bool = True

    @property
    def rests(self) -> bool:
        return self.converged

    @property
    def members(self) -> Set[str]:
        return self.checks.members.keys()


class ConsumerRuntime(CoordinatorRuntime[ConsumerCoordinator]):
    """Takes the steps of the coordinator."""

    memory_is_replay = True

    def fresh(self, shard: Shard, checks: GroupChecks) -> ConsumerCoordinator:
        return ConsumerCoordinator(shard=shard, checks=checks)

    def handle(
        self, node: ConsumerCoordinator, request: Request, who: str, ticket: int
    ) -> CoordinatorStep[ConsumerCoordinator]:
        """A request arrives; offsets are taken from those alone who may commit them."""
        step = super().handle(node, request, who, ticket)
        ((_, answer),) = step.answers
        if not isinstance(request, OffsetCommit) or not isinstance(answer, CommitAnswer):
            return step
        strange = rules.wrongly_taken(
            node.checks.members.get(who),
            request.member_epoch,
            [(topic_id, number) for topic_id, number, code in answer.error_codes if not code],
            group_is_empty=not node.checks.members,
            older_epochs=self._semantics is Semantics.KAFKA,
        )
        if not strange:
            return step
        which = named((self._names.get(topic_id, topic_id), number) for topic_id, number in strange)
        text = f"Offsets of {which} are taken from {who} at epoch {request.member_epoch}"
        return replace(step, wrong=(*step.wrong, ("commit_epoch", text)))

    def judge(
        self,
        _before: ConsumerCoordinator,
        after: ConsumerCoordinator,
        entries: tuple[Entry, ...],
        _outcome: Outcome[object],
    ) -> Wrongs:
        checks = after.checks
        for entry in entries:
            checks.see(entry, after.shard.state)
        known = {name: member for name, member in checks.members.items() if rules.is_known(member)}
        after.held = {name: self._bits.of(member.held()) for name, member in known.items()}
        after.assigned = {name: self._bits.of(member.assigned) for name, member in known.items()}
        settled = checks.converged and checks.targets.is_of_now(checks.members)
        after.converged = not checks.members or settled
        return tuple((violation.invariant, violation.sentence) for violation in checks.take())


TIMEOUTS = {
    SESSION: ActionKind.SESSION,
    REBALANCE: ActionKind.REBALANCE,
    COMPUTE: ActionKind.COMPUTE,
}
"""The coordinator's timers of a member, as steps."""


class Alone(NamedTuple):
    """A step of the coordinator alone: whose timeout it is, or ``UNBORN``, and the step where that process is gone, and where it lives."""

    slot: int
    natural: Offer[ConsumerCoordinator]
    fault: Offer[ConsumerCoordinator]


class Facts(NamedTuple):
    """What is asked of a process in every world: whose it is, what it owns and should, and whether it counts."""

    member_id: str
    reads: int
    counts: bool


class ConsumerWorlds(Worlds[ConsumerCoordinator, ConsumerProcess]):
    """``reduced`` leaves out orders that nobody can distinguish; see the docs for which.

    ``ranked``: epochs count by their ranks; without it they count as they are.
    """

    acting: ConsumerProcesses

    def __init__(
        self,
        plan: Plan,
        budgets: Budgets,
        *,
        reduced: bool = True,
        ranked: bool = True,
        unhurried: bool = False,
    ) -> None:
        bits, names = Bits(), plan.topic_names()
        coordinating = ConsumerRuntime(plan.semantics, bits, names)
        super().__init__(plan, budgets, coordinating, ConsumerProcesses(bits, names), unhurried=unhurried)
        self.moves = Moves(self, reduced=reduced)
        self._ranked = ranked
        self._slot_of = {plan.member_id(slot): slot for slot in range(len(plan.slots))}
        self._known: dict[tuple[int, int, int, bool, bool], list[Taken]] = {}
        self._alone: dict[int, list[Alone]] = {}
        self._facts: list[Facts] = []
        self._restarts = any(action.verb is Verb.RESTART for action in plan.script)

    @property
    def not_asked(self) -> Mapping[str, Sequence[str]]:
        return NOT_ASKED

    def begin(
        self, shard: Shard
    ) -> tuple[CoordinatorStep[ConsumerCoordinator], list[tuple[int, Done[ConsumerProcess]]]]:
        plan, start = self.plan, self.plan.scenario.start
        names = tuple(plan.scenario.topics)
        if start is None:
            return self.coordinating.first(shard, names), []
        length_ms = plan.settings.session_timeout_ms
        sessions = tuple(
            TimerStart(timer=SESSION, member_id=member.name, length_ms=length_ms) for member in start.members
        )
        records = tuple(start_records(plan.scenario, start, plan.image, plan.semantics))
        begun = []
        for member in start.members:
            slot = plan.slots_of[member.name][0]
            owned, consumer = by_id(plan.image, member.owned), plan.client(slot, 0)
            assert isinstance(consumer, Consumer)
            consumer.adopt(
                epoch=member.epoch,
                owned=owned,
                names=plan.scenario.members[member.name].subscribe,
                interval_ms=plan.settings.heartbeat_interval_ms,
                first_beat_ms=NOW_MS + plan.settings.heartbeat_interval_ms,
            )
            mask = self.bits.of_topics(owned)
            begun.append((slot, Done(ConsumerProcess(consumer=consumer, owned=mask, said=mask))))
        return self.coordinating.first(shard, names, records, sessions), begun

    # What distinguishes worlds.

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
        """A number that all worlds of one form share; it shows who walks them where an exploration is shared out."""
        own = self.processes.own
        found = self.coordinators.own[world[COORDINATOR]] + sum(world[SCRIPT:PROCESSES])
        for number in world[PROCESSES:]:
            # Of the golden ratio: neighbours come to lie apart.
            found = (found * 2654435769 + (own[number] if number != UNBORN else 0)) & 0xFFFFFFFF
        return found >> 8

    # What can happen.

    def of_processes(self, world: World) -> Iterator[Next]:
        checked, known = self.checked, self._known
        coordinator, script, losses, duplicates = world[:TIMERS]
        rest = world[TIMERS:PROCESSES]
        for slot, number in enumerate(world[PROCESSES:]):
            if number == UNBORN:
                continue
            place = (coordinator, script, number, losses > 0, duplicates > 0)
            steps: Iterable[Taken] | None = known.get(place)
            if self.journal is not None:
                # Each step is shown as it is taken.
                steps = self.moves.following(world, slot, number)
            elif steps is None:
                steps = known[place] = list(self.moves.following(world, slot, number))
            before, behind = world[PROCESSES : PROCESSES + slot], world[PROCESSES + slot + 1 :]
            for step, after, process, lost, again, wrong in steps:
                left = (losses - lost, duplicates - again)
                yield checked(step, (after, script, *left, *rest, *before, process, *behind), wrong)

    def untaken(self, world: World) -> list[Hashable]:
        """What a step from here would do for the first time; nothing new comes of the others."""
        coordinator, script, losses, duplicates = world[:TIMERS]
        places = [
            (coordinator, script, number, losses > 0, duplicates > 0)
            for number in world[PROCESSES:]
            if number != UNBORN
        ]
        missing: list[Hashable] = [place for place in places if place not in self._known]
        if self.script.is_due(world) and (line := self.script.place(world)) not in self.script.taken:
            missing.append(line)
        if coordinator not in self._alone:
            missing.append(coordinator)
        else:
            for _, what, _, fault in self.offers(world):
                if (not fault or world[TIMERS]) and (coordinator, what) not in self._coordinated:
                    missing.append((coordinator, what))
        missing += self._untaken_moves(world)
        if self._restarts and any(
            number != UNBORN and self.processes.parts[number].follows for number in world[PROCESSES:]
        ):
            missing.append(world)
        return missing

    def _untaken_moves(self, world: World) -> list[Hashable]:
        """What a fail-over would do for the first time."""
        if not world[FAIL_OVERS]:
            return []
        coordinator, script = world[COORDINATOR], world[SCRIPT]
        missing: list[Hashable] = [
            (script, number)
            for number in world[PROCESSES:]
            if number != UNBORN and not self.moves.is_outdated(script, number)
        ]
        if (coordinator, "fail over") not in self._coordinated:
            missing.append((coordinator, "fail over"))
        return missing

    def own_part(self, world: World) -> Iterator[Next]:
        """An answer to a process that is to be followed may close it, and the next one starts at once."""
        if not self._restarts:
            return
        for slot, process in enumerate(self.born(world)):
            if process is None or not (process.follows and process.runs and process.answers):
                continue
            done = self.acting.answered(process)
            closed = done.after
            if closed.consumer.closed and not (closed.answers or closed.requests):
                after, wrong = self._followed(world, slot, done)
            else:
                after, wrong = self.done(world, slot, done)
            yield self.checked(packed(ActionKind.ANSWER, slot), after, wrong)

    def _followed(self, world: World, slot: int, done: Done[ConsumerProcess]) -> tuple[World, Wrongs]:
        world, wrong = self.done(world, slot, replace(done, after=replace(done.after, follows=False)))
        started, more = self.script.start(world, self.plan.slots[slot][0])
        return started, wrong + more

    def settled(self, world: World, slot: int, process: ConsumerProcess) -> int:
        return self.moves.settled(world, slot, process)

    def outdated(self, world: World, slot: int, number: int) -> int:
        return self.moves.outdated(world, slot, number)

    # Steps of the coordinator.

    def offers(self, world: World) -> Iterator[Offer[ConsumerCoordinator]]:
        number, facts = world[COORDINATOR], self._known_facts()
        alone = self._alone.get(number)
        if alone is None:
            alone = self._alone[number] = list(self._offered(self.coordinators.parts[number]))
        for slot, natural, fault in alone:
            lives = slot != UNBORN and facts[world[PROCESSES + slot]].counts
            yield fault if lives else natural

    def _offered(self, node: ConsumerCoordinator) -> Iterator[Alone]:
        """Timers that may run out, and tasks that may be done."""
        for timer in node.timers:
            name, member_id = timer
            slot, step = UNBORN, packed(ActionKind.ASSIGNMENT)
            if member_id is not None:
                slot = self._slot_of[member_id]
                step = packed(TIMEOUTS[name], slot)
            offer = Offer(step, timer, partial(self.coordinating.expire, timer=timer), False)
            yield Alone(slot, offer, offer._replace(fault=True))
        for offer in self.tasks(node):
            yield Alone(UNBORN, offer, offer)

    # What is asked of every world.

    def checked(self, step: Step, world: World, wrong: Wrongs) -> Next:
        held, facts, taken = self.coordinators.parts[world[COORDINATOR]].held, self._facts, 0
        if len(facts) < len(self.processes.parts):
            self._known_facts()
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

    def _known_facts(self) -> list[Facts]:
        facts, parts = self._facts, self.processes.parts
        while len(facts) < len(parts):
            process = parts[len(facts)]
            facts.append(Facts(process.member_id, process.reads, process.counts))
        return facts

    def _together(self, world: World) -> Wrongs:
        """The broken rules in words."""
        held, named = self.coordinators.parts[world[COORDINATOR]].held, self.acting.named
        known = [each for each in self.born(world) if each is not None and each.member_id in held]
        found: list[rules.Wrong] = []
        for process in known:
            who, owned = process.member_id, named(process.reads)
            found += rules.still_owns(who, owned - named(held[who]), owned)
            for other in known:
                if other.member_id < who:
                    both = owned & named(other.reads)
                    found += rules.begins_with_anothers(who, other.member_id, both)
        return tuple((invariant, text) for invariant, text, _ in found)
