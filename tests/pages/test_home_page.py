from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.html import escape

from explorer.pages.home.words import ago
from groups.models import Timeline
from tests.stories import Story

Store = Callable[..., Timeline]


def test_without_any_timeline_it_says_what_can_be_done(client: Client, transactional_db: None) -> None:
    page = client.get("/").content.decode()
    assert "Nothing of your own yet" in page
    assert "Import the sample log" in page
    assert "Play the KIP-848 basic case" not in page


def test_case_studies_have_pictures_and_the_basic_one_plays(stored: Store, client: Client) -> None:
    stored(Story().joins("A", [0, 1]), timeline_id="kip848-basic", source="case-study", title="Basic")
    page = client.get("/").content.decode()
    assert '<svg class="thumb"' in page
    assert 'href="/t/kip848-basic?play=1"' in page
    assert 'id="chunk-data"' in page
    assert "KIP-848" in page


def test_recent_timelines_are_listed_with_their_headlines(stored: Store, client: Client) -> None:
    timeline = stored(Story().joins("A", [0]).leaves("A"), title="Ticket")
    page = client.get("/").content.decode()
    assert f'href="/t/{timeline.id}"' in page
    assert escape(timeline.summary["verdict"]["headline"]["text"]) in page


def test_only_what_works_is_offered(client: Client, transactional_db: None) -> None:
    page = client.get("/").content.decode()
    for later in ("Log in", "Connect a cluster", "Search", "Fork"):
        assert later not in page


def test_help_tells_the_words_and_the_keys(client: Client, transactional_db: None) -> None:
    page = client.get("/help/").content.decode()
    for word in ("group epoch", "pending revocation", "Space", "Owned twice"):
        assert word in page


@pytest.mark.parametrize(
    ("age", "says"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=20), "20 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=9), "9 days ago"),
    ],
)
def test_ages_are_told_as_one_says_them(age: timedelta, says: str) -> None:
    assert ago(age) == says


def test_case_studies_stand_in_sections_with_one_line_each(stored: Store, client: Client) -> None:
    for name in ("released-regex", "incident-zombie-member", "incident-session-expiry", "kip848-basic"):
        stored(Story().joins("A", [0]), timeline_id=name, source="case-study", title=f"Title of {name}")
    page = client.get("/").content.decode()
    titles = re.findall(r"<h3[^>]*>(.*?)</h3>", page)
    assert titles == ["KIP-848, the proposal", "Incidents", "Kafka as released"]
    links = re.findall(r'<a class="(card|line)" href="/t/([\w-]+)\?play=1"', page)
    assert links == [
        ("card", "kip848-basic"),
        ("line", "incident-session-expiry"),
        ("line", "incident-zombie-member"),
        ("line", "released-regex"),
    ]
    assert "Members tell an expression, and the coordinator finds the topics" in page


def test_a_case_study_of_no_section_is_still_there(stored: Store, client: Client) -> None:
    stored(Story().joins("A", [0]), timeline_id="another", source="case-study", title="Another")
    assert 'href="/t/another?play=1"' in client.get("/").content.decode()
