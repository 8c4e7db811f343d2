"""What is said of a group that could not be described, in plain sentences; the right that is missing is named."""

from __future__ import annotations

from groups.history.polls.description import (
    GROUP_AUTHORIZATION_FAILED,
    GROUP_ID_NOT_FOUND,
    MOVING,
    TOPIC_AUTHORIZATION_FAILED,
    GroupDescription,
    Undescribed,
)
from groups.shown import shown_name
from groups.wire.rpc import error_name


def undescribed(answer: Undescribed) -> str:
    """One sentence for the code that the coordinator answered."""
    group = shown_name(answer.group)
    if answer.code == GROUP_ID_NOT_FOUND:
        return f"Group {group} does not exist: its coordinator has no group of this name."
    if answer.code == GROUP_AUTHORIZATION_FAILED:
        return f"Group {group} may not be described, or does not exist: the right DESCRIBE on the group is missing."
    if answer.code == TOPIC_AUTHORIZATION_FAILED:
        return (
            f"Group {group} is unreadable now: it is assigned a topic on which the right DESCRIBE is missing. "
            "This comes and goes with the assignment."
        )
    if answer.code in MOVING:
        return f"Group {group} cannot be described now: its coordinator is moving to another broker."
    name = error_name(answer.code) or str(answer.code)
    said = f": {answer.message}" if answer.message else "."
    return f"Group {group} was not described: {name}{said}"


def unreadable(group: GroupDescription) -> list[str]:
    """A sentence for each member whose bytes cannot be decoded: what it has is unknown, not nothing."""
    return [
        f"Group {shown_name(group.group)}: the {what} of member {member.member_id} cannot be decoded ({reason}); it is shown as ?."
        for member in group.members
        for what, reason in member.unreadable.items()
    ]
