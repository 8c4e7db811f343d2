"""``manage.py decode``: the worked bytes of the proposals as their tables have them, and one line for what is wrong."""

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.wire.inspection import MOST_BYTES
from groups.wire.logs.record_batch import write_batch
from tests.wire.test_inspection_framing import KEY, batch
from tests.wire.test_inspection_words import NEWER, OLDER, RECORD

Rows = list[tuple[str, str, Any]]


def decode(*words: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("decode", *words, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def refused(*words: str) -> tuple[list[dict[str, Any]], str]:
    """What was printed all the same, and the line of the error, which exits with 2."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("decode", *words, stdout=out)
    assert caught.value.returncode == 2
    return [json.loads(line) for line in out.getvalue().splitlines()], str(caught.value)


def table(data: bytes, fields: list[dict[str, Any]], path: str = "") -> Rows:
    """The leaves as a table: path, the bytes in hex (the prefix apart), value."""
    rows: Rows = []
    for node in fields:
        here = f"{path}.{node['name']}" if path else node["name"]
        prefix = node.get("prefix", 0)
        head = data[node["offset"] : node["offset"] + prefix].hex(" ")
        if "fields" in node:
            if prefix:
                rows.append((here, head, f"{len(node['fields'])}"))
            rows += table(data, node["fields"], here)
        else:
            rest = data[node["offset"] + prefix : node["offset"] + node["length"]].hex(" ")
            rows.append((here, " · ".join(part for part in (head, rest) if part), node["value"]))
    return rows


SUBSCRIPTION_ROWS: Rows = [
    ("version", "00 01", 1),
    ("topics", "00 00 00 01", "1"),
    ("topics.0", "00 03 · 66 6f 6f", "foo"),
    ("userData", "ff ff ff ff", None),
    ("ownedPartitions", "00 00 00 01", "1"),
    ("ownedPartitions.0.topic", "00 03 · 66 6f 6f", "foo"),
    ("ownedPartitions.0.partitions", "00 00 00 02 · 00 00 00 00 00 00 00 01", [0, 1]),
]


@pytest.mark.parametrize(
    ("version", "behind", "rows"),
    [
        (1, "", []),
        (2, "ff ff ff ff", [("generationId", "ff ff ff ff", -1)]),
        (2, "00 00 00 07", [("generationId", "00 00 00 07", 7)]),
        (3, "ff ff ff ff ff ff", [("generationId", "ff ff ff ff", -1), ("rackId", "ff ff", None)]),
        (3, "00 00 00 07 00 01 61", [("generationId", "00 00 00 07", 7), ("rackId", "00 01 · 61", "a")]),
    ],
)
def test_the_worked_subscription_of_kip_429_and_what_kip_792_and_881_append(
    version: int, behind: str, rows: Rows
):
    written = [("version", f"00 0{version}", version), *SUBSCRIPTION_ROWS[1:], *rows]
    text = (
        f"00 0{version} 00 00 00 01 00 03 66 6f 6f ff ff ff ff "
        f"00 00 00 01 00 03 66 6f 6f 00 00 00 02 00 00 00 00 00 00 00 01 {behind}"
    )
    (told,) = decode("subscription", "--hex", text)
    assert table(bytes.fromhex(text), told["fields"]) == written
    assert (told["kind"], told["version"], told["problem"]) == ("subscription", version, None)
    assert told["read"] == told["length"] == len(bytes.fromhex(text))


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_assignment_has_its_partitions_before_its_user_data_in_every_version(version: int):
    text = f"00 0{version} 00 00 00 01 00 03 66 6f 6f 00 00 00 02 00 00 00 00 00 00 00 01 ff ff ff ff"
    (told,) = decode("assignment", "--hex", text)
    assert table(bytes.fromhex(text), told["fields"]) == [
        ("version", f"00 0{version}", version),
        ("assignedPartitions", "00 00 00 01", "1"),
        ("assignedPartitions.0.topic", "00 03 · 66 6f 6f", "foo"),
        ("assignedPartitions.0.partitions", "00 00 00 02 · 00 00 00 00 00 00 00 01", [0, 1]),
        ("userData", "ff ff ff ff", None),
    ]


@pytest.mark.parametrize(
    ("behind", "version", "rows"),
    [("", 0, []), ("00 00 00 06", 1, [("generation", "00 00 00 06", 6)])],
)
def test_the_user_data_of_sticky_has_no_version_and_is_told_apart_by_trying(
    behind: str, version: int, rows: Rows
):
    text = f"00 00 00 01 00 03 66 6f 6f 00 00 00 01 00 00 00 00 {behind}"
    (told,) = decode("sticky-user-data", "--hex", text)
    assert told["version"] == version
    assert table(bytes.fromhex(text), told["fields"]) == [
        ("previousAssignment", "00 00 00 01", "1"),
        ("previousAssignment.0.topic", "00 03 · 66 6f 6f", "foo"),
        ("previousAssignment.0.partitions", "00 00 00 01 · 00 00 00 00", [0]),
        *rows,
    ]


def test_the_user_data_of_cooperative_sticky_is_a_generation():
    for text, generation in (("00 00 00 06", 6), ("ff ff ff ff", -1)):
        (told,) = decode("cooperative-sticky-user-data", "--hex", text)
        assert table(bytes.fromhex(text), told["fields"]) == [("generation", text, generation)]


def test_a_later_version_is_read_as_the_newest_known_and_a_negative_one_is_not():
    (told,) = decode("subscription", "--hex", "0064 00000000 ffffffff 00000000 ffffffff ffff abcd")
    assert (told["version"], told["read"], told["length"], told["problem"]) == (100, 20, 22, None)
    assert told["fields"][-1]["name"] == "_rest"
    printed, line = refused("subscription", "--hex", "ffff 00000000")
    assert printed[0]["problem"]["offset"] == 0
    assert (
        line
        == "subscription: version, byte 0: ConsumerProtocolSubscription has no version -1 here; known are 0 to 3."
    )


def test_bytes_that_end_too_early_are_listed_as_far_as_they_go_and_the_line_names_the_offset():
    printed, line = refused("subscription", "--hex", "0001 00000001 0003666f6f ffff")
    assert table(bytes.fromhex("000100000001 0003666f6f"), printed[0]["fields"][:2]) == SUBSCRIPTION_ROWS[:3]
    assert line == "subscription: userData, byte 11: a length needs 4 bytes, 2 are left."


def test_a_client_that_knows_version_0_does_not_see_what_is_owned():
    (told,) = decode("subscription", "--base64", base64.b64encode(NEWER).decode(), "--as-version", "0")
    assert (told["read"], told["ignored"]) == (22, 35)
    assert told["consequences"][0].startswith("It takes the member to hold nothing")


def test_differences_exit_with_1_and_none_with_0(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        call_command("decode", "subscription", "--hex", NEWER.hex(), "--against", OLDER.hex())
    assert caught.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["versions"], told["differing"]) == ([3, 1], 4)
    (same,) = decode("subscription", "--hex", NEWER.hex(), "--against", NEWER.hex())
    assert same["differing"] == 0


def test_an_edit_prints_the_new_bytes():
    (told,) = decode("subscription", "--hex", NEWER.hex(), "--set", "generationId=8", "--set", "rackId=null")
    assert bytes.fromhex(told["hex"]) == NEWER[:-7] + bytes.fromhex("00000008ffff")
    _, line = refused("subscription", "--hex", NEWER.hex(), "--set", "generationId=soon")
    assert line == "generationId: 'soon' is not an int32."
    assert refused("subscription", "--hex", NEWER.hex(), "--set", "8")[1] == (
        "--set 8: expected PATH=VALUE, such as generationId=8."
    )


def test_the_kind_is_guessed_and_a_record_can_be_given_as_key_and_value(tmp_path: Path):
    (tmp_path / "value").write_bytes(RECORD)
    (told,) = decode(str(tmp_path / "value"))
    assert (told["kind"], told["guesses"][0]["kind"]) == ("group-metadata-value", "group-metadata-value")
    (told,) = decode("record", str(tmp_path / "value"), "--key", KEY.hex())
    assert told["says"].startswith("The key of GROUP_METADATA: group orders. A classic group at generation 7")
    (told,) = decode("record", "--key", KEY.hex())
    assert told["says"] == "The key of GROUP_METADATA: group orders. It is a tombstone."


def test_a_segment_is_a_line_for_each_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    raw = write_batch(batch())
    (tmp_path / "00000000000000000000.log").write_bytes(raw + raw + raw[:30])
    lines = decode("segment", str(tmp_path / "00000000000000000000.log"))
    assert [(line["kind"], line["position"], line["length"]) for line in lines] == [
        ("batch", 0, len(raw)),
        ("batch", len(raw), len(raw)),
        ("truncated", 2 * len(raw), 30),
    ]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw + b"\x99" * 20 + raw)))
    lines, line = refused("segment", "-")
    assert [each["kind"] for each in lines] == ["batch", "damaged", "batch"]
    assert line == f"-, byte {len(raw)}: bytes that are no record batch."


def test_an_array_of_decimal_numbers_is_read_as_a_debugger_prints_it():
    """As pasted into a public report, as a subscription that a client could not decode: it is an assignment."""
    member = "0, 13, 116, 101, 115, 116, 45, 119, 114, 105, 116, 101, 114, 45, {}, 0, 0, 0, 3, 0, 0, 0, 0,0, 0, 0, 2, 0, 0, 0, 1, "
    (answer,) = decode(
        "--hex", "{0, 1, 0, 0, 0, 2, " + member.format(48) + member.format(49) + "-1, -1, -1, -1}"
    )
    assert (answer["kind"], answer["version"], answer["how"], answer["read"]) == (
        "assignment", 1, "decimal numbers", answer["length"],
    )  # fmt: skip
    assert (
        answer["says"]
        == "An assignment, version 1, of partitions 0, 2, 1 of test-writer-0 and partitions 0, 2, 1 of test-writer-1."
    )


def test_bytes_that_are_nothing_are_listed_as_the_likeliest_and_said_to_be_none():
    printed, line = refused("--hex", "0102030405060708090a0b0c0d")
    assert printed[0]["guesses"] == []
    assert (
        line
        == "batch: partitionLeaderEpoch, byte 12: the partitionLeaderEpoch of a batch needs 4 bytes, 1 is left."
    )


def test_every_kind_is_listed():
    names = [line["kind"] for line in decode("--kinds")]
    assert len(names) == len(set(names))
    assert {"subscription", "record", "segment", "key", "request", "join-group-request"} <= set(names)
    assert {"share-group-metadata-value", "kip-consumer-group-prepare-assignment-request"} <= set(names)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "Which bytes? One of --hex TEXT, --base64 TEXT, or a FILE (- is standard input)."),
        (("key", "--hex", "0002", "--base64", "AAI="), "Which bytes? One of --hex TEXT, --base64 TEXT, or a FILE "
         "(- is standard input)."),
        (("keys", "--hex", "00"), "'keys' is no kind of bytes, and no file; `manage.py decode --kinds` lists the kinds."),
        (("key", "no-such-file"), "no-such-file: No such file or directory."),
        (("key", "--hex", "00 %"), "--hex: line 1, column 4: '%' is no hex digit."),
        (("key", "--hex", "AAIABm9yZGVycw"), "--hex: line 1, column 3: 'I' is no hex digit."),
        (("--key", "0002000161", "--set", "key.group=b"), "--set does not go with --key."),
        (("key", "--hex", "0002", "--key", "0002"), "--key belongs to a record, not to key."),
        (("subscription", "--hex", "0000", "--as-version", "-1"), "--as-version: versions count from 0."),
        (("--hex", ""), "There are no bytes to guess at."),
    ],
)  # fmt: skip
def test_bad_usage_is_one_line(words: tuple[str, ...], line: str):
    assert refused(*words)[1] == line


def test_too_many_bytes_are_refused_with_the_bound(tmp_path: Path):
    (tmp_path / "long").write_bytes(bytes(MOST_BYTES + 1))
    assert refused("subscription", str(tmp_path / "long"))[1] == (
        f"More than {MOST_BYTES} bytes, the most that are listed at once; "
        "`decode segment FILE` lists a log file batch by batch."
    )
