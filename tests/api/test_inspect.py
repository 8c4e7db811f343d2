"""Bytes over HTTP: inspected, edited, compared, and those of a timeline's records."""

from __future__ import annotations

import asyncio
import base64
import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.pages.inspector import answering, preparing, records
from groups import storage
from groups.models import Timeline
from groups.wire.codecs.primitives import to_base64
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from tests.api.conftest import Api
from tests.stories import TOPIC_ID, Story, a_day_of_three, classic_group, record

pytestmark = pytest.mark.once

Stored = Callable[..., Timeline]

WORKED = "00 01 00 00 00 01 00 03 66 6f 6f ff ff ff ff 00 00 00 01 00 03 66 6f 6f 00 00 00 02 00 00 00 00 00 00 00 01"
"""A subscription of version 1 to foo, which owns foo-0 and foo-1."""


def field(answer: Any, path: str) -> Any:
    found: Any = {"fields": answer["fields"]}
    for name in path.split("."):
        found = next(node for node in found["fields"] if node["name"] == name)
    return found


def bytes_of(answer: Any) -> bytes:
    return base64.b64decode(answer["bytes"])


def test_text_is_guessed_and_listed_field_by_field(api: Api) -> None:
    status, answer = api.post("inspect", {"text": WORKED})
    assert status == 200
    assert (answer["kind"], answer["version"], answer["how"], answer["read"]) == (
        "subscription",
        1,
        "hex",
        36,
    )
    assert bytes_of(answer) == bytes.fromhex(WORKED)
    owned = field(answer, "ownedPartitions")
    assert (owned["offset"], owned["length"], owned["prefix"], owned["since"]) == (15, 21, 4, 1)
    assert field(answer, "ownedPartitions.0.partitions")["value"] == [0, 1]
    assert "".join(part["text"] for part in answer["says"]).startswith("A subscription, version 1, to foo")
    assert answer["guesses"][0] == {
        "kind": "subscription",
        "title": "Subscription",
        "version": 1,
        "read": 36,
        "whole": True,
        "likely": True,
    }
    assert any("problem" in guess for guess in answer["guesses"])
    assert [(seen["version"], seen["read"]) for seen in answer["clients"]] == [
        (0, 15),
        (1, 36),
        (2, 36),
        (3, 36),
    ]


def test_an_edit_makes_the_lengths_around_it_anew(api: Api) -> None:
    path = "ownedPartitions.0.partitions"
    status, answer = api.post(
        "inspect", {"text": WORKED, "kind": "subscription", "edits": [{"path": path, "value": [0, 1, 5]}]}
    )
    assert status == 200
    assert answer["length"] == 40
    assert field(answer, path)["value"] == [0, 1, 5]
    _, older = api.post(
        "inspect",
        {"bytes": answer["bytes"], "kind": "subscription", "edits": [{"path": "version", "value": 0}]},
    )
    assert [node["name"] for node in older["fields"]] == ["version", "topics", "userData"]


def test_two_are_matched_by_name(api: Api) -> None:
    newer = encode_subscription(
        {
            "version": 3,
            "topics": ["foo"],
            "userData": None,
            "ownedPartitions": [],
            "generationId": 4,
            "rackId": "a",
        }
    )
    status, answer = api.post(
        "inspect/compare",
        {"first": {"bytes": to_base64(newer), "name": "c-1"}, "second": {"text": WORKED, "name": "c-2"}},
    )
    assert status == 200
    rows = {row["path"]: row for row in answer["rows"]}
    assert rows["generationId"]["same"] is False
    assert "b" not in rows["generationId"]
    assert rows["topics.0"]["same"] is True
    assert [lead["title"] for lead in answer["leads"]] == ["If c-2 leads", "If c-1 leads"]
    assert "ignores" in answer["leads"][0]["says"]
    assert "".join(part["text"] for part in answer["says"]).startswith(
        "c-1 is of version 3, c-2 of version 1."
    )


