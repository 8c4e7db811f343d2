"""What the sticky assignors read out of a subscription and its user data."""

import base64
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.embedded.consumer_protocol import decode_subscription, encode_subscription
from groups.wire.embedded.user_data import (
    COOPERATIVE_STICKY_USER_DATA,
    STICKY_USER_DATA,
    MemberData,
    decode_cooperative_sticky,
    decode_sticky,
    encode_cooperative_sticky,
    encode_sticky,
    member_data,
    read_sticky,
)
from groups.wire.errors import RecordError, TruncatedError, UnencodableError
from tests.wire.kafka_made import lines
from tests.wire.strategies import bodies

# Was given foo-0 and foo-1; version 1 adds generation 7.
VERSION_0 = bytes.fromhex("00000001 0003666f6f 00000002 00000000 00000001")
VERSION_1 = VERSION_0 + bytes.fromhex("00000007")
FOO = [{"topic": "foo", "partitions": [0, 1]}]
FOO_PARTITIONS = (("foo", 0), ("foo", 1))


def in_base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def test_sticky_user_data_has_no_version_header_and_two_versions():
    assert decode_sticky(VERSION_0) == {"version": 0, "previousAssignment": FOO}
    assert decode_sticky(VERSION_1) == {"version": 1, "previousAssignment": FOO, "generation": 7}
    for data in (VERSION_0, VERSION_1):
        assert encode_sticky(decode_sticky(data)) == data
    assert encode_sticky({"previousAssignment": FOO, "generation": 7}) == VERSION_1


@pytest.mark.parametrize(
    ("data", "version", "read"),
    [
        (VERSION_0, 0, 21),
        (VERSION_0 + b"\0\0\7", 0, 21),  # three bytes are no generation
        (VERSION_0 + b"\0\0\0\7", 1, 25),  # four are, whatever they were meant to be
        (VERSION_1 + b"more", 1, 25),
        (b"\0\0\0\0", 0, 4),
        (b"\0\0\0\0\0\0\0\0", 1, 8),
    ],
)
def test_version_1_is_tried_before_version_0_and_bytes_behind_are_ignored(
    data: bytes, version: int, read: int
):
    value, end = read_sticky(data)
    assert (value["version"], end) == (version, read)


def test_a_leader_that_knows_only_version_0_reads_the_partitions_of_version_1():
    assert decode_sticky(VERSION_1, newest=0) == {"version": 0, "previousAssignment": FOO}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "previousAssignment, byte 0: a length needs 4 bytes, 0 are left"),
        ("ffffffff 00000007", "previousAssignment, byte 0: a list of -1 elements"),
        (
            "7fffffff 00000007",
            "previousAssignment, byte 4: a list of 2147483647 needs 2147483647 bytes, 4 are left",
        ),
        (
            "00000001 0003666f6f 7fffffff 00000001",
            "previousAssignment.0.partitions, byte 13: a list of 2147483647 needs 8589934588 bytes, 4 are left",
        ),
    ],
)
def test_what_is_neither_version_is_refused_with_the_place(data: str, sentence: str):
    with pytest.raises(RecordError) as caught:
        decode_sticky(bytes.fromhex(data))
    assert str(caught.value) == sentence


def test_cooperative_sticky_sends_its_generation_alone():
    assert decode_cooperative_sticky(b"\0\0\0\7") == {"version": 0, "generation": 7}
    assert decode_cooperative_sticky(b"\xff\xff\xff\xffmore") == {"version": 0, "generation": -1}
    assert encode_cooperative_sticky({"generation": -1}) == b"\xff\xff\xff\xff"
    with pytest.raises(TruncatedError, match="generation, byte 0: int32 needs 4 bytes, 3 are left"):
        decode_cooperative_sticky(b"\0\0\7")


def test_what_does_not_fit_is_not_written():
    with pytest.raises(UnencodableError, match=r"StickyUserData\.generation: the field is missing"):
        encode_sticky({"previousAssignment": FOO})
    with pytest.raises(UnencodableError, match="version 0 has no field 'generation'"):
        encode_sticky({"version": 0, "previousAssignment": FOO, "generation": -1})
    with pytest.raises(UnencodableError, match="StickyUserData has no version 2; known are 0 to 1"):
        encode_sticky({"version": 2, "previousAssignment": FOO})


