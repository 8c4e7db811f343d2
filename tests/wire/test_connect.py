"""Kafka Connect's embedded protocol: what its bytes contain, what a worker runs, and how the inspector lists it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from groups.wire.embedded.connect_protocol import (
    decode_connect_assignment,
    decode_worker_state,
    encode_connect_assignment,
    encode_worker_state,
    work,
)
from groups.wire.errors import TruncatedError
from groups.wire.inspection import inspect
from groups.wire.inspection.sentences import as_text, sentence_of
from groups.wire.records import encode_record

URL = "http://w-1:8083/"

STATE_V0 = bytes.fromhex("0000 0010") + URL.encode() + bytes.fromhex("0000000000000009")

GIVEN_V1 = (
    bytes.fromhex("0001 0000 0003") + b"w-1" + bytes.fromhex("0010") + URL.encode() + bytes.fromhex("0000000000000009")
    + bytes.fromhex("00000001 0004") + b"sink" + bytes.fromhex("00000002 ffffffff 00000001")
    + bytes.fromhex("00000001 0004") + b"sink" + bytes.fromhex("00000001 00000000") + bytes.fromhex("000493e0")
)  # fmt: skip
"""Byte by byte as ``IncrementalCooperativeConnectProtocol`` lays them out: sink and its task 1 are new, task 0 is revoked."""


def given(version: int, assignment: dict[str, list[int]], **more: Any) -> bytes:
    told = {
        "version": version,
        "error": 0,
        "leader": "w-1",
        "leaderUrl": URL,
        "configOffset": 9,
        "assignment": [{"connector": name, "tasks": tasks} for name, tasks in assignment.items()],
    }
    return encode_connect_assignment(told | more)


def state(version: int, allocation: bytes | None = None) -> bytes:
    told = {"version": version, "url": URL, "configOffset": 9}
    blob = None if allocation is None else base64.b64encode(allocation).decode()
    return encode_worker_state(told | ({} if version == 0 else {"allocation": blob}))


def test_a_worker_state_of_version_0_is_its_url_and_the_offset_of_its_config_topic() -> None:
    assert decode_worker_state(STATE_V0) == {"version": 0, "url": URL, "configOffset": 9}
    assert state(0) == STATE_V0


def test_an_assignment_of_version_1_has_what_is_new_what_is_revoked_and_the_delay() -> None:
    told = decode_connect_assignment(GIVEN_V1)
    assert told == {
        "version": 1,
        "error": 0,
        "leader": "w-1",
        "leaderUrl": URL,
        "configOffset": 9,
        "assignment": [{"connector": "sink", "tasks": [-1, 1]}],
        "revoked": [{"connector": "sink", "tasks": [0]}],
        "delay": 300_000,
    }
    assert encode_connect_assignment(told) == GIVEN_V1


def test_a_worker_runs_its_allocation_without_what_is_revoked_and_what_is_new() -> None:
    before = decode_worker_state(state(2, given(2, {"sink": [0], "source": [-1, 0]})))
    runs = work(before, decode_connect_assignment(GIVEN_V1))
    assert runs == (("sink", "source"), {"sink": (1,), "source": (0,)})


def test_an_eager_assignment_is_all_that_a_worker_runs() -> None:
    before = decode_worker_state(state(1, given(1, {"source": [-1, 0]})))
    assert work(before, decode_connect_assignment(given(0, {"sink": [-1, 0]}))) == (("sink",), {"sink": (0,)})


def test_a_cooperative_worker_that_joins_runs_what_it_ran() -> None:
    assert work(decode_worker_state(state(1, given(1, {"sink": [0]}))), None).tasks == {"sink": (0,)}
    assert work(decode_worker_state(state(1)), None) == ((), {})


@pytest.mark.parametrize("length", [0, 1, 2, 10, len(GIVEN_V1) - 1])
def test_bytes_that_end_early_are_refused(length: int) -> None:
    with pytest.raises(TruncatedError):
        decode_connect_assignment(GIVEN_V1[:length])


def test_the_inspector_opens_a_connect_groups_members() -> None:
    subscription = base64.b64encode(state(2, given(2, {"sink": [-1, 0]}))).decode()
    value = {
        "protocolType": "connect",
        "generation": 4,
        "protocol": "sessioned",
        "leader": "w-1",
        "currentStateTimestamp": 0,
        "members": [
            {
                "memberId": "w-1",
                "groupInstanceId": None,
                "clientId": "c",
                "clientHost": "/h",
                "rebalanceTimeout": 60_000,
                "sessionTimeout": 10_000,
                "subscription": subscription,
                "assignment": base64.b64encode(GIVEN_V1).decode(),
            }
        ],
    }
    _, data = encode_record({"type": 2, "key": {"group": "connect-cluster"}, "version": 3, "value": value})
    assert data is not None
    listed = inspect("group-metadata-value", data)
    [member] = next(node for node in listed.fields if node.name == "members").fields or []
    opened = {name: member.child(name) for name in ("subscription", "assignment")}
    assert [(node.kind, node.guessed) for node in opened.values() if node is not None] == [
        ("connect-worker-state", False),
        ("connect-assignment", False),
    ]
    assert opened["subscription"] is not None
    allocation = opened["subscription"].child("allocation")
    assert allocation is not None
    assert allocation.kind == "connect-assignment"


def test_the_inspector_says_what_the_bytes_are() -> None:
    assert as_text(sentence_of(inspect("connect-assignment", GIVEN_V1))) == (
        "A Connect worker is given sink and its task 1, stops task 0 of sink and joins again after 300,000 ms. The leader is w-1."
    )
