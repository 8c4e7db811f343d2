"""Worlds, and what can happen in them: one step of a member, of the coordinator, of the script or of chance.

A world is a tuple of numbers: the coordinator, how far the script has come, what is left of the budgets, and a number
for each process. Parts are kept once, and what a part can do next is computed once: a world's steps are looked up.

All of this is the same for every group. What is not, is asked of ``Worlds``' two implementations and of the coordinator
and the processes that they bring: ``consumer`` and ``classic``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from struct import Struct
from typing import Generic, NamedTuple, Protocol, TypeVar

from groups.history.entries import Entry
from simulations.proof.exploration.actions import ActionKind, Budgets, Step, packed
from simulations.proof.exploration.canonical import EpochsSeen, Rename, as_they_are, of_message, ranks
from simulations.proof.exploration.coordinator_entries import Answer
from simulations.proof.exploration.coordinators import (
    C,
    CoordinatorRuntime,
    CoordinatorStep,
    Take,
    Wrongs,
)
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.processes import Done, P, Processes
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
    spent_of,
    with_process,
)
from simulations.protocol.client.consumer import Call
from simulations.protocol.coordinator.shard import Shard


class Keyed(Protocol):
    """What can be distinguished by what decides its future."""

    def key(self, rename: Rename, /) -> Hashable: ...


T = TypeVar("T", bound=Keyed)


class Forms(dict[int, int]):
    """Number of a part → that of its form with each epoch as its rank in one mask."""

    def __init__(self, pool: Interner[T], mask: int) -> None:
        super().__init__({UNBORN: UNBORN})
        self._pool = pool
        self._mask = mask

    def __missing__(self, number: int) -> int:
        form = self[number] = self._pool.canonical(number, self._mask)
        return form


class AllForms(dict[int, Forms]):
    """Mask → forms."""

    def __init__(self, pool: Interner[T]) -> None:
        super().__init__()
        self._pool = pool

    def __missing__(self, mask: int) -> Forms:
        forms = self[mask] = Forms(self._pool, mask)
        return forms


class Interner(Generic[T]):
    """Parts by number, one of those that have the same key."""

    def __init__(self) -> None:
        self.parts: list[T] = []
        self.masks: list[int] = []
        self.own: list[int] = []
        """Number of each part's form with each epoch as its rank among the part's own: the same in all forms of a world."""
        self._own: dict[Hashable, int] = {}
        self.forms = AllForms(self)
        self._numbers: dict[Hashable, int] = {}
        self._canonical: dict[Hashable, int] = {}
        self._renamed: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.parts)

    def add(self, part: T) -> int:
        """The number of this part, or of one that is the same."""
        seen = EpochsSeen()
        key = part.key(seen)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.parts)
            self.parts.append(part)
            self.masks.append(seen.mask)
            own = part.key(ranks(seen.mask)) if seen.mask else key
            self.own.append(self._own.setdefault(own, len(self._own)))
        return number

    def canonical(self, number: int, mask: int) -> int:
        """The number of the part's form with each epoch as its rank in ``mask``."""
        own = self.masks[number]
        # Epochs above its own change no rank of its own.
        place = (number, mask & ((1 << own.bit_length()) - 1) if own else 0)
        renamed = self._renamed.get(place)
        if renamed is None:
            form = self.parts[number].key(ranks(mask))
            renamed = self._renamed[place] = self._canonical.setdefault(form, len(self._canonical))
        return renamed


Next = tuple[Step, World, Wrongs]


class Calls(NamedTuple):
    """Callbacks of a process that took no time."""

    slot: int
    calls: tuple[Call, ...]


Deed = tuple[Entry, ...] | Calls
"""What a timeline reports a step next to what a world shows; the entries are the coordinator's."""


class Coordinated(NamedTuple):
    """A step of the coordinator as it is kept: ``after`` by its number, each answer with its ticket and its key."""

    after: int
    answers: tuple[tuple[int, Answer, Hashable], ...]
    wrong: Wrongs


class Offer(NamedTuple, Generic[C]):
    """A step that the coordinator may take alone: its name, how it is taken, and whether it takes a timeout of a process that lives."""

    step: Step
    what: Hashable
    take: Take[C]
    fault: bool