def test_a_record_of_a_timeline_gives_its_key_and_value(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    status, answer = api.get(f"timelines/{timeline.id}/entries/1/bytes")
    assert status == 200
    assert (answer["key"]["kind"], answer["value"]["kind"]) == ("key", "consumer-group-member-metadata-value")
    assert field(answer["key"], "memberId")["value"] == "A"
    assert field(answer["value"], "clientId")["value"] == "a"
    assert answer["place"] == "__consumer_offsets-0, offset 0"
    _, tombstone = api.get(f"timelines/{timeline.id}/entries/16/bytes")
    assert tombstone["value"] is None


def test_topic_ids_are_called_by_the_names_that_their_timeline_knows(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    _, nameless = api.get(f"timelines/{timeline.id}/entries/5/bytes")
    assert "called" not in field(nameless["value"], "assignedPartitions.0.topicId")
    storage.set_topic_names(timeline.id, {TOPIC_ID: "payments"})
    _, found = api.get(f"timelines/{timeline.id}/entries/5/bytes")
    topic = field(found["value"], "assignedPartitions.0.topicId")
    assert (topic["value"], topic["called"], topic["meaning"]) == (TOPIC_ID, "payments", "payments")
    assert "payments-" in "".join(part["text"] for part in found["value"]["says"])
    body = {
        "bytes": found["value"]["bytes"],
        "kind": found["value"]["kind"],
        "edits": [{"path": "memberEpoch", "value": 9}],
    }
    _, edited = api.post("inspect", body | {"timeline": timeline.id})
    assert field(edited, "assignedPartitions.0.topicId")["called"] == "payments"
    assert api.post("inspect", body | {"timeline": "nope"})[0] == 404


def test_a_classic_groups_blobs_are_opened_in_place(stored: Stored, api: Api) -> None:
    timeline = stored(Story().unit(classic_group()))
    _, answer = api.get(f"timelines/{timeline.id}/entries/1/bytes")
    value = answer["value"]
    assert field(value, "members.0.subscription")["kind"] == "subscription"
    given = field(value, "members.0.assignment.assignedPartitions.0.partitions")
    assert given["value"] == [0, 1]
    at = given["offset"] + given["prefix"]
    assert bytes_of(value)[at : at + 8] == bytes([0, 0, 0, 0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {},
            "The request needs text (hex, base64, or bytes as a language prints them) or bytes (base64), one of the two.",
        ),
        ({"text": "00", "bytes": "AA=="}, "one of the two"),
        ({"text": "  "}, "There are no bytes in it."),
        ({"text": "00 01\n00 zz!"}, "Line 2, column 6: '!' belongs to neither hex nor base64."),
        ({"text": 7}, "text must be hex, base64, or bytes as a language prints them."),
        ({"bytes": "é"}, "bytes must be base64"),
        ({"text": "00", "kind": "nonsense"}, "'nonsense' is no kind of bytes"),
        ({"text": "00", "kind": 7}, "kind must be text"),
        ({"text": "00", "version": -1}, "version=-1 must be a whole number from 0 to 32767."),
        ({"text": "00", "edits": [{"path": "a", "value": 1}]}, "Edits need the kind of the bytes."),
        ({"text": "00", "kind": "key", "edits": [{"path": 7}]}, "An edit is"),
        (
            {"text": WORKED, "kind": "subscription", "edits": [{"path": "topics.9", "value": "x"}]},
            "there is no such element",
        ),
        (
            {"text": WORKED, "kind": "subscription", "edits": [{"path": "version", "value": "new"}]},
            "is not an int16",
        ),
    ],
)
def test_what_cannot_be_done_gets_one_line(api: Api, body: Any, message: str) -> None:
    status, answer = api.post("inspect", body)
    assert status == 400
    assert message in answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]


def test_more_bytes_than_the_bound_are_refused_by_its_name(api: Api) -> None:
    most = answering.BYTES_MOST
    assert api.post("inspect", {"bytes": to_base64(bytes(most)), "kind": "key", "guess": False})[0] == 200
    for size in (most + 1, 1024 * 1024):
        status, answer = api.post("inspect", {"bytes": to_base64(bytes(size))})
        assert status == 413
        assert f"{most:,} bytes" in answer["error"]["message"]


def test_a_comparison_says_which_side_is_wrong(api: Api) -> None:
    status, answer = api.post("inspect/compare", {"first": {"text": WORKED}, "second": {"text": "0"}})
    assert (status, answer["error"]["side"], answer["error"]["line"]) == (400, "second", 1)
    assert api.post("inspect/compare", {"first": {"text": WORKED}})[0] == 400


def test_damaged_bytes_are_an_answer_and_no_error(api: Api) -> None:
    status, answer = api.post("inspect", {"text": WORKED[:80], "kind": "subscription"})
    assert status == 200
    assert answer["problem"]["path"].startswith("ownedPartitions")
    assert field(answer, "topics.0")["value"] == "foo"


