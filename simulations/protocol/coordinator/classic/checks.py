"""What is asked of a request before anything else: its group, and that its member is the one that it claims to be.

Kafka: ``ClassicGroup.validateMember``, ``GroupCoordinatorService.isGroupIdNotEmpty``.
"""

from __future__ import annotations

from simulations.protocol.coordinator.classic.group import DEAD, Group
from simulations.protocol.messages.errors import ErrorCode


def check_group(group_id: str | None) -> ErrorCode:
    """Classic groups may have any name that is not empty, also a blank one."""
    return ErrorCode.NONE if group_id else ErrorCode.INVALID_GROUP_ID


def check_member(group: Group, member_id: str, instance_id: str | None) -> ErrorCode:
    """Who names an instance has to have the id that holds it."""
    if instance_id is not None:
        holder = group.instances.get(instance_id)
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def check_generation(group: Group, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
    """As ``check_member``, and the generation has to be the group's."""
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    code = check_member(group, member_id, instance_id)
    if code is ErrorCode.NONE and generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    return code
