"""Listings of bytes: every field where it stands, for every kind and version, and for any bytes at all."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.inspection import Node, find, inspect, kinds
from groups.wire.inspection import walk as walking
from groups.wire.inspection.layouts import RecordKey, SelfVersioned, Unversioned, Versioned
from groups.wire.inspection.nodes import values_of
from groups.wire.inspection.requests import Request, Response
from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.rpc import APIS, REQUEST_HEADER, encode_request, request_header_version
from tests.tiers import examples
from tests.wire.strategies import batches, bodies

SUBSCRIPTION = bytes.fromhex(
    "0001 00000001 0003666f6f ffffffff 00000001 0003666f6f 00000002 00000000 00000001".replace(" ", "")
)


def assert_tiled(nodes: list[Node], at: int, end: int) -> None:
    """The nodes fill the bytes from ``at`` to ``end``, and so does what is in them."""
    for node in nodes:
        assert node.offset == at, node
        assert node.prefix <= node.length, node
        if node.fields is not None and node.space is None:
            assert_tiled(node.fields, at + node.prefix, at + node.length)
        at = node.end
    assert at == end


@st.composite
def written(draw: st.DrawFn) -> tuple[str, int | None, dict[str, Any], bytes]:
    """A kind, its version where the bytes do not tell it, and a value with its bytes."""
    kind = kinds()[draw(st.sampled_from(sorted(kinds())))]
    match kind.layout:
        case Versioned() as layout:
            version = draw(st.sampled_from(layout.versions))
            value = {layout.leading_name: version, **draw(bodies(layout.message, version))}
            return kind.name, None, value, layout.write(value, None)
        case RecordKey() as layout:
            number = draw(st.sampled_from(sorted(layout.numbers)))
            value = {"type": number, **draw(bodies(layout.message(number), 0))}
            return kind.name, None, value, layout.write(value, None)
        case SelfVersioned() as layout:
            version = draw(st.sampled_from(layout.versions))
            message, used = layout.message(version)
            drawn = {**draw(bodies(message, used)), "version": version}
            newest = {"latestSupportedVersion": 11} if "latestSupportedVersion" in drawn else {}
            return kind.name, None, {**drawn, **newest}, layout.write({**drawn, **newest}, None)
        case Unversioned() as layout:
            version = draw(st.sampled_from(layout.message.versions))
            value = draw(bodies(layout.message, version))
            told = version if layout.has_versions else None
            return kind.name, told, value, layout.write(value, told)
        case Response() as layout:
            version = draw(st.sampled_from(layout.versions))
            value = draw(bodies(layout.api.response, version))
            return kind.name, version, value, layout.write(value, version)
        case Request():
            api = draw(st.sampled_from(sorted(APIS.values(), key=lambda api: api.key)))
            version = draw(st.sampled_from(api.request.versions))
            header = draw(bodies(REQUEST_HEADER, request_header_version(api, version)))
            value = {
                "header": {**header, "requestApiKey": api.key, "requestApiVersion": version},
                "body": draw(bodies(api.request, version)),
            }
            return kind.name, None, value, encode_request(value)
        case _:
            batch = write_batch(draw(batches()))
            value = {"batch": values_of(inspect("batch", batch).fields)}.get(kind.name, {})
            if kind.name == "record":
                value = {
                    "attributes": 0,
                    "timestampDelta": -5,
                    "offsetDelta": 2,
                    "key": "AAI=",
                    "value": None,
                }
                value["headers"] = [{"key": "a", "value": None}, {"key": "", "value": "AQI="}]
                batch = kind.layout.write(value, None)
                value["length"] = len(batch) - 1
            return kind.name, None, value, batch


@given(written())
@examples(200)
def test_a_listing_has_the_values_that_the_codec_reads_and_tiles_the_bytes(case: Any):
    kind, version, value, data = case
    done = inspect(kind, data, version=version)
    assert (done.problem, done.read, done.length) == (None, len(data), len(data))
    assert kind == "segment" or values_of(done.fields) == value
    assert_tiled(done.fields, 0, len(data))
    json.dumps(done.to_json())


def test_what_lies_behind_a_batch_that_cannot_be_read_is_listed_too():
    header = write_batch(coordinator_batch(base_offset=0, timestamp_ms=0, records=[(b"\0\0", None)]))[:61]
    data = (0).to_bytes(8) + (49).to_bytes(4) + header[12:] + b"\x0c"
    done = inspect("batch", data)
    assert done.problem is not None
    assert done.problem.sentence == "it says that it has 1 records, in 0 bytes"
    assert_tiled(done.fields, 0, 62)


@given(st.sampled_from(sorted(kinds())), written(), st.data())
@examples(200)
def test_any_bytes_are_listed_as_any_kind_without_an_exception(kind: str, case: Any, data: st.DataObject):
    raw = bytearray(data.draw(st.just(case[3]) | st.binary(max_size=60)))
    for _ in range(data.draw(st.integers(0, 3)) if raw else 0):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    done = inspect(kind, cut)
    assert 0 <= done.read <= len(cut)
    assert done.problem is not None or done.read == len(cut) or kinds()[kind].layout.appends
    # What was read stands where it stood, also before a fault, which takes what is left.
    at = 0
    for node in done.fields:
        assert node.offset == at
        at = node.end
    assert not done.fields or at == len(cut)


def test_what_was_read_stays_and_the_field_that_failed_tells_what_was_left():
    done = inspect("subscription", SUBSCRIPTION[:-3])
    assert done.problem is not None
    assert done.problem.to_json() == {
        "sentence": "a list of 2 needs 8 bytes, 5 are left",
        "offset": 28,
        "path": "ownedPartitions.0.partitions",
    }
    failed = find(done.fields, "ownedPartitions.0.partitions")
    assert failed is not None
    assert failed.problem is done.problem
    assert (failed.offset, failed.length) == (24, 9)
    topic = find(done.fields, "ownedPartitions.0.topic")
    assert topic is not None
    assert topic.value == "foo"
    assert done.read == 28


def test_a_version_that_nobody_knows_is_the_fault_and_leaves_the_rest_as_bytes():
    done = inspect("consumer-group-metadata-value", bytes.fromhex("0009 00000002 00".replace(" ", "")))
    assert [(node.length, node.problem is not None) for node in done.fields] == [(2, True), (5, False)]
    assert [node.name for node in done.fields] == ["version", "_rest"]
    assert str(done.problem) == (
        "version, byte 0: ConsumerGroupMetadataValue has no version 9 here; known are 0 to 0"
    )


@pytest.mark.parametrize(
    ("kind", "data", "path"),
    [
        ("key", "0063 0001 61", "type"),
        ("streams-subscription-info", "00000000 00000001", "version"),
        ("request", "0063 0001 00000001", "header.requestApiKey"),
        ("request", "00000008 000b 0063 00000001", "header.requestApiVersion"),
    ],
)
def test_a_number_that_nobody_knows_is_a_fault_of_its_own_field(kind: str, data: str, path: str):
    done = inspect(kind, bytes.fromhex(data))
    assert done.problem is not None
    wrong = find(done.fields, done.problem.path)
    assert wrong is not None
    assert (done.problem.path, done.problem.offset) == (path, wrong.offset)
    assert_tiled(done.fields, 0, done.length)


def test_where_no_version_fits_the_one_that_comes_farthest_is_shown():
    join = encode_request(
        {
            "header": {"requestApiKey": 14, "requestApiVersion": 2, "correlationId": 1, "clientId": "a"},
            "body": {"groupId": "orders", "generationId": 7, "memberId": "c-1", "assignments": []},
        }
    )[11:]
    for more in (b"", b"\x09"):
        done = inspect("sync-group-request", join + more)
        assert done.version in (0, 1, 2)
        assert find(done.fields, "memberId").value == "c-1"  # type: ignore[union-attr]
    assert done.read == len(join)


def test_bytes_behind_the_last_field_are_a_fault_unless_newer_versions_append():
    done = inspect("subscription", SUBSCRIPTION + b"\x01\x02")
    assert (done.problem, done.read, done.length) == (None, 36, 38)
    rest = done.fields[-1]
    assert (rest.name, rest.offset, rest.length, rest.value) == ("_rest", 36, 2, "AQI=")
    done = inspect("consumer-group-metadata-value", bytes.fromhex("0000000000020001"))
    assert str(done.problem) == "_rest, byte 7: the fields end here, the bytes go on for 1 more"


def test_a_listing_has_a_bound_and_tells_what_it_folds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(walking, "MOST_NODES", 10)
    data = b"\0\0" + (20).to_bytes(4) + b"\0\1a" * 20 + b"\xff\xff\xff\xff"
    done = inspect("subscription", data)
    assert done.problem is None
    topics = find(done.fields, "topics")
    assert topics is not None
    assert topics.fields is not None
    folded = topics.fields[-1]
    assert (folded.name, folded.value) == ("8…19", ["a"] * 12)
    assert_tiled(done.fields, 0, len(data))


def group_metadata(protocol_type: str, protocol: str, subscription: bytes, assignment: bytes) -> bytes:
    """The value of a classic group of one member, version 3."""
    member = {
        "memberId": "c-1",
        "clientId": "c",
        "clientHost": "/10.0.0.1",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": base64.b64encode(subscription).decode(),
        "assignment": base64.b64encode(assignment).decode(),
    }
    value = {
        "version": 3,
        "protocolType": protocol_type,
        "generation": 7,
        "protocol": protocol,
        "leader": "c-1",
        "currentStateTimestamp": 1_795_224_375_134,
        "members": [member],
    }
    return kinds()["group-metadata-value"].layout.write(value, None)


STICKY = bytes.fromhex("00000001 0003666f6f 00000001 00000000 00000006".replace(" ", ""))
ASSIGNMENT = bytes.fromhex("0000 00000001 0003666f6f 00000001 00000000 ffffffff".replace(" ", ""))


def with_user_data(user_data: bytes) -> bytes:
    return bytes.fromhex("00000000000100 03666f6f".replace(" ", "")) + len(user_data).to_bytes(4) + user_data


def test_the_blobs_of_a_classic_group_are_opened_where_they_stand():
    data = group_metadata("consumer", "sticky", with_user_data(STICKY), ASSIGNMENT)
    done = inspect("group-metadata-value", data)
    assert_tiled(done.fields, 0, len(data))
    opened = {
        path: find(done.fields, f"members.0.{path}")
        for path in ("subscription", "assignment", "subscription.userData")
    }
    assert {path: node and (node.kind, node.guessed) for path, node in opened.items()} == {
        "subscription": ("subscription", False),
        "assignment": ("assignment", False),
        "subscription.userData": ("sticky-user-data", False),
    }
    partitions = find(done.fields, "members.0.assignment.assignedPartitions.0.partitions")
    assert partitions is not None
    assert data[partitions.offset : partitions.end] == bytes.fromhex("0000000100000000")
    generation = find(done.fields, "members.0.subscription.userData.generation")
    assert generation is not None
    assert data[generation.offset : generation.end] == bytes.fromhex("00000006")


def test_the_blobs_of_another_protocol_type_stay_closed():
    data = group_metadata("sr", "v0", with_user_data(STICKY), ASSIGNMENT)
    subscription = find(inspect("group-metadata-value", data).fields, "members.0.subscription")
    assert subscription is not None
    assert (subscription.kind, subscription.fields) == (None, None)


def test_a_blob_that_cannot_be_read_is_a_fault_of_its_own_and_not_of_what_is_around_it():
    data = group_metadata("consumer", "range", SUBSCRIPTION[:-3], ASSIGNMENT)
    done = inspect("group-metadata-value", data)
    assert done.problem is None
    subscription = find(done.fields, "members.0.subscription")
    assert subscription is not None
    assert subscription.problem is not None
    assert subscription.problem.sentence == "a list of 2 needs 8 bytes, 5 are left"
    topics = find(done.fields, "members.0.subscription.topics.0")
    assert topics is not None
    assert topics.value == "foo"


@pytest.mark.parametrize(
    ("user_data", "kind"),
    [
        (STICKY, "sticky-user-data"),
        (bytes.fromhex("00000006"), "cooperative-sticky-user-data"),
        (b"\x7fwhatever", None),
    ],
)
def test_user_data_without_its_assignors_name_is_said_to_look_like_what_reads_it(
    user_data: bytes, kind: str | None
):
    node = find(inspect("subscription", with_user_data(user_data)).fields, "userData")
    assert node is not None
    assert (node.kind, node.guessed) == (kind, kind is not None)
