"""The network: each message between a client and a broker takes its time, and some get lost or come twice.

A connection is a client and a broker. Its messages keep their order in each direction, as TCP's do. What the rates
mean, since TCP itself loses nothing:

* lost: the connection stalls with the message in it. Nobody gets it; who waits for an answer gives up when its
  request timeout is over.
* duplicated: the connection breaks when the request has arrived. It is handled, no answer comes back, and the client,
  which is reported at once, sends it again in its own way. (No copy is made of the bytes: TCP hands them over once, and
  a consumer reports everything again after a failure; without that it would never learn what the first answer contained.)
* reordered: the message is held up, and messages of other connections overtake it.

A cut takes every message between two ends, those under way among them, until it is mended. Each connection draws from
generators of its own: one member more or less changes nothing for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from groups.history.entries import Kind
from simulations.world.engine.log import Log
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.scenario.environment import NetworkRates

_ARRIVAL: Final = Priority.ARRIVAL

HELD_UP: Final = 10
"""A message that is held up takes up to so many times the longest delay, and a tick, on top of its own."""

ANYONE: Final = "*"
"""The other end of a cut that leaves nobody within reach."""

LOST, DUPLICATED = "lost_message", "duplicated_message"

FaultFacts = Mapping[str, object]
"""What an entry contains of a message: ``member``, ``api``, ``way`` (``request`` or ``response``), ``epoch`` if it has one."""


def longest_ms(rates: NetworkRates) -> int:
    """The longest that one message may take on its way, if none is before it."""
    longest = rates.delay_ms[1]
    return longest + (_held_up_ms(longest) if rates.reorder else 0)


def _held_up_ms(longest: int) -> int:
    return HELD_UP * (longest + 1)


class _Connection:
    """One direction between a client and a broker."""

    __slots__ = ("chances", "delays", "last_ms")

    def __init__(self, name: str) -> None:
        self.delays = Random(f"delays {name}").random
        self.chances = Random(f"chances {name}").random
        self.last_ms = 0


class Network:
    """Plans arrivals. ``rates`` may be changed at any time and hold for messages that are sent from then on."""

    def __init__(self, queue: EventQueue, log: Log, rates: NetworkRates, seed: int) -> None:
        self.rates = rates
        self._queue = queue
        self._log = log
        self._seed = seed
        self._connections: dict[tuple[str, str, bool], _Connection] = {}
        self._cuts: dict[frozenset[str], None] = {}

    def calm(self) -> None:
        """No cut any more, and nothing gets lost, comes twice or is held up; the delays stay."""
        self._cuts.clear()
        self.rates = NetworkRates(delay_ms=self.rates.delay_ms)

    def cut(self, end: str, peer: str = ANYONE) -> None:
        self._cuts[frozenset((end, peer))] = None

    def mend(self, end: str, peer: str = ANYONE) -> bool:
        """Whether there was such a cut."""
        return self._cuts.pop(frozenset((end, peer)), self) is None

    def is_cut(self, client: str, broker: str) -> bool:
        cuts = self._cuts
        return bool(cuts) and any(
            frozenset(ends) in cuts for ends in ((client, broker), (client, ANYONE), (broker, ANYONE))
        )

    def request(
        self,
        client: str,
        broker: str,
        arrives: Callable[[bool], None],
        lost: Callable[[], None],
        facts: Callable[[], FaultFacts],
        cause: int | None,
    ) -> None:
        """``arrives(answered)`` is called if it arrives, ``lost`` if not; ``answered``: the connection lasts so long."""
        rates, connection = self.rates, self._connection(client, broker, to_broker=True)
        if self._takes(connection, client, broker, lost, facts, cause):
            return
        breaks = rates.duplicate > 0 and connection.chances() < rates.duplicate
        if breaks:
            self._note_fault(DUPLICATED, facts(), cause)
        at_ms = self._arrival_ms(rates, connection)
        self._plan(at_ms, client, broker, lambda: arrives(not breaks), lost, facts, cause)

    def response(
        self,
        client: str,
        broker: str,
        arrives: Callable[[], None],
        lost: Callable[[], None],
        facts: Callable[[], FaultFacts],
        cause: int | None,
    ) -> None:
        """An answer on its way back."""
        connection = self._connection(client, broker, to_broker=False)
        if self._takes(connection, client, broker, lost, facts, cause):
            return
        self._plan(self._arrival_ms(self.rates, connection), client, broker, arrives, lost, facts, cause)

    def delay_ms(self, client: str, broker: str) -> int:
        """How long something small takes there and back that has no entry of its own."""
        low, high = self.rates.delay_ms
        draw = self._connection(client, broker, to_broker=True).delays
        return sum(low + int(draw() * (high - low + 1)) for _ in range(2))

    def _connection(self, client: str, broker: str, *, to_broker: bool) -> _Connection:
        key = (client, broker, to_broker)
        connection = self._connections.get(key)
        if connection is None:
            way = "to" if to_broker else "from"
            connection = self._connections[key] = _Connection(f"of {self._seed}: {client} {way} {broker}")
        return connection

    def _takes(
        self,
        connection: _Connection,
        client: str,
        broker: str,
        lost: Callable[[], None],
        facts: Callable[[], FaultFacts],
        cause: int | None,
    ) -> bool:
        """Whether a message is lost as it is sent, which is reported then."""
        if not self.stopped(client, broker, facts, cause):
            if not (self.rates.loss > 0 and connection.chances() < self.rates.loss):
                return False
            self._note_fault(LOST, facts(), cause)
        lost()
        return True

    def _arrival_ms(self, rates: NetworkRates, connection: _Connection) -> int:
        low, high = rates.delay_ms
        at_ms = self._queue.now_ms + low + int(connection.delays() * (high - low + 1))
        if rates.reorder > 0 and connection.chances() < rates.reorder:
            at_ms += 1 + int(connection.chances() * _held_up_ms(high))
        if at_ms < connection.last_ms:
            at_ms = connection.last_ms
        connection.last_ms = at_ms
        return at_ms

    def _plan(
        self,
        at_ms: int,
        client: str,
        broker: str,
        arrives: Callable[[], None],
        lost: Callable[[], None],
        facts: Callable[[], FaultFacts],
        cause: int | None,
    ) -> None:
        def arrive() -> None:
            if self.stopped(client, broker, facts, cause):
                lost()
            else:
                arrives()

        self._queue.plan(at_ms, _ARRIVAL, arrive)

    # Where nothing is in the way, all there is to know of a message is when it arrives.

    @property
    def undisturbed(self) -> bool:
        """Whether whatever is sent now is not lost, doubled or held up, unless there is a cut when it arrives."""
        rates = self.rates
        return not (self._cuts or rates.loss or rates.duplicate or rates.reorder)

    def quick(self, client: str, broker: str, arrive: Callable[[], None], *, to_broker: bool) -> None:
        """A message while the network is ``undisturbed``; ``arrive`` asks ``stopped`` before it takes it."""
        connection = self._connection(client, broker, to_broker=to_broker)
        self._queue.plan(self._arrival_ms(self.rates, connection), _ARRIVAL, arrive)

    def stopped(self, client: str, broker: str, facts: Callable[[], FaultFacts], cause: int | None) -> bool:
        """Whether a message that would arrive now is stopped by a cut, which is reported then."""
        if not self._cuts or not self.is_cut(client, broker):
            return False
        self._note_fault(LOST, facts(), cause)
        return True

    def lose(self, facts: FaultFacts, cause: int | None) -> None:
        """A message reached a broker that is gone."""
        self._note_fault(LOST, facts, cause)

    def _note_fault(self, fault: str, facts: FaultFacts, cause: int | None) -> None:
        payload = {"fault": fault, **facts}
        self._log.write(Kind.FAULT, str(facts["member"]), self._queue.now_ms, payload, cause=cause)
