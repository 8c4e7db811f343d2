"""One incident in every form of text: what a form carries is as the segments have it, and what it lacks is named.

The fixtures are what real clients and Kafka's own tools wrote (``tests/broker/recorded_texts.py``): ``checkout`` is a classic group of
three consumers of which one is killed and two leave; ``billing`` speaks the consumer protocol, and one of two is killed.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.texts.formats import FORMATS, formats_of, read_text
from groups.texts.found import LogEvent
from groups.texts.inferred import inferred_entries
from groups.texts.log_lines import LOG_LINES
from groups.texts.one_axis import Recorded
from groups.wire.embedded.consumer_protocol import decode_assignment
from tests.pipeline.folds import Folds, fold_paths

pytestmark = pytest.mark.once

PASTED = Path(__file__).resolve().parent.parent / "wire" / "fixtures" / "pasted"
CHECKOUT, BILLING = "checkout#1", "billing#1"


def text_of(*names: str) -> str:
    return "".join(gzip.decompress((PASTED / f"{name}.txt.gz").read_bytes()).decode() for name in names)


def fold_text(folder: Path, text: str, *paths: Path) -> Folds:
    (folder / "pasted.txt").write_text(text)
    return fold_paths(str(folder / "pasted.txt"), *map(str, paths), scratch=str(folder / "scratch"))


def said(folds: Folds) -> list[str]:
    return [one["reason"] for one in folds.lines[-1]["records"]["skipped"]]


@pytest.fixture(scope="module")
def recorded() -> Folds:
    return fold_paths(str(PASTED / "segments"))


def values(folds: Folds, timeline: str, *types: int) -> list[dict[str, Any]]:
    """The records of these types, in their order, of a time each."""
    payloads = [entry["payload"] for entry in folds.entries(timeline) if entry["kind"] == "record"]
    return [payload for payload in payloads if payload["type"] in types]


def test_the_console_consumers_groups_and_commits_are_the_records_of_the_log(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of("console-groups", "console-offsets"))

    assert values(folds, CHECKOUT, 2) == values(recorded, CHECKOUT, 2)
    for timeline in (CHECKOUT, BILLING):
        assert values(folds, timeline, 1) == values(recorded, timeline, 1)
    assert [line for line in said(folds) if "consumer protocol" in line]


def test_the_older_console_consumers_lines_have_groups_without_assignments_and_commits(
    tmp_path: Path,
) -> None:
    folds = fold_text(tmp_path, text_of("console-offsets-old", "console-groups-old"))

    groups = [each["value"] for each in values(folds, "shipping#1", 2)]
    assert [(one["generation"], sorted(each["clientId"] for each in one["members"])) for one in groups] == [
        (1, ["ship-a"]),
        (2, ["ship-a", "ship-b"]),
        (3, ["ship-a"]),
    ]
    assert [each["value"]["offset"] for each in values(folds, "shipping#1", 1)] == [1]
    assert any("without what each member is assigned" in line for line in said(folds))


LOGS = ("broker", "cart-a", "cart-b", "cart-c", "bill-d", "bill-e")


def generations(folds: Folds) -> list[tuple[int, list[tuple[str, list[int]]]]]:
    """Each generation with its members' clients and partitions."""
    found = []
    for payload in values(folds, CHECKOUT, 2):
        members = []
        for member in payload["value"]["members"]:
            data = base64.b64decode(member["assignment"])
            topics = decode_assignment(data)["assignedPartitions"] if data else []
            members.append((member["clientId"], sorted(n for topic in topics for n in topic["partitions"])))
        found.append((payload["value"]["generation"], sorted(members)))
    return found


def sentence(folds: Folds, timeline: str) -> str:
    return str(folds.index(timeline)["summary"]["verdict"]["text"])


def test_lines_of_logs_alone_have_the_generations_members_and_assignments_of_the_records(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of(*LOGS))

    settled = [each for each in generations(recorded) if each[0]]
    assert generations(folds) == settled
    assert folds.told(CHECKOUT)["inferred"]
    assert not recorded.told(CHECKOUT)["inferred"]
    assert {each["provenance"] for each in folds.entries(CHECKOUT) if each["kind"] == "record"} == {
        "inferred"
    }
    # What the coordinator's lines say and no record has.
    assert "cart-c was removed when its session expired" in sentence(folds, CHECKOUT)
    assert "cart-b left" in sentence(folds, CHECKOUT)
    assert "bill-e was removed when its session expired" in sentence(folds, BILLING)


