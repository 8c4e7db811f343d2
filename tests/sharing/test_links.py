"""Share links: what their holders are shown, and that they reach nothing else."""

from __future__ import annotations

import gzip
import logging
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from explorer.access.gate import Gate, Handler
from explorer.accounts.guesses import KEYS_MOST
from explorer.asgi import UPLOADS
from explorer.sharing import links, tokens
from explorer.sharing.addresses import cookie_name
from explorer.sharing.door import GUESSES_MOST, WITHIN_S, Door
from explorer.sharing.logs import WithoutTokens
from explorer.sharing.models import Link, SharedPage
from groups import storage
from groups.exporting import Wanted, fresh_key
from groups.models import Timeline
from tests.access.conftest import Asks
from tests.sharing.test_handed_on import blocks
from tests.stories import a_day_of_three

Stored = Callable[..., Timeline]


@pytest.fixture
def asks(transactional_db: None) -> Asks:
    asking = Asks()
    asking.gate = Gate(Handler(), _no_sockets, uploads=UPLOADS, door=Door())
    return asking


async def _no_sockets(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no socket is opened here")


@pytest.fixture
def shared(stored: Stored) -> tuple[Link, str]:
    return link_to(stored(a_day_of_three()))


def link_to(
    timeline: Timeline, *, days: int = 7, embed: tuple[str, ...] = (), **wanted: Any
) -> tuple[Link, str]:
    asked = links.Asked(
        wanted=Wanted(made=timezone.now(), **({"view": "reader"} | wanted)), days=days, embed_origins=embed
    )
    return links.make(timeline, asked)


def cookie_of(link: Link, token: str) -> dict[str, str]:
    return {"Cookie": f"{cookie_name(link.id)}={token}"}


def patterns(of: Any = None, before: str = "") -> Iterator[tuple[str, str]]:
    """Every address: its name, and an example."""
    for each in (of or get_resolver()).url_patterns:
        if isinstance(each, URLResolver) and each.namespace == "admin":
            yield "admin", before + str(each.pattern)
        elif isinstance(each, URLResolver):
            yield from patterns(each, before + str(each.pattern))
        elif isinstance(each, URLPattern):
            yield str(each.name), before + str(each.pattern)


OPEN = {"healthz", "readyz"}
"""Without a token, a link's or the server's."""

BY_TOKEN = {"share-door", "share-card", "share-embed", "share-embed-state"}
BY_COOKIE = {"share-page", "share-state"}
CLOSED = {
    "share-signed-in", "share-signed-in-state", "sign-in", "sign-in-start", "sign-in-callback", "sign-out", "account", "account-tokens", "account-token-revoke", "account-password", "admin-login", "admin", "audit", "api-audit", "api-audit-lines",
    "api-cancel", "api-changes", "api-together", "api-notes", "api-note", "api-chunk", "api-digest", "api-entries", "api-exports", "api-figure-epochs", "api-forks", "api-frame",
    "api-imports", "api-import", "api-import-cancel", "api-import-repeat", "api-inspect", "api-inspect-compare", "api-entry-bytes",
    "api-laboratory", "api-laboratory-runs", "api-lag", "api-link", "api-links", "api-metrics", "api-motifs", "api-offsets", "api-pseudonyms", "api-range", "api-watch", "api-runs", "api-runs-check", "api-sweep",
    "api-sweeps", "api-timeline", "api-timelines", "api-topics", "board", "help", "home", "import", "import-new", "inspector",
    "laboratory", "simulate", "sweep", "sweeps", "api-import-groups", "api-sweep-cancel", "api-sweep-cell", "api-sweep-resume", "api-sweep-seed", "api-sweep-table",
    "clusters", "cluster", "compare", "differences", "difference", "api-comparison-exports", "api-laboratory-exports", "api-laboratory-links", "api-clusters", "api-clusters-check", "api-cluster", "api-cluster-groups",
    "api-assignment", "api-cluster-alerts", "api-cluster-timelines", "cluster-timelines", "api-cluster-rules", "api-cluster-rules-usual", "api-cluster-rule", "api-cluster-rule-test", "api-cluster-silences", "api-cluster-silence",
    "groups", "api-groups", "timelines", "metrics", "status", "api-status", "api-openapi", "api-docs", "docs", "docs-page", "api-kept", "api-kept-delete", "rehearsal", "api-rehearsal", "api-rehearsal-plan", "api-rehearsal-runs",
    "rebalances", "report", "steps", "api-rebalances", "remedies", "api-remedies", "api-remedy-search", "api-remedy-cancel", "api-remedy-branches", "proof", "api-proofs", "api-proof", "api-proof-cancel",
    "lessons", "lesson", "lesson-handout", "lesson-write", "api-lessons", "api-lesson", "api-lessons-check", "api-lessons-runs",
}  # fmt: skip


def test_every_address_has_a_row_in_the_matrix() -> None:
    """Whoever adds an address says here whether a link's holder may ask it; without a row this fails."""
    names = {name for name, _ in patterns()}
    assert names == OPEN | BY_TOKEN | BY_COOKIE | CLOSED


def example(pattern: str, link: Link, token: str) -> str:
    path = pattern.replace("^", "").replace("$", "").replace("\\", "")
    path = path.replace(f"(?P<token>{tokens.SHAPE})", token).replace("<slug:link_id>", link.id)
    path = path.replace("<slug:timeline_id>", str(link.timeline_id))
    return "/" + "".join(
        part if at % 2 == 0 else "1" for at, part in enumerate(path.replace(">", "<").split("<"))
    )


@pytest.mark.parametrize(("name", "pattern"), list(patterns()), ids=lambda one: one)
async def test_a_links_holder_reaches_what_it_shows_and_nothing_else(
    asks: Asks, stored: Stored, name: str, pattern: str
) -> None:
    timeline = await sync_to_async(stored, thread_sensitive=True)(a_day_of_three())
    link, token = await sync_to_async(link_to)(timeline, embed=("https://wiki.example",))
    path = example(pattern, link, token)
    for method in ("GET", "POST", "PATCH", "DELETE"):
        answer = await asks(path, method=method, token=False, headers=cookie_of(link, token))
        opens = name in OPEN | BY_TOKEN | BY_COOKIE and method == "GET"
        closed = 404 if name in BY_TOKEN | BY_COOKIE else 401
        assert (answer.status, path) == (200 if opens else closed, path)
    # Without the link's token, or with another one's, neither.
    if name in BY_COOKIE:
        _, other_token = await sync_to_async(link_to)(timeline)
        assert (await asks(path, token=False)).status == 404
        stolen = {"Cookie": f"{cookie_name(link.id)}={other_token}"}
        assert (await asks(path, token=False, headers=stolen)).status in (404, 410)


async def test_no_socket_is_opened_for_a_links_holder(asks: Asks, shared: tuple[Link, str]) -> None:
    link, token = shared
    for path in (f"/ws/timelines/{link.timeline_id}", f"/s/{token}", f"/s/open/{link.id}/"):
        sent: list[Any] = []
        headers = [(b"host", b"127.0.0.1:8000"), (b"cookie", f"{cookie_name(link.id)}={token}".encode())]
        scope = {"type": "websocket", "path": path, "headers": headers, "query_string": b""}

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message["type"])

        await asks.gate(scope, receive, send)
        assert sent == ["websocket.close"]


