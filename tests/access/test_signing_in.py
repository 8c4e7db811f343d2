"""A team's people sign in with accounts of their own: what a session opens, when it ends, and what does not open one."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from explorer.access import signing_in
from explorer.access.gate import Gate, Handler
from explorer.access.signing_in import SIGNED_OUT, Credential, Sender
from explorer.accounts import sessions
from explorer.pages.account import views
from tests.access.conftest import HOST, Answer, Asks

pytestmark = pytest.mark.once

PASSWORD = "correct horse battery"
OWN = f"http://{HOST}"
NAME = "rebalance-session"


class Person:
    """A browser: it keeps cookies, and sends the form's token."""

    def __init__(self, asks: Asks) -> None:
        self.asks = asks
        self.cookies: dict[str, str] = {}

    async def __call__(
        self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None, **fields: str
    ) -> Answer:
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        sent |= headers or {}
        body = b""
        if method != "GET":
            sent |= {"Origin": OWN, "Content-Type": "application/x-www-form-urlencoded"}
            body = urlencode({"csrfmiddlewaretoken": self.cookies.get("csrftoken", ""), **fields}).encode()
        answer = await self.asks(path, method=method, headers=sent, body=[body], token=False)
        assert answer is not None
        for cookie in answer.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            if value.strip('"'):
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        return answer

    async def sign_in(self, name: str = "ada", password: str = PASSWORD, then: str = "") -> Answer:
        await self("/sign-in")
        return await self("/sign-in", method="POST", username=name, password=password, next=then)


@pytest.fixture
def team(asks: Asks, settings: Any) -> Iterator[Asks]:
    """The gate of a server with accounts, and one account."""
    settings.LOGIN = ("password",)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    User.objects.create_user("ada", password=PASSWORD)
    yield asks
    for guesses in (views.by_account, views.by_address):
        guesses.__init__(guesses.most, guesses.within_s)  # type: ignore[misc]


@pytest.fixture
def person(team: Asks) -> Person:
    return Person(team)


@pytest.mark.parametrize("path", ["/", "/t/x", "/timelines?source=live", "/admin/", "/account"])
async def test_a_page_leads_to_the_sign_in_page_and_from_there_back(person: Person, path: str) -> None:
    answer = await person(path)
    assert answer.status == 303
    assert answer.headers["location"] == (
        "/sign-in" if path == "/" else f"/sign-in?next={quote(path, safe='')}"
    )
    assert (await person.sign_in(then=path)).headers["location"] == path


async def test_who_has_signed_in_reads_pages_and_the_api(person: Person) -> None:
    assert (await person.sign_in()).status == 302
    page = await person("/")
    assert page.status == 200
    assert b'href="/account"' in page.body
    assert (await person("/api/timelines")).json == []
    again = next(cookie for cookie in (await person.sign_in()).cookies if cookie.startswith(NAME))
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(again.split("; "))
    assert "expires" not in again


@pytest.mark.parametrize("headers", [{}, {"Authorization": f"Bearer {django_settings.ACCESS_TOKEN}"}])
@pytest.mark.parametrize(
    "path", ["/api/timelines", f"/api/timelines?token={quote(django_settings.ACCESS_TOKEN)}"]
)
async def test_the_one_token_opens_nothing_where_there_are_accounts(
    team: Asks, path: str, headers: dict[str, str]
) -> None:
    answer = await team(path, headers=headers, token=False)
    assert (answer.status, answer.json["error"]["code"]) == (401, "unauthorized")


async def test_a_wrong_password_is_told_on_the_page_and_names_no_account(person: Person) -> None:
    wrong = await person.sign_in(password="guessed")
    unknown = await person.sign_in(name="nobody", password="guessed")
    sentences = {
        re.search(r'role="alert"[^>]*>([^<]+)', answer.body.decode())[1] for answer in (wrong, unknown)
    }
    assert len(sentences) == 1
    assert NAME not in person.cookies
    assert b"guessed" not in wrong.body


async def test_guesses_of_one_account_are_bounded_and_the_right_password_waits_too(person: Person) -> None:
    for _ in range(views.GUESSES_MOST):
        assert (await person.sign_in(password="guessed")).status == 200
    refused = await person.sign_in()
    assert refused.status == 429
    assert views.TOO_MANY in refused.body.decode()
    fullwidth = "\uff41da"
    for spelled in ("ADA", " ada", fullwidth, "\N{MATHEMATICAL BOLD SMALL A}da "):
        assert (await person.sign_in(name=spelled)).status == 429, "the same account in other letters"
    assert NAME not in person.cookies


