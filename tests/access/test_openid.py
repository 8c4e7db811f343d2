"""People sign in at an OpenID Connect provider, a real one on a port of its own: who is let in as whom, and which answers of a provider let nobody in."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from pprint import pformat
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.views.debug import SafeExceptionReporterFilter

from explorer.accounts import openid, sessions, tokens
from explorer.accounts.models import AuditEntry, Identity
from explorer.accounts.permissions import Role
from explorer.accounts.provider import MappedRole, OpenId
from explorer.accounts.roles import give, rights_of
from explorer.pages.account import openid as pages
from groups.models import Cluster
from tests.access.conftest import Answer, Asks
from tests.access.test_signing_in import NAME, PASSWORD, Person, closed_after, deactivated
from tests.api.test_settings import manage

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore::authlib.deprecate.AuthlibDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning"),
]

CLIENT, SECRET = "rebalance", "the secret of this client"
ADA = {"preferred_username": "ada", "email": "ada@example.org", "groups": ["kafka", "prod"]}


class Provider:
    """A provider that signs in whom a test names, and keeps what it was asked."""

    def __init__(self, url: str, app: Any, set_user: Callable[..., None]) -> None:
        self.url = url
        self.set_user = set_user
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._app = app

    def __call__(self, environ: Any, start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        fields = parse_qs(environ["QUERY_STRING"]) | parse_qs(body.decode())
        self.asked.append((environ["PATH_INFO"], {name: values[0] for name, values in fields.items()}))
        return self._app(environ, start_response)

    def of(self, path: str) -> dict[str, str]:
        """What was last asked of an address."""
        return next(fields for asked, fields in reversed(self.asked) if asked == path)


@pytest.fixture
def provider() -> Iterator[Provider]:
    from oidc_provider_mock import run_server_in_thread

    with run_server_in_thread() as server:
        url = f"http://localhost:{server.server_port}"

        def set_user(sub: str, **claims: Any) -> None:
            requests.put(f"{url}/users/{sub}", json=claims, timeout=60).raise_for_status()

        server.app = Provider(url, server.app, set_user)
        yield server.app


@pytest.fixture
def team(asks: Asks, settings: Any, provider: Provider) -> Iterator[Asks]:
    settings.LOGIN = ("password", "oidc")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.OIDC = OpenId(provider.url, CLIENT, SECRET, "openid profile email", "groups", (), "the house")
    settings.AUTHENTICATION_BACKENDS = [
        "django.contrib.auth.backends.ModelBackend",
        "explorer.accounts.openid.Backend",
    ]
    provider.set_user("ada-1", **ADA)
    yield asks
    openid._described.clear()
    pages.starts.__init__(pages.STARTS_MOST, pages.WITHIN_S)  # type: ignore[misc]


@pytest.fixture
def person(team: Asks) -> Person:
    return Person(team)


async def way_back(person: Person, sub: str = "ada-1", **query: str) -> str:
    """The address to which the provider sends a browser whose person has signed in there."""
    begun = await person(f"/sign-in/start?{urlencode(query)}")
    assert begun.status == 302, begun.body
    sent = await asyncio.to_thread(
        requests.post, begun.headers["location"], data={"sub": sub}, allow_redirects=False, timeout=60
    )
    parts = urlsplit(sent.headers["location"])
    assert parts.netloc == "127.0.0.1:8000"
    return f"{parts.path}?{parts.query}"


async def signs_in(person: Person, sub: str = "ada-1", **query: str) -> Answer:
    return await person(await way_back(person, sub, **query))


async def is_signed_in(person: Person) -> bool:
    return (await person("/api/timelines")).status == 200


async def nobody(person: Person, answer: Answer, sentence: str) -> None:
    """Nobody was signed in, for this reason, and no account was made."""
    assert answer.status == 400
    assert sentence in answer.body.decode().replace("&#x27;", "'")
    assert not await is_signed_in(person)
    assert await Identity.objects.acount() == 0


async def test_a_first_sign_in_makes_a_viewers_account_and_leads_on(
    person: Person, provider: Provider
) -> None:
    page = await person("/api-docs?x")
    assert page.status == 303
    page = await person("/sign-in?next=/timelines%3Fa=1")
    assert b"Sign in at the house" in page.body
    back = await way_back(person, next="/timelines?a=1")
    before = person.cookies[NAME]
    answer = await person(back)
    assert (answer.status, answer.headers["location"]) == (302, "/timelines?a=1")
    assert person.cookies[NAME] != before, (
        "a session that was fixed beforehand is not the one that is signed in"
    )
    assert await is_signed_in(person)
    user = await User.objects.aget()
    assert (user.username, user.email, user.has_usable_password()) == ("ada", "ada@example.org", False)
    identity = await Identity.objects.aget()
    assert (identity.issuer, identity.subject, identity.account_id) == (provider.url, "ada-1", user.pk)
    assert (await sync_to_async(rights_of)(user)).role is Role.VIEWER
    signed = [(entry.action, entry.name, entry.by) async for entry in AuditEntry.objects.all()]
    assert signed == [("sign-in", "ada", "provider")]


async def test_the_question_has_a_state_a_nonce_and_a_challenge_that_the_code_is_redeemed_with(
    person: Person, provider: Provider
) -> None:
    await signs_in(person)
    question, redeemed = provider.of("/oauth2/authorize"), provider.of("/oauth2/token")
    assert question["code_challenge_method"] == "S256"
    digest = hashlib.sha256(redeemed["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == question["code_challenge"]
    assert min(len(question["state"]), len(question["nonce"])) >= 32
    kept = await sync_to_async(lambda: [each.get_decoded() for each in Session.objects.all()])()
    assert all(value not in repr(kept) for value in (question["state"], redeemed["code_verifier"]))


async def test_a_person_is_found_by_the_subject_and_by_nothing_else(
    person: Person, provider: Provider, team: Asks
) -> None:
    await sync_to_async(User.objects.create_superuser)("boss", "boss@example.org", PASSWORD)
    provider.set_user("eve", preferred_username="boss", email="boss@example.org", email_verified=True)
    assert (await signs_in(person, "eve")).status == 302
    eve = await User.objects.aget(identities__subject="eve")
    assert (eve.username, eve.is_superuser) == ("boss (2)", False)
    provider.set_user("eve", preferred_username="renamed", email="new@example.org")
    assert (await signs_in(Person(team), "eve")).status == 302
    assert await User.objects.acount() == 2


async def test_groups_give_roles_everywhere_and_on_clusters_at_each_sign_in(
    team: Asks, provider: Provider, settings: Any
) -> None:
    mapped = (
        MappedRole("kafka", "editor", ""),
        MappedRole("prod", "admin", "prod-eu"),
        MappedRole("all", "admin", ""),
    )
    settings.OIDC = replace(settings.OIDC, roles=mapped)
    cluster = await Cluster.objects.acreate(id="c1", name="prod-eu")

    async def rights() -> Any:
        assert (await signs_in(Person(team))).status == 302
        return await sync_to_async(lambda: rights_of(User.objects.get()))()

    first = await rights()
    assert (first.role, first.on_clusters) == (Role.EDITOR, ((cluster.pk, Role.ADMIN),))
    given = [
        (entry.name, entry.by, entry.details["role"], entry.details["on"])
        async for entry in AuditEntry.objects.filter(action="role").order_by("id")
    ]
    assert given == [("ada", "provider", "editor", "everywhere"), ("ada", "provider", "admin", "prod-eu")]
    assert await rights() == first
    assert await AuditEntry.objects.filter(action="role").acount() == 2, "what stays is no change"
    for groups, role, on_clusters in (
        (["all"], Role.ADMIN, ()),
        ("kafka", Role.EDITOR, ()),
        ({"all": False}, Role.VIEWER, ()),
        ([["all"], 7, "kafka"], Role.EDITOR, ()),
        (7, Role.VIEWER, ()),
        (None, Role.VIEWER, ()),
    ):
        provider.set_user("ada-1", **(ADA | {"groups": groups}))
        now = await rights()
        assert (now.role, now.on_clusters) == (role, on_clusters)


async def test_a_session_of_the_provider_ends_as_one_of_a_password_does(
    person: Person, settings: Any
) -> None:
    for mark, limit in ((sessions.BEGAN, settings.SESSION_MOST_S), ("expired", 0)):
        await signs_in(person)
        assert await is_signed_in(person)
        session = SessionStore(person.cookies[NAME])
        await sync_to_async(session.get)(mark)
        if mark == "expired":
            assert session.get_expiry_age() == settings.SESSION_COOKIE_AGE
            await Session.objects.aupdate(expire_date="2020-01-01T00:00:00Z")
        else:
            session[mark] = time.time() - limit - 1
            await sync_to_async(session.save)()
        answer = await person("/timelines")
        assert (answer.status, answer.headers["location"]) == (303, "/sign-in?next=%2Ftimelines")


async def test_an_account_that_is_not_active_loses_session_socket_and_token_and_is_not_let_in_again(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signs_in(person)
    _, token = await sync_to_async(lambda: tokens.make(User.objects.get(), "a", "read", 1))()
    await closed_after(deactivated, monkeypatch, shown=("cookie", f"{NAME}={person.cookies[NAME]}"))
    assert not await is_signed_in(person)
    shown = {"Authorization": f"Bearer {token}"}
    answer = await person.asks("/api/timelines", headers=shown, token=False)
    assert answer is not None
    assert answer.status == 401
    again = await signs_in(person)
    assert (again.status, b"is not active" in again.body) == (400, True)
    assert not await is_signed_in(person)


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({"iss": "https://another.example"}, "Invalid issuer"),
        ({"iss": None}, "Token is missing the"),
        ({"aud": ["another client"]}, "Audience doesn't match"),
        ({"aud": ["another client", CLIENT], "azp": "another client"}, "The ID token is for another client"),
        ({"exp": 1_600_000_000}, "Signature has expired"),
        ({"nonce": "of another question"}, "answers another question"),
        ({"nonce": None}, "was not accepted"),
    ],
)
async def test_a_token_that_is_not_the_answer_for_this_server_signs_nobody_in(
    person: Person, provider: Provider, claims: dict[str, Any], sentence: str
) -> None:
    provider.set_user("ada-1", **(ADA | claims))
    await nobody(person, await signs_in(person), sentence)
    entry = await AuditEntry.objects.aget()
    assert (entry.action, sentence in entry.details["reason"]) == ("sign-in-refused", True)


async def test_a_token_that_is_signed_with_the_clients_secret_signs_nobody_in(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oidc_provider_mock import _app

    key = base64.urlsafe_b64encode(SECRET.encode()).rstrip(b"=").decode()
    right = _app.OpenIDCode.get_jwt_config
    other = {"alg": "HS256", "key": {"kty": "oct", "k": key}}
    monkeypatch.setattr(_app.OpenIDCode, "get_jwt_config", lambda self, *args: right(self, *args) | other)
    await nobody(person, await signs_in(person), "alg value is not allowed")


async def test_a_token_of_another_key_signs_nobody_in(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from authlib import jose
    from oidc_provider_mock import _app

    other = jose.RSAKey.generate_key(is_private=True)
    key = other.as_dict(is_private=True)
    right = _app.OpenIDCode.get_jwt_config
    monkeypatch.setattr(
        _app.OpenIDCode, "get_jwt_config", lambda self, *args: right(self, *args) | {"key": key}
    )
    await nobody(person, await signs_in(person), "Signature verification failed")


async def test_a_description_of_another_person_signs_nobody_in(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid.Backend, "get_userinfo", lambda self, *args: {"sub": "eve", "groups": ["all"]})
    await nobody(person, await signs_in(person), "describes another person")


async def test_a_way_back_is_used_once_and_by_the_browser_that_began_it(team: Asks, person: Person) -> None:
    other = Person(team)
    back = await way_back(person)
    await nobody(other, await other(back), pages.NOT_ASKED.split(",")[0])
    await way_back(other)
    await nobody(other, await other(back), pages.NOT_ASKED.split(",")[0])
    assert (await person(back)).status == 302
    assert (await person(back)).status == 400
    assert await is_signed_in(person), "a link to an old way back signs nobody out"
    state, code = (parse_qs(urlsplit(back).query)[name][0] for name in ("state", "code"))
    third = Person(team)
    begun = parse_qs(urlsplit(await way_back(third)).query)["state"][0]
    replayed = await third(f"/sign-in/callback?{urlencode({'state': begun, 'code': code})}")
    assert replayed.status == 400
    assert not await is_signed_in(third)
    assert (await third(f"/sign-in/callback?{urlencode({'state': state, 'code': code})}")).status == 400


async def test_a_code_in_the_address_of_the_password_form_signs_nobody_in(
    person: Person, provider: Provider
) -> None:
    """The code may be an attacker's, who asked for it without a nonce."""
    query = {"response_type": "code", "client_id": CLIENT, "scope": "openid", "state": "x", "redirect_uri": "http://127.0.0.1:8000/sign-in/callback"}  # fmt: skip
    sent = requests.post(f"{provider.url}/oauth2/authorize?{urlencode(query)}", data={"sub": "eve"}, allow_redirects=False, timeout=60)  # fmt: skip
    await person("/sign-in")
    address = f"/sign-in?{urlsplit(sent.headers['location']).query}"
    answer = await person(address, method="POST", username="ada", password="guessed")
    assert (answer.status, await is_signed_in(person)) == (200, False)
    assert await Identity.objects.acount() == 0


