"""What Kafka Streams keeps in user data, in every version, beside what Kafka's own classes write and read."""

import base64
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.java_strings import read_modified_utf8, write_modified_utf8
from groups.wire.codecs.uuids import base64_to_uuid
from groups.wire.embedded.streams_user_data import (
    ASSIGNMENT_INFO,
    SUBSCRIPTION_INFO,
    TopicPartition,
    encode_assignment_info,
    encode_subscription_info,
    previous_tasks,
    read_assignment_info,
    read_subscription_info,
    task_text,
)
from groups.wire.errors import RecordError, UnencodableError, UnknownVersionError
from tests.wire.kafka_made import lines
from tests.wire.strategies import bodies


def text(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", "replace")


def told_of_subscription(info: dict[str, Any]) -> dict[str, Any]:
    """What the getters of Kafka's ``SubscriptionInfo`` say."""
    tasks = previous_tasks(info)
    process = info.get("processId", "A" * 22)
    return {
        "version": info["version"],
        "latestSupportedVersion": info.get("latestSupportedVersion", -1),
        "process": str(uuid.UUID(bytes=base64_to_uuid(process))),
        "userEndPoint": text(info.get("userEndPoint", "")) or None,
        "errorCode": info.get("errorCode", 0),
        "active": sorted(tasks.active),
        "standby": sorted(tasks.standby),
        "sums": tasks.offset_sums,
        "tags": {text(tag["key"]): text(tag["value"]) for tag in info.get("clientTags", ())},
    }


def subscription_of(data: bytes) -> dict[str, Any]:
    return read_subscription_info(data)[0]


def assignment_of(data: bytes) -> dict[str, Any]:
    return read_assignment_info(data)[0]


def standby_tasks(info: Mapping[str, Any]) -> dict[str, tuple[TopicPartition, ...]]:
    """The standby tasks of a decoded assignment info, each with the partitions of its changelogs."""
    return {task_text(task): _partitions(task["partitions"], {}) for task in info["standbyTasks"]}


def partitions_by_host(
    info: Mapping[str, Any], *, standby: bool = False
) -> dict[tuple[str, int], tuple[TopicPartition, ...]]:
    """The partitions of each ``(host, port)``, active or standby, with the topics' names; none before they are told.

    A topic whose index has no name is ``None``, as in Kafka.
    """
    names = {topic["index"]: topic["topic"] for topic in info.get("topicNames", ())}
    hosts = info.get("standbyPartitionsByHost" if standby else "partitionsByHost", ())
    return {(host["host"], host["port"]): _partitions(host["partitions"], names) for host in hosts}


def _partitions(
    partitions: Iterable[Mapping[str, Any]], names: Mapping[int, str]
) -> tuple[TopicPartition, ...]:
    return tuple(
        (each["topic"] if "topic" in each else names.get(each["topicIndex"]), each["partition"])
        for each in partitions
    )


def told_of_assignment(info: dict[str, Any]) -> dict[str, Any]:
    """What the getters of Kafka's ``AssignmentInfo`` say."""

    def texts(partitions: tuple[Any, ...]) -> list[str]:
        names = {f"{'null' if topic is None else topic}-{partition}" for topic, partition in partitions}
        return sorted(names, key=lambda name: name.encode("utf-16-be"))

    def by_host(standby: bool) -> dict[str, list[str]]:
        hosts = partitions_by_host(info, standby=standby)
        return {f"{host}:{port}": texts(partitions) for (host, port), partitions in hosts.items()}

    return {
        "version": info["version"],
        "commonlySupportedVersion": info.get("commonlySupportedVersion", -1),
        "errCode": info.get("errCode", 0),
        "nextRebalanceMs": info.get("nextRebalanceMs", 2**63 - 1),
        "active": [task_text(task) for task in info["activeTasks"]],
        "standby": {task: texts(partitions) for task, partitions in standby_tasks(info).items()},
        "hosts": by_host(standby=False),
        "standbyHosts": by_host(standby=True),
    }


FORMATS = {
    "subscription": (subscription_of, encode_subscription_info, told_of_subscription),
    "assignment": (assignment_of, encode_assignment_info, told_of_assignment),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_what_streams_writes_means_the_same_here_and_is_written_in_its_bytes(kind: str):
    decode, encode, told = FORMATS[kind]
    made = [line for line in lines("streams-user-data") if line["kind"] == kind and not line["altered"]]
    assert {line["read"]["version"] for line in made} == set(range(1, 12))
    for line in made:
        data = bytes.fromhex(line["hex"])
        value = decode(data)

        assert told(value) == line["read"]
        assert encode(value) == data


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_bytes_are_refused_where_streams_refuses_them_and_else_mean_the_same(kind: str):
    decode, _, told = FORMATS[kind]
    made = [line for line in lines("streams-user-data") if line["kind"] == kind and line["altered"]]
    assert {line["read"] is None for line in made} == {True, False}
    for line in made:
        try:
            read = told(decode(bytes.fromhex(line["hex"])))
        except RecordError:
            read = None
        expected = line["read"]
        if expected and any("\ufffd" in task for task in expected.get("sums", ())):
            expected = None  # Java puts U+FFFD for what is not UTF-8; here that is a fault.
        assert read == expected, line["hex"]


def test_a_subscription_of_a_later_version_is_read_as_far_as_version_probing_goes():
    data = bytes.fromhex("0000000c 0000000e")
    assert subscription_of(data + b"whatever follows") == {
        "version": 12,
        "latestSupportedVersion": 14,
    }
    assert encode_subscription_info({"version": 12, "latestSupportedVersion": 14}) == data
    assert previous_tasks(subscription_of(data)).offset_sums == {}
    with pytest.raises(UnencodableError, match="version 12 of a member that knows 11 as its newest"):
        encode_subscription_info({"version": 12})


def test_an_assignment_of_a_later_version_is_refused_as_its_leader_must_not_send_one():
    with pytest.raises(
        UnknownVersionError, match="byte 0: AssignmentInfo has no version 12 here; known are 1 to 11"
    ):
        assignment_of(bytes.fromhex("0000000c 0000000c"))
    with pytest.raises(UnencodableError, match="AssignmentInfo has no version 12; known are 1 to 11"):
        encode_assignment_info({"version": 12})


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ("00000005 00000004", "byte 4: version 5 of a member that knows 4 as its newest"),
        ("00000005 ffffffff", "byte 4: version 5 tells no newest version that its member knows"),
        ("00000000 0000000b", "byte 0: SubscriptionInfoData has no version 0 here; known are 1 to 11"),
        ("8000000b 0000000b", "byte 0: SubscriptionInfoData has no version -2147483637 here; known are 1"),
        ("0000", "byte 0: a version needs 4 bytes, 2 are left"),
    ],
)
def test_versions_that_cannot_be_are_refused_with_the_place(versions: str, sentence: str):
    data = bytes.fromhex(versions)
    with pytest.raises(RecordError) as caught:
        subscription_of(data + bytes(40 if len(data) == 8 else 0))
    assert str(caught.value).startswith(sentence)