async def test_guesses_from_one_address_are_bounded_whatever_names_they_try(person: Person) -> None:
    for number in range(views.GUESSES_FROM_ADDRESS_MOST):
        await person.sign_in(name=f"name-{number}", password="guessed")
    assert (await person.sign_in()).status == 429


async def test_a_right_password_begins_the_count_at_zero(person: Person) -> None:
    for _ in range(3):
        for _ in range(views.GUESSES_MOST - 1):
            await person.sign_in(password="guessed")
        assert (await person.sign_in()).status == 302


@pytest.mark.parametrize(
    "then", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"]
)
async def test_signing_in_leads_to_no_other_host(person: Person, then: str) -> None:
    assert (await person.sign_in(then=then)).headers["location"] == "/"


async def test_a_session_that_was_there_before_is_not_the_one_that_is_signed_in(person: Person) -> None:
    """Whoever plants a session's key in another's browser has nothing of it afterwards."""
    planted = SessionStore()
    planted["x"] = 1
    await sync_to_async(planted.save)()
    person.cookies[NAME] = str(planted.session_key)
    await person.sign_in()
    assert person.cookies[NAME] != planted.session_key
    assert not await sync_to_async(Session.objects.filter(pk=planted.session_key).exists)()
    # One that was signed in has a new end, so it is another one, too.
    before = dict(person.cookies)
    await person.sign_in()
    assert person.cookies[NAME] != before[NAME]
    person.cookies = before
    assert (await person("/api/timelines")).status == 401


async def test_signing_out_ends_the_session_for_whoever_has_its_key(person: Person, team: Asks) -> None:
    await person.sign_in()
    kept = dict(person.cookies)
    assert (await person("/sign-out")).status == 405, "a link signs nobody out"
    assert (await person("/sign-out", method="POST")).headers["location"] == "/sign-in"
    person.cookies = kept
    assert (await person("/api/timelines")).status == 401


async def test_a_form_without_the_pages_token_neither_signs_in_nor_out(person: Person) -> None:
    await person.sign_in()
    del person.cookies["csrftoken"]
    assert (await person("/sign-out", method="POST")).status == 403
    assert (await person("/api/timelines")).status == 200
    stranger = Person(person.asks)
    answer = await stranger("/sign-in", method="POST", username="ada", password=PASSWORD)
    assert answer.status == 403


async def test_the_api_wants_the_pages_token_of_a_session(person: Person) -> None:
    await person.sign_in()
    cookie = {"Cookie": f"{NAME}={person.cookies[NAME]}", "Content-Type": "application/json"}
    answer = await person.asks("/api/kept/delete", method="POST", headers=cookie, body=[b"{}"], token=False)
    assert answer.status == 403


