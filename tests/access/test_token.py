"""Who has the token may ask, and nobody else; how a browser comes by it, and what a page of elsewhere can do."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest
from django.conf import settings

from explorer.access import keys
from explorer.access.keys import cookie_for, cookie_name
from tests.access.conftest import Asks

pytestmark = pytest.mark.once

TOKEN = quote(settings.ACCESS_TOKEN)
OWN = "http://127.0.0.1:8000"


def cookie(host: str = "127.0.0.1:8000") -> str:
    return cookie_for(host).partition(";")[0]


@pytest.mark.parametrize("path", ["/", "/t/x", "/nowhere", "/import/", "/laboratory"])
async def test_a_page_without_the_token_is_401_and_says_where_the_token_is(asks: Asks, path: str) -> None:
    answer = await asks(path, token=False)
    assert answer.status == 401
    assert settings.ACCESS_TOKEN_PLACE in answer.body.decode()
    assert settings.ACCESS_TOKEN not in answer.body.decode()
    assert str(settings.VAR) not in answer.body.decode(), "a stranger learns no path of this machine"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/api/timelines", "/api/nowhere", "/api/timelines?token=guessed"])
async def test_the_api_says_so_in_json(asks: Asks, path: str) -> None:
    answer = await asks(path, token=False)
    assert answer.status == 401
    assert settings.ACCESS_TOKEN_PLACE in answer.message
    assert str(settings.VAR) not in answer.message
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "authorization", ["Bearer guessed", "Bearer ", "Basic {token}", "{token}", "Bearer {token}x", "Bearer ÿ"]
)
async def test_what_is_not_the_token_is_refused(asks: Asks, authorization: str) -> None:
    given = authorization.format(token=settings.ACCESS_TOKEN)
    answer = await asks("/api/timelines", token=False, headers={"Authorization": given})
    assert answer.status == 401


@pytest.mark.parametrize("how", ["Bearer", "bearer", "BEARER"])
async def test_a_program_asks_with_the_token_as_its_bearer(asks: Asks, how: str) -> None:
    headers = {"Authorization": f"{how} {settings.ACCESS_TOKEN}"}
    assert (await asks("/api/timelines", token=False, headers=headers)).json == []


async def test_the_printed_address_gives_a_cookie_and_leaves_no_token_in_the_address(asks: Asks) -> None:
    answer = await asks(f"/simulate/?scenario=kip848-basic&token={TOKEN}", token=False)
    assert (answer.status, answer.headers["location"]) == (303, "/simulate/?scenario=kip848-basic")
    (given,) = answer.cookies
    assert given.startswith("rebalance-explorer-8000=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(given.split("; "))
    assert settings.ACCESS_TOKEN not in given
    assert (await asks("/simulate/", token=False, headers={"Cookie": given.partition(";")[0]})).status == 200


@pytest.mark.parametrize("path", ["//example.org/", "/\\example.org", "///example.org", "/a b\r\nX: y"])
async def test_the_printed_address_leads_nowhere_else(asks: Asks, path: str) -> None:
    answer = await asks(f"{path}?token={TOKEN}", token=False)
    assert answer.status == 303
    location = answer.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))
    assert "\n" not in location


async def test_a_wrong_token_in_the_address_gives_no_cookie(asks: Asks) -> None:
    answer = await asks("/?token=guessed", token=False)
    assert (answer.status, answer.cookies) == (401, [])


async def test_the_cookie_is_of_this_port_and_of_this_start(asks: Asks, settings: object) -> None:
    mine = cookie()
    others = cookie("127.0.0.1:9000")
    renamed = f"{cookie_name('127.0.0.1:8000')}={others.partition('=')[2]}"
    assert (await asks("/api/timelines", token=False, headers={"Cookie": mine})).status == 200
    for wrong in (others, renamed, f"{mine}x", "rebalance-explorer-8000=", 'rebalance-explorer-8000="'):
        assert (await asks("/api/timelines", token=False, headers={"Cookie": wrong})).status == 401
    # What other programs on this host have set does not hide it.
    crowd = f'a="b; =; {{"x": 1}}; {mine}; rebalance-explorer-9000=z'
    assert (await asks("/api/timelines", token=False, headers={"Cookie": crowd})).status == 200
    settings.ACCESS_START = "another start"  # type: ignore[attr-defined]
    assert (await asks("/api/timelines", token=False, headers={"Cookie": mine})).status == 401


async def test_the_cookie_ends_after_a_week_and_nobody_can_write_another_date(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = cookie()
    name, _, value = mine.partition("=")
    until, _, made = value.partition(".")
    for date in (f"{int(until) + 1}", f"0{until}", f"+{until}", "9" * 12, "9" * 400, "²"):
        later = {"Cookie": f"{name}={date}.{made}"}
        assert (await asks("/api/timelines", token=False, headers=later)).status == 401, date
    now_s = time.time()
    for days, status in ((6.9, 200), (7.1, 401)):
        monkeypatch.setattr(keys.time, "time", lambda days=days: now_s + days * 24 * 3600)
        assert (await asks("/api/timelines", token=False, headers={"Cookie": mine})).status == status


@pytest.mark.parametrize("name", ["Authorization", "Origin", "Sec-Fetch-Site", "Referer"])
async def test_a_header_that_decides_who_is_let_in_may_come_once(asks: Asks, name: str) -> None:
    answer = await asks("/api/timelines", twice=(name, "https://example.org"))
    assert answer.status == 400
    assert name.lower() in answer.message


async def test_static_files_need_no_token(asks: Asks) -> None:
    """They are the program's, which anybody can have, and the page that asks for the token is dressed by them."""
    answer = await asks("/static/nowhere.css", token=False)
    assert answer.status == 404


