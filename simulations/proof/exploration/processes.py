"""A process of a world: a client, what is on its way between it and the coordinator, and the checker's account of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from simulations.proof.exploration.canonical import Rename, of_message
from simulations.proof.exploration.coordinator_entries import NOW_MS, Answer
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Call, Callback, Consumer, Effect, Send
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer, Partitions

Client = Consumer | ClassicConsumer

GO_ON_MOST: Final = 8
"""Back-offs that are over one after the other, without anything sent in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(ABC):
    """One state; the client is never changed, a step takes a copy of it.

    ``requests`` are on their way to the coordinator, each with whether its answer is still wanted and the id under which it was sent;
    ``parked`` are those that arrived and are not answered, by ticket; ``answers`` come back, oldest first. ``stale``: the
    coordinator has moved, and the process does not know it yet. ``follows``: another process of the member starts when this one
    has closed.

    ``owned`` is the checker's own account, by callbacks; ``said`` what of it the last heartbeat could know of, and
    ``misunderstood`` what the group took it to be rid of because of one that could not. ``unbegun`` is what the group
    took it to be rid of before it had begun with it, as long as it may: until it has seen that, and the
    reconciliation that is in progress by then is over.
    """

    consumer: Client
    alive: bool = True
    paused: bool = False
    follows: bool = False
    requests: tuple[tuple[Request, bool, str], ...] = ()
    parked: tuple[tuple[int, Request], ...] = ()
    answers: tuple[tuple[Request, Answer], ...] = ()
    stale: bool = False
    owned: int = 0
    said: int = 0
    misunderstood: int = 0
    unbegun: int = 0
    calling: Call | None = None

    @property
    def member_id(self) -> str:
        """The id that it has, or will be given next."""
        return self.consumer.config.member_id

    @property
    def runs(self) -> bool:
        return self.alive and not self.paused

    @property
    def over(self) -> bool:
        """Whether its client has left, and will do nothing any more by itself."""
        return self.consumer.closed or self.consumer.ended

    @property
    def counts(self) -> bool:
        """Whether the group may be expected to have it as a member."""
        return self.runs and not self.over

    @property
    def reads(self) -> int:
        """What it reads, but for what the group took it to be rid of by a heartbeat that could not know of it."""
        return self.owned & ~self.misunderstood

    @property
    @abstractmethod
    def deaf(self) -> bool:
        """Whether no answer means anything to it any more."""

    @property
    @abstractmethod
    def rests(self) -> bool:
        """Whether it has nothing to do but to heartbeat."""

    @property
    def has_closed(self) -> bool:
        """Whether it has closed, and the process that is to follow it may start at any later moment."""
        return False

    @abstractmethod
    def own_part(self, rename: Rename) -> tuple[Hashable, ...]:
        """What decides its future next to the fields of every process."""

    def key(self, rename: Rename) -> Hashable:
        requests = tuple((of_message(request, rename), wanted, who) for request, wanted, who in self.requests)
        if not self.alive:
            return self.member_id, requests
        awaits = self.consumer.awaits
        return (
            self.member_id,
            requests,
            self.consumer.canonical(rename),
            # What a request said is not looked at again: it is answered for being the one that is waited for.
            tuple(awaits(request) for request, wanted, _ in self.requests if wanted),
            tuple((of_message(answer, rename), awaits(request)) for request, answer in self.answers),
            self.paused,
            self.follows,
            self.stale,
            self.owned,
            self.said & self.owned if self.requests else 0,
            self.misunderstood,
            self.unbegun,
            self.calling.callback if self.calling is not None else None,
            *self.own_part(rename),
        )


P = TypeVar("P", bound=Process)


@dataclass(frozen=True, slots=True)
class Done(Generic[P]):
    """A step of a process. ``gained``: what it began to read; ``kept``: what it may go on reading from a membership that is over.

    ``called``: callbacks that began and returned within the step.
    """

    after: P
    wrong: Wrongs = ()
    gained: int = 0
    kept: int = 0
    called: tuple[Call, ...] = ()


