"""``manage.py timeline``: what scripts read of stored timelines."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from groups import storage
from groups.models import Timeline
from tests.stories import TOPIC_ID, Story, a_day_of_three

Stored = Callable[..., Timeline]


def lines(*words: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("timeline", *words, stdout=out)
    return [orjson.loads(line) for line in out.getvalue().splitlines()]


def test_the_list_has_a_line_for_each_timeline(stored: Stored) -> None:
    older, newer = stored(a_day_of_three()), stored(Story().joins("A", [0]), title="Newer")
    assert lines("list") == [
        {
            "id": timeline.id,
            "title": title,
            "group": "orders",
            "protocol": "consumer",
            "source": "import",
            "status": "complete",
            "entries": entries,
            "first_ms": 1000,
            "last_ms": last_ms,
            "gaps": [],
        }
        for timeline, title, entries, last_ms in ((newer, "Newer", 5, 1000), (older, "Orders", 20, 4000))
    ]


def test_entries_are_shown_as_they_were_recorded(stored: Stored) -> None:
    story = a_day_of_three()
    timeline = stored(story)
    assert lines("show", timeline.id) == [entry.to_json() for entry in story.entries]
    assert lines("show", timeline.id, "--at", "7") == [story.entries[6].to_json()]


def test_a_frame_stands_for_each_entry_and_says_whether_it_existed(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    frames = lines("show", timeline.id, "--format", "frames")
    assert [frame["sequence"] for frame in frames] == list(range(1, 21))
    assert [frame["sequence"] for frame in frames if frame["settled"]] == [5, 10, 15, 20]
    assert {**(storage.frame_at(timeline, 10) or {}), "settled": True} == frames[9]
    assert lines("show", timeline.id, "--format", "frames", "--at", "10") == [frames[9]]
    assert lines("show", timeline.id, "--format", "frames", "--at", "0")[0]["members"] == {}


def test_a_moment_is_told_by_its_time_too(stored: Stored) -> None:
    timeline = stored(a_day_of_three())

    def at_ms(ms: int) -> int:
        [shown] = lines("show", timeline.id, "--format", "frames", "--at-ms", str(ms))
        sequence: int = shown["sequence"]
        return sequence

    assert [at_ms(ms) for ms in (0, 1000, 1999, 2000, 10**9)] == [0, 5, 5, 10, 20]


def test_the_last_entry_of_a_time_counts_where_time_runs_backwards(stored: Stored) -> None:
    story = Story().joins("A", [0]).joins("B", [1])
    story.at_ms = 500
    timeline = stored(story.joins("C", [2]))
    # C joined at 1500 by a clock that was behind, and after B, who joined at 2000.
    assert lines("show", timeline.id, "--format", "frames", "--at-ms", "1600")[0]["sequence"] == 15


def test_records_are_shown_with_their_place_and_name(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    records = lines("show", timeline.id, "--format", "records")
    assert len(records) == 20
    assert records[1] == {
        "partition": 0,
        "offset": 1,
        "batch": 1,
        "timestamp": 1000,
        "at_ms": 1000,
        "sequence": 2,
        "unit": 1,
        "name": "ConsumerGroupMetadata",
        "type": 3,
        "key": {"groupId": "orders"},
        "version": 0,
        "value": {"epoch": 2},
    }


def test_findings_and_verdict_are_those_of_the_end_or_of_a_moment(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    assert lines("show", timeline.id, "--format", "verdict") == [timeline.summary["verdict"]]
    assert lines("show", timeline.id, "--format", "findings") == timeline.summary["findings"]
    [early] = lines("show", timeline.id, "--format", "verdict", "--at", "10")
    assert "A and B joined" in early["text"]
    assert "C" not in early["text"]
    assert {
        finding["kind"] for finding in lines("show", timeline.id, "--format", "findings", "--at", "5")
    } == {finding["kind"] for finding in stored(Story().joins("A", [0])).summary["findings"]}


def test_given_topic_names_are_shown_and_entries_are_left_alone(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    storage.set_topic_names(timeline.id, {TOPIC_ID: "foo"})
    [frame] = lines("show", timeline.id, "--format", "frames", "--at", "20")
    assert frame["members"]["A"]["assigned"] == {"foo": [0]}
    assert TOPIC_ID in orjson.dumps(lines("show", timeline.id)).decode()


def test_a_watched_value_is_followed_and_names_are_found(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    [watched] = lines("watch", timeline.id, "members minus 1")
    assert [step["value"] for step in watched["steps"]] == [0, 1, 2, 1]
    assert [one["id"] for one in lines("list", "--find", "no-such-word")] == []
    assert [one["id"] for one in lines("list", "--find", "orders")] == [timeline.id]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["watch", "ID", "owner of x"], 2, "is no partition such as orders-2"),
        (["show", "nowhere"], 1, "There is no timeline 'nowhere'"),
        (["show", "ID", "--at", "21"], 1, "has entries 1 to 20; there is no 21"),
        (["show", "ID", "--at", "-1"], 1, "has entries 1 to 20; there is no -1"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    stored: Stored, words: list[str], code: int, message: str
) -> None:
    timeline = stored(a_day_of_three())
    with pytest.raises(CommandError, match=message) as told:
        lines(*(word.replace("ID", timeline.id) for word in words))
    assert told.value.returncode == code


@pytest.mark.django_db
def test_where_nothing_is_stored_a_line_says_what_stores_something() -> None:
    out, said = StringIO(), StringIO()
    call_command("timeline", "list", stdout=out, stderr=said)
    assert out.getvalue() == ""
    with pytest.raises(CommandError) as refused:
        call_command("timeline", "show", "kip848-basic")
    assert refused.value.returncode == 1
    for line in (said.getvalue(), str(refused.value)):
        assert line.startswith("Nothing is stored yet: the first `make run` stores the case studies")


def test_entries_that_were_shown_are_added_as_a_timeline_of_the_same_entries(
    stored: Stored, tmp_path: Path
) -> None:
    shown = lines("show", stored(a_day_of_three()).id)
    file = tmp_path / "a-day.jsonl"
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in shown))
    (told,) = lines("add", str(file))
    assert (told["title"], told["group"], told["entries"]) == ("a-day", "orders", len(shown))
    assert lines("show", told["id"]) == shown
    (again,) = lines("add", str(file), "--title", "Once more")
    assert again["title"] == "Once more"
    assert again["id"] != told["id"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no entries"),
        (b"{}\n", "line 1 is no entry: KeyError"),
        (b"[1]\n", "line 1 is no entry"),
        (b"nonsense\n", "line 1 is no JSON"),
        (
            b'{"sequence": 2, "at_ms": 0, "kind": "note", "actor": "c", "cause": null, "provenance": "recorded",'
            b' "settled": true, "payload": {}}\n',
            "line 1 has sequence 2",
        ),
        (
            b'{"sequence": 1, "at_ms": 0, "kind": "note", "actor": "c", "cause": null, "provenance": "recorded",'
            b' "settled": true, "payload": {}}\n',
            "no entry tells the group",
        ),
    ],
)
def test_what_holds_no_entries_is_refused_in_one_line_and_nothing_is_stored(
    tmp_path: Path, content: bytes, says: str
) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=says) as refused:
        lines("add", str(file))
    assert refused.value.returncode == 2
    assert not Timeline.objects.exists()


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file") as refused:
        lines("add", str(tmp_path / "nowhere.jsonl"))
    assert refused.value.returncode == 2


def test_removed_timelines_are_gone_and_each_is_told(stored: Stored) -> None:
    kept, first, second = (stored(a_day_of_three()) for _ in range(3))
    assert [line["id"] for line in lines("remove", first.id, second.id)] == [first.id, second.id]
    assert [line["id"] for line in lines("list")] == [kept.id]


def test_a_mistyped_id_among_those_to_remove_leaves_all_of_them(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    with pytest.raises(CommandError) as refused:
        lines("remove", timeline.id, "mistyped")
    assert refused.value.returncode == 1
    assert storage.get(timeline.id)


def test_motifs_have_a_line_each_with_the_entries_that_prove_them(stored: Stored) -> None:
    story = Story().joins("A", [0]).joins("B", [1])
    for _ in range(3):
        story = story.leaves("B").joins("B", [1])
    timeline = stored(story)
    found = lines("motifs", timeline.id)
    assert found == storage.motifs(timeline)["motifs"]
    assert "B leaves 3 times" in [one["text"] for one in found]