async def test_with_links_only_everything_else_is_404(
    asks: Asks, shared: tuple[Link, str], settings: Any
) -> None:
    settings.LINKS_ONLY = True
    link, token = shared
    assert (await asks(f"/s/{token}", token=False)).status == 200
    for path in (
        "/",
        "/api/timelines",
        f"/t/{link.timeline_id}",
        "/static/css/base.css",
        "/help",
        "/?token=x",
    ):
        # The server's own token opens nothing there, either.
        assert (await asks(path)).status == 404


async def test_unknown_ended_and_withdrawn_are_the_same_answer(asks: Asks, stored: Stored) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    _, ended = await sync_to_async(link_to)(timeline)
    await sync_to_async(Link.objects.update)(until=timezone.now() - timedelta(seconds=1))
    link, withdrawn = await sync_to_async(link_to)(timeline)
    await sync_to_async(links.withdraw)(link.id)
    answers = [
        await asks(f"/s/{token}", token=False) for token in (tokens.draw(), "guessed", ended, withdrawn)
    ]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.body for answer in answers}) == 1
    assert len({orjson.dumps(answer.headers, option=orjson.OPT_SORT_KEYS) for answer in answers}) == 1


@pytest.mark.django_db
def test_what_opens_nothing_costs_the_same_whatever_the_reason(stored: Stored) -> None:
    """One look-up by hash each, and none of a token that is not ours: how long it takes tells nothing of which links there were."""
    timeline = stored(a_day_of_three())
    _, ended = link_to(timeline)
    Link.objects.update(until=timezone.now() - timedelta(seconds=1))
    link, withdrawn = link_to(timeline)
    links.withdraw(link.id)
    asked = []
    for token in (tokens.draw(), ended, withdrawn):
        with CaptureQueriesContext(connection) as queries:
            assert links.found_by(token) is None
        asked.append([re.sub(r"'[^']*'", "?", query["sql"]) for query in queries])
    assert len(asked[0]) == 1
    assert asked[0] == asked[1] == asked[2]
    token = tokens.draw()
    with CaptureQueriesContext(connection) as queries:
        assert links.found_by(token[:-1] + ("A" if token[-1] != "A" else "B")) is None
    assert len(queries) == 0