class Worlds(ABC, Generic[C, P]):
    """All worlds of one plan. ``unhurried``: a line of the script waits until the group has come to rest."""

    def __init__(
        self,
        plan: Plan,
        budgets: Budgets,
        coordinating: CoordinatorRuntime[C],
        acting: Processes[P],
        *,
        unhurried: bool,
    ) -> None:
        self.plan = plan
        self.bits, self.names = acting.bits, acting.names
        self.coordinating = coordinating
        self.acting = acting
        self.coordinators: Interner[C] = Interner()
        self.processes: Interner[P] = Interner()
        self.script: Script[C, P] = Script(self)
        self.journal: list[Deed] | None = None
        self.deeds: tuple[Deed, ...] = ()
        """What the step did that ``take`` took last."""
        self.first_entries: tuple[Entry, ...] = ()
        """Entries of the group that is there at the start."""
        self.first_calls: list[tuple[int, Call]] = []
        """Callbacks that its members ran, each with its process."""
        self._budgets = budgets
        self._unhurried = unhurried
        self._coordinated: dict[tuple[int, Hashable], Coordinated] = {}
        self._pack = Struct(f"{PROCESSES + len(plan.slots)}i").pack

    @abstractmethod
    def begin(self, shard: Shard) -> tuple[CoordinatorStep[C], list[tuple[int, Done[P]]]]:
        """The coordinator of the group that is there at the start, and its processes by their slots."""

    @abstractmethod
    def of_processes(self, world: World) -> Iterator[Next]:
        """Every step that a process can take, by itself or with the coordinator."""

    @abstractmethod
    def offers(self, world: World) -> Iterable[Offer[C]]:
        """Steps that the coordinator may take alone: timers run out, tasks are done."""

    @abstractmethod
    def settled(self, world: World, slot: int, process: P) -> int:
        """The number of a process when nothing more goes on in it by itself."""

    @abstractmethod
    def outdated(self, world: World, slot: int, number: int) -> int:
        """The number of the process when the coordinator has moved."""

    @property
    @abstractmethod
    def not_asked(self) -> Mapping[str, Sequence[str]]:
        """Invariants that no world is held to by their own name, by why."""

    def checked(self, step: Step, world: World, wrong: Wrongs) -> Next:
        """The step, with what clients and coordinator together break in the world after it."""
        return step, world, wrong

    def own_part(self, _world: World) -> Iterable[Next]:
        """What can happen next to the steps of one process, of the script and of the coordinator."""
        return ()

    def gains(self, _world: World, _slot: int, _partitions: int) -> Wrongs:
        """What is wrong with a process that reads these partitions from now on."""
        return ()

    def taken(self, _before: World, _after: World) -> Wrongs:
        """What is wrong with what a step of the coordinator took from its members."""
        return ()

    # The beginning.

    def first(self) -> World:
        """The world that all ways begin in: an empty group, or one whose members have their partitions."""
        plan, budgets = self.plan, self._budgets
        plan.script_now = 0
        step, begun = self.begin(Shard(plan.scenario.group, plan.semantics, plan.settings, plan.image))
        self.first_entries = step.entries
        self.first_calls = [(slot, call) for slot, done in begun for call in done.called]
        left = (budgets.losses, budgets.duplicates, budgets.timers, budgets.fail_overs)
        world: World = (self.coordinators.add(step.after), 0, *left, *[UNBORN] * len(plan.slots))
        for slot, done in begun:
            world, _ = self.done(world, slot, done)
        return world

    # What distinguishes worlds.

    def form(self, world: World) -> Form:
        """The world, packed: two worlds of one form have the same future."""
        return self._pack(*world)

    def converged(self, world: World) -> bool:
        """Whether all that lives has come to rest where the group wants it."""
        return world[SCRIPT] == len(self.plan.script) and self._rests(world)

    def _rests(self, world: World) -> bool:
        node = self.coordinators.parts[world[COORDINATOR]]
        if not node.rests:
            return False
        parts, live = self.processes.parts, set()
        for number in world[PROCESSES:]:
            if number == UNBORN:
                continue
            process = parts[number]
            if process.counts:
                if process.owned != node.assigned.get(process.member_id) or not process.rests:
                    return False
                live.add(process.member_id)
            elif process.has_closed:
                return False
        return live == node.members

    def raises_epoch(self, world: World, after: World) -> bool:
        """Whether a step raised the group's epoch."""
        before, now = world[COORDINATOR], after[COORDINATOR]
        return before != now and self.coordinators.parts[now].epoch > self.coordinators.parts[before].epoch

    def born(self, world: World) -> list[P | None]:
        """The processes by their slots; ``None`` for those that have not started."""
        parts = self.processes.parts
        return [parts[number] if number != UNBORN else None for number in world[PROCESSES:]]

    # What can happen.

    def following(self, world: World) -> Iterator[Next]:
        """Every step that can be taken next, with the world that it leads to and the rules that this one breaks."""
        plan, script = self.plan, world[SCRIPT]
        plan.script_now = script
        yield from self.of_processes(world)
        if self.script.is_due(world) and (not self._unhurried or self._rests(world)):
            yield self.checked(packed(ActionKind.SCRIPT), *self.script.take(world))
        plan.script_now = script
        yield from self._of_coordinator(world)
        yield from self.own_part(world)

    def take(self, world: World, step: Step) -> tuple[World, Wrongs]:
        """The world that a step leads to, one of those that can be taken; ``deeds`` show what it did."""
        journal = self.journal = []
        try:
            for other, after, wrong in self.following(world):
                if other == step:
                    self.deeds = tuple(journal)
                    return after, wrong
                journal.clear()
        finally:
            self.journal = None
        raise KeyError(step)

    def _of_coordinator(self, world: World) -> Iterator[Next]:
        left = world[TIMERS]
        for step, what, take, fault in self.offers(world):
            if not fault:
                yield self.checked(step, *self.coordinated(world, what, take))
            elif left:
                # Nobody has to expect that the timeout of a process runs out that lives.
                yield self.checked(step, *self.coordinated(spent_of(world, TIMERS), what, take))
        if world[FAIL_OVERS]:
            moved = self.fail_over(spent_of(world, FAIL_OVERS))
            yield self.checked(packed(ActionKind.FAIL_OVER), *moved)

    def tasks(self, node: C) -> Iterator[Offer[C]]:
        """Tasks of the coordinator that may be done."""
        for at, task in enumerate(node.tasks):
            resolve = partial(self.coordinating.resolve, task=task)
            yield Offer(packed(ActionKind.TASK, at), ("task", at), resolve, False)

    # Steps that several take part in.

    def coordinate(self, number: int, what: Hashable, take: Take[C]) -> Coordinated:
        """A step of the coordinator, taken once."""
        known = self._coordinated.get((number, what))
        if known is None or self.journal is not None:
            step = take(self.coordinators.parts[number])
            answers = tuple(
                (ticket, answer, of_message(answer, as_they_are)) for ticket, answer in step.answers
            )
            known = Coordinated(self.coordinators.add(step.after), answers, step.wrong)
            self._coordinated[number, what] = known
            self.note(step.entries)
        return known

    def note(self, deed: Deed) -> None:
        """Keeps what a step does, if it is to be shown."""
        if self.journal is not None:
            self.journal.append(deed)

    def coordinated(self, world: World, what: Hashable, take: Take[C]) -> tuple[World, Wrongs]:
        """A step of the coordinator, and the answers that it gives to processes."""
        known = self.coordinate(world[COORDINATOR], what, take)
        after = (known.after, *world[1:])
        return self.answers(after, known, self.taken(world, after) + known.wrong)

    def answers(self, world: World, _known: Coordinated, wrong: Wrongs) -> tuple[World, Wrongs]:
        """The world with the answers of a step on their way."""
        return world, wrong

    def done(self, world: World, slot: int, done: Done[P]) -> tuple[World, Wrongs]:
        """The world after a step of a process."""
        self.note(Calls(slot, done.called))
        after = with_process(world, slot, self.settled(world, slot, done.after))
        return after, done.wrong + (self.gains(after, slot, done.gained) if done.gained else ())

    def fail_over(self, world: World) -> tuple[World, Wrongs]:
        """Another broker takes over; every process that runs has to find out with its next request."""
        world, wrong = self.coordinated(world, "fail over", self.coordinating.fail_over)
        parts = [
            number if number == UNBORN else self.outdated(world, slot, number)
            for slot, number in enumerate(world[PROCESSES:])
        ]
        return (*world[:PROCESSES], *parts), wrong
