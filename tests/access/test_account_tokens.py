"""Programs act for an account with a token: what one opens, what it may do, and when it ends."""

from __future__ import annotations

import asyncio
import hashlib
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from explorer.access import signing_in
from explorer.accounts import tokens
from explorer.accounts.guesses import Guesses
from explorer.accounts.models import NAME_LENGTH_MOST, Token
from explorer.accounts.permissions import Role
from explorer.accounts.roles import give
from tests.access.conftest import HOST, Answer, Asks
from tests.access.test_signing_in import NAME, Person, closed_after, deactivated, person, promoted, team
from tests.api.test_settings import manage

__all__ = ["person", "team"]

pytestmark = pytest.mark.once


def made(scope: str = "read", name: str = "prometheus") -> str:
    return tokens.make(User.objects.get(), name, scope, 90)[1]


@pytest.fixture
async def read(team: Asks) -> str:
    return await sync_to_async(made)("read", "reads")


@pytest.fixture
async def write(team: Asks) -> str:
    return await sync_to_async(made)("write", "writes")


async def sent(
    team: Asks, path: str, text: str, method: str = "GET", body: bytes = b"", **more: str
) -> Answer:
    headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json", **more}
    answer = await team(path, method=method, headers=headers, body=[body], token=False)
    assert answer is not None
    return answer


def expired() -> None:
    Token.objects.update(expires=timezone.now() - timedelta(seconds=1))


def revoked() -> None:
    for token in Token.objects.all():
        assert tokens.revoke(token.owner, token.pk)


def of_a_deleted_account() -> None:
    User.objects.all().delete()


@pytest.mark.parametrize("path", ["/api/timelines", "/", "/metrics", "/help/"])
async def test_a_token_reads_the_api_the_pages_and_the_metrics(team: Asks, read: str, path: str) -> None:
    assert (await sent(team, path, read)).status == 200
    assert (await sent(team, path, read, "HEAD")).status == 200
    assert (await team(f"{path}?token={read}", token=False)).status in (401, 303), "an address opens nothing"


async def test_a_token_that_asks_too_often_waits_and_the_others_do_not(
    team: Asks, read: str, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_in, "requests_of_tokens", Guesses(3, 60.0))
    for _ in range(3):
        assert (await sent(team, "/api/timelines", read)).status == 200
    answer = await sent(team, "/api/timelines", read)
    assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    assert answer.message == "This token may send 3 requests a minute: wait for the next one."
    assert (await sent(team, "/api/timelines", write)).status == 200


async def test_a_token_that_reads_changes_nothing_and_one_that_writes_does(
    team: Asks, read: str, write: str
) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "MADE-UP"):
        answer = await sent(team, "/api/timelines/none", read, method, b"{}")
        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden"), method
        assert answer.message == f"This token may only read: {method} needs one with the scope `write`."
    await sync_to_async(lambda: give(User.objects.get(), Role.EDITOR))()
    assert (await sent(team, "/api/timelines/none", write, "DELETE")).status == 404
    run = b'{"scenario": "no such scenario"}'
    assert (await sent(team, "/api/runs", read, "POST", run)).status == 403
    assert (await sent(team, "/api/runs", write, "POST", run)).status in (400, 404)


@pytest.mark.parametrize("change", [revoked, expired, deactivated, of_a_deleted_account])
async def test_a_token_that_has_ended_opens_nothing_at_once(team: Asks, write: str, change: Any) -> None:
    assert (await sent(team, "/api/timelines", write)).status == 200
    await sync_to_async(change)()
    for path in ("/api/timelines", "/", "/account"):
        answer = await sent(team, path, write)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert write not in answer.body.decode()


