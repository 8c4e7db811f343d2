"""What the classic coordinator's answers are on the wire, by version."""

from __future__ import annotations

from dataclasses import fields

import pytest

from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    LeavingMember,
    LeftMember,
    SyncAnswer,
    SyncGroup,
)
from tests.simulations.classic_broker import GROUP


@pytest.mark.parametrize(("version", "name"), [(6, ""), (7, None), (9, None)])
def test_no_protocol_is_told_by_an_empty_name_before_it_could_be_null(version: int, name: str | None) -> None:
    assert JoinAnswer(version=version).body()["protocolName"] == name
    assert JoinAnswer(version=version, protocol_name="range").body()["protocolName"] == "range"


@pytest.mark.parametrize(
    ("message", "newest"),
    [
        (JoinGroup, 9),
        (JoinAnswer, 9),
        (SyncGroup, 5),
        (SyncAnswer, 5),
        (ClassicHeartbeat, 4),
        (LeaveGroup, 5),
        (LeaveAnswer, 5),
    ],
)
def test_a_message_is_of_the_newest_version_that_the_release_knows(message: type, newest: int) -> None:
    (version,) = (field.default for field in fields(message) if field.name == "version")
    assert version == newest


@pytest.mark.parametrize("version", [2, 3])
def test_a_leave_is_of_one_member_before_it_could_be_of_several(version: int) -> None:
    asked = LeaveGroup(
        group_id=GROUP, members=(LeavingMember(member_id="A", reason="over"),), version=version
    ).body()
    answered = LeaveAnswer(members=(LeftMember(member_id="A", error_code=25),), version=version).body()
    if version == 2:
        assert asked == {"groupId": GROUP, "memberId": "A"}
        assert answered == {"errorCode": 25}
        assert LeaveAnswer(error_code=24, version=2).body() == {"errorCode": 24}
        return
    assert asked == {
        "groupId": GROUP,
        "members": [{"memberId": "A", "groupInstanceId": None, "reason": "over"}],
    }
    assert answered == {
        "errorCode": 0,
        "members": [{"memberId": "A", "groupInstanceId": None, "errorCode": 25}],
    }
