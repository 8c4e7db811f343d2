"""Worlds with classic members, and what can happen in them; see ``exploration.world`` for how parts are kept.

A request that waits for others is answered by whichever step lets it go, so that one step may touch several processes:
each of them is told its answer then, and takes it when that arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from struct import Struct

from groups.history.entries import Entry
from simulations.proof.exploration.actions import ActionKind, Budgets, Step, packed
from simulations.proof.exploration.classic import judging, timeouts
from simulations.proof.exploration.classic.acting import ClassicProcesses
from simulations.proof.exploration.classic.beginning import begin
from simulations.proof.exploration.classic.coordinators import (
    TICKETS_MAX,
    ClassicCoordinator,
    ClassicRuntime,
    ClassicStep,
    Take,
)
from simulations.proof.exploration.classic.entries import GroupAnswer
from simulations.proof.exploration.classic.judging import NOT_ASKED_OF_CLASSIC, NOT_ASKED_OF_MIXED
from simulations.proof.exploration.classic.kept import (
    Coordinated,
    Facts,
    Moved,
    refreshes,
    spent_of,
    with_process,
)
from simulations.proof.exploration.classic.plan import ClassicPlan
from simulations.proof.exploration.classic.processes import ClassicProcess, Done, said
from simulations.proof.exploration.classic.script import ClassicScript
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.interning import Pool
from simulations.proof.exploration.partition_bits import Bits
from simulations.proof.exploration.state_layout import (
    COORDINATOR,
    DUPLICATES,
    FAIL_OVERS,
    LOSSES,
    PROCESSES,
    SCRIPT,
    TIMERS,
    UNBORN,
    Form,
    World,
)
from simulations.proof.exploration.world import Next
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Call
from simulations.protocol.client.consumer.requests import Request


class ClassicWorlds:
    """All worlds of one plan. ``reduced`` leaves out orders that nobody can tell apart.

    ``unhurried``: a line of the script waits until the group has come to rest.
    """

    def __init__(
        self, plan: ClassicPlan, budgets: Budgets, *, reduced: bool = True, unhurried: bool = False
    ) -> None:
        self.plan = plan
        self.bits = Bits()
        self.names = {topic.topic_id: name for name, topic in plan.image.topics.items()}
        self.coordinating = ClassicRuntime(plan.semantics, self.bits, self.names, mixed=plan.mixed)
        self.acting = ClassicProcesses(self.bits, self.names, reduced)
        self.coordinators: Pool[ClassicCoordinator] = Pool(ClassicCoordinator.key)
        self.processes: Pool[ClassicProcess] = Pool(ClassicProcess.key)
        self.script = ClassicScript(self)
        self.journal: list[Coordinated | tuple[int, tuple[Call, ...]]] | None = None
        self.taken: tuple[Coordinated | tuple[int, tuple[Call, ...]], ...] = ()
        """What the step that was taken last did at the coordinator."""
        self._reduced = reduced
        self._unhurried = unhurried
        self.budgets = budgets
        self._coordinated: dict[Hashable, Coordinated] = {}
        self._moved: dict[Hashable, Moved] = {}
        self._requested: dict[int, tuple[Request, str, Hashable]] = {}
        self._expiring: dict[Hashable, list[timeouts.Expiry]] = {}
        self._known_facts: dict[tuple[int, int], Facts] = {}
        self.first_entries: tuple[Entry, ...] = ()
        """Entries of the group that is there at the start."""
        self.first_calls: list[tuple[int, Call]] = []
        """Callbacks that members of the group run which is there at the start, each with its process."""
        self._pack = Struct(f"{PROCESSES + len(plan.slots)}i").pack

    # The beginning.

    def first(self) -> World:
        """The world that all ways begin in; ``first_calls`` and ``first_entries`` tell of the group that is there."""
        return begin(self)

    @property
    def not_asked(self) -> Mapping[str, tuple[str, ...]]:
        """Invariants that no world is held to by their own name, by why."""
        return NOT_ASKED_OF_MIXED if self.plan.mixed else NOT_ASKED_OF_CLASSIC

    # What tells worlds apart.

    def form(self, world: World) -> Form:
        """The world, packed: generations and epochs count as they are."""
        return self._pack(*world)

    def converged(self, world: World) -> bool:
        """Whether all that lives has come to rest where the group wants it, and every partition is read."""
        return world[SCRIPT] == len(self.plan.script) and self._rests(world)

    def _rests(self, world: World) -> bool:
        node = self.coordinators.parts[world[COORDINATOR]]
        if not (node.rests and node.whole) or node.appends:
            return False
        live = set()
        for process in self._born(world):
            if process is None or not process.alive:
                continue
            if process.has_closed:
                return False
            if not process.counts:
                continue
            client = process.consumer
            if not process.idle or process.owned != node.assigned.get(process.member_id):
                return False
            if isinstance(client, ClassicConsumer) and not client.rests:
                return False
            live.add(process.member_id)
        return live == node.assigned.keys()

    # What can happen.

    def following(self, world: World) -> Iterator[Next]:
        """Every step that can be taken next, with the world that it leads to and the rules that this one breaks."""
        self.plan.script_now = world[SCRIPT]
        for slot, number in enumerate(world[PROCESSES:]):
            if number != UNBORN:
                for step, after, wrong in self._of_process(world, slot, number):
                    if after != world or wrong:
                        yield step, after, wrong
                    elif self.journal is not None:
                        self.journal.clear()
                    self.plan.script_now = world[SCRIPT]
        if self.script.is_due(world) and (not self._unhurried or self._rests(world)):
            yield packed(ActionKind.SCRIPT), *self.script.take(world)
        self.plan.script_now = world[SCRIPT]
        yield from self._of_coordinator(world)

    def take(self, world: World, step: Step) -> tuple[World, Wrongs]:
        """The world that a step leads to, one of those that can be taken."""
        journal = self.journal = []
        try:
            for other, after, wrong in self.following(world):
                if other == step:
                    self.taken = tuple(journal)
                    return after, wrong
                journal.clear()
        finally:
            self.journal = None
        raise KeyError(step)

    def _of_process(self, world: World, slot: int, number: int) -> Iterator[Next]:
        process, acting = self.processes.parts[number], self.acting
        if process.requests and not process.stale:
            yield packed(ActionKind.ARRIVE, slot), *self._arrives(world, slot, process, number)
        if not process.runs:
            return
        if process.requests and not process.stale and world[DUPLICATES] > 0 and process.requests[0][1]:
            spent = spent_of(world, DUPLICATES)
            yield (
                packed(ActionKind.DUPLICATE, slot),
                *self._arrives(spent, slot, process, number, breaks=True),
            )
        if process.answers:
            yield self._alone(ActionKind.ANSWER, world, slot, number, lambda: acting.answered(process))
        if process.calling is not None:
            yield self._alone(ActionKind.RETURN, world, slot, number, lambda: acting.returned(process))
        if process.has_closed:
            yield packed(ActionKind.START, slot), *self.script.follow(world, slot, process)
            return
        yield from self._beats(world, slot, process, number)
        if not self._facts(number, world[SCRIPT]).knows_topics:
            asks = partial(acting.act, process, refreshes)
            yield self._alone(ActionKind.METADATA, world, slot, number, asks)
        parked = self.coordinators.parts[world[COORDINATOR]].parked
        lost = [ticket for ticket, _ in process.parked if ticket not in parked]
        if lost:
            gives_up = partial(acting.unanswered, process, lost[0])
            yield self._alone(ActionKind.UNANSWERED, world, slot, (number, lost[0]), gives_up)
        if (
            world[LOSSES] > 0
            and not process.stale
            and (process.requests or process.parked or process.answers)
        ):
            spent = spent_of(world, LOSSES)
            yield self._alone(ActionKind.LOSE, spent, slot, number, lambda: acting.disconnected(process))

    def _beats(self, world: World, slot: int, process: ClassicProcess, number: int) -> Iterator[Next]:
        """A heartbeat: sent, and arrived as soon as nothing is before it."""
        if process.requests or process.stale:
            return
        known = self._kept(("beat", number, self.plan.topics_version(world[SCRIPT])), world, slot, process)
        sent = self.processes.parts[known.after]
        if not sent.requests:
            return
        if not self._reduced:
            after = with_process(world, slot, known.after)
            yield packed(ActionKind.SEND, slot), after, known.wrong
            return
        after, wrong = self._arrives(world, slot, sent, known.after)
        yield packed(ActionKind.BEAT, slot), after, known.wrong + wrong

    def _arrives(
        self, world: World, slot: int, process: ClassicProcess, number: int, *, breaks: bool = False
    ) -> tuple[World, Wrongs]:
        """The oldest request arrives; if the connection breaks then, its client asks again in its own way."""
        used = self.coordinators.parts[world[COORDINATOR]].parked
        first = slot * TICKETS_MAX
        mine = [ticket for ticket, _ in process.parked]
        ticket = next(
            each for each in range(first, first + TICKETS_MAX) if each not in used and each not in mine
        )
        asked = self._requested.get(number)
        if asked is None:
            request, _, who = process.requests[0]
            asked = self._requested[number] = request, who, said(request)
        request, who, key = asked
        known = self._coordinate(
            world[COORDINATOR],
            ("ask", key, who, ticket),
            lambda node: self.coordinating.handle(node, request, who, ticket),
        )
        before, after = self.coordinators.parts[world[COORDINATOR]], self.coordinators.parts[known.after]
        held = after.held.get(who, 0)
        gone = before.held.get(who, 0) & ~held

        def handled() -> Done:
            wanted, rest = process.requests[0][1], process.requests[1:]
            waits = wanted and process.alive and not breaks
            parked = (*process.parked, (ticket, request)) if waits else process.parked
            # Where the connection breaks, the client learns nothing of its arrival.
            left = process if breaks else replace(process, requests=rest, parked=parked)
            if not process.speaks_classic:
                left = self.acting.taken(left, request, gone, held)
            return self.acting.disconnected(left) if breaks else Done(left)

        lost = (gone, held) if not process.speaks_classic else None
        place = ("arrive", number, ticket, breaks, world[SCRIPT], lost)
        moved = self._moved.get(place)
        if moved is None:
            done = handled()
            moved = self._moved[place] = Moved(self._settled(world, slot, done), done.wrong, done.gained)
        reading = self._born(world)
        world = with_process(world, slot, moved.after)
        world, wrong = self._answers(world, known)
        return world, moved.wrong + self._taken(before, after, reading) + wrong

    def _kept(self, place: Hashable, world: World, slot: int, process: ClassicProcess) -> Moved:
        """A heartbeat of the process, taken once."""
        known = self._moved.get(place)
        if known is None:
            done = self.acting.beat(process)
            known = self._moved[place] = Moved(self._settled(world, slot, done), done.wrong, done.gained)
        return known

    def _alone(
        self, kind: ActionKind, world: World, slot: int, what: Hashable, take: Callable[[], Done]
    ) -> Next:
        """A step that the coordinator has no part in, taken once."""
        place = (kind, what, world[SCRIPT])
        known = self._moved.get(place)
        if known is None:
            done = take()
            number = self._settled(world, slot, done)
            known = self._moved[place] = Moved(number, done.wrong, done.gained, done.called)
        if self.journal is not None:
            self.journal.append((slot, known.called))
        after = with_process(world, slot, known.after)
        wrong = known.wrong
        if known.gained:
            wrong += self._gains(after, slot, known.gained)
        return packed(kind, slot), after, wrong

    def _of_coordinator(self, world: World) -> Iterator[Next]:
        node = self.coordinators.parts[world[COORDINATOR]]
        if node.appends:
            yield packed(ActionKind.APPEND), *self.coordinated(world, "append", self.coordinating.append)
        for step, timer, fault in self._expiries(world, node):
            if fault and not world[TIMERS]:
                continue
            expire = partial(self.coordinating.expire, timer=timer)
            spent = spent_of(world, TIMERS) if fault else world
            yield step, *self.coordinated(spent, timer, expire)
        for at, task in enumerate(node.tasks):
            resolve = partial(self.coordinating.resolve, task=task)
            yield packed(ActionKind.TASK, at), *self.coordinated(world, ("task", at), resolve)
        if world[FAIL_OVERS]:
            yield packed(ActionKind.FAIL_OVER), *self.fail_over(spent_of(world, FAIL_OVERS))

    def _expiries(self, world: World, node: ClassicCoordinator) -> list[timeouts.Expiry]:
        living = tuple(
            self._facts(number, world[SCRIPT]).counts_as if number != UNBORN else None
            for number in world[PROCESSES:]
        )
        place = (world[COORDINATOR], living)
        known = self._expiring.get(place)
        if known is None:
            slots = {who: slot for slot, who in enumerate(living) if who is not None}
            known = self._expiring[place] = list(timeouts.expiries(node, slots))
        return known

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

    # Steps that several take part in.

    def coordinated(self, world: World, what: Hashable, take: Take) -> tuple[World, Wrongs]:
        """A step of the coordinator, taken once, and the answers that it gives to processes."""
        number = world[COORDINATOR]
        known = self._coordinate(number, what, take)
        before, after = self.coordinators.parts[number], self.coordinators.parts[known.after]
        wrong = self._taken(before, after, self._born(world))
        world, more = self._answers(world, known)
        return world, wrong + more

    def _coordinate(self, number: int, what: Hashable, take: Take) -> Coordinated:
        known = self._coordinated.get((number, what))
        if known is None:
            step: ClassicStep = take(self.coordinators.parts[number])
            answers = tuple((ticket, answer, said(answer)) for ticket, answer in step.answers)
            after = self.coordinators.add(step.after)
            known = self._coordinated[number, what] = Coordinated(after, answers, step.wrong, step.entries)
        if self.journal is not None:
            self.journal.append(known)
        return known

    def _taken(
        self, before: ClassicCoordinator, after: ClassicCoordinator, processes: list[ClassicProcess | None]
    ) -> Wrongs:
        if not (before.is_consumer and after.is_consumer):
            return ()
        return judging.taken(before, after, processes, self.bits)

    def _answers(self, world: World, known: Coordinated) -> tuple[World, Wrongs]:
        """The coordinator after a step, and each process with the answer that it was given."""
        world, wrong = (known.after, *world[1:]), known.wrong
        for ticket, answer, key in known.answers:
            world, more = self._told(world, ticket // TICKETS_MAX, ticket, answer, key)
            wrong += more
        return world, wrong

    def _told(
        self, world: World, slot: int, ticket: int, answer: GroupAnswer, key: Hashable
    ) -> tuple[World, Wrongs]:
        """A process is answered."""
        number = world[PROCESSES + slot]
        place = ("told", number, ticket, key, world[SCRIPT])
        known = self._moved.get(place)
        if known is None:
            done = self.acting.told(self.processes.parts[number], ticket, answer)
            after = self._settled(world, slot, done)
            known = self._moved[place] = Moved(after, done.wrong, done.gained | done.kept, done.called)
        if self.journal is not None:
            self.journal.append((slot, known.called))
        world = with_process(world, slot, known.after)
        wrong = known.wrong
        if known.gained:
            wrong += self._gains(world, slot, known.gained)
        return world, wrong

    def done(self, world: World, slot: int, done: Done) -> tuple[World, Wrongs]:
        """The world after a step of a process that is not kept."""
        if self.journal is not None:
            self.journal.append((slot, done.called))
        after = with_process(world, slot, self._settled(world, slot, done))
        return after, done.wrong + (self._gains(after, slot, done.gained) if done.gained else ())

    def fail_over(self, world: World) -> tuple[World, Wrongs]:
        """Another broker takes over; every process that runs has to find out."""
        world, wrong = self.coordinated(world, "fail over", self.coordinating.fail_over)
        for slot, process in enumerate(self._born(world)):
            if process is None:
                continue
            if not process.alive:
                after = replace(process, requests=())
            elif process.deaf or process.idle:
                after = replace(process, requests=(), parked=())
            else:
                after = replace(process, stale=True)
            world = with_process(world, slot, self._settled(world, slot, Done(after)))
        return world, wrong

    def _settled(self, world: World, slot: int, done: Done) -> int:
        """The number of the process; one that has closed is as good as gone if nothing starts it again."""
        process, plan = done.after, self.plan
        if process.stale and process.runs and not process.answers:
            process = self.acting.moved(process).after
        if process.alive and process.deaf:
            name, rest = plan.slots[slot][0], plan.script[world[SCRIPT] :]
            if not any(action.who == name and action.verb in plan.starts for action in rest):
                process = self.acting.killed(process).after
        return self.processes.add(process)

    def _gains(self, world: World, slot: int, partitions: int) -> Wrongs:
        node = self.coordinators.parts[world[COORDINATOR]]
        return judging.gains(node, self._born(world), slot, partitions, self.bits)

    def _born(self, world: World) -> list[ClassicProcess | None]:
        parts = self.processes.parts
        return [parts[number] if number != UNBORN else None for number in world[PROCESSES:]]