@pytest.mark.parametrize("change", [revoked, expired, deactivated, of_a_deleted_account, promoted])
async def test_a_socket_is_closed_when_its_token_or_its_account_has_changed(
    team: Asks, read: str, change: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await closed_after(change, monkeypatch, shown=("authorization", f"Bearer {read}"))


async def test_a_socket_ends_with_its_own_token_alone(
    team: Asks, read: str, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def the_other() -> None:
        assert tokens.revoke(User.objects.get(), Token.objects.get(name="writes").pk)

    open_ = asyncio.create_task(
        closed_after(the_other, monkeypatch, shown=("authorization", f"Bearer {write}"))
    )
    await open_
    assert (await sent(team, "/api/timelines", read)).status == 200


def wrong_texts(text: str) -> list[str]:
    letter = "A" if text[-1] != "A" else "B"
    return ["", "x", tokens.PREFIX, text[:-1] + letter, text + "A", text.upper(), text[len(tokens.PREFIX) :]]


async def test_a_wrong_token_opens_nothing_and_no_session_makes_it_right(
    person: Person, read: str, django_assert_num_queries: Any
) -> None:
    await person.sign_in()
    cookie = f"{NAME}={person.cookies[NAME]}"
    session_key = person.cookies[NAME]
    for text in [*wrong_texts(read), session_key]:
        for more in ({}, {"Cookie": cookie}):
            assert (await sent(person.asks, "/api/timelines", text, **more)).status == 401, text
    by_a_proxy = {"Cookie": cookie, "Authorization": "Basic YWRhOng="}
    answer = await person.asks("/api/timelines", headers=by_a_proxy, token=False)
    assert answer is not None
    assert answer.status == 200, "the login of a proxy in front is no token"


async def test_no_socket_is_opened_with_a_wrong_token_or_one_in_the_address(team: Asks, read: str) -> None:
    closed: list[str] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        closed.append(message["type"])

    for text in wrong_texts(read):
        headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {text}".encode())]
        scope = {"type": "websocket", "path": "/ws/timelines/x", "query_string": b"", "headers": headers}
        await team.gate(scope, receive, send)
    headers = [(b"host", HOST.encode())]
    query = f"token={read}".encode()
    scope = {"type": "websocket", "path": "/ws/timelines/x", "query_string": query, "headers": headers}
    await team.gate(scope, receive, send)
    assert closed == ["websocket.close"] * 8


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/account"), ("POST", "/account/tokens"), ("POST", "/account/tokens/1/revoke"), ("POST", "/sign-in"),
        ("POST", "/sign-out"), ("GET", "/admin/"), ("GET", "/admin"), ("POST", "/admin/auth/user/add/"),
    ],
)  # fmt: skip
async def test_a_token_manages_no_tokens_and_no_accounts(
    team: Asks, write: str, method: str, path: str
) -> None:
    await sync_to_async(User.objects.update)(is_staff=True, is_superuser=True)
    answer = await sent(team, path, write, method)
    assert (answer.status, b"A token manages no accounts" in answer.body) == (403, True)
    assert await sync_to_async(Token.objects.filter(revoked=None).count)() == 1


async def test_health_has_its_details_for_a_token(team: Asks, read: str) -> None:
    stranger = (await team("/readyz", token=False)).body
    assert (await sent(team, "/readyz", read)).body != stranger
    assert (await sent(team, "/readyz", "wrong")).body == stranger


async def test_a_person_makes_a_token_sees_it_once_and_revokes_it(person: Person) -> None:
    await person.sign_in()
    assert (await person("/account")).status == 200
    page = await person("/account/tokens", method="POST", name="ci <b>", scope="write", days="7")
    assert (page.status, page.headers["cache-control"]) == (201, "no-store")
    (text,) = re.findall(rf"{tokens.SHAPE.pattern}", page.body.decode())
    assert "ci &lt;b&gt;" in page.body.decode()
    assert (await sent(person.asks, "/api/timelines", text)).status == 200

    again = (await person("/account")).body.decode()
    assert "ci &lt;b&gt;" in again
    assert text not in again
    rows = await sync_to_async(lambda: list(Token.objects.values()))()
    assert text not in repr(rows)
    assert rows[0]["token_hash"] == hashlib.sha256(text.encode()).hexdigest()
    assert timedelta(days=6.9) < rows[0]["expires"] - timezone.now() <= timedelta(days=7)

    (revoke,) = re.findall(r'action="(/account/tokens/\d+/revoke)"', again)
    assert (await person(revoke)).status == 405, "a link revokes nothing"
    assert (await person(revoke, method="POST")).headers["location"] == "/account"
    assert (await sent(person.asks, "/api/timelines", text)).status == 401
    after = (await person("/account")).body.decode()
    assert "revoked" in after
    assert revoke not in after


async def test_a_form_without_the_pages_token_makes_and_revokes_nothing(person: Person, read: str) -> None:
    await person.sign_in()
    del person.cookies["csrftoken"]
    pk = await sync_to_async(lambda: Token.objects.get().pk)()
    fields = {"name": "x", "scope": "read", "days": "7"}
    assert (await person("/account/tokens", method="POST", **fields)).status == 403
    assert (await person(f"/account/tokens/{pk}/revoke", method="POST")).status == 403
    assert await sync_to_async(Token.objects.filter(revoked=None).count)() == 1


