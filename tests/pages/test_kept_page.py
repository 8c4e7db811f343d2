"""The list of all timelines: filters, imports as rows, deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from groups.history.story.problems import LEVEL_MS
from groups.imports import lifecycle
from groups.models import Import, Timeline
from tests.stories import Story

Store = Callable[..., Timeline]

GRAVE = {"headline": "c-3 was removed six times; orders-1 unread for 47 s.", "weight": 2 * LEVEL_MS + 5}
CALM = {"headline": "2 members read 8 partitions.", "weight": 0}


def row(pk: str, **facts: Any) -> Timeline:
    facts = {"title": pk, "group": pk, "source": "simulation", "status": "complete", **CALM, **facts}
    words = f"{facts['group']} {facts['headline']}".lower()
    return Timeline.objects.create(id=pk, entry_format=1, fold_version=1, **{"words": words, **facts})


def imported(pk: str, *timelines: Timeline, **facts: Any) -> Import:
    made = Import.objects.create(id=pk, status="complete", **{"title": pk, **facts})
    made.timelines.set(timelines)
    return made


@pytest.fixture
def kept(transactional_db: None) -> None:
    """An import of two groups, of which one is in trouble; a run; a live group; a case study."""
    span = {"first_ms": 1_700_000_000_000, "last_ms": 1_700_000_060_000}
    orders = row("orders", source="import", summary=span, **GRAVE)
    mail = row("mail", source="import", summary={"first_ms": None, "last_ms": None})
    imported("night", orders, mail, title="Night of the deploy")
    row("run", headline="Longest wait 6.0 s", weight=LEVEL_MS)
    row("pay", source="live", summary={"first_ms": 1_800_000_000_000, "last_ms": 1_800_000_001_000})
    row("study", source="case-study")


def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/api/kept{query}")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["matching"] == len(found["rows"])
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def ids(client: Client, query: str = "") -> list[str]:
    return [one["id"] for one in listed(client, query)]


def test_an_import_is_one_row_that_counts_its_groups_in_trouble(client: Client, kept: None) -> None:
    assert ids(client) == ["pay", "run", "night"]
    night = listed(client)[-1]
    assert (night["groups"], night["in_trouble"], night["severity"]) == (2, 1, 2)
    assert (night["gravest"], night["headline"]) == ("orders", GRAVE["headline"])
    assert (night["first_ms"], night["last_ms"]) == (1_700_000_000_000, 1_700_000_060_000)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?sort=gravest", ["night", "run", "pay"]),
        ("?q=DEPLOY", ["night"]),
        ("?q=c-3+removed", ["night"]),
        ("?q=wait", ["run"]),
        ("?q=nothing+like+it", []),
        ("?source=import", ["night"]),
        ("?source=live", ["pay"]),
        ("?source=case-study", ["study"]),
        ("?group=mail", ["night"]),
        ("?trouble=warning", ["run", "night"]),
        ("?trouble=critical", ["night"]),
        ("?trouble=critical&q=mail", []),
        ("?trouble=critical&q=deploy", ["night"]),
        ("?from_ms=1700000030000&until_ms=1700000040000", ["night"]),
        ("?from_ms=1799999999000&until_ms=1800000000500", ["pay"]),
        ("?days=1", ["pay", "run", "night"]),
        ("?after=2", ["night"]),
    ],
)
def test_a_filter_is_about_timelines_and_an_import_is_listed_for_its_groups(
    client: Client, kept: None, query: str, found: list[str]
) -> None:
    assert [one["id"] for one in client.get(f"/api/kept{query}").json()["rows"]] == found


def test_of_an_import_the_row_counts_the_groups_that_match(client: Client, kept: None) -> None:
    assert [one["matching"] for one in listed(client, "?q=mail")] == [1]
    assert [one["matching"] for one in listed(client, "?q=deploy")] == [0], "its own name is what matches"
    assert listed(client)[-1]["matching"] is None


def test_a_stored_timeline_is_found_by_what_happened(stored: Store, client: Client) -> None:
    timeline = stored(Story().joins("A", [0]).leaves("A"), title="Ticket", source="simulation")
    text = timeline.summary["verdict"]["headline"]["text"]
    assert timeline.headline == text
    assert ids(client, f"?q={text.split()[0]}") == [timeline.id]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("trouble=some", "trouble='some' must be one of any, warning, critical."),
        ("sort=size", "sort='size' must be one of newest, gravest."),
        ("source=link", "source='link' must be one of import, live, simulation, case-study."),
        ("from_ms=yesterday", "from_ms='yesterday' must be a whole number from 0."),
        ("from_ms=999999999999999999", "from_ms=999999999999999999 is no time in milliseconds since 1970."),
        ("days=0", "days='0' must be a whole number from 1."),
        ("days=999999999999", "days=999999999999 lies before all timelines."),
        ("q=" + "a" * 201, "q has 201 characters; it takes 200."),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused_in_one_line(
    client: Client, kept: None, query: str, sentence: str
) -> None:
    answer = client.get(f"/api/kept?{query}")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, sentence)
    page = client.get(f"/timelines?{query}")
    assert page.status_code == 400
    assert "All timelines are shown." in page.content.decode()


def test_rows_are_deleted_together_and_case_studies_stay(client: Client, kept: None) -> None:
    answer = client.post(
        "/api/kept/delete",
        {"timelines": ["run", "study", "gone"], "imports": ["night", "gone"]},
        content_type="application/json",
    )
    assert answer.json() == {
        "deleted": 2,
        "refused": [{"id": "study", "why": "Case studies belong to the program and stay."}],
    }
    assert sorted(Timeline.objects.values_list("pk", flat=True)) == ["pay", "study"]
    with pytest.raises(lifecycle.NoSuchImport):
        lifecycle.get("night")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "Name 1 to 500 timelines and imports."),
        ({"timelines": ["x"] * 501}, "Name 1 to 500 timelines and imports."),
        ({"timelines": "run"}, 'timelines must be a list of ids: {"timelines": ["abc", …]}.'),
        ({"imports": [1]}, 'imports must be a list of ids: {"imports": ["abc", …]}.'),
    ],
)
def test_a_deletion_that_names_nothing_or_too_much_is_refused(
    client: Client, kept: None, body: dict[str, Any], sentence: str
) -> None:
    answer = client.post("/api/kept/delete", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, sentence)
    assert Timeline.objects.count() == 5


def test_a_thousand_rows_come_in_pages(client: Client, transactional_db: None) -> None:
    Timeline.objects.bulk_create(
        Timeline(id=f"t{at}", title="t", source="live", entry_format=1, fold_version=1) for at in range(250)
    )
    seen: list[str] = []
    while rows := client.get(f"/api/kept?after={len(seen)}").json()["rows"]:
        seen += [one["id"] for one in rows]
    assert len(seen) == len(set(seen)) == 250