GENERATION_5 = encode_cooperative_sticky({"generation": 5})
OLD = encode_sticky({"previousAssignment": [{"topic": "old", "partitions": [3]}], "generation": 5})
OLD_PARTITIONS = (("old", 3),)


@pytest.mark.parametrize(
    ("sent", "user_data", "cooperative_sticky", "sticky"),
    [
        # Subscription v0: nothing to trust, unless the user data say more.
        (0, None, MemberData((), None), MemberData((), None)),
        (0, OLD, MemberData((), 1), MemberData(OLD_PARTITIONS, 5)),
        # Subscription v1: owned partitions, and the generation of the user data.
        (1, GENERATION_5, MemberData(FOO_PARTITIONS, 5), MemberData((), -1)),
        (1, None, MemberData(FOO_PARTITIONS, None), MemberData((), None)),
        (1, b"", MemberData(FOO_PARTITIONS, -1), MemberData((), None)),
        (1, b"\0\0\5", MemberData(FOO_PARTITIONS, -1), MemberData((), -1)),
        # Subscription v2 and later: its own owned partitions and generation; user data only where it has none.
        (2, GENERATION_5, MemberData(FOO_PARTITIONS, 7), MemberData((), -1)),
        (3, None, MemberData(FOO_PARTITIONS, 7), MemberData((), None)),
        # `sticky` asks the user data alone, in all versions.
        (3, VERSION_1, MemberData(FOO_PARTITIONS, 7), MemberData(FOO_PARTITIONS, 7)),
        (3, VERSION_0, MemberData(FOO_PARTITIONS, 7), MemberData(FOO_PARTITIONS, None)),
    ],
)
def test_each_version_of_a_subscription_tells_each_assignor_what_the_proposal_says(
    sent: int, user_data: bytes | None, cooperative_sticky: MemberData, sticky: MemberData
):
    value: dict[str, Any] = {"version": sent, "topics": ["foo"], "userData": in_base64(user_data)}
    if sent >= 1:
        value["ownedPartitions"] = FOO
    if sent >= 2:
        value["generationId"] = 7
    subscription = decode_subscription(encode_subscription(value))

    assert member_data("cooperative-sticky", subscription) == cooperative_sticky
    assert member_data("sticky", subscription) == sticky
    assert member_data("range", subscription) == MemberData()


@pytest.mark.parametrize(("user_data", "generation"), [(GENERATION_5, 5), (None, None), (b"", -1)])
def test_generation_minus_one_in_a_subscription_counts_as_none(user_data: bytes, generation: int | None):
    subscription = {"ownedPartitions": FOO, "generationId": -1, "userData": in_base64(user_data)}
    assert member_data("cooperative-sticky", subscription) == MemberData(FOO_PARTITIONS, generation)


def test_kafkas_own_assignors_believe_the_same_of_the_same_bytes():
    versions = set()
    for line in lines("member-data"):
        subscription = decode_subscription(bytes.fromhex(line["hex"]))
        versions.add((line["assignor"], subscription["version"]))
        believed = member_data(line["assignor"], subscription)
        assert [list(each) for each in believed.partitions] == line["partitions"]
        assert believed.generation == line["generation"]
    assert versions == {(name, version) for name in ("sticky", "cooperative-sticky") for version in range(4)}


@given(st.integers(0, 1), st.data())
def test_user_data_survive_their_bytes(version: int, data: st.DataObject):
    sticky = {"version": version, **data.draw(bodies(STICKY_USER_DATA, version))}
    assert decode_sticky(encode_sticky(sticky)) == sticky
    cooperative = {"version": 0, **data.draw(bodies(COOPERATIVE_STICKY_USER_DATA, 0))}
    assert decode_cooperative_sticky(encode_cooperative_sticky(cooperative)) == cooperative


@given(st.binary(max_size=60))
def test_any_bytes_are_user_data_or_a_record_error_and_never_stop_an_assignor(data: bytes):
    for decode in (decode_sticky, decode_cooperative_sticky):
        with suppress(RecordError):
            decode(data)
    for assignor in ("sticky", "cooperative-sticky"):
        assert member_data(assignor, {"userData": in_base64(data)}).partitions is not None