async def test_without_the_token_required_everybody_may_ask(asks: Asks, settings: object) -> None:
    settings.REQUIRE_TOKEN = False  # type: ignore[attr-defined]
    assert (await asks("/api/timelines", token=False)).status == 200


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1.example.org:8000", "", "127.0.0.1:x", "a@127.0.0.1"]
)
async def test_a_name_that_leads_here_but_is_not_ours_is_refused(asks: Asks, host: str) -> None:
    answer = await asks("/api/timelines", headers={"Host": host})
    assert answer.status == 400
    assert "ALLOWED_HOSTS" in answer.message


ELSEWHERE = [
    {"Origin": "https://example.org"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9000"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://localhost:8000"},
    {"Origin": "file://"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
]


@pytest.mark.parametrize("said", ELSEWHERE)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/timelines"),
        ("GET", "/laboratory"),
        ("GET", "/"),
        ("GET", "/static/js/pages/board.js"),
        ("POST", "/api/runs"),
        ("DELETE", "/api/timelines/x"),
        ("POST", "/import/"),
    ],
)
@pytest.mark.parametrize("with_cookie", [True, False])
async def test_a_page_of_another_origin_reads_nothing_and_starts_nothing(
    asks: Asks, method: str, path: str, said: dict[str, str], with_cookie: bool
) -> None:
    headers = said | ({"Cookie": cookie()} if with_cookie else {})
    answer = await asks(path, method=method, headers=headers, token=not with_cookie, body=[b"a", b"b"])
    assert answer.status == 403
    assert asks.pieces_left_when_answered == 2, "its body is not even read"


async def test_a_form_of_elsewhere_that_opens_a_page_is_refused_too(asks: Asks) -> None:
    navigates = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    headers = navigates | {"Cookie": cookie()}
    assert (await asks("/simulate/", method="POST", headers=headers, token=False)).status == 403
    assert (await asks("/api/timelines", headers=headers, token=False)).status == 403
    # A link that somebody follows is a link.
    assert (await asks("/simulate/", headers=headers, token=False)).status == 200


async def test_a_link_that_is_followed_from_elsewhere_is_asked_again_from_here(asks: Asks) -> None:
    """The cookie does not come with it, since its page is not ours; with the second request it does."""
    navigates = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    first = await asks("/t/x?at=3", token=False, headers=navigates | {"Sec-Fetch-Site": "cross-site"})
    assert first.status == 401
    assert b'http-equiv="refresh" content="0"' in first.body
    second = await asks("/t/x?at=3", token=False, headers=navigates | {"Sec-Fetch-Site": "same-origin"})
    assert second.status == 401
    assert b"http-equiv" not in second.body


@pytest.mark.parametrize(
    "said", [{"Origin": OWN}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}]
)
async def test_our_own_pages_and_programs_are_let_in(asks: Asks, said: dict[str, str]) -> None:
    assert (await asks("/api/timelines", headers=said)).status == 200


async def test_styles_of_an_editor_are_let_in_by_a_nonce_of_each_answer(asks: Asks) -> None:
    answers = [await asks("/simulate/") for _ in range(2)]
    policies = [answer.headers["content-security-policy"] for answer in answers]
    nonces = [re.findall(r"'nonce-([\w-]{20,})'", policy) for policy in policies]
    assert nonces[0] != nonces[1]
    assert [f'nonce="{nonce}"' in answers[0].body.decode() for nonce in nonces[0]] == [True]
    assert all("script-src 'self';" in policy for policy in policies)
    assert "x-style-nonce" not in answers[0].headers


async def test_behind_a_proxy_the_page_is_the_proxys(asks: Asks, settings: object) -> None:
    settings.ALLOWED_HOSTS = ["rebalance.internal"]  # type: ignore[attr-defined]
    settings.BEHIND_TLS = True  # type: ignore[attr-defined]
    host = {"Host": "rebalance.internal"}
    own = await asks("/api/timelines", headers=host | {"Origin": "https://rebalance.internal"})
    assert own.status == 200
    assert own.headers["strict-transport-security"].startswith("max-age=")
    assert "wss://rebalance.internal" in own.headers["content-security-policy"]
    other = await asks("/api/timelines", headers=host | {"Origin": "https://rebalance.internal:8443"})
    assert other.status == 403
    entered = await asks(f"/?token={TOKEN}", headers=host, token=False)
    assert "; Secure" in entered.cookies[0]


@pytest.mark.parametrize("path", ["/api/timelines?x=%00", "/t/a\0b", "/laboratory?timeline=%00"])
async def test_an_address_with_the_character_nul_is_refused(asks: Asks, path: str) -> None:
    assert (await asks(path)).status == 400
