"""Sentences that strangers stumbled over, and what the pages say instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).parents[2]

REPLACED = (
    "Groups stand here",
    "What you import stands here",
    "Mend what failed",
    "What is made next has pseudonyms",
    "Seeds of each cell",
    ">a click goes there<",
    "Brokers, one is enough",
)


@pytest.mark.parametrize("words", REPLACED)
def test_a_sentence_that_strangers_stumbled_over_is_on_no_page(words: str) -> None:
    sources = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").rglob("*.js")]
    assert sources
    assert [path.name for path in sources if words in path.read_text()] == []


def test_a_page_without_imports_says_so_in_three_words(client: Client, db: None) -> None:
    assert "No imports yet." in client.get("/import/").content.decode()
