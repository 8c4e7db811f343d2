from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from explorer.pages.inspector.examples import examples
from groups.models import Timeline
from groups.wire.inspection import inspect
from tests.stories import Story

Store = Callable[..., Timeline]


def test_without_bytes_it_says_what_can_be_done(client: Client, transactional_db: None) -> None:
    page = client.get("/inspect").content.decode()
    assert "Nothing is open" in page
    for example in examples():
        assert example.title in page
        assert example.hex in page


def test_records_of_the_case_studies_are_offered_where_they_are_stored(stored: Store, client: Client) -> None:
    stored(Story().joins("A", [0, 1]), timeline_id="kip848-basic", source="case-study", title="Basic")
    page = client.get("/inspect").content.decode()
    assert "/inspect?timeline=kip848-basic&amp;entry=5" in page
    assert "ConsumerGroupCurrentMemberAssignment" in page


def test_every_page_but_the_boards_leads_to_it(client: Client, transactional_db: None) -> None:
    for address in ("/", "/help/", "/simulate/", "/import/"):
        assert 'href="/inspect"' in client.get(address).content.decode()


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_an_example_is_what_it_says(example: object) -> None:
    found = inspect(example.kind, bytes.fromhex(example.hex))  # type: ignore[attr-defined]
    assert found.is_whole == ("cut off" not in example.title)  # type: ignore[attr-defined]