@pytest.mark.parametrize(
    "query",
    ["next=//evil.example", "at=//evil.example", "at=7%0d%0aLocation:%20//evil.example", "at=7&at=%2f%2fevil.example", "url=https://evil.example&play=1"],
)  # fmt: skip
async def test_nothing_in_an_address_leads_elsewhere(
    asks: Asks, shared: tuple[Link, str], query: str
) -> None:
    link, token = shared
    for _ in range(2):
        # Once by Django, once from memory.
        answer = await asks(f"/s/{token}?{query}", token=False)
        assert b"evil" not in answer.body
        assert "evil" not in repr(answer.headers)
        (leads,) = re.findall(r'http-equiv="refresh" content="0;url=([^"]*)"', answer.body.decode())
        assert re.fullmatch(rf"/s/open/{link.id}/(\?(at|play)=\d+)?", leads)


async def test_a_withdrawn_link_ends_for_who_looks_at_it(asks: Asks, shared: tuple[Link, str]) -> None:
    link, token = shared
    headers = cookie_of(link, token)
    assert (await asks(f"/s/open/{link.id}/state", token=False, headers=headers)).status == 200
    await sync_to_async(links.withdraw)(link.id)
    assert (await asks(f"/s/open/{link.id}/state", token=False, headers=headers)).status == 410
    assert (await asks(f"/s/open/{link.id}/", token=False, headers=headers)).status == 404
    assert await sync_to_async(SharedPage.objects.count)() == 0


async def test_of_a_deleted_timeline_nothing_is_left_and_the_link_says_so(
    asks: Asks, shared: tuple[Link, str]
) -> None:
    link, token = shared
    await sync_to_async(storage.delete)(str(link.timeline_id))
    assert await sync_to_async(SharedPage.objects.count)() == 0
    answer = await asks(f"/s/{token}", token=False)
    assert (answer.status, b"was deleted" in answer.body) == (410, True)


