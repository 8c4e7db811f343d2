"""A consumer with client-side assignors: its membership is that of any other, with its part of client mode in addition.

What the membership sends is sent, with the assignors in it where they have to be sent: with everything else, and when
one of them has something else to say. What answers the membership takes, its ``Assigning`` hears of. A request of the
computation that gets no answer is asked again after the next heartbeat's, once its time is over.

Source: KIP-848, "Client Side Mode"; no release has it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from groups.history.words import counted
from simulations.protocol.assignors.client_side import ClientAssignor, Offer
from simulations.protocol.client.consumer.assigning import Assigning, Computing
from simulations.protocol.client.consumer.canonical import later
from simulations.protocol.client.consumer.config import ConsumerConfig
from simulations.protocol.client.consumer.consumer import Consumer
from simulations.protocol.client.consumer.effects import Effect, Send
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.requests import Answer, Request
from simulations.protocol.client.consumer.states import BEATING
from simulations.protocol.messages.client_mode import InstallAnswer, PrepareAnswer
from simulations.protocol.messages.groups import UNCHANGED_TIMEOUT, Heartbeat, HeartbeatAnswer


class ComputingConsumer(Consumer):
    """``assignors`` in the order of preference; ``config`` must name no server-side one."""

    __slots__ = ("_asked", "_assigning", "_expires_ms", "_sent_offers")

    def __init__(self, config: ConsumerConfig, assignors: tuple[ClientAssignor, ...]) -> None:
        super().__init__(config)
        self._assigning = Assigning(config.group_id, config.member_id, assignors, config.notes_call)
        self._sent_offers: tuple[Offer, ...] | None = None
        self._asked: Computing | None = None
        self._expires_ms = 0

    @property
    def assigning(self) -> Assigning:
        return self._assigning

    def bring(self, assignors: tuple[ClientAssignor, ...]) -> None:
        """Replaces the assignors; the next heartbeat reports what changed."""
        self._assigning.assignors = assignors

    def awaits(self, request: object) -> bool:
        return request is self._asked or super().awaits(request)

    def copy(self) -> ComputingConsumer:
        twin = object.__new__(ComputingConsumer)
        twin._m = later(self._m)
        twin._assigning = self._assigning.copy()
        twin._sent_offers, twin._asked, twin._expires_ms = self._sent_offers, self._asked, self._expires_ms
        return twin

    def canonical(self, rename: Callable[[int], int]) -> Hashable:
        offers_known = self._sent_offers == self._assigning.offers()
        return (
            super().canonical(rename),
            self._assigning.canonical(rename),
            offers_known,
            self._asked is not None,
        )

    def receive(self, request: Request, answer: Answer, now_ms: int) -> list[Effect]:
        if isinstance(answer, PrepareAnswer | InstallAnswer):
            if request is not self._asked:
                return []
            self._asked = None
            if isinstance(answer, PrepareAnswer):
                return self._sent(self._assigning.prepared(answer), now_ms)
            return self._sent(self._assigning.installed(answer), now_ms)
        answered = isinstance(answer, HeartbeatAnswer) and super().awaits(request)
        effects = super().receive(request, answer, now_ms)
        if not answered or not isinstance(answer, HeartbeatAnswer):
            return effects
        if answer.error_code == 0 and self.state in BEATING:
            if self._asked is not None and now_ms >= self._expires_ms:
                self._unanswered()
            return effects + self._sent(self._assigning.take_answer(answer), now_ms)
        if self.state not in BEATING or self.epoch != self._assigning.epoch:
            # Fenced, or on its way out: whatever was computed is of a member that is no more.
            self._asked = None
            self._assigning.abandon()
        return effects

    def failed(self, request: Request, failure: Failure, now_ms: int) -> list[Effect]:
        if request is not self._asked:
            return super().failed(request, failure, now_ms)
        self._unanswered()
        return []

    def _unanswered(self) -> None:
        self._asked = None
        self._assigning.failed()

    def _sent(self, asks: list[Computing], now_ms: int) -> list[Effect]:
        for request in asks:
            self._asked, self._expires_ms = request, now_ms + self.config.request_timeout_ms
        return [Send(request=request) for request in asks]

    def _settle(self, now_ms: int, effects: list[Effect]) -> list[Effect]:
        super()._settle(now_ms, effects)
        for place, effect in enumerate(effects):
            if isinstance(effect, Send) and isinstance(effect.request, Heartbeat):
                effects[place] = self._with_offers(effect, effect.request)
        return effects

    def _with_offers(self, effect: Send, request: Heartbeat) -> Send:
        offers = self._assigning.offers()
        whole = request.rebalance_timeout_ms != UNCHANGED_TIMEOUT
        if request.member_epoch < 0 or not (whole or offers != self._sent_offers):
            return effect
        self._sent_offers = offers
        if self.config.notes_call is not None:
            for offer in offers:
                self.config.notes_call(offer.name, "metadata", counted(len(offer.metadata.data), "byte"))
        sent = replace(request, client_assignors=offers)
        if self._m.in_flight is request:
            self._m.in_flight = sent
        return Send(request=sent)
