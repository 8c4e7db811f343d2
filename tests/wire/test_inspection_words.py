"""What a listing says in words: meanings beside the fields, a sentence on top, what an old client makes of it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import groups
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.streams_user_data import encode_assignment_info, encode_subscription_info
from groups.wire.inspection import (
    as_text,
    clients,
    each_node,
    edit,
    find,
    guess,
    inspect,
    inspect_record,
    kinds,
    seen_by,
    sentence_of,
)
from groups.wire.inspection.kinds import kebab
from groups.wire.inspection.printed import BadText
from groups.wire.inspection.text import bytes_from_text
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from tests.wire.test_inspection import ASSIGNMENT, STICKY, SUBSCRIPTION, with_user_data

SAMPLE = Path(groups.__file__).parent / "samples" / "orders-enrich" / "segments"


def written(kind: str, **value: Any) -> bytes:
    return kinds()[kind].layout.write(value, None)


def subscription(**value: Any) -> bytes:
    blank = {"topics": ["orders"], "userData": base64.b64encode(bytes([0, 0, 0, 6])).decode()}
    return written("subscription", **{**blank, **value})


def orders(*partitions: int) -> list[dict[str, Any]]:
    return [{"topic": "orders", "partitions": list(partitions)}]


def member(name: str, subscribed: bytes, *given: int, **value: Any) -> dict[str, Any]:
    assignment = written("assignment", version=3, assignedPartitions=orders(*given), userData=None)
    return {
        "memberId": f"{name}-7d1f0c52-3b0e-4f6a-9a31-5c8e2b64d0f7",
        "clientId": name,
        "clientHost": "/10.1.2.7",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": base64.b64encode(subscribed).decode(),
        "assignment": base64.b64encode(assignment).decode(),
        **value,
    }


NEWER = subscription(version=3, ownedPartitions=orders(0, 1, 2), generationId=6, rackId="a")
OLDER = subscription(version=1, ownedPartitions=orders(3, 4, 5))
RECORD = written(
    "group-metadata-value",
    version=3,
    protocolType="consumer",
    generation=7,
    protocol="cooperative-sticky",
    leader="c-117-7d1f0c52-3b0e-4f6a-9a31-5c8e2b64d0f7",
    currentStateTimestamp=1_795_224_375_134,
    members=[member("c-117", NEWER, 0, 1), member("c-042", OLDER, 3, 4, groupInstanceId="bay-2")],
)

STREAMS_CURRENT = written(
    "streams-group-current-member-assignment-value",
    version=0,
    memberEpoch=3,
    previousMemberEpoch=2,
    state=2,
    activeTasks=[{"subtopologyId": "0", "partitions": [1, 2]}],
    standbyTasks=[{"subtopologyId": "1", "partitions": [0]}],
    warmupTasks=[],
    activeTasksPendingRevocation=[{"subtopologyId": "0", "partitions": [0]}],
    standbyTasksPendingRevocation=[],
    warmupTasksPendingRevocation=[],
)


def test_the_fields_of_a_classic_group_say_what_they_mean():
    done = inspect("group-metadata-value", RECORD)
    meant = {path: node.meaning for path, node in each_node(done.fields) if not path.startswith("members.1")}
    assert meant == {
        "version": "of this value",
        "protocolType": "“consumer” for consumers, “connect” for Kafka Connect",
        "generation": "number of the last rebalance",
        "protocol": "the assignor that all members share",
        "leader": "computed the assignment: member 0 below",
        "currentStateTimestamp": "2026-11-21 01:26:15.134 UTC",
        "members": "",
        "members.0": "",
        "members.0.memberId": "drawn by the coordinator: client or instance id, and a UUID",
        "members.0.groupInstanceId": "dynamic: no instance id",
        "members.0.clientId": "set by the client (client.id)",
        "members.0.clientHost": "as the broker saw it",
        "members.0.rebalanceTimeout": "5 min to revoke and join again",
        "members.0.sessionTimeout": "45 s without a heartbeat",
        "members.0.subscription": "opened in place: subscription, 57 bytes",
        "members.0.subscription.version": "the newest layout that its writer knows",
        "members.0.subscription.topics": "subscribed to; clients write them in order of name",
        "members.0.subscription.topics.0": "",
        "members.0.subscription.userData": "opened in place: user data of cooperative-sticky, 4 bytes",
        "members.0.subscription.userData.generation": "of the last assignment; asked for where the subscription has none",
        "members.0.subscription.ownedPartitions": "owned when it asked to join",
        "members.0.subscription.ownedPartitions.0": "",
        "members.0.subscription.ownedPartitions.0.topic": "",
        "members.0.subscription.ownedPartitions.0.partitions": "",
        "members.0.subscription.generationId": "in which it owned them",
        "members.0.subscription.rackId": "where the client runs (client.rack)",
        "members.0.assignment": "opened in place: assignment, 30 bytes",
        "members.0.assignment.version": "the same layout in versions 0 to 3",
        "members.0.assignment.assignedPartitions": "what the leader gives it",
        "members.0.assignment.assignedPartitions.0": "",
        "members.0.assignment.assignedPartitions.0.topic": "",
        "members.0.assignment.assignedPartitions.0.partitions": "",
        "members.0.assignment.userData": "none",
    }
    instance = find(done.fields, "members.1.groupInstanceId")
    assert instance is not None
    assert instance.meaning == "static member (group.instance.id)"


def test_the_sentence_on_top_stands_on_its_fields():
    parts = sentence_of(inspect("group-metadata-value", RECORD))
    assert as_text(parts) == (
        "A classic group at generation 7, with 2 members and cooperative-sticky. "
        "c-117 came with orders-0, 1, 2 and is given orders-0, 1."
    )
    assert [(part["text"], part["path"]) for part in parts if "path" in part] == [
        ("generation 7", "generation"),
        ("2 members", "members"),
        ("cooperative-sticky", "protocol"),
        ("c-117", "members.0"),
        ("orders-0, 1, 2", "members.0.subscription.ownedPartitions"),
        ("orders-0, 1", "members.0.assignment.assignedPartitions"),
    ]


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        ("subscription", NEWER, "A subscription, version 3, to orders; it owned orders-0, 1, 2 in generation 6."),
        ("subscription", subscription(version=0), "A subscription, version 0, to orders."),
        ("assignment", ASSIGNMENT, "An assignment, version 0, of foo-0."),
        ("sticky-user-data", STICKY, "Sticky was given foo-0 in generation 6."),
        ("sticky-user-data", STICKY[:-4], "Sticky was given foo-0; version 0 tells no generation."),
        ("cooperative-sticky-user-data", b"\xff" * 4, "Cooperative-sticky had no assignment yet."),
        (
            "cooperative-sticky-user-data",
            bytes.fromhex("deadbeef"),
            "Cooperative-sticky tells generation -559038737, which no group has: another kind, perhaps.",
        ),
        (
            "key",
            bytes.fromhex("0008 0006") + b"orders" + bytes.fromhex("000141"),
            "The key of CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: group orders, member A.",
        ),
        ("key", bytes.fromhex("0063"), "Key of a record, 2 bytes. "
         "Reading stops: records of type 99 are not known here."),
        (
            "consumer-group-current-member-assignment-value",
            written(
                "consumer-group-current-member-assignment-value",
                version=0,
                memberEpoch=3,
                previousMemberEpoch=2,
                state=1,
                assignedPartitions=[{"topicId": "cLledStpRu6ixDUvA4jVgA", "partitions": [0]}],
                partitionsPendingRevocation=[{"topicId": "cLledStpRu6ixDUvA4jVgA", "partitions": [1]}],
            ),
            "The member is at epoch 3 and has cLledS…-0; it still has to give up cLledS…-1.",
        ),
        (
            "streams-group-current-member-assignment-value",
            STREAMS_CURRENT,
            "The member is at epoch 3 and has active 0_1 and 0_2, standby 1_0; it still has to give up active 0_0.",
        ),
        (
            "streams-group-target-assignment-member-value",
            written("streams-group-target-assignment-member-value", version=0, activeTasks=[], standbyTasks=[],
                    warmupTasks=[]),
            "The member should have no task.",
        ),
        (
            "streams-subscription-info",
            encode_subscription_info({"version": 6, "processId": "A" * 22, "prevTasks": [
                {"topicGroupId": 0, "partition": 1}], "standbyTasks": [{"topicGroupId": 1, "partition": 0}]}),
            "A Kafka Streams instance, version 6, that ran 0_1 and has state of 1_0.",
        ),
        (
            "streams-assignment-info",
            encode_assignment_info({"activeTasks": [{"topicGroupId": 0, "partition": 1}]}),
            "A Kafka Streams member is given active tasks 0_1 and no standby task.",
        ),
        (
            "group-metadata-value",
            RECORD[:60],
            "GROUP_METADATA value, version 3, 60 bytes. "
            "Reading stops: a string needs 42 bytes, 22 are left.",
        ),
    ],
)  # fmt: skip
def test_every_kind_has_its_sentence(kind: str, data: bytes, sentence: str):
    assert as_text(sentence_of(inspect(kind, data))) == sentence


def test_of_what_cannot_be_read_to_its_end_nothing_is_told():
    cut = inspect_record(bytes.fromhex("0008 0001 67 0001 6d"), bytes.fromhex("0000 00000003"))
    assert as_text(sentence_of(cut)) == (
        "The key of CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: group g, member m. "
        "Something is wrong: int32 needs 4 bytes, 0 are left."
    )
    broken = edit("group-metadata-value", None, RECORD, "members.0.assignment", "AAAAAAAB")
    broken = edit("group-metadata-value", None, broken, "members.0.subscription", "AAEAAAAA/////wAAAAE=")
    assert as_text(sentence_of(inspect("group-metadata-value", broken))).startswith(
        "A classic group at generation 7, with 2 members and cooperative-sticky. c-042 came with orders-3, 4, 5"
    )


def test_an_old_client_reads_the_front_and_ignores_the_rest():
    assert seen_by("subscription", NEWER, 0) == {
        "version": 0,
        "read": 22,
        "ignored": 35,
        "fields": [
            {"name": "version", "read": True},
            {"name": "topics", "read": True},
            {"name": "userData", "read": True},
            {"name": "ownedPartitions", "read": False},
            {"name": "generationId", "read": False},
            {"name": "rackId", "read": False},
        ],
        "consequences": [
            "It takes the member to hold nothing: it may give orders-0, orders-1 and orders-2 to others at once, "
            "while the member still holds them.",
            "It does not learn that the member is in rack a, and assigns as if it were in none.",
        ],
    }
    seen = {each["version"]: (each["read"], each["consequences"]) for each in clients("subscription", NEWER)}
    assert seen[1] == (
        50,
        [
            "It knows generation 6 from the user data alone.",
            "It does not learn that the member is in rack a, and assigns as if it were in none.",
        ],
    )
    assert seen[3] == (57, ["Nothing is lost."])
    assert clients("key", bytes.fromhex("000200016f")) == []


def test_an_old_broker_refuses_a_version_that_it_does_not_know():
    seen = seen_by("group-metadata-value", RECORD, 2)
    assert (seen["read"], seen["consequences"]) == (0, ["It does not know version 3, and refuses the bytes."])


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("subscription", SUBSCRIPTION),
        ("subscription", NEWER),
        ("assignment", ASSIGNMENT),
        ("sticky-user-data", STICKY),
        ("group-metadata-value", RECORD),
        ("key", bytes.fromhex("0002 0006") + b"orders"),
    ],
)
def test_the_kind_is_guessed(kind: str, data: bytes):
    first, *others = guess(data)
    assert (first.kind, first.whole, first.problem) == (kind, True, None)
    assert all(not other.whole or other.score <= first.score for other in others)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("cooperative-sticky-user-data", "00000006"),
        ("heartbeat-response", "dead"),
        ("consumer-group-metadata-value", "0000 00000005 0000000000000001 00 00"),
    ],
)
def test_what_only_lengths_speak_for_is_not_said_to_be_likely(kind: str, data: str):
    first = guess(bytes.fromhex(data))[0]
    assert first.whole
    assert not first.likely
    if "-group-" not in kind:
        assert first.kind == kind


def test_what_names_or_times_or_a_checksum_speak_for_is_likely():
    for data in (SUBSCRIPTION, NEWER, ASSIGNMENT, STICKY, RECORD):
        assert guess(data)[0].likely


def test_what_a_later_version_appended_is_read_for_guessing():
    later = bytes.fromhex("0004") + NEWER[2:] + b"\x01\x02"
    first = guess(later)[0]
    assert (first.kind, first.version, first.whole, first.read) == ("subscription", 4, True, len(NEWER))
    assert not guess(bytes.fromhex("0404") + later[2:])[0].whole


@pytest.mark.parametrize("left", [0.6, 0.9, 0.99])
def test_bytes_that_were_cut_off_are_guessed_as_what_reads_most_of_them(left: float):
    """The first four bytes of any bytes are a generation of cooperative-sticky, which then leaves all others."""
    topics = b"".join(b"\x00\x09topic-%03d" % number for number in range(40))
    whole = b"\x00\x01\x00\x00\x00\x28" + topics + b"\xff\xff\xff\xff\x00\x00\x00\x00"
    first = guess(whole[: int(len(whole) * left)])[0]
    assert (first.kind, first.whole, first.likely) == ("subscription", False, False)
    assert first.read > len(whole) * left - 12
    assert first.problem is not None


def test_what_there_was_only_ever_one_of_has_no_version():
    done = inspect("cooperative-sticky-user-data", bytes.fromhex("00000006"))
    assert (done.version, done.problem) == (None, None)
    assert as_text(sentence_of(done, perhaps=True)).startswith("User data of cooperative-sticky, perhaps: ")


def test_every_value_that_a_broker_wrote_into_the_sample_is_guessed():
    for segment in SAMPLE.glob("__consumer_offsets-*/*.log"):
        for batch in read_batches(segment.read_bytes()):
            assert isinstance(batch, RecordBatch)
            for record in batch.records:
                assert record.key is not None
                assert guess(record.key)[0].kind == "key"
                if record.value is not None:
                    name = RECORD_TYPES[int.from_bytes(record.key[:2])].value.name
                    assert guess(record.value)[0].kind == kebab(name)


def test_the_kinds_that_cannot_be_stand_last_with_their_reason():
    last = {each.kind: str(each.problem) for each in guess(SUBSCRIPTION) if not each.whole}
    assert last["consumer-group-metadata-value"] == (
        "byte 0: ConsumerGroupMetadataValue has no version 1 here; known are 0 to 0"
    )


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0001 0203 ff", "hex"),
        ("0x00, 0x01, 0x02, 0x03, 0xFF", "hex"),
        (r"\x00\x01\x02\x03\xff", "hex"),
        ("[00:01:02:03:ff]", "hex"),
        ("00000000: 0001 0203 ff                             .....", "hex"),
        ("00000000  00 01 02 03 ff                                    |.....|\n00000005", "hex"),
        ("00000000: 0001  ..\r\n00000002: 0203 ff  ...\r\n", "hex"),
        ("AAECA/8=", "base64"),
        ("AAECA_8", "base64"),
        ("AAEC\nA/8=\n", "base64"),
        ("b'AAECA/8='", "base64"),
        ('"0001 0203 ff"', "hex"),
        ("00-01-02-03-FF", "hex"),
        ("0x00 01 02 03 ff", "hex"),
        (r"\x00 \x01 \x02 \x03 \xff", "hex"),
        ("[]byte{0x0, 0x1, 0x2, 0x3, 0xff}", "hex"),
        ("[0, 1, 2, 3, ff]", "hex"),
        ("<Buffer 00 01 02 03 ff>", "hex"),
        ("[0, 1, 2, 3, -1]", "decimal numbers"),
        ("{0, 1, 2, 3, 255}", "decimal numbers"),
        ("0 1 2 3 255", "decimal numbers"),
        ("0\n1\n2\n3\n255\n", "decimal numbers"),
        ("new byte[] {0, 1, 2, 3, (byte) 0xff}", "decimal numbers"),
        ("Uint8Array(5) [ 0, 1, 2, 3, 255 ]", "decimal numbers"),
        ('{"type": "Buffer", "data": [0, 1, 2, 3, 255]}', "decimal numbers"),
        (r"b'\x00\x01\x02\x03\xff'", "text with escapes"),
        (r"bytearray(b'\x00\x01\x02\x03\xff')", "text with escapes"),
        (r'"\x00\x01\x02\x03\xff"', "text with escapes"),
        ('(b"\\x00\\x01"\n b"\\x02\\x03\\xff")', "text with escapes"),
        (r'"\u0000\1\002\x03\xff"', "text with escapes"),
    ],
)
def test_bytes_are_read_from_whatever_people_paste(text: str, form: str):
    assert bytes_from_text(text) == (bytes([0, 1, 2, 3, 255]), form)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (r"b'\x00\x03foo bar\t\\\xff'", b"\x00\x03foo bar\t\\\xff"),
        (r'"\x00\x03foo\u00e9é\a\""', b'\x00\x03foo\xc3\xa9\xc3\xa9\a"'),
        # The letters behind an escape can be hex digits themselves.
        (r"\x00\x04face", b"\x00\x04face"),
        ("0 1 0 0 0 2 0 13 116 101 115", bytes([0, 1, 0, 0, 0, 2, 0, 13, 116, 101, 115])),
        ("b'foo'", b"foo"),
    ],
)
def test_what_languages_print_is_not_read_as_hex(text: str, data: bytes):
    assert bytes_from_text(text)[0] == data


@given(st.binary(min_size=2, max_size=300))
def test_bytes_are_the_same_however_they_are_printed(data: bytes):
    signed = [each - 256 if each > 127 else each for each in data]
    printed = [
        repr(data),
        repr(bytearray(data)),
        data.hex(),
        data.hex("-"),
        data.hex(" ", 2),
        f"<Buffer {data.hex(' ')}>",
        "[]byte{" + ", ".join(hex(each) for each in data) + "}",
    ]
    if any(not 10 <= each <= 99 for each in data):
        printed += [
            str(list(data)),
            f"[{' '.join(map(str, data))}]",
            json.dumps({"type": "Buffer", "data": [*data]}),
        ]
    if any(not 10 <= each <= 99 for each in signed):
        printed.append(str(signed))
    # Python prints no escape for bytes that are letters alone: these can be hex or base64 as well.
    for text in printed if "\\" in printed[0] else printed[2:]:
        assert bytes_from_text(text)[0] == data, text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("00 01 0", "line 1, column 7: '0' has an odd number of hex digits; a byte has two"),
        ("0:1:0:2", "line 1, column 1: '0' has an odd number of hex digits; a byte has two"),
        ("00010", "line 1, column 6: an odd number of hex digits, 5; a byte has two"),
        ("[0, 1,\n 256]", "line 2, column 2: 256 is no byte, which is from -128 to 255"),
        ("[10, 20]", "line 1, column 2: 10 can be hex or decimal; write 0x10 or 0x0a"),
        (
            "<Buffer 00 01 ... 30 more bytes>",
            "line 1, column 15: 30 bytes are left out here; print all of them",
        ),
        (
            "[ 0, 1, 2,\n ... 380 more items ]",
            "line 2, column 2: 380 bytes are left out here; print all of them",
        ),
        (
            r"b'\x00\q'",
            r"line 1, column 7: '\\q' begins no escape; known are \x00, \000, \u0000, \n and the like",
        ),
        ('"\\x00\ufffd"', "line 1, column 6: bytes were lost when this was printed"),
        ('key="\\x00"', "line 1, column 5: '\"' belongs to neither hex nor base64"),
        ("00 01\n0g 31", "line 2, column 2: 'g' is no hex digit"),
        ("0001\n0g 3%", "line 2, column 5: '%' belongs to neither hex nor base64"),
        (
            "0000000 0200 0600 726f 6564 7372               \n000000a\n",
            "line 1, column 1: a dump of `od` or `hexdump`, which may swap bytes; use `xxd` or `hexdump -C`",
        ),
        # A form feed ends no line.
        (
            "00000000  00 01\f00\n00000002  00",
            "line 2, column 1: the offset is 00000002, 00000003 would be next",
        ),
        ("AAEC_", "line 1, column 6: base64 is cut off: 5 letters, one too many or three too few"),
        (
            "00000000  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n*\n00000020  00",
            "line 3, column 1: the offset is 00000020, 00000010 would be next; repeated lines are left out (*): "
            "use `hexdump -v`",
        ),
    ],
)
def test_text_that_is_neither_is_refused_with_its_place(text: str, line: str):
    with pytest.raises(BadText) as caught:
        bytes_from_text(text)
    assert str(caught.value) == line


def test_a_large_integer_has_its_digits_as_text_too():
    data = edit(
        "consumer-group-metadata-value", None, bytes.fromhex("00000000000200"), "metadataHash", 2**60 + 1
    )
    node = find(inspect("consumer-group-metadata-value", data).fields, "metadataHash")
    assert node is not None
    assert node.to_json()["text"] == "1152921504606846977"


def test_user_data_that_only_looks_like_it_is_said_to():
    node = find(inspect("subscription", with_user_data(STICKY)).fields, "userData")
    assert node is not None
    assert node.meaning == "looks like user data of sticky, 21 bytes"