async def test_nobody_revokes_or_sees_anothers_token(person: Person, read: str) -> None:
    await sync_to_async(User.objects.create_user)("eve", password="another long sentence")
    await person.sign_in("eve", "another long sentence")
    assert b"reads" not in (await person("/account")).body
    pk = await sync_to_async(lambda: Token.objects.get().pk)()
    for token_id in (pk, pk + 1, 2**63):
        assert (await person(f"/account/tokens/{token_id}/revoke", method="POST")).status == 404
    assert (await sent(person.asks, "/api/timelines", read)).status == 200


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"name": " "}, f"A token's name has 1 to {NAME_LENGTH_MOST} letters."),
        ({"name": "x" * (NAME_LENGTH_MOST + 1)}, f"A token's name has 1 to {NAME_LENGTH_MOST} letters."),
        ({"name": "a\x1bb"}, f"A token's name has 1 to {NAME_LENGTH_MOST} letters."),
        ({"name": "reads"}, "This account has a token with the name 'reads'; revoke it or choose another."),
        ({"scope": "admin"}, "A token's scope is one of read, write, not 'admin'."),
        *[({"days": days}, f"A token is valid for 1 to {tokens.DAYS_MOST} days.") for days in ("0", "367", "-1", "x", "", "1.5", "9" * 5000)],
    ],
)  # fmt: skip
async def test_what_cannot_be_made_is_refused_in_one_sentence_on_the_page(
    person: Person, read: str, wrong: dict[str, str], sentence: str
) -> None:
    await person.sign_in()
    page = await person(
        "/account/tokens", method="POST", **({"name": "x", "scope": "read", "days": "7"} | wrong)
    )
    assert page.status == 400
    (shown,) = re.findall(r'role="alert"[^>]*>([^<]+)', page.body.decode())
    assert shown.replace("&#x27;", "'") == sentence
    assert await sync_to_async(Token.objects.count)() == 1


@pytest.mark.django_db
def test_an_account_has_a_bounded_number_of_tokens_valid_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TOKENS_MOST", 3)
    monkeypatch.setattr(tokens, "ENDED_MOST", 4)
    User.objects.create_user("ada")
    for number in range(tokens.TOKENS_MOST):
        made(name=f"token {number}")
    with pytest.raises(tokens.TokenRefused, match=f"{tokens.TOKENS_MOST} valid tokens at most"):
        made(name="one more")
    revoked()
    for number in range(tokens.ENDED_MOST + 2):
        made(name=f"again {number}")
        revoked()
    made(name="the last")
    assert Token.objects.count() == tokens.ENDED_MOST + 1
    assert "token 0" not in Token.objects.values_list("name", flat=True), "the oldest go first"


@pytest.mark.django_db
def test_the_last_use_is_written_once_a_minute_at_most(django_assert_num_queries: Any) -> None:
    User.objects.create_user("ada")
    text = made()
    assert Token.objects.get().last_use is None
    with django_assert_num_queries(2):
        tokens.found_by(text)
    first = Token.objects.get().last_use
    with django_assert_num_queries(1):
        tokens.found_by(text)
    assert Token.objects.get().last_use == first
    Token.objects.update(last_use=timezone.now() - timedelta(seconds=tokens.NOTED_EVERY_S + 1))
    with django_assert_num_queries(2):
        tokens.found_by(text)
    with django_assert_num_queries(0):
        assert tokens.found_by(text[:-1]) is None


def test_the_command_makes_a_token_that_opens_the_server(
    transactional_db: None, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.LOGIN = ("password",)
    User.objects.create_user("ada")
    call_command("make_token", "ada", "prometheus")
    text = capsys.readouterr().out.removesuffix("\n")
    found = tokens.found_by(text)
    assert found is not None
    assert (found.name, found.scope, found.owner.username) == ("prometheus", "read", "ada")
    for words, sentence in (
        (("eve", "prometheus"), "There is no active account 'eve'."),
        (("ada", "prometheus"), "This account has a token with the name 'prometheus'"),
        (("ada", "x", "--days", "0"), "valid for 1 to 366 days"),
    ):
        with pytest.raises(CommandError, match=re.escape(sentence)) as refused:
            call_command("make_token", *words)
        assert refused.value.returncode == 2
    settings.LOGIN = ()
    with pytest.raises(CommandError, match="set LOGIN"):
        call_command("make_token", "ada", "another")


@pytest.mark.long
def test_the_command_refuses_wrong_words_in_one_line(tmp_path: Path) -> None:
    done = manage(tmp_path, "make_token", "ada", "prometheus", "--scope", "admin", LOGIN="password")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "admin" in done.stderr
