"""Requests that the script writes itself: what is left out is the sender's own, and nobody hears of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.wire.codecs.values import Value
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Answer, Failure, Request
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.classic_requests import JoinGroup
from simulations.protocol.messages.from_bodies import READERS, Sender
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat
from simulations.world.engine.interventions import producer_of
from simulations.world.engine.process import Process
from simulations.world.scenario import Member, Scenario
from simulations.world.scenario.raw_requests import RawRequest, completed

TIMEOUT_MS: Final = 30_000
"""``request.timeout.ms``"""


class ScriptedSender:
    """Sends in a member's name: from its host, under its principal."""

    def __init__(self, name: str, member_id: str, process: Process | None) -> None:
        self.member_id = member_id
        self.host = process.host if process is not None else name
        self.name = name
        self.broker: str | None = None

    def timeout_ms(self, request: Request) -> int:
        return TIMEOUT_MS

    def answered(self, request: Request, answer: Answer, cause: int | None) -> None:
        """No client waits for it."""

    def failed(self, request: Request, failure: Failure) -> None:
        """No client waits for it."""


def own_fields(scenario: Scenario, member: Member, process: Process | None) -> dict[str, Value]:
    """What a request of the member contains of its sender, as its newest process has it."""
    consumer = process.consumer if process is not None else None
    if isinstance(consumer, ClassicConsumer):
        member_id, epoch = consumer.member_id, consumer.generation
    elif consumer is not None and process is not None:
        member_id, epoch = process.member_id, consumer.epoch
    else:
        member_id, epoch = member.name, JOIN_EPOCH
    own: dict[str, Value] = {
        "groupId": scenario.group,
        "memberId": member_id,
        "transactionalId": member.name,
        "producerId": producer_of(scenario, member.name),
    }
    own |= dict.fromkeys(("memberEpoch", "generationId", "generationIdOrMemberEpoch"), epoch)
    return own | dict.fromkeys(("instanceId", "groupInstanceId"), member.instance_id)


def needs_id(request: Request) -> bool:
    """Whether the coordinator is to make the member's id."""
    if isinstance(request, JoinGroup):
        return not request.member_id
    return isinstance(request, Heartbeat) and request.member_epoch == JOIN_EPOCH and not request.member_id


def request_of(
    raw: RawRequest, own: Mapping[str, Value], ids: Mapping[str, str], image: Image, member: Member
) -> Request:
    """The request with all its fields; ``ids`` are those of topics, by name."""
    sender = Sender(member.client_id, member.client_host)
    request: Request = READERS[raw.api](completed(raw, own, ids), raw.version, sender, image)
    return request
