"""What brokers are besides being the coordinator: alive or down, of a release, with a share of the metadata; and notes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NotRequired, TypedDict

from groups.releases import EARLIER, GROUP_VERSION, Release
from simulations.protocol.client.consumer import Request
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.client_mode import InstallAssignment, PrepareAssignment
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Heartbeat

OF_CONSUMER_PROTOCOL: Final = (Heartbeat, PrepareAssignment, InstallAssignment)
"""Requests that a broker answers UNSUPPORTED_VERSION where it does not serve the consumer protocol."""


@dataclass(slots=True, eq=False)
class Broker:
    """``clock_ms`` is how far its clock is ahead of the world's."""

    name: str
    number: int
    image: Image
    release: Release = EARLIER
    alive: bool = True
    rolls: bool = False
    """Whether it is down for as long as its roll takes."""
    clock_ms: int = 0
    knows_ms: int = 0
    """When it knows the last change of the topics that it will hear of."""

    def refusal(self, request: Request, group_version: int) -> ErrorCode:
        """How it answers whatever the group's coordinator would, whichever client asks; ``NONE``: it goes on to ask.

        Kafka's class: ``KafkaApis.handleConsumerGroupHeartbeat``, before it looks at ACLs.
        """
        serves = group_version > 0 and self.release.rules.consumer_protocol
        if serves or not isinstance(request, OF_CONSUMER_PROTOCOL):
            return ErrorCode.NONE
        return ErrorCode.UNSUPPORTED_VERSION


class BrokerNote(TypedDict):
    """``note`` is ``broker``: it runs ``release`` as the run begins, or it is rolled: it ``stops``, or it ``starts`` with ``release``."""

    note: str
    broker: str
    event: Literal["runs", "stops", "starts"]
    release: str
    before: NotRequired[str]


class FeatureNote(TypedDict):
    """``note`` is ``feature``: from here on every broker has it at ``level``; ``before`` is null as the run begins."""

    note: str
    feature: str
    level: int
    before: int | None


def broker_note(
    broker: Broker, event: Literal["runs", "stops", "starts"], before: Release | None = None
) -> BrokerNote:
    note: BrokerNote = {
        "note": "broker",
        "broker": broker.name,
        "event": event,
        "release": str(broker.release),
    }
    if before is not None:
        note["before"] = str(before)
    return note


def feature_note(level: int, before: int | None) -> FeatureNote:
    return {"note": "feature", "feature": GROUP_VERSION, "level": level, "before": before}