async def test_a_session_ends_without_requests_and_in_any_case_after_a_time(
    person: Person, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.sign_in()
    key = person.cookies[NAME]
    now_s = time.time()

    def age(hours: float) -> None:
        monkeypatch.setattr(sessions.time, "time", lambda: now_s + hours * 3600)
        until = timezone.now() + timezone.timedelta(hours=1)
        Session.objects.filter(pk=key).update(expire_date=until)

    await sync_to_async(age)(settings.SESSION_MOST_S / 3600 - 1)
    assert (await person("/api/timelines")).status == 200
    await sync_to_async(age)(settings.SESSION_MOST_S / 3600 + 1)
    assert (await person("/api/timelines")).status == 401

    monkeypatch.undo()
    await person.sign_in()
    ended = timezone.now() - timezone.timedelta(seconds=1)
    await sync_to_async(Session.objects.update)(expire_date=ended)
    assert (await person("/api/timelines")).status == 401
    await sync_to_async(sessions.remove_ended)()
    assert await sync_to_async(Session.objects.count)() == 0


async def test_a_request_prolongs_the_session_and_an_open_socket_does_not(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.sign_in()
    key = person.cookies[NAME]
    soon = timezone.now() + timezone.timedelta(minutes=1)
    later_s = time.time() + 2 * sessions.NOTED_EVERY_S
    monkeypatch.setattr(sessions.time, "time", lambda: later_s)
    await sync_to_async(Session.objects.update)(expire_date=soon)
    await sync_to_async(sessions.user_of)(key, is_request=False)
    assert (await sync_to_async(Session.objects.get)(pk=key)).expire_date == soon
    await person("/api/timelines")
    assert (await sync_to_async(Session.objects.get)(pk=key)).expire_date > soon


def deactivated() -> None:
    User.objects.update(is_active=False)


def with_another_password() -> None:
    ada = User.objects.get()
    ada.set_password("another long sentence")
    ada.save()


def promoted() -> None:
    User.objects.update(is_superuser=True)


def signed_out() -> None:
    Session.objects.all().delete()


@pytest.mark.parametrize("change", [deactivated, with_another_password, signed_out])
async def test_a_session_of_an_account_that_has_changed_opens_nothing(person: Person, change: Any) -> None:
    await person.sign_in()
    await sync_to_async(change)()
    assert (await person("/api/timelines")).status == 401


async def looked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits until the sessions of open sockets were looked for twice."""
    looks = asyncio.Semaphore(0)
    find = signing_in.find_sender

    async def found(credential: Credential, *, is_request: bool) -> Sender | None:
        looks.release()
        return await find(credential, is_request=is_request)

    with monkeypatch.context() as patched:
        patched.setattr(signing_in, "find_sender", found)
        for _ in range(2):
            await asyncio.wait_for(looks.acquire(), 60)


async def closed_after(change: Any, monkeypatch: pytest.MonkeyPatch, *, shown: tuple[str, str]) -> None:
    """A socket that was opened with a header is closed once ``change`` has been made, and not before."""
    monkeypatch.setattr(signing_in, "LOOK_EVERY_S", 0.05)
    opened, sent = asyncio.Event(), []

    async def socket(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        opened.set()
        heard.append(await receive())
        await send({"type": "websocket.send", "text": "more"})

    heard: list[Any] = []
    coming: asyncio.Queue[Any] = asyncio.Queue()
    coming.put_nowait({"type": "websocket.connect"})

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), tuple(part.encode() for part in shown)]
    scope = {"type": "websocket", "path": "/ws/timelines/x", "query_string": b"", "headers": headers}
    gate = Gate(Handler(), socket)
    running = asyncio.create_task(gate(scope, coming.get, send))
    await asyncio.wait_for(opened.wait(), 60)
    await looked_again(monkeypatch)
    assert not running.done(), "what goes on keeps its sockets"
    await sync_to_async(change)()
    await asyncio.wait_for(running, 60)
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[-1]["code"] == heard[0]["code"] == SIGNED_OUT
    assert gate.ending_sockets._watching is None


@pytest.mark.parametrize("change", [deactivated, with_another_password, signed_out, promoted])
async def test_a_socket_is_closed_when_its_session_or_its_account_has_changed(
    person: Person, change: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.sign_in()
    await closed_after(change, monkeypatch, shown=("cookie", f"{NAME}={person.cookies[NAME]}"))


@pytest.mark.parametrize("cookie", ["", f"{NAME}=x", f"{NAME}={'a' * 32}", f"{NAME}={'A' * 31}é"])
async def test_no_socket_is_opened_for_nobody(team: Asks, cookie: str) -> None:
    async def receive() -> Any:
        return {"type": "websocket.connect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    headers = [(b"host", HOST.encode()), (b"cookie", cookie.encode("latin-1"))]
    for path in ("/ws/timelines/x", "/sign-in", "/healthz", "/static/x", "/s/x"):
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers}
        await team.gate(scope, receive, send)
    assert set(sent) == {"websocket.close"}


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/account", "/admin/", "/admin"])
async def test_local_mode_has_no_accounts(asks: Asks, path: str) -> None:
    assert (await asks(path, token=False)).status == 401
    answer = await asks(path)
    assert answer.status == 404
    assert b"LOGIN" in answer.body


async def test_the_admin_pages_are_for_admins_and_have_the_same_policy(person: Person) -> None:
    await person.sign_in()
    assert (await person("/admin/")).status == 403
    await sync_to_async(User.objects.update)(is_staff=True, is_superuser=True)
    refused = await person("/admin/login/", method="POST", username="ada", password=PASSWORD)
    assert refused.status == 405, "no second form tries passwords"
    page = await person("/admin/auth/user/")
    assert page.status == 200
    assert page.headers["content-security-policy"] == (await person("/")).headers["content-security-policy"]
    assert b"<script>" not in page.body
    assert b"style=" not in page.body


async def test_health_has_its_details_for_who_has_signed_in(person: Person) -> None:
    stranger = (await person("/readyz")).body
    await person.sign_in()
    assert (await person("/readyz")).body != stranger