def test_tasks_are_the_same_whichever_version_tells_them():
    old = {"version": 1, "processId": "A" * 22, "prevTasks": [{"topicGroupId": 0, "partition": 1}]}
    sums = [{"topicGroupId": 0, "partitionToOffsetSum": [{"partition": 1, "offsetSum": -2}]}]
    new = [{"topicGroupId": 0, "partition": 1, "offsetSum": -2}]
    for info in (
        old,
        {"version": 7, "processId": "A" * 22, "taskOffsetSums": sums},
        {"version": 11, "processId": "A" * 22, "taskOffsetSums": new},
    ):
        tasks = previous_tasks(subscription_of(encode_subscription_info(info)))
        assert (tasks.active, tasks.standby, tasks.offset_sums) == (("0_1",), (), {"0_1": -2})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("00000001 7fffffff", "activeTasks, byte 8: a list of 2147483647 needs 2147483647 bytes, 0 are left"),
        ("00000001 80000000", "activeTasks, byte 4: a list of -2147483648 elements"),
        (
            "0000000a 0000000a 00000001 00000000 00000000 7fffffff",
            "activeTasks.0.namedTopology, byte 24: 2147483647 chars needs 4294967294 bytes, 0 are left",
        ),
        (
            "00000002 00000000 00000000 00000001 ffff",
            "partitionsByHost.0.host, byte 18: a string needs 65535 bytes, 0 are left",
        ),
    ],
)
def test_a_count_is_compared_with_what_is_left_before_anything_of_that_size_is_made(data: str, sentence: str):
    with pytest.raises(RecordError) as caught:
        assignment_of(bytes.fromhex(data))
    assert str(caught.value) == sentence


