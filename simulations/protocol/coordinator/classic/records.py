"""The one record of a classic group, type 2 in version 3 (``GroupCoordinatorRecordHelpers.newGroupMetadataRecord``)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from groups.history.entries import RecordPayload
from groups.history.payloads.records import GroupMetadataValue, MemberMetadata
from groups.wire.generated.classic import GROUP_METADATA
from simulations.protocol.coordinator.classic.group import Group

VERSION: Final = 3


def group_metadata(group_id: str, group: Group, assignments: Mapping[str, bytes]) -> RecordPayload:
    """The group with its members in the order of their table, and the assignments given, bytes by member id.

    A group without members keeps its protocol type and generation, and no more.
    """
    members: list[MemberMetadata] = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "clientId": member.client_id,
            "clientHost": member.client_host,
            "rebalanceTimeout": member.rebalance_timeout_ms,
            "sessionTimeout": member.session_timeout_ms,
            "subscription": b64encode(member.metadata(group.protocol_name)).decode(),
            "assignment": b64encode(assignments.get(member.member_id, b"")).decode(),
        }
        for member in group.in_order()
    ]
    value: GroupMetadataValue = {
        "protocolType": group.protocol_type or "",
        "generation": group.generation,
        "protocol": group.protocol_name,
        "leader": group.leader,
        "currentStateTimestamp": group.state_timestamp_ms,
        "members": members,
    }
    return {"type": GROUP_METADATA, "key": {"group": group_id}, "version": VERSION, "value": value}