@pytest.mark.parametrize(
    "names",
    [
        ("broker",),
        ("cart-a",),
        ("cart-b",),
        ("cart-c",),
        ("bill-d",),
        ("bill-e",),
        ("broker", "cart-b", "bill-d"),
    ],
)
def test_of_some_of_the_lines_nothing_false_is_said(tmp_path: Path, names: tuple[str, ...]) -> None:
    folds = fold_text(tmp_path, text_of(*names))

    for timeline in {CHECKOUT, BILLING} & set(folds.timelines):
        text = sentence(folds, timeline)
        # Each of these clients joined within its own lines.
        assert not re.search(r"died|idle|unassigned|still had|waited|stuck|already", text), text
        if names in (("cart-b",), ("cart-c",), ("bill-e",)):
            assert re.search(rf"{names[0]} joined", text), text
            assert "formed" not in {one["kind"] for one in folds.index(timeline)["summary"]["findings"]}


def test_lines_and_records_are_on_one_axis_whatever_the_lines_clock(tmp_path: Path) -> None:
    """The lines are in another zone, and a minute late: the skew is measured by generations."""
    moved = re.sub(
        r"(?m)^\[2026-11-27 12:(\d\d)", lambda found: f"[2026-11-27 05:{int(found[1]) + 1}", text_of("broker")
    )
    folds = fold_text(tmp_path, moved, PASTED / "segments")

    entries = folds.entries(CHECKOUT)
    fired = next(each for each in entries if each["kind"] == "timer")
    after = next(
        each
        for each in entries
        if each["kind"] == "record" and each["sequence"] > fired["sequence"] and each["payload"]["type"] == 2
    )
    assert 0 <= after["at_ms"] - fired["at_ms"] < 2_000
    assert any(
        "The clock of the lines of broker is 25,140." in note.get("says", "")
        for note in folds.notes(CHECKOUT)
    )
    assert "cart-c was removed when its session expired" in sentence(folds, CHECKOUT)
    assert "bill-e was removed when its session expired" in sentence(folds, BILLING)
    # Records are as they are without lines; none is made up.
    assert {each["provenance"] for each in entries if each["kind"] == "record"} == {"recorded"}


def test_lines_of_a_ticket_are_read_with_colours_quotes_and_cuts_and_the_rest_is_listed(
    tmp_path: Path,
) -> None:
    lines = text_of("broker").splitlines()
    text = "\n".join(
        [
            "It hangs since noon:",
            *(f"> \x1b[32m{line}\x1b[0m".replace(" ", "\t", 1) for line in lines[:12]),
            lines[12][:120],
            *lines[13:],
        ]
    )
    folds = fold_text(tmp_path, text)

    assert {CHECKOUT, BILLING} <= set(folds.timelines)
    assert [one for one in said(folds) if re.search(r"passed over|no time zone", one)]


def facts_of(folds: Folds) -> list[Any]:
    return [(entry["at_ms"], entry["kind"], entry["payload"]) for entry in folds.entries(CHECKOUT)]


def test_lines_whose_times_go_backwards_are_put_in_the_order_of_their_times(tmp_path: Path) -> None:
    one, other = text_of("broker", "cart-b"), text_of("cart-b", "broker")
    halves = text_of("broker").splitlines(keepends=True)
    swapped = "".join([*halves[20:], *halves[:20]]) + text_of("cart-b")
    folds = [fold_text(tmp_path, text) for text in (one, other, swapped)]

    assert facts_of(folds[0]) == facts_of(folds[1]) == facts_of(folds[2])
    assert sorted(one) == sorted(other) == sorted(swapped)


def test_lines_that_state_other_zones_are_on_one_axis_with_those_that_state_none(tmp_path: Path) -> None:
    """The broker logs in New York and says so; the client says nothing and is in UTC."""
    moved = re.sub(r"(?m)^\[2026-11-27 12:([\d:,]+)\]", r"[2026-11-27 07:\1-0500]", text_of("broker"))
    assert moved != text_of("broker")
    folds, plain = (fold_text(tmp_path, text + text_of("cart-b")) for text in (moved, text_of("broker")))

    assert facts_of(folds) == facts_of(plain)
    assert any("state no time zone: they are read as UTC" in line for line in said(folds))