def test_fewer_chars_than_one_are_no_name_at_all():
    data = bytes.fromhex("0000000a 0000000a 00000001 00000000 00000000 ffffffff") + bytes(36)
    assert assignment_of(data)["activeTasks"][0]["namedTopology"] is None


@pytest.mark.parametrize(
    ("bytes_", "string"),
    [
        ("0001 61", "a"),
        ("0002 c080", "\0"),  # as Java writes it
        ("0001 00", "\0"),  # and as Java reads it too
        ("0002 c39f", "ß"),
        ("0003 e697a5", "日"),
        ("0006 eda0bdedb880", "\U0001f600"),
    ],
)
def test_modified_utf8_is_read_as_java_reads_it(bytes_: str, string: str):
    data = bytes.fromhex(bytes_)
    assert read_modified_utf8(data, 0) == (string, len(data))


@pytest.mark.parametrize(
    ("bytes_", "sentence"),
    [
        ("00", "byte 0: a length needs 2 bytes, 1 is left"),
        ("0002 61", "byte 2: a string needs 2 bytes, 1 is left"),
        ("0004 f09f9880", "byte 2: a string is not modified UTF-8"),
        ("0003 61c361", "byte 3: a string is not modified UTF-8"),
        ("0002 61c3", "byte 3: a string is not modified UTF-8"),
        ("0003 eda0bd", "byte 2: a string has half of a surrogate pair"),
    ],
)
def test_what_is_no_modified_utf8_is_refused_with_the_place(bytes_: str, sentence: str):
    with pytest.raises(RecordError) as caught:
        read_modified_utf8(bytes.fromhex(bytes_), 0)
    assert str(caught.value) == sentence


def test_a_string_longer_than_java_can_say_is_not_written():
    with pytest.raises(UnencodableError, match="a string of 65538 bytes; the longest is 65535"):
        write_modified_utf8(bytearray(), "日" * 21_846)


@given(st.integers(1, 11), st.data())
def test_streams_user_data_survive_their_bytes(version: int, data: st.DataObject):
    subscription = data.draw(bodies(SUBSCRIPTION_INFO, version)) | {"version": version}
    if version > 2:
        subscription["latestSupportedVersion"] = data.draw(st.integers(version, 2**31 - 1))
    assert subscription_of(encode_subscription_info(subscription)) == subscription
    assignment = data.draw(bodies(ASSIGNMENT_INFO, version)) | {"version": version}
    encoded = encode_assignment_info(assignment)
    assert read_assignment_info(encoded + b"more") == (assignment, len(encoded))


@given(st.integers(0, 12), st.binary(max_size=80))
def test_any_bytes_give_a_value_or_a_record_error(version: int, rest: bytes):
    data = version.to_bytes(4, "big") + rest
    with suppress(RecordError):
        previous_tasks(subscription_of(data))
    with suppress(RecordError):
        info = assignment_of(data)
        partitions_by_host(info), partitions_by_host(info, standby=True), standby_tasks(info)
