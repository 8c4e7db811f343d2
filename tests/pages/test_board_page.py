from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from explorer.web.inlined import inlined
from explorer.web.modules import modules
from groups.models import Timeline
from groups.shown import shown_name
from groups.terminal import HIDDEN
from tests.house import ROOT
from tests.stories import Story

Store = Callable[..., Timeline]


def data_in(page: str, element_id: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{element_id}">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.fixture
def orders(stored: Store) -> Timeline:
    return stored(Story().joins("A", [0, 1]).joins("B", [2]).leaves("A"))


def test_the_page_carries_what_the_board_begins_with(orders: Timeline, client: Client) -> None:
    page = client.get(f"/t/{orders.id}").content.decode()
    detail = data_in(page, "timeline-data")
    assert detail == client.get(f"/api/timelines/{orders.id}").json()
    chunk = data_in(page, "chunk-data")
    assert chunk == client.get(f"/api/timelines/{orders.id}/chunks/1").json()
    assert chunk["moments"][-1]["sequence"] <= detail["last"]


def test_it_works_at_any_moment_that_is_asked_for(orders: Timeline, client: Client) -> None:
    for at in ("0", "3", str(orders.last), "999999", "-1", "x", "", "9" * 40, "²"):
        response = client.get(f"/t/{orders.id}", {"at": at})
        assert response.status_code == 200
        assert data_in(response.content.decode(), "chunk-data")["first"] == 1


@pytest.mark.parametrize(
    ("group", "mark", "quoted"),
    [
        ("", "(empty name)", "--group '' "),
        (" ", "(blank name: U+0020)", "--group ' ' "),
        (
            "\n\n\n\n\n",
            "(blank name: U+000A U+000A U+000A U+000A …)",
            "--group $'" + "\\U0000000a" * 5 + "' ",
        ),
    ],
)
def test_a_group_whose_name_has_no_visible_character_has_a_mark_in_its_place_and_can_be_deleted(
    group: str, mark: str, quoted: str, stored: Store, client: Client
) -> None:
    timeline = stored(Story().joins("A", [0]), title=shown_name(group))
    Timeline.objects.filter(pk=timeline.pk).update(group=group, source=Timeline.Source.IMPORT)
    page = client.get(f"/t/{timeline.id}").content.decode()
    assert f"<title>{mark} · Rebalance Explorer</title>" in page
    assert f'<h1 class="gid" title="{mark}">{mark}</h1>' in page
    assert f'<b class="num">{mark}</b></a>' in client.get("/").content.decode()
    assert f"kafka-consumer-groups.sh --delete {quoted}deletes it once it has no members" in unescape(page)


def test_a_group_with_a_name_has_no_word_on_names(orders: Timeline, client: Client) -> None:
    assert 'id="nameless"' not in client.get(f"/t/{orders.id}").content.decode()


def test_a_timeline_that_is_not_there_is_told_in_a_page(client: Client, transactional_db: None) -> None:
    response = client.get("/t/nothing")
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


def test_names_out_of_a_log_cannot_end_the_data_or_become_markup(stored: Store, client: Client) -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    timeline = stored(Story().joins("</script><b>", [0]), title=evil, group=evil)
    page = client.get(f"/t/{timeline.id}").content.decode()
    assert "<img src=x" not in page
    assert data_in(page, "timeline-data")["title"] == evil
    assert "</script><b>" in json.dumps(data_in(page, "chunk-data"))
    home = client.get("/").content.decode()
    assert "<img src=x" not in home


def test_hidden_characters_of_names_are_shown_on_every_page_and_in_exports(
    stored: Store, client: Client
) -> None:
    """Marks that turn the direction of writing, and letters without ink, would show one name as another."""
    hidden = "\u202e\u2066\u200f\u061c\u200b\ufeff\u00ad\u2028"
    shown = r"\u202e\u2066\u200f\u061c\u200b\ufeff\u00ad\u2028"
    joining = "\N{WOMAN}\u200d\N{PERSONAL COMPUTER} \N{ARABIC LETTER MEEM}\u200c\N{ARABIC LETTER KHAH}"
    name = f"a{hidden}b{joining}"
    timeline = stored(Story().joins(f"m{hidden}", [0]), title=name, group=name)
    for path in (f"/t/{timeline.id}", "/", "/timelines", f"/nowhere/{name}", f"/timelines?q={name}"):
        page = client.get(path).content.decode()
        assert not set(hidden) & set(page), path
    board = client.get(f"/t/{timeline.id}").content.decode()
    assert f"<title>a{shown}b{joining} · Rebalance Explorer</title>" in board
    assert data_in(board, "timeline-data")["title"] == f"a{shown}b{joining}"
    assert f'"m{shown}"' in json.dumps(data_in(board, "chunk-data")).replace("\\\\", "\\")
    export = client.post(
        f"/api/timelines/{timeline.id}/exports", {"format": "html"}, content_type="application/json"
    )
    assert export.status_code == 200
    assert not set(hidden) & set(export.content.decode())
    assert f"a{shown}b" in unescape(export.content.decode())
    # Programs have names as they are.
    assert client.get(f"/api/timelines/{timeline.id}").json()["title"] == name


def test_pages_and_the_browser_have_one_list_of_hidden_characters() -> None:
    assert f"/[{HIDDEN}]/g" in (ROOT / "static/js/shared/parsed.js").read_text()


def test_inlined_json_stays_what_it_was() -> None:
    text = json.dumps({"a": "</script>&<!--", "b": "\u2028"}).encode()
    element = inlined("x", text)
    assert json.loads(re.sub(r"^<[^>]*>|</script>$", "", element)) == json.loads(text)
    assert element.count("<") == 2


def test_an_empty_timeline_has_a_page(stored: Store, client: Client) -> None:
    page = client.get(f"/t/{stored(Story()).id}").content.decode()
    assert data_in(page, "chunk-data") is None
    assert 'id="empty"' in page


def test_every_module_that_a_page_imports_is_asked_for_at_once() -> None:
    found = modules("js/pages/board.js")
    assert found[0] == "js/pages/board.js"
    assert {
        "js/timeline/timeline.js",
        "js/frame/changes.js",
        "js/board/lanes.js",
        "js/timeline/view.js",
    } <= set(found)
    assert all(finders.find(path) for path in found)


def test_every_page_lists_the_modules_that_its_scripts_import() -> None:
    pages = {path: path.read_text() for path in (ROOT / "templates").glob("*/*.html")}
    script = re.compile(r"""<script type="module" src="{% static '([^']+)' %}">""")
    with_scripts = {path: set(script.findall(text)) for path, text in pages.items() if script.search(text)}
    assert len(with_scripts) > 10
    for path, scripts in with_scripts.items():
        tags = " ".join(re.findall(r"{% preloads (.*?) %}", pages[path]))
        assert scripts <= set(re.findall(r"'([^']+)'", tags)), path
