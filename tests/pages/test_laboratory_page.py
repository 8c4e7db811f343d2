from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from groups.models import Timeline
from tests.pages.test_board_page import data_in
from tests.stories import Story

LINK = "g=6&t=7,7,7&s=nested&from=range&e=leave:2"

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_carries_the_answers_of_its_address(client: Client) -> None:
    page = client.get(f"/laboratory?{LINK}").content.decode()
    assert data_in(page, "sheet-data") == client.get(f"/api/laboratory?{LINK}").json()
    assert "<title>Six members, C leaves · Laboratory" in page
    assert 'id="sweep"' not in page or "/sweeps" in page


def test_without_an_address_there_is_an_example(client: Client) -> None:
    page = client.get("/laboratory").content.decode()
    assert data_in(page, "sheet-data")["title"] == "Six members, G joins"
    assert "Up to 1,000 members, 200 topics, 10,000 partitions" in page


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("g=6&t=0", 400, "needs at least one partition"),
        ("g=6&t=3&e=dance", 400, "must be one of full, stable, join, leave, grow"),
        ("timeline=nothing", 404, "nothing"),
    ],
)
def test_an_address_that_makes_no_sense_is_told_in_one_line_and_leads_on(
    client: Client, query: str, status: int, says: str
) -> None:
    response = client.get(f"/laboratory?{query}")
    page = response.content.decode()
    assert response.status_code == status
    assert data_in(page, "sheet-data") is None
    assert says in page
    assert "Open the example" in page


def test_every_page_leads_to_it_and_the_board_with_its_timeline(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    timeline = stored(Story().joins("A", [0, 1]))
    for address in ("/", "/help/", "/simulate/", "/import/"):
        assert 'href="/laboratory"' in client.get(address).content.decode()
    assert f'href="/laboratory?timeline={timeline.id}"' in client.get(f"/t/{timeline.id}").content.decode()