def test_lines_of_two_clusters_in_one_text_are_named(tmp_path: Path) -> None:
    line = "[2026-11-27 12:38:08,000] INFO [Consumer clientId=a, groupId=checkout] Cluster ID: {} (org.apache.kafka.clients.Metadata)\n"
    other = line.format("AAAAAAAAAAAAAAAAAAAAAA")
    folds = fold_text(tmp_path, text_of("broker", "cart-a") + other)

    [named] = [reason for reason in said(folds) if "two clusters" in reason]
    assert "AAAAAAAAAAAAAAAAAAAAAA" in named
    assert not [
        reason for reason in said(fold_text(tmp_path, text_of("broker", "cart-a"))) if "clusters" in reason
    ]


def test_records_printed_before_any_time_are_placed_at_the_files_time_and_that_is_named(
    tmp_path: Path,
) -> None:
    folds = fold_text(tmp_path, text_of("console-groups-old"))

    assert any("when they were written is not known" in reason for reason in said(folds))
    assert all(entry["at_ms"] > 0 for entry in folds.entries("shipping#1"))


def looks(folds: Folds, timeline: str) -> list[dict[str, str]]:
    """At each record of a look: client → its partitions."""
    found = []
    for payload in values(folds, timeline, 2):
        given = {}
        for member in payload["value"]["members"]:
            topics = decode_assignment(base64.b64decode(member["assignment"]))["assignedPartitions"]
            given[member["clientId"]] = ",".join(f"{t['topic']}:{n}" for t in topics for n in t["partitions"])
        found.append(given)
    return found


CHECKOUT_LOOKS = [
    {"cart-a": "orders:0,orders:1", "cart-b": "orders:2,orders:3", "cart-c": "orders:4,orders:5"},
    {"cart-a": "orders:0,orders:1,orders:2", "cart-b": "orders:3,orders:4,orders:5"},
    {"cart-a": "orders:0,orders:1,orders:2,orders:3,orders:4,orders:5"},
    {},
]


def test_a_series_of_tables_is_looks_at_its_groups(tmp_path: Path) -> None:
    folds = fold_text(tmp_path, text_of("tables"))

    assert looks(folds, CHECKOUT) == CHECKOUT_LOOKS
    assert [each["value"]["epoch"] for each in values(folds, BILLING, 3)] == [3, 4]
    assert "bill-e was removed; polls do not show why" in sentence(folds, BILLING)
    assert folds.told(BILLING)["inferred"]


def test_the_lag_of_tables_is_a_note_of_each_look(tmp_path: Path) -> None:
    behind = re.sub(r"(?m)^(checkout +orders +4 +)0 +0 +0 ", r"\1 5 42 37 ", text_of("tables"), count=1)
    folds = fold_text(tmp_path, behind)

    assert [note["says"] for note in folds.notes(CHECKOUT) if "LAG" in note.get("says", "")] == [
        "LAG is 37 in 6 partitions: orders-4 at 5 of 42",
        *["LAG is 0 in 6 partitions"] * 3,
    ]
    assert any("offsets and lag of the tables are notes" in line for line in said(folds))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: re.sub(" {2,}", "\t", text),
        lambda text: re.sub(" {2,}", " ", text),
        lambda text: re.sub("(?m)^GROUP .*CURRENT-OFFSET.*\n", "", text),
        lambda text: re.sub("(?m)^(?=.)", "\x1b[1m", text),
        lambda text: text.replace("\n", "\r\n"),
    ],
    ids=["tabs", "single blanks", "without the header", "colours", "carriage returns"],
)
def test_tables_are_read_as_tickets_have_them(tmp_path: Path, change: Any) -> None:
    folds = fold_text(tmp_path, change(text_of("tables")))

    assert looks(folds, CHECKOUT) == CHECKOUT_LOOKS


def test_tables_without_times_are_placed_a_second_apart_and_a_cut_row_is_listed(tmp_path: Path) -> None:
    text = re.sub(r"(?m)^2026.*\n", "", text_of("tables"))
    text = re.sub(r"(?m)^(checkout +orders +3).*$", r"\1", text, count=1)
    folds = fold_text(tmp_path, text)

    assert len(looks(folds, CHECKOUT)) == 4
    assert any("have no time" in line for line in said(folds))
    assert any(re.match(r"line \d+: the row of a table is cut off", line) for line in said(folds))


def test_tables_and_records_of_one_group_do_not_mix(tmp_path: Path, recorded: Folds) -> None:
    folds = fold_text(tmp_path, text_of("tables", "broker"), PASTED / "segments")

    assert values(folds, CHECKOUT, 2) == values(recorded, CHECKOUT, 2)