@pytest.mark.parametrize(
    "then", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_nobody_is_led_to_another_site(person: Person, then: str) -> None:
    assert (await signs_in(person, next=then)).headers["location"] == "/"
    assert (await person(f"/sign-in/start?{urlencode({'next': then})}")).headers["location"] == "/"


async def test_a_refusal_of_the_provider_is_shown_and_ends_the_way(person: Person) -> None:
    state = parse_qs(urlsplit(await way_back(person)).query)["state"][0]
    for error, shown in (("access_denied", "(access_denied)"), ("<b>", "used before")):
        answer = await person(f"/sign-in/callback?{urlencode({'state': state, 'error': error})}")
        await nobody(person, answer, shown)


async def test_a_provider_that_is_away_is_said_and_sessions_go_on(
    person: Person, team: Asks, settings: Any
) -> None:
    await signs_in(person)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        settings.OIDC = replace(settings.OIDC, issuer=f"http://127.0.0.1:{taken.getsockname()[1]}")
        answer = await Person(team)("/sign-in/start")
        assert (answer.status, b"cannot be reached" in answer.body) == (400, True)
        assert await is_signed_in(person)


async def test_without_a_password_in_login_no_password_is_taken(person: Person, settings: Any) -> None:
    await sync_to_async(User.objects.create_user)("bob", password=PASSWORD)
    settings.LOGIN = ("oidc",)
    assert b'name="password"' not in (await person("/sign-in")).body
    assert (await person("/sign-in", method="POST", username="bob", password=PASSWORD)).status in (403, 404)
    assert (await signs_in(person)).status == 302
    settings.LOGIN = ("password",)
    assert (await Person(person.asks)("/sign-in/start")).status == 404


async def test_starts_from_one_address_are_bounded(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.starts, "most", 2)
    assert [(await person("/sign-in/start")).status for _ in range(3)] == [302, 302, 429]
    assert await Session.objects.acount() == 1


async def test_an_admin_gives_an_account_that_was_there_to_its_person(
    person: Person, provider: Provider
) -> None:
    user = await sync_to_async(User.objects.create_user)("ada.old")
    await sync_to_async(give)(user, Role.EDITOR)
    await Identity.objects.acreate(account=user, issuer=provider.url, subject="ada-1")
    await signs_in(person)
    assert await User.objects.acount() == 1
    assert (await sync_to_async(rights_of)(user)).role is Role.EDITOR


def test_the_clients_secret_is_not_among_the_settings_that_a_page_of_an_error_shows() -> None:
    found = OpenId("https://login.example", CLIENT, SECRET, "openid", "groups", (), "the house")
    shown = pformat(SafeExceptionReporterFilter().cleanse_setting("OIDC", found))
    assert (CLIENT in shown, SECRET in shown) == (True, False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID"),
        ({"OIDC_ISSUER": "http://login.example"}, "must begin with https://"),
        ({"OIDC_ISSUER": "https://[login.example"}, "OIDC_ISSUER is no address"),
        ({"OIDC_SCOPES": "profile"}, "must have openid"),
        ({"OIDC_ROLES": "kafka=owner"}, "write GROUP=viewer"),
        ({"LOGIN": "oidc,proxy"}, "Choose one"),
    ],
)
def test_settings_that_cannot_be_right_are_refused_in_one_line(
    tmp_path: Path, more: dict[str, str], sentence: str
) -> None:
    right = {
        "LOGIN": "oidc",
        "OIDC_ISSUER": "https://login.example",
        "OIDC_CLIENT_ID": "a",
        "OIDC_CLIENT_SECRET": "b",
    }
    done = manage(tmp_path, "check", **(right | more))
    assert done.returncode != 0
    assert sentence in done.stderr
