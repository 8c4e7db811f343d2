"""The same field means other things in other messages, and what stands beside it says so."""

from collections.abc import Mapping
from typing import Any

import pytest

from groups.history.state import consumer as consumer_state
from groups.history.state import streams as streams_state
from groups.wire.codecs.schema import Array, Field
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.inspection import find, inspect, kinds
from groups.wire.inspection.kinds import kebab


@pytest.mark.parametrize(
    ("kind", "version", "value", "path", "meaning"),
    [
        ("consumer-group-heartbeat-request", 0, {"memberEpoch": 0}, "memberEpoch", "joins"),
        ("consumer-group-heartbeat-request", 1, {"memberEpoch": -1}, "memberEpoch", "leaves"),
        ("consumer-group-heartbeat-request", 1, {"memberEpoch": -2}, "memberEpoch", "static: leaves to come back"),
        ("consumer-group-heartbeat-request", 1, {}, "rackId", "none, or as told before"),
        ("streams-group-heartbeat-request", 0, {}, "activeTasks", "none, or as told before"),
        ("consumer-group-heartbeat-request", 0, {"memberId": ""}, "memberId", "none yet: in version 0 the coordinator draws one"),
        ("consumer-group-heartbeat-response", 1, {"errorCode": 110, "memberEpoch": 0}, "memberEpoch", ""),
        ("consumer-group-heartbeat-response", 1, {"errorCode": 110}, "errorCode", "FENCED_MEMBER_EPOCH"),
        ("kip-consumer-group-install-assignment-response", 0, {"errorCode": 10_848}, "errorCode", "INVALID_ASSIGNMENT"),
        ("join-group-request", 9, {"memberId": ""}, "memberId", "none yet: the coordinator will draw one"),
        ("offset-commit-request", 9, {"memberId": ""}, "memberId", "none: not of a member"),
        ("offset-commit-request", 9, {}, "generationIdOrMemberEpoch", "not of a member"),
        ("offset-fetch-request", 9, {"groups": [{"groupId": "g", "topics": None}]}, "groups.0.memberEpoch", "not of a member"),
        ("find-coordinator-request", 6, {}, "keyType", "group ids"),
    ],
)  # fmt: skip
def test_a_number_means_what_its_message_means_by_it(
    kind: str, version: int, value: dict[str, Any], path: str, meaning: str
):
    declared = kinds()[kind].layout
    data = declared.write(BLANK[kind] | value, version)
    node = find(inspect(kind, data, version=version).fields, path)
    assert node is not None
    assert node.meaning == meaning


BLANK: dict[str, dict[str, Any]] = {
    "consumer-group-heartbeat-request": {"groupId": "g", "memberId": "m", "memberEpoch": 3, "topicPartitions": None},
    "streams-group-heartbeat-request": {
        "groupId": "g", "memberId": "m", "memberEpoch": 3, "endpointInformationEpoch": 0, "rebalanceTimeoutMs": -1,
        **dict.fromkeys(("activeTasks", "standbyTasks", "warmupTasks", "clientTags", "taskOffsets", "taskEndOffsets")),
    },
    "consumer-group-heartbeat-response": {
        "throttleTimeMs": 0, "errorCode": 0, "memberEpoch": 3, "heartbeatIntervalMs": 5000,
    },
    "kip-consumer-group-install-assignment-response": {"throttleTimeMs": 0},
    "join-group-request": {
        "groupId": "g", "sessionTimeoutMs": 45_000, "memberId": "m", "protocolType": "consumer", "protocols": [],
    },
    "offset-commit-request": {"groupId": "g", "memberId": "m", "topics": []},
    "offset-fetch-request": {"groups": [], "requireStable": False},
    "find-coordinator-request": {"keyType": 0, "coordinatorKeys": ["g"]},
}  # fmt: skip
"""What must be given of each message."""


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("consumer-group-current-member-assignment-value", consumer_state.STATE_NAMES),
        ("streams-group-current-member-assignment-value", streams_state.STATE_NAMES),
    ],
)
def test_the_states_of_members_are_those_that_the_fold_knows(kind: str, names: Mapping[int, str]):
    for state in [*names, max(names) + 1]:
        blank = {"version": 0, "memberEpoch": 3, "previousMemberEpoch": 2}
        lists = {field.name: [] for field in current(kind) if isinstance(field.type, Array)}
        node = find(
            inspect(kind, kinds()[kind].layout.write(blank | {"state": state} | lists, None)).fields, "state"
        )
        assert node is not None
        assert node.meaning.split(":")[0] == names.get(state, "a state that is not known here")


def current(kind: str) -> tuple[Field, ...]:
    (message,) = (each.value for each in RECORD_TYPES.values() if kebab(each.value.name) == kind)
    return message.body.fields