@pytest.mark.parametrize("timeline", [CHECKOUT, BILLING])
def test_an_export_that_is_imported_again_is_the_same_timeline(
    tmp_path: Path, recorded: Folds, timeline: str
) -> None:
    entries = recorded.entries(timeline)
    folds = fold_text(tmp_path, "".join(f"{json.dumps(entry)}\n" for entry in entries))

    def records(of: Folds) -> list[tuple[Any, ...]]:
        names = ("at_ms", "partition", "offset", "batch", "settled", "payload")
        return [
            tuple(entry[name] for name in names)
            for entry in of.entries(timeline)
            if entry["kind"] == "record"
        ]

    assert records(folds) == records(recorded)


def test_a_request_log_has_the_generations_members_and_assignments_of_the_records(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of("requests"))

    # Of the last one, which nobody joins, there is no request.
    assert generations(folds) == [each for each in generations(recorded) if each[1]]
    assert "cart-b left" in sentence(folds, CHECKOUT)
    assert "cart-c was removed; the log does not say why" in sentence(folds, CHECKOUT)
    text = sentence(folds, BILLING)
    assert "bill-e was removed; the log does not say why" in text
    assert "bill-d left" in text
    assert not re.search(r"died|idle|two owners|still had|waited", text), text


@given(
    st.sampled_from(
        [
            "broker",
            "cart-a",
            "cart-c",
            "bill-d",
            "console-groups",
            "console-groups-old",
            "console-offsets-old",
        ]
    ),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 60), st.text(max_size=12)), max_size=12),
)
def test_whatever_is_cut_out_of_a_text_or_put_into_it_the_rest_is_read(
    name: str, changes: list[tuple[float, int, str]]
) -> None:
    text = text_of(name)[:60_000]
    for where, length, put in changes:
        at = int(where * len(text))
        text = text[:at] + put + text[at + length :]

    found = list(read_text(text.splitlines(keepends=True), formats_of(text[:65_536]) or FORMATS))

    groups: dict[str, list[LogEvent]] = {}
    for each in found:
        if isinstance(each, LogEvent):
            groups.setdefault(each.group, []).append(each)
    for events in groups.values():
        inferred_entries(events, Recorded())
        inferred_entries(events, Recorded({1: events[0].at_ms}, {2: 5}, True))


@pytest.mark.parametrize(
    "part",
    [
        "[",
        " ",
        "\n",
        "a-",
        "a::GroupMetadata(",
        "Member a ",
        '{"done_ms": 9e',
        "x: ",
        "offset=1, leaderEpoch=, metadata=",
    ],
)
def test_a_long_line_of_one_repeated_part_takes_time_by_its_length(part: str) -> None:
    """Time that grows with the square of the length would be hours for these."""
    line = part * (600_000 // len(part))
    formats_of(line[:65_536])
    for form in FORMATS:
        reader = form.reader(0)
        list(reader.take(1, line) or ())
        list(reader.end())


@pytest.mark.parametrize("value", ["9" * 5_000, '{"a":' * 100_000, "9" * 30])
def test_numbers_and_nesting_that_no_tool_prints_are_a_problem_of_their_line(
    tmp_path: Path, value: str
) -> None:
    log = text_of("requests")
    entry = '{"sequence": 1, "at_ms": 1, "kind": "record", "offset": '
    record = "| offset: 1 CreateTime: 1 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: "
    text = "\n".join(
        [
            f'{{"done_ms": {value}, "total_ms": 1, "api": "JOIN_GROUP", "version": 9, "client": "a", "request": {{"groupId": "a"}}, "response": {{}}}}',
            f'[2026-11-27 12:38:10,000] DEBUG Completed request:{{"request": {value}}}',
            f'{{"key":{{"type":1,"data":{{"group":"a","topic":{value}}}}}}}',
            f'{record}{{"type":"2","data":{{"group":{value}}}}}',
            f"{entry}{value}}}",
            log,
        ]
    )
    folds = fold_text(tmp_path, text)

    assert {CHECKOUT, BILLING} <= set(folds.timelines)
    assert {line for reason in said(folds) for line in re.findall(r"line ([1-5])\b", reason)} >= {"1", "2"}


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_each_form_says_what_it_carries_and_what_it_lacks(form: Any) -> None:
    assert form.carries
    assert form.lacks


def test_an_ordinary_text_is_no_log_of_groups() -> None:
    assert not formats_of("Group photo: members have left the building\n2026-01-01 00:00:00 INFO started\n")
    assert LOG_LINES in formats_of(text_of("broker"))
