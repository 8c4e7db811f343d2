"""What a heartbeat must be before a group is even looked at (``throwIfConsumerGroupHeartbeatRequestIsInvalid``)."""

from __future__ import annotations

from typing import Final

from simulations.protocol.assignors.java_orders import HashOrder, string_hash
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    UNCHANGED_TIMEOUT,
    Heartbeat,
)

TRIMMED: Final = "".join(map(chr, range(0x21)))
"""What Java's ``String.trim`` takes off: the space and all below it."""


def is_blank(text: str | None) -> bool:
    """Whether a text is there and empty."""
    return text is not None and not text.strip(TRIMMED)


def check_request(request: Heartbeat, settings: Settings) -> None:
    """Raises ``RequestRefused`` with Kafka's words for the first rule that the request breaks."""
    joins = request.member_epoch == JOIN_EPOCH
    if (request.version >= 1 or request.member_epoch > 0 or request.member_epoch == LEAVE_EPOCH) and is_blank(
        request.member_id
    ):
        raise _invalid("MemberId can't be empty.")
    if is_blank(request.group_id):
        raise _invalid("GroupId can't be empty.")
    if is_blank(request.instance_id):
        raise _invalid("InstanceId can't be empty.")
    if is_blank(request.rack_id):
        raise _invalid("RackId can't be empty.")
    if joins and request.rebalance_timeout_ms == UNCHANGED_TIMEOUT:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if joins and (request.owned is None or request.owned):
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if joins and request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )
    if request.member_epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    if request.member_epoch < STATIC_LEAVE_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in settings.assignors:
        supported = ", ".join(HashOrder.filled(string_hash, settings.assignors))
        raise RequestRefused(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {supported}.",
        )


def _invalid(message: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_REQUEST, message)