class Processes(ABC, Generic[P]):
    """Takes the steps of processes."""

    def __init__(self, bits: Bits, names: dict[str, str]) -> None:
        """``names``: topic id → name."""
        self.bits = bits
        self.names = names

    @abstractmethod
    def fresh(self, client: Client) -> P:
        """A process that has done nothing yet."""

    @abstractmethod
    def mask(self, partitions: Partitions) -> int:
        """Bits of partitions, by topic id or name."""

    @abstractmethod
    def begins(self, process: P, call: Call) -> Wrongs:
        """What is wrong with a callback that begins."""

    def hears(self, process: P, _request: Request, _answer: Answer) -> P:
        """The process as it hears this answer, before its client does anything about it."""
        return process

    def goes_on(self, _process: P, _client: Client) -> list[Effect]:
        """What the client does once it need not wait any more."""
        return []

    def takes_no_time(self, _process: P, _call: Call) -> bool:
        """Whether nobody can show how long this callback runs."""
        return False

    # What a process does.

    def act(self, process: P, act: Callable[[Client], list[Effect]]) -> Done[P]:
        """The client does something of its own accord."""
        client = process.consumer.copy()
        return self.after(process, client, act(client))

    def beat(self, process: P) -> Done[P]:
        """It sends a heartbeat, if it may now."""
        return self.act(process, _beats)

    def answered(self, process: P) -> Done[P]:
        """Its oldest answer arrives."""
        (request, answer), *rest = process.answers
        process = self.hears(replace(process, answers=tuple(rest)), request, answer)
        client = process.consumer.copy()
        effects = client.receive(request, answer, NOW_MS)
        if process.unbegun and isinstance(answer, HeartbeatAnswer) and answer.assigned is not None:
            # Now it has seen. What it is about to begin with it does begin with.
            process = replace(process, unbegun=process.unbegun & self._under_way(client))
        return self.after(process, client, effects)

    def disconnected(self, process: P) -> Done[P]:
        """Its connection breaks: what is on its way is lost, in both directions."""
        lost = [request for request, _ in process.answers]
        return self._unanswered(process, replace(process, requests=(), parked=(), answers=()), lost)

    def moved(self, process: P) -> Done[P]:
        """Its requests come to a broker that is not the coordinator any more: it has to find the other one."""
        return self._unanswered(process, replace(process, requests=(), parked=(), stale=False), [])

    def _unanswered(self, before: P, process: P, lost: list[Request]) -> Done[P]:
        lost += [request for _, request in before.parked]
        lost += [request for request, wanted, _ in before.requests if wanted]
        if not process.alive:
            return Done(process)
        client = process.consumer.copy()
        effects: list[Effect] = []
        for request in lost:
            effects += client.failed(request, Failure.DISCONNECTED, NOW_MS)
        return self.after(process, client, effects)

    def returned(self, process: P) -> Done[P]:
        """The callback that runs is over."""
        call = process.calling
        assert call is not None
        client = process.consumer.copy()
        effects = client.called(NOW_MS)
        return self.after(self.given_up(replace(process, calling=None), call), client, effects)

    def given_up(self, process: P, call: Call) -> P:
        """The process as a callback of it has returned."""
        if call.callback is Callback.ASSIGNED:
            return process
        return replace(process, owned=process.owned & ~self.mask(call.partitions))

    def killed(self, process: P) -> Done[P]:
        """It is gone; what it has sent is still on its way."""
        return Done(replace(self.fresh(process.consumer), alive=False, requests=_unwanted(process)))

    # What a heartbeat costs it.

    def misses(self, process: P, request: Request, before: int, held: int) -> tuple[int, int]:
        """What the group took away by this request, holding ``held`` for it after and not ``before``.

        First what it owns and could not say; then what it may yet begin with.
        """
        gone = before & ~held if isinstance(request, Heartbeat) else 0
        # Only who states what it owns can leave out what it has not begun with.
        unnamed = gone if isinstance(request, Heartbeat) and request.owned is not None else 0
        unbegun = self.may_begin(process, unnamed | process.unbegun & ~held)
        return gone & process.owned & ~process.said, unbegun

    def may_begin(self, process: P, partitions: int) -> int:
        """Those of the partitions with which it will begin if it hears nothing else."""
        client = process.consumer
        if not partitions or process.deaf or not isinstance(client, Consumer):
            return 0
        return partitions & (self.mask(client.target) | self._under_way(client)) & ~process.owned

    def _under_way(self, client: Client) -> int:
        found = 0
        for partitions in client.under_way if isinstance(client, Consumer) else ():
            found |= self.mask(partitions)
        return found

    # What its client wants.

    def after(self, process: P, client: Client, effects: list[Effect]) -> Done[P]:
        """The process when its client has become this one and wants these things done."""
        wrong: list[tuple[str, str]] = []
        gained, called, queue = 0, [], list(effects)
        for _ in range(GO_ON_MOST):
            while queue:
                effect = queue.pop(0)
                if isinstance(effect, Send):
                    process, broken = self.sends(process, client, effect.request)
                    wrong += broken
                elif isinstance(effect, Call):
                    wrong += self.begins(process, effect)
                    process, begun = self.begun(process, effect)
                    gained |= begun
                    if self.takes_no_time(process, effect):
                        called.append(effect)
                        queue += client.called(NOW_MS)
                    else:
                        process = replace(process, calling=effect)
            queue = self.goes_on(process, client)
            if not queue:
                break
        return Done(self._settled(process, client), tuple(wrong), gained, called=tuple(called))

    def _settled(self, process: P, client: Client) -> P:
        after = replace(process, consumer=client, misunderstood=process.misunderstood & process.owned)
        if after.unbegun:
            after = replace(after, unbegun=self.may_begin(after, after.unbegun))
        if after.deaf:
            after = replace(after, requests=_unwanted(after), answers=(), parked=())
        return after

    def sends(self, process: P, _client: Client, request: Request) -> tuple[P, Wrongs]:
        """The process with a request on its way, and what is wrong with that."""
        if isinstance(request, Heartbeat):
            calling = process.calling
            begins = calling is not None and calling.callback is Callback.ASSIGNED
            beginning = self.mask(calling.partitions) if calling is not None and begins else 0
            process = replace(process, said=process.owned & ~beginning)
        return replace(process, requests=(*process.requests, (request, True, process.member_id))), ()

    def begun(self, process: P, call: Call) -> tuple[P, int]:
        """The process as a callback begins, and what it reads from now on."""
        if call.callback is not Callback.ASSIGNED:
            return process, 0
        mask = self.mask(call.partitions)
        misunderstood = process.misunderstood | mask & process.unbegun
        owned = process.owned | mask
        return replace(process, owned=owned, misunderstood=misunderstood), mask & ~process.unbegun


def changes_nothing(process: Process, request: Request, answer: Answer) -> bool:
    """Whether the answer to a heartbeat of the consumer protocol contains nothing for its process but that it came."""
    client = process.consumer
    if not isinstance(answer, HeartbeatAnswer) or not isinstance(client, Consumer):
        return False
    if answer.error_code or not client.awaits(request) or client.state is MemberState.JOINING:
        return False
    if answer.member_epoch != client.epoch or answer.assigned is not None or answer.compute:
        return False
    twin = client.copy()
    effects = twin.receive(request, answer, NOW_MS)
    return twin.state is client.state and not any(isinstance(effect, Send | Call) for effect in effects)


def _unwanted(process: Process) -> tuple[tuple[Request, bool, str], ...]:
    """Its requests, whose answers nobody waits for any more."""
    return tuple((request, False, who) for request, _, who in process.requests)


def _beats(client: Client) -> list[Effect]:
    effects = client.beat(NOW_MS)
    if any(isinstance(effect, Send) for effect in effects):
        return effects
    # It had to find the coordinator first; how long it waits in between decides nothing.
    return effects + client.beat(NOW_MS)