async def test_the_door_gives_a_cookie_for_one_link_and_an_address_without_token(
    asks: Asks, shared: tuple[Link, str]
) -> None:
    link, token = shared
    answer = await asks(f"/s/{token}?at=7&next=//elsewhere.example&play=x", token=False)
    assert f'content="0;url=/s/open/{link.id}/?at=7"' in answer.body.decode()
    assert b"elsewhere" not in answer.body
    (cookie,) = answer.cookies
    assert {f"Path=/s/open/{link.id}/", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    page = await asks(f"/s/open/{link.id}/", token=False, headers=cookie_of(link, token))
    assert token not in page.body.decode()
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"


async def test_the_database_holds_no_token(shared: tuple[Link, str]) -> None:
    _, token = shared
    rows = await sync_to_async(lambda: list(Link.objects.values()) + list(SharedPage.objects.values()))()
    pages = [gzip.decompress(bytes(row["content"])).decode() for row in rows if "content" in row]
    assert token not in repr(rows) + "".join(pages)


async def test_a_frame_is_for_the_origins_that_were_named(asks: Asks, stored: Stored) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    _, closed = await sync_to_async(link_to)(timeline)
    assert (await asks(f"/s/{closed}/embed/", token=False)).status == 404
    _, token = await sync_to_async(link_to)(timeline, embed=("https://wiki.example",))
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    answer = await asks(f"/s/{token}/embed/", token=False, headers=foreign)
    assert answer.status == 200
    assert "frame-ancestors https://wiki.example" in answer.headers["content-security-policy"]
    assert "x-frame-options" not in answer.headers
    assert answer.cookies == []


async def test_a_frame_with_names_hidden_has_the_diagnosis_of_the_one_that_shows_them(
    asks: Asks, stored: Stored
) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    pages = []
    for key in (None, fresh_key()):
        _, token = await sync_to_async(link_to)(timeline, embed=("https://wiki.example",), key=key)
        answer = await asks(f"/s/{token}/embed/", token=False, headers=foreign)
        pages.append(blocks(answer.body.decode()))
    shown, hidden = (page["timeline"]["summary"] for page in pages)
    assert [(one["kind"], one["sequences"]) for one in hidden["findings"]] == [
        (one["kind"], one["sequences"]) for one in shown["findings"]
    ]
    assert len(hidden["verdict"]["text"].split()) == len(shown["verdict"]["text"].split())
    assert ["orders" in orjson.dumps(page).decode() for page in pages] == [True, False]


def everything(body: bytes) -> str:
    """A body, with what is packed into it."""
    import base64
    import re

    text = body.decode("latin-1")
    for packed in re.findall(r'type="application/gzip"[^>]*>([^<]+)<', text):
        text += gzip.decompress(base64.b64decode(packed)).decode()
    return text


async def test_the_card_is_a_picture(asks: Asks, shared: tuple[Link, str]) -> None:
    answer = await asks(f"/s/{shared[1]}/card.png", token=False)
    assert (answer.headers["content-type"], answer.body[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", answer.body[16:24]) == (1200, 630)
    place, chunks = 8, {}
    while place < len(answer.body):
        length, kind = struct.unpack(">I4s", answer.body[place : place + 8])
        data = answer.body[place + 8 : place + 8 + length]
        assert struct.unpack(">I", answer.body[place + 8 + length : place + 12 + length]) == (
            zlib.crc32(kind + data),
        )
        chunks[kind] = data
        place += 12 + length
    rows = zlib.decompress(chunks[b"IDAT"])
    assert len(rows) == 630 * (1 + 3 * 1200)
    assert len(set(rows)) > 5
    assert b"og:image" in (await asks(f"/s/{shared[1]}", token=False)).body


def test_a_guess_ends_at_its_checksum_without_a_query() -> None:
    """No database is to be had in this test."""
    now = [0.0]
    door = Door(clock=lambda: now[0])
    statuses = []
    for number in range(10_000):
        refused = door.refused("GET", f"/s/{number:051}", {}, "10.0.0.1")
        assert refused is not None
        statuses.append(refused.status_code)
    assert statuses[:GUESSES_MOST] == [404] * GUESSES_MOST
    assert set(statuses[GUESSES_MOST:]) == {429}
    # Whoever has a link is let in all the same, from the same address; and who waits may try again.
    assert door.refused("GET", f"/s/{tokens.draw()}", {}, "10.0.0.1") is None
    now[0] += WITHIN_S + 1
    assert door.refused("GET", "/s/guess", {}, "10.0.0.1").status_code == 404  # type: ignore[union-attr]


def test_the_addresses_that_guess_are_bounded() -> None:
    door = Door(clock=lambda: 0.0)
    for number in range(KEYS_MOST + 500):
        door.refused("GET", "/s/guess", {}, f"10.0.0.{number}")
    assert len(door.guesses) == KEYS_MOST


def test_a_token_is_ours_and_of_this_secret_alone(settings: Any) -> None:
    token = tokens.draw()
    assert tokens.is_ours(token)
    assert not tokens.is_ours(token[:-1] + ("A" if token[-1] != "A" else "B"))
    assert not tokens.is_ours(("A" if token[0] != "A" else "B") + token[1:])
    settings.SECRET_KEY = "another secret of twenty letters"
    assert not tokens.is_ours(token)


def test_a_log_line_holds_no_token() -> None:
    token = tokens.draw()
    record = logging.LogRecord(
        "django.request", logging.ERROR, "", 1, "Internal Server Error: /s/%s/embed/", (token,), None
    )
    line = WithoutTokens("{message}", style="{").format(record)
    assert line == f"Internal Server Error: /s/…{token[-4:]}/embed/"
    formatter = django_settings.LOGGING["formatters"]["line"]["()"]
    assert formatter == "explorer.sharing.logs.WithoutTokens"


async def test_links_are_made_listed_and_withdrawn_over_the_api(asks: Asks, stored: Stored) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    address = f"/api/timelines/{timeline.id}/links"
    body = orjson.dumps({"view": "reader", "hide_names": True, "days": 3, "from": 1, "to": 9})
    made = await asks(address, method="POST", body=(body,))
    assert made.status == 201
    assert made.json["url"].startswith("/s/")
    token = made.json["url"].removeprefix("/s/")
    await asks(made.json["url"], token=False)
    (told,) = (await asks(address)).json
    assert (told["state"], told["opened"], told["token_end"]) == ("open", 1, token[-4:])
    assert token not in orjson.dumps(told).decode()
    assert (await asks(f"/api/links/{told['id']}", method="DELETE")).status == 204
    assert (await asks(address)).json[0]["state"] == "withdrawn"
    assert (await asks("/api/links/nothing", method="DELETE")).status == 404


async def test_what_a_preview_shows_is_what_is_made(asks: Asks, stored: Stored) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    address = f"/api/timelines/{timeline.id}"
    told = (await asks(f"{address}/pseudonyms", method="POST", body=(b"{}",))).json
    names = {one["here"]: one["there"] for one in told["pseudonyms"]}
    assert names["A"].startswith("member-")
    body = orjson.dumps({"format": "html", "hide_names": True, "key": told["key"]})
    made = await asks(f"{address}/exports", method="POST", body=(body,))
    assert made.headers["content-disposition"].startswith('attachment; filename="incident-')
    assert timeline.id not in made.headers["content-disposition"]
    assert names["A"] in everything(made.body)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"view": "everybody"}, "view='everybody' must be one of reader, investigator."),
        ({"days": 0}, "days=0 must be a whole number from 1 to 90."),
        ({"days": True}, "days=True must be a whole number from 1 to 90."),
        ({"from": 99}, "is no stretch of them"),
        ({"from": "1"}, "from='1' must be a whole number from 1."),
        ({"hide_names": "yes"}, "hide_names='yes' must be true or false."),
        ({"hide_names": True, "key": "00"}, "key must be the 64 hexadecimal digits"),
        ({"who": "signed-in"}, "Nobody signs in at this server: a link is for anyone who has it."),
        ({"embed_origins": ["*"]}, "a list of at most 8 origins"),
        ({"embed_origins": ["https://wiki.example; script-src *"]}, "a list of at most 8 origins"),
    ],
)
async def test_what_cannot_be_is_told_in_one_line(
    asks: Asks, stored: Stored, body: dict[str, Any], says: str
) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    answer = await asks(f"/api/timelines/{timeline.id}/links", method="POST", body=(orjson.dumps(body),))
    assert answer.status == 400
    assert says in answer.message
    assert "\n" not in answer.message


async def test_a_link_to_a_timeline_that_is_deleted_meanwhile_is_a_conflict(
    asks: Asks, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    draw = tokens.draw

    def deleted_meanwhile() -> str:
        Timeline.objects.all().delete()
        return draw()

    monkeypatch.setattr(tokens, "draw", deleted_meanwhile)
    answer = await asks(
        f"/api/timelines/{timeline.id}/links",
        method="POST",
        body=[b"{}"],
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status, answer.json["error"]["code"]) == (409, "conflict")