def test_only_records_have_bytes(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    status, answer = api.get(f"timelines/{timeline.id}/entries/99/bytes")
    assert (status, answer["error"]["message"]) == (
        404,
        f"Timeline {timeline.id} has entries 1 to 20; there is no 99.",
    )


def test_what_the_first_guess_needs_is_made_while_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AFTER_START_S", "PAUSE_S"):
        monkeypatch.setattr(preparing, name, 0)
    steps = []
    monkeypatch.setattr(preparing, "prepare", lambda: iter([None, None]))
    monkeypatch.setattr(preparing, "guess", steps.append)
    asyncio.run(preparing.prepare_guesses())
    assert steps == [preparing.PLAIN]


def test_what_nothing_speaks_for_is_told_as_no_more_than_possible(api: Api) -> None:
    _, answer = api.post("inspect", {"text": "00000006"})
    assert (answer["guesses"][0]["likely"], answer["version"]) == (False, None)
    assert answer["says"][0]["text"].startswith("User data of cooperative-sticky, perhaps: ")
    _, chosen = api.post("inspect", {"text": "00000006", "kind": "cooperative-sticky-user-data"})
    assert "perhaps" not in chosen["says"][0]["text"]


def told(answer: Any) -> str:
    return "".join(part["text"] for part in answer["says"])


def test_a_record_is_compared_with_the_one_before_of_its_key(stored: Stored, api: Api) -> None:
    def current(epoch: int, partitions: list[int], state: int = 0) -> dict[str, Any]:
        held = [{"topicId": TOPIC_ID, "partitions": partitions}]
        value = Story().current_assignment(held) | {"memberEpoch": epoch, "state": state}
        return record(8, {"memberId": "A"}, value)

    story = Story().joins("A", [0, 1, 2]).joins("B", [3]).unit(current(3, [0, 1], 1)).leaves("A")
    timeline = stored(story)
    _, found = api.get(f"timelines/{timeline.id}/entries/11/bytes")
    assert (found["before"], found["searched_from"]) == (5, 5)
    _, first = api.get(f"timelines/{timeline.id}/entries/5/bytes")
    assert (first["before"], first["searched_from"]) == (None, 1)
    storage.set_topic_names(timeline.id, {TOPIC_ID: "foo"})

    def sides(before: int, after: int) -> Any:
        of = {"timeline": timeline.id}
        status, answer = api.post(
            "inspect/compare", {"first": of | {"entry": before}, "second": of | {"entry": after}}
        )
        assert status == 200
        return answer

    answer = sides(5, 11)
    assert told(answer) == (
        "From entry 5 to entry 11: member epoch 2 → 3, state STABLE → UNREVOKED_PARTITIONS, "
        "assigned partitions lost foo-2."
    )
    assert {part["path"] for part in answer["says"] if "path" in part} <= {
        row["path"] for row in answer["rows"]
    }
    assert told(sides(5, 5)) == "Every field of entry 5 is the same as in entry 5."
    gone = sides(11, 12)
    assert told(gone) == "Entry 12 is a tombstone: what entry 11 said is gone."
    assert all("b" not in row for row in gone["rows"])
    assert told(sides(12, 5)) == "Entry 12 is a tombstone; entry 5 gives the key a value anew."
    assert api.post("inspect/compare", {"first": {"timeline": timeline.id, "entry": "5"}})[0] == 400


def test_of_a_classic_group_the_sentence_names_the_members(stored: Stored, api: Api) -> None:
    before = classic_group()
    after = copy.deepcopy(before)
    member = after["value"]["members"][0]
    other = {"version": 1, "assignedPartitions": [{"topic": "foo", "partitions": [1]}], "userData": None}
    member["assignment"] = to_base64(encode_assignment(other))
    after["value"]["generation"] = 2
    after["value"]["members"].append(member | {"memberId": "c-2", "clientId": "d"})
    timeline = stored(Story().unit(before).unit(after))
    of = {"timeline": timeline.id}
    _, answer = api.post("inspect/compare", {"first": of | {"entry": 1}, "second": of | {"entry": 2}})
    assert told(answer) == (
        "From entry 1 to entry 2: generation 1 → 2, c’s assigned partitions lost foo-0, members gained d."
    )


def test_the_record_before_is_looked_for_among_so_many_entries(
    stored: Stored, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(a_day_of_three())
    _, found = api.get(f"timelines/{timeline.id}/entries/20/bytes")
    assert found["before"] == 14
    monkeypatch.setattr(records, "SEARCHED_MOST", 3)
    _, short = api.get(f"timelines/{timeline.id}/entries/20/bytes")
    assert (short["before"], short["searched_from"]) == (None, 17)


def test_a_record_of_a_run_by_the_proposal_is_laid_out_as_the_proposal_has_it(
    stored: Stored, api: Api
) -> None:
    timeline = stored(a_day_of_three(), semantics="kip")
    status, answer = api.get(f"timelines/{timeline.id}/entries/5/bytes")
    assert status == 200
    assert answer["value"]["kind"] == "kip-consumer-group-current-member-assignment-value"
    assert field(answer["value"], "topicPartitions.0.partitions")["value"]
    told = "".join(part["text"] for part in answer["value"]["says"])
    assert told.endswith("Laid out as KIP-848 has it; the run keeps besides: previousMemberEpoch, state.")
