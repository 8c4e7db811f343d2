"""Timelines over HTTP, as the browser and other programs read them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from groups import storage
from groups.history.entries import ENTRY_FORMAT, Entry
from groups.history.frames.changes import apply, unapply
from groups.history.metrics import Metrics
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from tests.api.conftest import Api
from tests.stories import TOPIC_ID, Story, a_day_of_three

Stored = Callable[..., Timeline]


def test_the_list_tells_of_each_timeline_in_short(stored: Stored, api: Api) -> None:
    older, newer = stored(a_day_of_three()), stored(Story().joins("A", [0]), title="Newer")
    status, rows = api.get("timelines")
    assert status == 200
    assert [row["id"] for row in rows] == [newer.id, older.id]
    assert rows[1] | {"created": ""} == {
        "id": older.id,
        "title": "Orders",
        "group": "orders",
        "protocol": "consumer",
        "source": "import",
        "status": "complete",
        "problem": "",
        "waits": "",
        "semantics": "",
        "release": "",
        "seed": None,
        "last": 20,
        "entries": 20,
        "first_ms": 1000,
        "last_ms": 4000,
        "created": "",
        "summary": {
            "state": older.summary["state"],
            "first_ms": 1000,
            "last_ms": 4000,
            "verdict": older.summary["verdict"],
        },
    }


def test_the_detail_tells_all_that_a_board_begins_with(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    status, detail = api.get(f"timelines/{timeline.id}")
    assert status == 200
    assert detail["provenance"] == "recorded"
    assert (detail["entry_format"], detail["fold_version"]) == (ENTRY_FORMAT, FOLD_VERSION)
    assert detail["version"].startswith(f"{ENTRY_FORMAT}.{FOLD_VERSION}.")
    moments = len(api.get(f"timelines/{timeline.id}/chunks/1")[1]["moments"])
    assert detail["chunks"] == [{"number": 0, "first": 1, "last": 20, "moments": moments}]
    assert detail["members_most"] == 3
    assert [member["id"] for member in detail["summary"]["cast"]] == ["A", "B", "C"]
    assert detail["summary"] == timeline.summary


def test_old_frame_and_changes_give_the_fresh_frame_forwards_and_backwards(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    path = f"timelines/{timeline.id}"
    _, fresh = api.get(f"{path}/frame")
    for after in range(timeline.last + 1):
        _, old = api.get(f"{path}/frame", at=after)
        _, answer = api.get(f"{path}/changes", after=after)
        assert (answer["after"], answer["last"], answer["more"]) == (after, 20, False)
        assert apply(old, answer["changes"]) == fresh
        assert unapply(fresh, answer["changes"]) == old


def test_a_chunk_can_be_kept_for_good_only_under_its_very_version(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    address = f"/api/timelines/{timeline.id}/chunks/1"
    version = storage.version(timeline)

    kept = api.client.get(f"{address}?v={version}")
    assert "immutable" in kept["Cache-Control"]
    assert "max-age=31536000" in kept["Cache-Control"]
    for other in (f"{address}?v=1.1", address):
        answer = api.client.get(other)
        assert answer.content == kept.content
        assert answer["Cache-Control"] == "no-cache"

    storage.set_topic_names(timeline.id, {TOPIC_ID: "foo"})
    renamed = api.client.get(f"{address}?v={version}")
    assert renamed["Cache-Control"] == "no-cache"
    assert renamed.content != kept.content


def test_a_chunk_that_can_still_grow_is_asked_for_again(transactional_db: None, api: Api) -> None:
    timeline = storage.create_timeline(title="Orders", source="simulation", group="orders")
    writer = storage.open_writer(timeline.id, "one")
    writer.append(a_day_of_three().batches()[0])
    answer = api.client.get(f"/api/timelines/{timeline.id}/chunks/1?v={storage.version(timeline)}")
    assert answer["Cache-Control"] == "no-cache"


def test_an_answer_that_has_not_changed_is_not_sent_again(stored: Stored, api: Api) -> None:
    address = f"/api/timelines/{stored(a_day_of_three()).id}"
    tag = api.client.get(address)["ETag"]
    again = api.client.get(address, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_large_answer_is_compressed(stored: Stored, api: Api) -> None:
    address = f"/api/timelines/{stored(a_day_of_three()).id}/chunks/1"
    plain = api.client.get(address)
    small = api.client.get(address, headers={"Accept-Encoding": "gzip"})
    assert small["Content-Encoding"] == "gzip"
    assert len(small.content) * 3 < len(plain.content)


def test_entries_are_told_from_one_sequence_to_another(stored: Stored, api: Api) -> None:
    story = a_day_of_three()
    path = f"timelines/{stored(story).id}/entries"
    assert api.get(path, **{"from": 3, "to": 4}) == (
        200,
        {"entries": [entry.to_json() for entry in story.entries[2:4]]},
    )
    assert len(api.get(path)[1]["entries"]) == 20
    assert api.get(path, **{"from": 30, "to": 40}) == (200, {"entries": []})


def test_metrics_stand_as_of_any_moment_and_a_chunk_says_the_same_as_the_whole_log(
    stored: Stored, api: Api
) -> None:
    timeline = stored(a_day_of_three())
    status, found = api.get(f"timelines/{timeline.id}/metrics?at=9")
    assert (status, found["sequence"]) == (200, 9)
    straight = Metrics()
    for entry in storage.entries_between(timeline, 1, 9):
        straight.add(Entry.from_json(entry))
    assert found == straight.values(storage.frame_at(timeline, 9) or {})
    status, refused = api.get(f"timelines/{timeline.id}/metrics?at=999")
    assert (status, refused["error"]["field"]) == (404, "at")


def test_the_figure_of_epochs_has_a_line_for_each_member(stored: Stored, api: Api) -> None:
    status, figure = api.get(f"timelines/{stored(a_day_of_three()).id}/figures/epochs")
    assert status == 200
    members = [line["meta"]["member"] for line in figure["data"] if line["meta"]["line"] == "member"]
    assert members == ["A", "B", "C"]


def test_motifs_come_with_the_entries_that_prove_them(stored: Stored, api: Api) -> None:
    story = Story().joins("A", [0]).joins("B", [1])
    for _ in range(3):
        story = story.leaves("B").joins("B", [1])
    timeline = stored(story)
    _, found = api.get(f"timelines/{timeline.id}/motifs")
    assert (found["is_known"], found["left_out"]) == (True, 0)
    (often,) = [one for one in found["motifs"] if one["kind"] == "left_often"]
    assert (often["text"], len(often["sequences"])) == ("B leaves 3 times", 3)


def test_topics_are_named_and_the_names_are_taken_back(stored: Stored, api: Api) -> None:
    path = f"timelines/{stored(a_day_of_three()).id}"
    status, answer = api.patch(f"{path}/topics", {TOPIC_ID: "foo"})
    assert (status, answer["topic_names"]) == (200, {TOPIC_ID: "foo"})
    assert answer["version"] == api.get(path)[1]["version"]
    assert "foo" in api.get(path)[1]["summary"]["topics"]
    assert api.get(f"{path}/frame")[1]["members"]["A"]["assigned"] == {"foo": [0]}
    assert api.patch(f"{path}/topics", {TOPIC_ID: None})[1]["topic_names"] == {}


def test_a_timeline_is_deleted_and_a_case_study_is_not(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    assert api.delete(f"timelines/{timeline.id}") == (204, None)
    assert api.get(f"timelines/{timeline.id}")[0] == 404
    study = stored(a_day_of_three(), source="case-study")
    assert api.delete(f"timelines/{study.id}")[0] == 403


def test_a_running_timeline_is_cancelled_once(transactional_db: None, api: Api) -> None:
    timeline = storage.create_timeline(title="Orders", source="simulation", group="orders")
    path = f"timelines/{timeline.id}/cancel"
    assert api.post(path) == (200, {"cancelled": True, "status": "cancelled"})
    assert api.post(path) == (200, {"cancelled": False, "status": "cancelled"})


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("timelines/nowhere", 404, "There is no timeline 'nowhere'"),
        ("timelines/nowhere/frame", 404, "There is no timeline 'nowhere'"),
        ("timelines/ID/frame?at=21", 404, "has entries 1 to 20; there is no 21"),
        ("timelines/ID/frame?at=-1", 400, "at='-1' must be a whole number from 0"),
        ("timelines/ID/frame?at=99999999999999999999", 400, "must be a whole number from 0"),
        ("timelines/ID/frame?at=%D9%A3", 400, "must be a whole number from 0"),
        ("timelines/ID/changes", 400, "The query lacks after"),
        ("timelines/ID/changes?after=x", 400, "after='x' must be a whole number from 0"),
        ("timelines/ID/chunks/2", 404, "No chunk of timeline"),
        ("timelines/ID/entries?from=0", 400, "from='0' must be a whole number from 1"),
        ("timelines/ID/cancel", 405, "GET is not for this address, which takes POST"),
    ],
)
def test_a_question_that_cannot_be_answered_gets_one_line_that_says_why(
    stored: Stored, api: Api, path: str, status: int, message: str
) -> None:
    timeline = stored(a_day_of_three())
    answer: tuple[int, Any] = api.get(path.replace("ID", timeline.id))
    assert answer[0] == status
    told = answer[1]["error"]["message"]
    assert message in told
    assert "\n" not in told


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"foo"'])
def test_a_body_that_is_no_json_object_gets_one_line(stored: Stored, api: Api, body: bytes) -> None:
    address = f"/api/timelines/{stored(a_day_of_three()).id}/topics"
    answer = api.client.patch(address, body, content_type="application/json")
    assert answer.status_code == 400
    assert orjson.loads(answer.content)["error"]["message"].startswith("The request ")


def test_a_timeline_of_another_fold_is_told_to_be_on_its_way(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    answer = api.client.get(f"/api/timelines/{timeline.id}/frame")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Origin": "http://testserver"},
        {"Referer": "https://example.org/page"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Cookie": "csrftoken=guessed"},
    ],
)
def test_another_sites_page_cannot_change_anything(stored: Stored, headers: dict[str, str]) -> None:
    address = f"/api/timelines/{stored(a_day_of_three()).id}"
    answer = Client(enforce_csrf_checks=True).delete(address, headers=headers)
    assert answer.status_code == 403
    assert "X-CSRFToken" in orjson.loads(answer.content)["error"]["message"]


def test_our_own_page_changes_something_with_its_token_and_a_program_without(stored: Stored) -> None:
    page = Client(enforce_csrf_checks=True)
    page.get("/simulate/")
    headers = {"Origin": "http://testserver", "X-CSRFToken": page.cookies["csrftoken"].value}
    assert page.delete(f"/api/timelines/{stored(a_day_of_three()).id}", headers=headers).status_code == 204
    program = Client(enforce_csrf_checks=True)
    assert program.delete(f"/api/timelines/{stored(a_day_of_three()).id}").status_code == 204
    # Pages' forms always carry the token.
    assert program.post("/simulate/", {}).status_code == 403


def test_the_figure_reads_the_newest_chunks_alone(
    stored: Stored, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story()
    for number in range(300):
        story.joins(f"member-{number}", [number])
    timeline = stored(story, units_a_batch=10)
    chunks = storage.chunks(timeline)
    assert len(chunks) > 1
    monkeypatch.setattr(sys.modules["groups.storage.watched"], "CHUNKS_MOST", 1)
    _, figure = api.get(f"timelines/{timeline.id}/figures/epochs")
    assert figure["data"][0]["customdata"][0] == chunks[-1].first - 1


def test_a_timeline_is_given_another_name_and_a_case_study_keeps_its_own(stored: Stored) -> None:
    timeline = stored(Story().joins("A", [0, 1])).id

    def patch(body: Any) -> Any:
        address = f"/api/timelines/{timeline}"
        return Client().patch(address, orjson.dumps(body), content_type="application/json")

    answer = patch({"title": "  Outage of\n22 November "})
    assert (answer.status_code, answer.json()) == (200, {"id": timeline, "title": "Outage of 22 November"})
    assert storage.get(timeline).title == "Outage of 22 November"
    for body, says in (({"title": " "}, "1 to 200"), ({"title": "x" * 201}, "1 to 200"), ({}, "as text")):
        refused = patch(body)
        assert refused.status_code == 400
        assert says in refused.json()["error"]["message"]
    Timeline.objects.filter(pk=timeline).update(source=Timeline.Source.CASE_STUDY)
    assert patch({"title": "Mine"}).status_code == 403
