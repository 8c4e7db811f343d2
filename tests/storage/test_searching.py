"""The search over stored timelines: what a timeline is found by, and that its words follow it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from groups import storage
from groups.models import Note, Timeline
from groups.packs.listed_summary import WORDS_LENGTH_MOST, words_of
from groups.storage.searching import FOUND_MOST
from tests.stories import GROUP, Story

Store = Callable[..., Timeline]


def found(client: Client, text: str) -> list[str]:
    answer = client.get("/api/timelines", {"q": text, "most": "10"})
    assert answer.status_code == 200, answer.content
    return [one["id"] for one in answer.json()]


def test_a_timeline_is_found_by_its_group_members_hosts_topics_findings_and_name(
    stored: Store, client: Client
) -> None:
    one = stored(Story().joins("worker-07", [0]).leaves("worker-07"), title="Night of the deploy")
    other = stored(Story().joins("B", [0]), title="Other")
    said = one.summary["findings"][0]["says"].split()[0]
    for text in ("DEPLOY", "Worker-0", "ker-07 deploy", said, one.summary["hosts"][0]):
        assert one.id in found(client, text), text
    assert found(client, "worker-07") == [one.id]
    assert set(found(client, GROUP)) == {one.id, other.id}
    assert found(client, "worker-07 no-such-word") == []
    assert found(client, "") == [other.id, one.id]


def test_words_follow_a_timeline_that_grows_and_one_that_is_folded_again(stored: Store) -> None:
    story = Story().joins("first-one", [0])
    batches = story.joins("late-comer", [1]).batches(1)
    timeline = storage.create_timeline(title="Grows", source="simulation")
    writer = storage.open_writer(timeline.id, "the test")
    finds = Timeline.objects.filter(storage.matches("late-comer")).exists
    writer.append(batches[0])
    assert not finds()
    for batch in batches[1:]:
        writer.append(batch)
    writer.finish("complete")
    assert finds()
    Timeline.objects.update(words="", fold_version=1)
    assert not finds()
    storage.refold(timeline.id, "the test")
    assert finds()


def test_the_name_that_a_reader_gives_is_searched_at_once(stored: Store) -> None:
    timeline = stored(Story().joins("A", [0]))
    storage.rename(timeline.id, "Ticket 4711")
    assert Timeline.objects.filter(storage.matches("4711 ticket")).get().id == timeline.id


def test_a_row_names_what_was_found_where_it_does_not_show_it(stored: Store, client: Client) -> None:
    stored(Story().joins("worker-07", [0]), title="Orders")
    rows = client.get("/api/kept?q=rker-0").json()["rows"]
    assert "worker-07" in rows[0]["found"]
    assert len(rows[0]["found"]) <= FOUND_MOST
    assert client.get("/api/kept?q=orders").json()["rows"][0]["found"] == []


def test_a_timeline_is_found_by_its_notes_and_its_row_shows_the_note(stored: Store, client: Client) -> None:
    noted, other = stored(Story().joins("A", [0])), stored(Story().joins("B", [0]))
    Note.objects.create(id="n", timeline=noted, sequence=1, text="Ticket 4711: the disk was full")
    assert found(client, "DISK 4711") == [noted.id]
    assert set(found(client, GROUP)) == {noted.id, other.id}
    (row,) = client.get(f"/api/kept?q={GROUP} disk").json()["rows"]
    assert row["found"] == ["“Ticket 4711: the disk was full”"]


def test_a_timelines_words_are_bounded_and_what_happened_comes_before_its_members() -> None:
    cast = [
        {"id": f"member-{number}", "name": f"m{number}", "joined": 1, "lane": ""} for number in range(9_999)
    ]
    finding = {"kind": "no_owner", "says": "Orders-1 had no owner.", "sequences": [1]}
    words = words_of({"group": "Pay", "cast": cast, "findings": [finding], "hosts": ["10.0.0.1"]})
    assert len(words) == WORDS_LENGTH_MOST
    assert words.startswith("pay no owner orders-1 had owner. 10.0.0.1 m0 m1")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("q=" + "a" * 201, "q has 201 characters; it takes 200."),
        ("most=0", "most='0' must be a whole number from 1."),
        ("most=501", "most=501 must be 500 at most."),
    ],
)
def test_a_search_that_cannot_be_used_is_refused_in_one_line(
    transactional_db: None, client: Client, query: str, sentence: str
) -> None:
    answer = client.get(f"/api/timelines?{query}")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, sentence)
