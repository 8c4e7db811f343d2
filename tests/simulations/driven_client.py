"""A client that a test drives: its effects are kept, and time goes on when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import (
    Alarm,
    Call,
    Consumer,
    Effect,
    Failure,
    Request,
    Returned,
    Send,
)

Asked = TypeVar("Asked")
C = TypeVar("C", Consumer, ClassicConsumer)


class DrivenClient(Generic[C]):
    """``sent`` are the requests of the last call, in the words of ``told``; so are ``calls`` and ``returned`` of it."""

    def __init__(self, consumer: C, told: Callable[[Request], str]) -> None:
        self.consumer = consumer
        self._told = told
        self.now_ms = 0
        self.requests: list[Request] = []
        self.sent: list[str] = []
        self.calls: list[str] = []
        self.returned: list[str] = []
        self.alarm: int | None = None

    def does(self, effects: list[Effect]) -> None:
        self.sent, self.calls, self.returned = [], [], []
        for effect in effects:
            match effect:
                case Send(request=request):
                    self.requests.append(request)
                    self.sent.append(self._told(request))
                case Call(callback=callback, partitions=partitions):
                    numbers = [number for numbers in partitions.values() for number in numbers]
                    self.calls.append(f"{callback} {numbers}")
                case Alarm(at_ms=at_ms):
                    self.alarm = at_ms
                case Returned(operation=operation, error_code=code, exception=exception):
                    words = [operation, str(int(code)) if code else "", exception or ""]
                    self.returned.append(" ".join(filter(None, words)))

    def last(self, kind: type[Asked]) -> Asked:
        """The newest request of a kind."""
        return next(request for request in reversed(self.requests) if isinstance(request, kind))

    def fails(self, kind: type[Request], failure: Failure = Failure.DISCONNECTED) -> None:
        self.does(self.consumer.failed(self.last(kind), failure, self.now_ms))

    def called(self, raised: bool = False) -> None:
        self.does(self.consumer.called(self.now_ms, raised))

    def waits(self) -> None:
        """Until the alarm goes off."""
        assert self.alarm is not None
        self.now_ms = max(self.now_ms, self.alarm)
        self.does(self.consumer.ring(self.now_ms))
