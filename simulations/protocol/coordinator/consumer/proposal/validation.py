"""What a request must be before a group is looked at: the proposal's tables of rules, in their order.

Source: KIP-848, "Request Validation" of each API. Three readings: epoch -2 is valid with an instance id (the rule lists
"at least -1" and forgets static members); a member id may be empty where the coordinator is to make one, in a join;
names and a regular expression may be sent together (the older text: never both).
"""

from __future__ import annotations

from simulations.protocol.assignors.assignor_choice import Preference
from simulations.protocol.coordinator.consumer.regexes import description
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.messages.client_mode import InstallAssignment, PrepareAssignment
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH, Heartbeat


def check_heartbeat(request: Heartbeat, settings: Settings) -> None:
    """Raises ``RequestRefused`` for the first rule that the request breaks."""
    joins = request.member_epoch == JOIN_EPOCH
    if not request.group_id:
        raise _invalid("GroupId must be non-empty.")
    if not request.member_id and not joins:
        raise _invalid("MemberId must be non-empty.")
    if request.member_epoch < LEAVE_EPOCH and (
        request.member_epoch != STATIC_LEAVE_EPOCH or request.instance_id is None
    ):
        raise _invalid("MemberEpoch must be at least -1, or -2 with an InstanceId.")
    if request.instance_id is not None and not request.instance_id:
        raise _invalid("InstanceId, if provided, must be non-empty.")
    if joins and request.rebalance_timeout_ms <= 0:
        raise _invalid("RebalanceTimeoutMs must be larger than zero in the first heartbeat request.")
    if joins and request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid(
            "SubscribedTopicNames or SubscribedTopicRegex must be given when the member epoch is 0."
        )
    regex = request.subscribed_topic_regex
    if regex and (wrong := description(regex)) is not None:
        raise _invalid(f"SubscribedTopicRegex must be a valid regular expression: {wrong}.")
    preference = Preference(server=request.server_assignor, client=request.client_assignors or ())
    if (wrong := preference.problem()) is not None:
        raise _invalid(f"Invalid assignors: {wrong}.")
    if request.server_assignor is not None and request.server_assignor not in settings.assignors:
        raise RequestRefused(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(settings.assignors)}.",
        )


def check_computing(request: PrepareAssignment | InstallAssignment) -> None:
    """The rules of the two requests of a member that computes."""
    if not request.group_id:
        raise _invalid("GroupId must be non-empty.")
    if not request.member_id:
        raise _invalid("MemberId must be non-empty.")
    if request.member_epoch < JOIN_EPOCH:
        raise _invalid("MemberEpoch must be at least 0.")


def _invalid(message: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_REQUEST, message)
