"""The documentation as pages of the server: every page is there, every link leads somewhere, the search finds sections."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from django.test import Client

from explorer.pages.docs import markdown_pages
from explorer.pages.docs.markdown_pages import FOLDER, INDEX, groups, page_named
from explorer.pages.docs.views import search

PAGES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.md"))

pytestmark = pytest.mark.once


def test_the_list_has_every_page() -> None:
    assert sorted(one.name for _, listed in groups() for one in listed) == [
        name for name in PAGES if name != INDEX
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_link_and_picture_of_a_page_leads_to_something(client: Client, db: None, name: str) -> None:
    page = page_named(name)
    assert page is not None
    links = re.findall(r'(?:href|src)="([^"]+)"', page.html)
    for link in links:
        if link.startswith(("http://", "https://")):
            continue
        path, _, place = unquote(link).partition("#")
        target = path.removeprefix("/docs/") if path else name
        found = page_named(target or INDEX)
        if found is None:
            assert client.head(path).status_code == 200, link
        elif place:
            assert place in {heading.id for heading in found.headings}, link


def test_a_page_is_shown_with_its_place_in_the_list_and_its_raw_html_as_text(
    client: Client, db: None
) -> None:
    page = client.get("/docs/reference/api").content.decode()
    assert '<a href="/docs/reference/api" aria-current="page">' in page
    assert "/api/timelines/&lt;id&gt;" in page
    assert client.get("/docs/").status_code == 200
    assert client.get("/docs/pictures/board-light.png")["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    "name", ["nothing", "../manage", "how-to/../../README", "pictures/make.py2", "README.md/x"]
)
def test_what_is_no_page_is_not_found(client: Client, db: None, name: str) -> None:
    kept = markdown_pages._page.cache_info().currsize
    assert client.get(f"/docs/{name}").status_code == 404
    assert markdown_pages._page.cache_info().currsize == kept


def test_the_search_finds_sections_by_all_words_in_any_case(client: Client, db: None) -> None:
    first = search("SESSION_HOURS")[0]
    assert first.url.startswith("/docs/")
    assert "session_hours" in first.excerpt.lower()
    assert search("backup")[0].url == "/docs/reference/commands#backup"
    assert search("backup nosuchword") == []
    page = client.get("/docs/", {"q": "<b>nosuchword"}).content.decode()
    assert "0 sections with “&lt;b&gt;nosuchword”" in page
