from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.html import escape

from explorer.pages.home.pictures import KINDS
from explorer.pages.home.words import ago
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.story.problems import LEVEL_MS
from groups.models import Import, Timeline
from simulations.world import studies
from tests.stories import Story

Store = Callable[..., Timeline]


def test_without_any_timeline_it_says_what_can_be_done(client: Client, transactional_db: None) -> None:
    page = client.get("/").content.decode()
    assert "Nothing of your own yet" in page
    assert "Import the sample log" in page
    assert "Play the KIP-848 basic case" not in page


def test_each_case_study_is_a_card_with_a_picture_and_its_kind_in_the_order_of_understanding(
    stored: Store, client: Client
) -> None:
    for name in ("released-regex", "incident-zombie-member", "kip341-two-owners", "kip848-basic", "another"):
        stored(Story().joins("A", [0, 1]), timeline_id=name, source="case-study", title=f"Title of {name}")
    page = client.get("/").content.decode()
    cards = re.findall(r'<a class="card" href="/t/([\w-]+)\?play=1" data-kind="([^"]*)">', page)
    assert cards == [
        ("kip848-basic", "A join"),
        ("incident-zombie-member", "Two owners"),
        ("kip341-two-owners", "Two owners"),
        ("another", ""),
        ("released-regex", "Topics change"),
    ]
    assert page.count('<svg class="thumb"') == len(cards)
    assert re.findall(r'data-kind="[^"]+" aria-pressed="false">(.*?)</button>', page) == [
        "A join 1",
        "Two owners 2",
        "Topics change 1",
    ]
    assert "Members tell an expression, and the coordinator finds the topics" in page
    assert ">KAFKA-7026<" not in page


def test_every_case_study_is_of_one_kind() -> None:
    kinds = [study for of in KINDS.values() for study in of]
    assert sorted(kinds) == sorted(studies.names())


def test_the_first_door_names_the_live_groups_in_trouble_and_no_others(stored: Store, client: Client) -> None:
    cluster = Cluster.objects.create(id="eu", name="eu", status="connected")
    for name, weight in (("calm", 0), ("stormy", LEVEL_MS)):
        timeline = stored(Story().joins("A", [0]), timeline_id=name, source="live", title=name)
        Timeline.objects.filter(pk=name).update(weight=weight, group=name, headline="c-3 was removed")
        WatchedGroup.objects.create(cluster=cluster, group=name, timeline=timeline, condition="seen")
    page = client.get("/").content.decode()
    assert "Live: 1 of 2 groups is in trouble" in page
    [door] = re.findall(r'<ul class="now">(.*?)</ul>', page, re.DOTALL)
    assert re.findall(r'href="/t/(\w+)"', door) == ["stormy"]
    assert "c-3 was removed" in door


def test_recent_timelines_are_listed_with_their_headlines(stored: Store, client: Client) -> None:
    timeline = stored(Story().joins("A", [0]).leaves("A"), title="Ticket")
    page = client.get("/").content.decode()
    assert f'href="/t/{timeline.id}"' in page
    assert escape(timeline.summary["verdict"]["headline"]["text"]) in page


def test_an_import_of_many_groups_is_one_recent_row_that_opens_what_is_wrong(
    stored: Store, client: Client
) -> None:
    groups = [stored(Story().joins("A", [0]), timeline_id=f"g{number}", source="import") for number in (1, 2)]
    Timeline.objects.filter(pk="g2").update(weight=LEVEL_MS, group="orders", headline="c-3 was removed")
    Import.objects.create(id="night", status="complete", title="Night").timelines.set(groups)
    [row] = re.findall(r'<tr><td class="from">(.*?)</tr>', client.get("/").content.decode())
    assert 'href="/import/night"' in row
    assert "orders</b>: c-3 was removed" in row
    assert "1 of 2 groups in trouble" in row


def test_only_what_works_is_offered(client: Client, transactional_db: None) -> None:
    page = client.get("/").content.decode()
    for later in ("Log in", "Search", "Fork"):
        assert later not in page


def test_help_has_the_words_and_asks_for_the_boards_keys(client: Client, transactional_db: None) -> None:
    page = client.get("/help/").content.decode()
    for word in ("group epoch", "pending revocation", "js/pages/help.js", "Owned twice"):
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
