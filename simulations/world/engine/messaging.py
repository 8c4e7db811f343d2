"""How requests of processes get to brokers, and answers back; what a client receives where none comes.

A client that has no answer when its request timeout is over closes the connection. One whose broker goes away is reported
so at once, or is answered that it is not the coordinator any more. Asking who is has no entry in the log.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from simulations.protocol.client.consumer import Failure, FindCoordinator, FindCoordinatorAnswer, Request
from simulations.protocol.client.consumer.requests import FIND_COORDINATOR_API
from simulations.protocol.messages.errors import ErrorCode
from simulations.world.engine.access import Access
from simulations.world.engine.brokers import Broker
from simulations.world.engine.cluster import Cluster
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.network import Network
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.engine.requests import APIS, Answer

if TYPE_CHECKING:
    from simulations.world.engine.process import Process
    from simulations.world.engine.raw_sending import ScriptedSender

REQUEST: Final = "request"
RESPONSE: Final = "response"

PORT: Final = 9092
"""Where every broker listens."""


class Messaging:
    """Keeps account of the requests that were handled and wait for their answer."""

    def __init__(self, queue: EventQueue, network: Network, cluster: Cluster, access: Access) -> None:
        self._queue = queue
        self._network = network
        self._cluster = cluster
        self._access = access

    def send(
        self,
        process: Process | ScriptedSender,
        request: Request,
        cause: int | None,
        *,
        scripted: bool = False,
    ) -> None:
        """A process sends a request to whom it takes for the coordinator; FindCoordinator goes to any broker."""
        finds = type(request) is FindCoordinator
        broker = self._bootstrap(process) if finds else process.broker or self._cluster.coordinator.name
        exchange = InFlightRequest(process, request, cause, broker, self._queue.now_ms, scripted=scripted)
        if not finds and self._network.undisturbed:
            self._network.quick(process.host, broker, partial(self._quick, exchange), to_broker=True)
            return
        arrives = self._asked if finds else self._arrived
        self._network.request(
            process.host,
            broker,
            lambda answered: arrives(exchange, answered),
            lambda: self._silence(exchange),
            lambda: exchange.note_fields(_api(request), REQUEST),
            cause,
        )

    def reply(self, exchange: InFlightRequest, answer: Answer, cause: int | None) -> None:
        """An answer leaves; nobody waits for one that is late, or whose request was sent a second time."""
        if not exchange.open:
            return
        exchange.open = False
        process, request = exchange.process, exchange.request
        if self._network.undisturbed:
            arrives = partial(self._fast_path_back, exchange, answer, cause)
            self._network.quick(process.host, exchange.broker, arrives, to_broker=False)
            return
        self._network.response(
            process.host,
            exchange.broker,
            lambda: self._answered(exchange, answer, cause),
            lambda: self._silence(exchange),
            lambda: exchange.note_fields(_api(request), RESPONSE),
            cause,
        )

    def waits(self, exchange: InFlightRequest) -> None:
        """The answer has to wait, perhaps for long: the client will not do so for ever."""
        if exchange.open:
            self._queue.plan(self._deadline_ms(exchange), Priority.CLIENT, lambda: self._gives_up(exchange))

    def abandon(self, broker: Broker, unanswered: list[InFlightRequest]) -> None:
        """The broker is not the coordinator any more: its connections break if it crashed, else it answers so."""
        for exchange in unanswered:
            if not exchange.open:
                continue
            if broker.alive:
                self._cluster.coordinating.refuse(exchange, ErrorCode.NOT_COORDINATOR, exchange.entry)
            else:
                self._disconnected(exchange)

    def _arrived(self, exchange: InFlightRequest, answered: bool) -> None:
        broker = self._cluster.broker(exchange.broker)
        if not broker.alive:
            self._network.lose(exchange.note_fields(_api(exchange.request), REQUEST), exchange.cause)
            self._disconnected(exchange)
            return
        taken = exchange if answered else exchange.unanswered()
        refused = broker.refusal(exchange.request, self._cluster.group_version)
        if refused is ErrorCode.NONE:
            refused = self._access.refusal(exchange.process.name, exchange.request)
        if refused is not ErrorCode.NONE:
            self._cluster.coordinating.turn_away(taken, refused)
        elif broker is self._cluster.coordinator:
            self._cluster.coordinating.handle(taken)
        else:
            self._cluster.coordinating.turn_away(taken, ErrorCode.NOT_COORDINATOR)
        if not answered:
            self._disconnected(exchange)

    def _quick(self, exchange: InFlightRequest) -> None:
        """A request arrives that nothing stood in the way of when it was sent."""
        process, request, cause = exchange.process, exchange.request, exchange.cause
        if self._network.stopped(
            process.host, exchange.broker, lambda: exchange.note_fields(_api(request), REQUEST), cause
        ):
            self._silence(exchange)
        else:
            self._arrived(exchange, True)

    def _fast_path_back(self, exchange: InFlightRequest, answer: Answer, cause: int | None) -> None:
        """The same of an answer."""
        process, request = exchange.process, exchange.request
        if self._network.stopped(
            process.host, exchange.broker, lambda: exchange.note_fields(_api(request), RESPONSE), cause
        ):
            self._silence(exchange)
        else:
            self._answered(exchange, answer, cause)

    def _asked(self, exchange: InFlightRequest, answered: bool) -> None:
        """Every broker knows the coordinator."""
        if not answered or not self._cluster.broker(exchange.broker).alive:
            self._disconnected(exchange)
            return
        leader = self._cluster.coordinator
        answer = FindCoordinatorAnswer(node_id=leader.number, host=leader.name, port=PORT)
        exchange.open = False
        self._network.response(
            exchange.process.host,
            exchange.broker,
            lambda: self._found(exchange, answer),
            lambda: self._silence(exchange),
            lambda: exchange.note_fields(FIND_COORDINATOR_API, RESPONSE),
            exchange.cause,
        )

    def _found(self, exchange: InFlightRequest, answer: FindCoordinatorAnswer) -> None:
        exchange.process.broker = answer.host
        exchange.process.answered(exchange.request, answer, exchange.cause)

    def _answered(self, exchange: InFlightRequest, answer: Answer, cause: int | None) -> None:
        if self._queue.now_ms > self._deadline_ms(exchange):
            # It has given up by then, and closed the connection on which this comes.
            exchange.process.failed(exchange.request, Failure.TIMED_OUT)
        else:
            exchange.process.answered(exchange.request, answer, cause)

    def _silence(self, exchange: InFlightRequest) -> None:
        """Nothing will come back: the client waits for its request timeout."""
        exchange.open = True
        self._queue.plan(self._deadline_ms(exchange), Priority.CLIENT, lambda: self._gives_up(exchange))

    def _gives_up(self, exchange: InFlightRequest) -> None:
        if exchange.open:
            exchange.open = False
            exchange.process.failed(exchange.request, Failure.TIMED_OUT)

    def _disconnected(self, exchange: InFlightRequest) -> None:
        if exchange.open:
            exchange.open = False
            process, request = exchange.process, exchange.request
            at_ms = self._queue.now_ms + self._network.rates.delay_ms[0]
            self._queue.plan(at_ms, Priority.ARRIVAL, lambda: process.failed(request, Failure.DISCONNECTED))

    def _deadline_ms(self, exchange: InFlightRequest) -> int:
        return exchange.sent_ms + exchange.process.timeout_ms(exchange.request)

    def _bootstrap(self, process: Process | ScriptedSender) -> str:
        """A broker to ask: the first that lives and can be reached, as a client tries one after another."""
        alive = [broker.name for broker in self._cluster.brokers if broker.alive]
        within_reach = [name for name in alive if not self._network.is_cut(process.host, name)]
        return (within_reach or alive or [self._cluster.coordinator.name])[0]


def _api(request: Request) -> str:
    return FIND_COORDINATOR_API if isinstance(request, FindCoordinator) else APIS[type(request)].name
