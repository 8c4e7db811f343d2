"""Worlds with classic members: generations and epochs count as they are.

A request that waits for others is answered by whichever step lets it go, so that one step may touch several processes:
each of them receives its answer then, and takes it when that arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from simulations.proof.exploration.actions import ActionKind, Budgets, packed
from simulations.proof.exploration.canonical import as_they_are, of_message
from simulations.proof.exploration.classic import judging, timeouts
from simulations.proof.exploration.classic.coordinators import (
    TICKETS_MAX,
    ClassicCoordinator,
    ClassicRuntime,
)
from simulations.proof.exploration.classic.judging import NOT_ASKED_OF_CLASSIC, NOT_ASKED_OF_MIXED
from simulations.proof.exploration.classic.processes import ClassicProcess, ClassicProcesses
from simulations.proof.exploration.coordinator_entries import NOW_MS, Answer
from simulations.proof.exploration.coordinators import CoordinatorStep, Wrongs
from simulations.proof.exploration.partition_bits import Bits
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.processes import Client, Done
from simulations.proof.exploration.state_layout import (
    COORDINATOR,
    DUPLICATES,
    LOSSES,
    PROCESSES,
    SCRIPT,
    UNBORN,
    World,
    spent_of,
    with_process,
)
from simulations.proof.exploration.world import Calls, Coordinated, Next, Offer, Worlds
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Call, Effect
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.shard import Shard
from simulations.world.engine.classic_start import adopted, begun_group, records_of

OfClassic = Done[ClassicProcess]


class Moved(NamedTuple):
    """A step of a process as it is kept."""

    after: int
    wrong: Wrongs
    gained: int
    called: tuple[Call, ...]


class Facts(NamedTuple):
    """What is asked of a process in every world: its id if it counts, and whether it knows the topics as they are."""

    counts_as: str | None
    knows_topics: bool


class ClassicWorlds(Worlds[ClassicCoordinator, ClassicProcess]):
    """``reduced`` leaves out orders that nobody can distinguish."""

    acting: ClassicProcesses
    coordinating: ClassicRuntime

    def __init__(
        self, plan: Plan, budgets: Budgets, *, reduced: bool = True, unhurried: bool = False
    ) -> None:
        bits, names = Bits(), plan.topic_names()
        coordinating = ClassicRuntime(plan.semantics, bits, names, mixed=plan.mixed)
        acting = ClassicProcesses(bits, names, reduced=reduced)
        super().__init__(plan, budgets, coordinating, acting, unhurried=unhurried)
        self._reduced = reduced
        self._moved: dict[Hashable, Moved] = {}
        self._requested: dict[int, tuple[Request, str, Hashable]] = {}
        self._offers: dict[Hashable, list[Offer[ClassicCoordinator]]] = {}
        self._known_facts: dict[tuple[int, int], Facts] = {}

    @property
    def not_asked(self) -> Mapping[str, Sequence[str]]:
        return NOT_ASKED_OF_MIXED if self.plan.mixed else NOT_ASKED_OF_CLASSIC

    def begin(self, shard: Shard) -> tuple[CoordinatorStep[ClassicCoordinator], list[tuple[int, OfClassic]]]:
        plan, scenario = self.plan, self.plan.scenario
        start, names = scenario.classic_start, tuple(scenario.topics)
        if start is None:
            return self.coordinating.first(shard, names), []
        clients: dict[str, ClassicConsumer] = {}
        for name in start.owned:
            client = plan.client(plan.slots_of[name][0], 0)
            assert isinstance(client, ClassicConsumer)
            clients[name] = client
        group = begun_group(scenario, start, clients, NOW_MS)
        records = tuple(records_of(scenario, start, group, plan.image))
        begun = []
        for name, client in clients.items():
            process = ClassicProcess(consumer=client, asked=True, generation=group.generation)
            consumer = client.copy()
            effects = adopted(start, group, name, consumer, NOW_MS)
            begun.append((plan.slots_of[name][0], self.acting.after(process, consumer, effects)))
        return self.coordinating.first(shard, names, records, group=group), begun

    # What a process can do.

    def of_processes(self, world: World) -> Iterator[Next]:
        for slot, number in enumerate(world[PROCESSES:]):
            for step, after, wrong in self._steps(world, slot, number) if number != UNBORN else ():
                if after != world or wrong:
                    yield step, after, wrong
                elif self.journal is not None:
                    self.journal.clear()

    def _steps(self, world: World, slot: int, number: int) -> Iterator[Next]:
        process, acting, alone = self.processes.parts[number], self.acting, self._by_itself
        arrives = process.requests and not process.stale
        if arrives:
            yield packed(ActionKind.ARRIVE, slot), *self._arrives(world, slot, process, number)
        if not process.runs:
            return
        if arrives and world[DUPLICATES] > 0 and process.requests[0][1]:
            spent = spent_of(world, DUPLICATES)
            again = self._arrives(spent, slot, process, number, breaks=True)
            yield packed(ActionKind.DUPLICATE, slot), *again
        if process.answers:
            yield alone(ActionKind.ANSWER, world, slot, number, lambda: acting.answered(process))
        if process.calling is not None:
            yield alone(ActionKind.RETURN, world, slot, number, lambda: acting.returned(process))
        if process.has_closed:
            yield packed(ActionKind.START, slot), *self._followed(world, slot, process)
            return
        yield from self._beats(world, slot, process, number)
        if not self._facts(number, world[SCRIPT]).knows_topics:
            yield alone(ActionKind.METADATA, world, slot, number, lambda: acting.act(process, _refreshes))
        yield from self._lost(world, slot, process, number)

    def _lost(self, world: World, slot: int, process: ClassicProcess, number: int) -> Iterator[Next]:
        """Requests that nobody will answer any more time out, and connections break."""
        acting = self.acting
        parked = self.coordinators.parts[world[COORDINATOR]].parked
        lost = [ticket for ticket, _ in process.parked if ticket not in parked]
        if lost:
            gives_up = partial(acting.unanswered, process, lost[0])
            yield self._by_itself(ActionKind.UNANSWERED, world, slot, (number, lost[0]), gives_up)
        under_way = process.requests or process.parked or process.answers
        if world[LOSSES] > 0 and not process.stale and under_way:
            spent, breaks = spent_of(world, LOSSES), partial(acting.disconnected, process)
            yield self._by_itself(ActionKind.LOSE, spent, slot, number, breaks)

    def _followed(self, world: World, slot: int, process: ClassicProcess) -> tuple[World, Wrongs]:
        """The process has closed, and the one that is to follow it starts."""
        world, _ = self.done(world, slot, self.acting.killed(process))
        return self.script.start(world, self.plan.slots[slot][0], restart=True)

    def _beats(self, world: World, slot: int, process: ClassicProcess, number: int) -> Iterator[Next]:
        """A heartbeat: sent, and arrived as soon as nothing is before it."""
        if process.requests or process.stale:
            return
        place = ("beat", number, self.plan.topics_version(world[SCRIPT]))
        known = self._kept(place, world, slot, lambda: self.acting.beat(process))
        sent = self.processes.parts[known.after]
        if not sent.requests:
            return
        if not self._reduced:
            yield packed(ActionKind.SEND, slot), with_process(world, slot, known.after), known.wrong
            return
        after, wrong = self._arrives(world, slot, sent, known.after)
        yield packed(ActionKind.BEAT, slot), after, known.wrong + wrong

    def _arrives(
        self, world: World, slot: int, process: ClassicProcess, number: int, *, breaks: bool = False
    ) -> tuple[World, Wrongs]:
        """The oldest request arrives; if the connection breaks then, its client asks again in its own way."""
        before = self.coordinators.parts[world[COORDINATOR]]
        ticket = _ticket(slot, before, process)
        asked = self._requested.get(number)
        if asked is None:
            request, _, who = process.requests[0]
            asked = self._requested[number] = request, who, of_message(request, as_they_are)
        request, who, key = asked
        handle = partial(self.coordinating.handle, request=request, who=who, ticket=ticket)
        known = self.coordinate(world[COORDINATOR], ("ask", key, who, ticket), handle)
        held = before.held.get(who, 0), self.coordinators.parts[known.after].held.get(who, 0)
        missed = None if process.speaks_classic else self.acting.misses(process, request, *held)
        place = ("arrive", number, ticket, breaks, world[SCRIPT], missed)
        moved = self._kept(place, world, slot, lambda: self._handled(process, ticket, missed, breaks=breaks))
        after = (known.after, *world[1:])
        wrong = moved.wrong + self.taken(world, after) + known.wrong
        return self.answers(with_process(after, slot, moved.after), known, wrong)

    def _handled(
        self, process: ClassicProcess, ticket: int, missed: tuple[int, int] | None, *, breaks: bool
    ) -> OfClassic:
        """Its oldest request has arrived; ``missed`` as ``Processes.misses`` reports it."""
        (request, wanted, _), *rest = process.requests
        waits = wanted and process.alive and not breaks
        parked = (*process.parked, (ticket, request)) if waits else process.parked
        # Where the connection breaks, the client learns nothing of its arrival.
        left = process if breaks else replace(process, requests=tuple(rest), parked=parked)
        if missed is not None:
            unsaid, unbegun = missed
            left = replace(left, misunderstood=left.misunderstood | unsaid, unbegun=unbegun)
        return self.acting.disconnected(left) if breaks else Done(left)

    def _kept(self, place: Hashable, world: World, slot: int, take: Callable[[], OfClassic]) -> Moved:
        """A step of a process, taken once."""
        known = self._moved.get(place)
        if known is None:
            done = take()
            after = self.settled(world, slot, done.after)
            known = self._moved[place] = Moved(after, done.wrong, done.gained | done.kept, done.called)
        return known

    def _taken_by_itself(
        self, place: Hashable, world: World, slot: int, take: Callable[[], OfClassic]
    ) -> tuple[World, Wrongs]:
        """The world after a step of a process that the coordinator has no part in."""
        known = self._kept(place, world, slot, take)
        self.note(Calls(slot, known.called))
        after = with_process(world, slot, known.after)
        return after, known.wrong + (self.gains(after, slot, known.gained) if known.gained else ())

    def _by_itself(
        self, kind: ActionKind, world: World, slot: int, what: Hashable, take: Callable[[], OfClassic]
    ) -> Next:
        place = (kind, what, world[SCRIPT])
        return packed(kind, slot), *self._taken_by_itself(place, world, slot, take)

    def answers(self, world: World, known: Coordinated, wrong: Wrongs) -> tuple[World, Wrongs]:
        for ticket, answer, key in known.answers:
            world, more = self._receive(world, ticket // TICKETS_MAX, ticket, answer, key)
            wrong += more
        return world, wrong

    def _receive(
        self, world: World, slot: int, ticket: int, answer: Answer, key: Hashable
    ) -> tuple[World, Wrongs]:
        """A process is answered."""
        number = world[PROCESSES + slot]
        place = ("told", number, ticket, key, world[SCRIPT])
        known = partial(self.acting.receive, self.processes.parts[number], ticket, answer)
        return self._taken_by_itself(place, world, slot, known)

    # What the coordinator can do.

    def offers(self, world: World) -> list[Offer[ClassicCoordinator]]:
        living = tuple(
            self._facts(number, world[SCRIPT]).counts_as if number != UNBORN else None
            for number in world[PROCESSES:]
        )
        place = (world[COORDINATOR], living)
        known = self._offers.get(place)
        if known is None:
            node = self.coordinators.parts[world[COORDINATOR]]
            slots = {who: slot for slot, who in enumerate(living) if who is not None}
            known = self._offers[place] = list(self._offered(node, slots))
        return known

    def _offered(
        self, node: ClassicCoordinator, slots: Mapping[str, int]
    ) -> Iterator[Offer[ClassicCoordinator]]:
        if node.appends:
            yield Offer(packed(ActionKind.APPEND), "append", self.coordinating.append, False)
        for step, timer, fault in timeouts.expiries(node, slots):
            yield Offer(step, timer, partial(self.coordinating.expire, timer=timer), fault)
        yield from self.tasks(node)

    def _facts(self, number: int, script: int) -> Facts:
        place = (number, self.plan.topics_version(script))
        known = self._known_facts.get(place)
        if known is None:
            process = self.processes.parts[number]
            client = process.consumer
            stranger = isinstance(client, ClassicConsumer) and process.counts and not client.knows_metadata()
            counts_as = process.member_id if process.counts else None
            known = self._known_facts[place] = Facts(counts_as, not stranger)
        return known

    def settled(self, world: World, slot: int, process: ClassicProcess) -> int:
        """One that has closed is as good as gone if nothing starts it again."""
        if process.stale and process.runs and not process.answers:
            process = self.acting.moved(process).after
        if process.deaf and not self.plan.starts_again(slot, world[SCRIPT]):
            process = self.acting.killed(process).after
        return self.processes.add(process)

    def outdated(self, world: World, slot: int, number: int) -> int:
        process = self.processes.parts[number]
        if not process.alive:
            after = replace(process, requests=())
        elif process.deaf or process.idle:
            after = replace(process, requests=(), parked=())
        else:
            after = replace(process, stale=True)
        return self.settled(world, slot, after)

    # What must not happen.

    def gains(self, world: World, slot: int, partitions: int) -> Wrongs:
        node = self.coordinators.parts[world[COORDINATOR]]
        return judging.gains(node, self.born(world), slot, partitions, self.bits)

    def taken(self, before: World, after: World) -> Wrongs:
        parts = self.coordinators.parts
        old, new = parts[before[COORDINATOR]], parts[after[COORDINATOR]]
        if old is new or not (old.is_consumer and new.is_consumer):
            return ()
        return judging.taken(old, new, self.born(before), self.bits)


def _ticket(slot: int, node: ClassicCoordinator, process: ClassicProcess) -> int:
    """One that no request of the process has, at the coordinator or waiting for its answer."""
    used = {*node.parked, *(ticket for ticket, _ in process.parked)}
    first = slot * TICKETS_MAX
    return next(ticket for ticket in range(first, first + TICKETS_MAX) if ticket not in used)


def _refreshes(client: Client) -> list[Effect]:
    return client.refresh(NOW_MS) if isinstance(client, ClassicConsumer) else []
