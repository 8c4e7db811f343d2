"""A classic group as DescribeGroups and ListGroups report it.

Kafka: ``GroupMetadataManager.describeGroups``, ``ClassicGroup.asListedGroup``.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from simulations.protocol.coordinator.classic.group import DEAD, STABLE
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.messages.describe_groups import DescribedGroup, DescribedMember, ListedGroup
from simulations.protocol.messages.errors import ErrorCode

NOT_ASKED: Final = -2147483648
"""``authorizedOperations`` of a request that does not ask for them."""


def describe(context: Context) -> DescribedGroup:
    """The group in version 6. Only a stable group has protocol and metadata, assignments are always there.

    A group that is not classic is described as dead, with an error.
    """
    group_id, group = context.state.group, classic_group(context)
    if group is None:
        kind = (
            "not found" if context.state.protocol is None or context.state.deleted else "not a classic group"
        )
        text = f"Group {group_id} {'is ' if kind.startswith('not a') else ''}{kind}."
        return _described(group_id, str(DEAD), error=ErrorCode.GROUP_ID_NOT_FOUND, message=text)
    stable = group.state is STABLE
    members: list[DescribedMember] = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "clientId": member.client_id,
            "clientHost": member.client_host,
            "memberMetadata": b64encode(member.metadata(group.protocol_name)).decode() if stable else "",
            "memberAssignment": b64encode(member.assignment).decode(),
        }
        for member in group.in_order()
    ]
    described = _described(group_id, str(group.state))
    described["protocolType"] = group.protocol_type or ""
    described["protocolData"] = (group.protocol_name or "") if stable else ""
    described["members"] = members
    return described


def listed(context: Context) -> ListedGroup | None:
    """The group's row in ListGroups; ``None`` if it is not classic."""
    group = classic_group(context)
    if group is None:
        return None
    return {
        "groupId": context.state.group,
        "protocolType": group.protocol_type or "",
        "groupState": str(group.state),
        "groupType": "classic",
    }


def _described(
    group_id: str, state: str, error: ErrorCode = ErrorCode.NONE, message: str | None = None
) -> DescribedGroup:
    return {
        "errorCode": int(error),
        "errorMessage": message,
        "groupId": group_id,
        "groupState": state,
        "protocolType": "",
        "protocolData": "",
        "members": [],
        "authorizedOperations": NOT_ASKED,
    }
