"""Notes at moments of a timeline: who writes, edits and deletes them, whom they name, and what they may contain."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from explorer.accounts.guesses import Guesses
from explorer.accounts.models import AuditEntry
from explorer.pages.timelines import notes
from groups.models import Timeline
from tests.access.test_roles import people, person, team
from tests.stories import a_day_of_three

__all__ = ["people", "person", "team"]
ALL = "/api/timelines/of-all/notes"


def body(**fields: Any) -> bytes:
    return orjson.dumps(fields)


@pytest.fixture
def timeline(people: Any, stored: Any) -> Timeline:
    made: Timeline = stored(a_day_of_three(), timeline_id="of-all")
    return made


async def test_editors_write_reply_edit_and_name_people_and_only_the_author_or_an_admin_changes_a_note(
    people: dict[str, Any], timeline: Timeline
) -> None:
    ada, eve, vera, root = (people[name] for name in ("ada", "eve", "vera", "root"))
    assert (await vera(ALL, "POST", body(text="no", at=1))).status == 403
    asked = await ada(
        ALL, "POST", body(text=" @eve, is 60 s ours? x@eve @nobody @eve.", at=3, kind="question")
    )
    assert asked.status == 201
    question = asked.json
    assert question["mentions"] == ["eve"]
    assert (question["author"], question["at"], question["kind"], question["edited"]) == (
        "ada",
        3,
        "question",
        None,
    )
    address = asked.headers["location"]
    assert "is 60 s ours" in (await eve("/timelines")).body.decode()
    assert "is 60 s ours" not in (await ada("/timelines")).body.decode()
    reply = (await eve(ALL, "POST", body(text="Ours.", parent=question["id"]))).json
    assert (reply["parent"], reply["at"]) == (question["id"], 3)
    assert "is 60 s ours" not in (await eve("/timelines")).body.decode(), "it is answered"

    assert (await eve(address, "PATCH", body(text="mine"))).status == 403
    assert (await eve(address, "DELETE")).status == 403
    for number in range(notes.VERSIONS_MOST + 2):
        edited = (await ada(address, "PATCH", body(text=f"text {number}"))).json
    assert [one["text"] for one in edited["versions"]] == [f"text {number}" for number in range(1, 11)]
    assert (await root(address, "PATCH", body(text="shorter"))).json["versions"][-1]["by"] == "root"
    listed = (await vera(ALL)).json
    assert [(one["text"], one["may_change"]) for one in listed] == [("shorter", False), ("Ours.", False)]
    assert [one["may_change"] for one in (await eve(ALL)).json] == [False, True]
    assert (await ada(address, "DELETE")).status == 204
    left = [(one["text"], one["versions"], one["mentions"]) for one in (await vera(ALL)).json]
    assert left == [("", [], []), ("Ours.", [], [])], "nobody deletes what others have replied"
    assert (await eve(f"/api/notes/{reply['id']}", "DELETE")).status == 204
    assert (await vera(ALL)).json == []
    assert (await ada(address, "DELETE")).status == 404
    rows = AuditEntry.objects.filter(action__endswith="note").order_by("pk").values_list("name", "action")
    logged = [row async for row in rows]
    assert logged[:2] == [("ada", "note"), ("eve", "note")]
    assert logged[-3:] == [("root", "change-note"), ("ada", "change-note"), ("eve", "change-note")]


async def test_what_is_no_note_is_refused_in_one_line_and_so_is_one_too_many(
    people: dict[str, Any], timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = people["ada"]
    first = (await ada(ALL, "POST", body(text="x", at=0))).json
    reply = (await ada(ALL, "POST", body(text="y", parent=first["id"]))).json
    for wrong, status in (
        ({"text": ""}, 400), ({"text": 5}, 400), ({"text": "x" * 1001}, 400), ({"at": -1}, 400), ({"at": True}, 400), ({"at": 10**18}, 404),
        ({"at": timeline.last + 1}, 404), ({"kind": "rant"}, 400), ({"parent": reply["id"]}, 400), ({"parent": {"a": 1}}, 400),
    ):  # fmt: skip
        refused = await ada(ALL, "POST", body(**({"text": "x", "at": 1} | wrong)))
        assert (refused.status, wrong) == (status, wrong)
        assert "\n" not in refused.message
    assert (await ada("/api/timelines/gone/notes", "POST", body(text="x", at=1))).status == 404
    monkeypatch.setattr(notes, "NOTES_MOST", 2)
    assert (await ada(ALL, "POST", body(text="z", at=1))).status == 409
    monkeypatch.setattr(notes, "written", Guesses(0, 60.0))
    assert (await ada(ALL, "POST", body(text="z", at=1))).status == 429
