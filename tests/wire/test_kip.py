"""The formats of KIP-848 as it was written: their bytes, and that they are never taken for the released ones."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.errors import UnencodableError
from groups.wire.kip import (
    INSTALL_ASSIGNMENT,
    INVALID_ASSIGNMENT,
    KIP_APIS,
    KIP_RECORD_TYPES,
    PREPARE_ASSIGNMENT,
    as_proposed,
    decode_kip_record,
    encode_kip_record,
    kip_error_name,
)
from groups.wire.records import decode_record, encode_record, is_opaque
from groups.wire.rpc import (
    APIS,
    Direction,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    error_name,
)
from tests.tiers import examples
from tests.wire.strategies import bodies, payloads

FOO = "cLledStpRu6ixDUvA4jVgA"
FOO_BYTES = "70b95e752b6946eea2c4352f0388d580"
# Foo's partitions 0 and 1: a list of one topic, in it a list of two.
FOO_0_1 = f"02 {FOO_BYTES} 03 00000000 00000001 00"
PARTITIONS = [{"topicId": FOO, "partitions": [0, 1]}]

MESSAGES = [getattr(api, direction) for api in KIP_APIS.values() for direction in Direction]


def written(message: Message, value: Any) -> bytes:
    out = bytearray()
    codec(message, message.newest).write(out, value)
    return bytes(out)


@given(payloads(KIP_RECORD_TYPES))
def test_every_record_survives_its_bytes(payload: dict[str, Any]):
    key, value = encode_kip_record(payload)
    assert decode_kip_record(key, value) == payload
    orjson.dumps(payload)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
@given(data=st.data())
@examples(20)
def test_every_request_and_response_survives_its_bytes(message: Message, data: st.DataObject):
    value = data.draw(bodies(message, message.newest))
    raw = written(message, value)
    assert codec(message, message.newest).read(raw, 0) == (value, len(raw))


@pytest.mark.parametrize(
    ("number", "value", "raw"),
    [
        (3, {"epoch": 2}, "0000 00000002 00"),
        (
            4,
            {"epoch": 2, "topics": [{"topicId": FOO, "numPartitions": 3}]},
            f"0000 00000002 02 {FOO_BYTES} 00000003 00 00",
        ),
        (
            5,
            {
                "groupEpoch": 2,
                "instanceId": None,
                "rackId": "a",
                "clientId": "c",
                "clientHost": "h",
                "subscribedTopicNames": ["foo"],
                "subscribedTopicRegex": "",
                "assignors": [
                    {
                        "name": "x",
                        "minimumVersion": -1,
                        "maximumVersion": 3,
                        "reason": 1,
                        "version": 2,
                        "metadata": "AQI=",
                    }
                ],
            },
            "0000 00000002 00 0261 0263 0268 02 04666f6f 01 02 0278 ffff 0003 01 0002 030102 00 00",
        ),
        (6, {"assignmentEpoch": 2}, "0000 00000002 00"),
        (
            7,
            {"error": 0, "topicPartitions": PARTITIONS, "metadataVersion": 1, "metadataBytes": "AQ=="},
            f"0000 00 {FOO_0_1} 0001 0201 00",
        ),
        (
            8,
            {
                "memberEpoch": 2,
                "error": 0,
                "topicPartitions": PARTITIONS,
                "metadataVersion": -1,
                "metadataBytes": "",
            },
            f"0000 00000002 00 {FOO_0_1} ffff 01 00",
        ),
    ],
)
def test_the_values_of_records_have_the_fields_of_the_proposal(number: int, value: dict[str, Any], raw: str):
    key = {"groupId": "g"} | ({"memberId": "A"} if number in (5, 7, 8) else {})
    payload = {"type": number, "key": key, "version": 0, "value": value}
    assert encode_kip_record(payload) == (
        encode_record({**payload, "version": None, "value": None})[0],
        bytes.fromhex(raw),
    )
    assert decode_kip_record(*encode_kip_record(payload)) == payload


def test_a_commit_of_version_4_has_the_id_of_its_topic_among_the_fixed_fields():
    value = {"offset": 1, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 2, "topicId": FOO}
    payload = {"type": 1, "key": {"group": "g", "topic": "foo", "partition": 0}, "version": 4, "value": value}
    fixed = "0004 0000000000000001 ffffffff 01 0000000000000002"
    assert encode_kip_record(payload)[1] == bytes.fromhex(f"{fixed} {FOO_BYTES} 00")
    assert encode_record(payload)[1] == bytes.fromhex(f"{fixed} 01 00 10 {FOO_BYTES}")


def test_records_are_the_proposals_only_where_that_is_asked_for():
    current = {
        "type": 8,
        "key": {"groupId": "g", "memberId": "A"},
        "version": 0,
        "value": {
            "memberEpoch": 2,
            "error": 0,
            "topicPartitions": PARTITIONS,
            "metadataVersion": -1,
            "metadataBytes": "",
        },
    }
    key, value = encode_kip_record(current)
    released = decode_record(key, value)
    assert is_opaque(released)
    assert released["group"] == "g"
    with pytest.raises(UnencodableError, match="value: version 0 has no field 'error'"):
        encode_record(current)
    # What the proposal does not know is kept as bytes, as ever.
    share = encode_record({"type": 11, "key": {"groupId": "g"}, "version": None, "value": None})
    assert decode_kip_record(*share)["reason"] == "records of type 11 are not known here"


def test_a_heartbeat_carries_client_assignors():
    value = {
        "groupId": "g",
        "memberId": "A",
        "memberEpoch": 0,
        "clientAssignors": [
            {
                "name": "x",
                "minimumVersion": 0,
                "maximumVersion": 1,
                "reason": 0,
                "metadataVersion": 1,
                "metadataBytes": "",
            }
        ],
    }
    assert written(KIP_APIS[68].request, value) == bytes.fromhex(
        "0267 0241 00000000 00 00 ffffffff 00 00 00  02 0278 0000 0001 00 0001 01 00  00 00"
    )


def test_a_heartbeats_answer_asks_to_compute_and_tells_what_is_pending():
    value = {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": None,
        "memberEpoch": 3,
        "shouldComputeAssignment": True,
        "heartbeatIntervalMs": 5000,
        "assignment": {
            "error": 0,
            "assignedTopicPartitions": [],
            "pendingTopicPartitions": PARTITIONS,
            "metadataVersion": 0,
            "metadataBytes": "",
        },
    }
    assert written(KIP_APIS[68].response, value) == bytes.fromhex(
        f"00000000 0000 00 00 00000003 01 00001388  01 00 01 {FOO_0_1} 0000 01 00  00"
    )
    assert written(KIP_APIS[68].response, {**value, "assignment": None}).endswith(b"\xff\0")


INSTALL = {
    "header": {
        "requestApiKey": INSTALL_ASSIGNMENT,
        "requestApiVersion": 0,
        "correlationId": 1,
        "clientId": "c",
    },
    "body": {
        "groupId": "g",
        "memberId": "A",
        "memberEpoch": 2,
        "groupEpoch": 3,
        "error": 0,
        "members": [
            {"memberId": "A", "partitions": PARTITIONS, "metadataVersion": 1, "metadataBytes": "AQ=="}
        ],
    },
}


def test_a_computed_assignment_is_installed_by_a_request_of_its_own():
    raw = bytes.fromhex(
        f"2a61 0000 00000001 0001 63 00  0267 0241 00000002 00000003 00  02 0241 {FOO_0_1} 0001 0201 00  00"
    )
    assert encode_request(INSTALL, KIP_APIS) == raw
    assert decode_request(raw, KIP_APIS) == INSTALL
    refused = {
        "header": {"correlationId": 1},
        "body": {"throttleTimeMs": 0, "errorCode": INVALID_ASSIGNMENT, "errorMessage": None},
    }
    answer = encode_response(refused, KIP_APIS[INSTALL_ASSIGNMENT], 0)
    assert answer == bytes.fromhex("00000001 00  00000000 2a60 00 00")
    assert decode_response(answer, KIP_APIS[INSTALL_ASSIGNMENT], 0) == refused


def test_private_numbers_are_none_of_kafkas():
    assert {PREPARE_ASSIGNMENT, INSTALL_ASSIGNMENT}.isdisjoint(APIS)
    assert error_name(INVALID_ASSIGNMENT) is None
    assert kip_error_name(INVALID_ASSIGNMENT) == "INVALID_ASSIGNMENT"
    assert kip_error_name(110) == "FENCED_MEMBER_EPOCH"


def test_offsets_go_by_id_already_in_version_9():
    fetch = {
        "generationIdOrMemberEpoch": 2,
        "memberId": "A",
        "groups": [{"groupId": "g", "topics": [{"topicId": FOO, "partitionIndexes": [0]}]}],
    }
    assert written(KIP_APIS[9].request, fetch) == bytes.fromhex(
        f"00000002 0241 02 0267 02 00 {FOO_BYTES} 02 00000000 00 00 00 00"
    )
    assert [KIP_APIS[key].request.versions for key in (8, 9)] == [range(9, 10)] * 2


def test_a_run_by_the_proposal_keeps_more_than_its_layout_has_a_place_for():
    current = {
        "type": 8,
        "key": {"groupId": "orders", "memberId": "A"},
        "version": 0,
        "value": {
            "memberEpoch": 2,
            "previousMemberEpoch": 1,
            "state": 1,
            "assignedPartitions": [{"topicId": FOO, "partitions": [0, 1], "assignmentEpochs": [1, 1]}],
            "partitionsPendingRevocation": [],
        },
    }
    proposed, left_out = as_proposed(current)
    assert proposed["value"] == {
        "memberEpoch": 2,
        "error": 0,
        "topicPartitions": PARTITIONS,
        "metadataVersion": 0,
        "metadataBytes": "",
    }
    assert left_out == ["previousMemberEpoch", "state", "assignmentEpochs of assignedPartitions"]
    assert decode_kip_record(*encode_kip_record(proposed)) == proposed
    tombstone = {**current, "version": None, "value": None}
    assert as_proposed(tombstone) == (tombstone, [])
