"""People sign in at a proxy in front, which names them in a header; and one's own password is changed on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from explorer.accounts.permissions import Role
from explorer.accounts.roles import give
from explorer.pages.account import views
from tests.access.conftest import Answer, Asks
from tests.access.test_roles import RUN
from tests.access.test_signing_in import PASSWORD, Person, closed_after, deactivated, person, team
from tests.api.test_settings import manage

__all__ = ["person", "team"]

pytestmark = pytest.mark.once

NEW = "another long sentence"


@pytest.fixture
def behind_proxy(asks: Asks, settings: Any) -> Asks:
    settings.LOGIN = ("proxy",)
    settings.PROXY_USER_HEADER = b"x-forwarded-user"
    settings.TRUSTED_PROXIES = ["127.0.0.1/32"]
    return asks


async def named(asks: Asks, name: str, path: str = "/api/timelines", **more: Any) -> Answer:
    headers = {"X-Forwarded-User": name, "Content-Type": "application/json"}
    answer = await asks(path, headers=headers, token=False, **more)
    assert answer is not None
    return answer


async def test_who_the_proxy_names_has_an_account_from_then_on_as_a_viewer(behind_proxy: Asks) -> None:
    assert (await named(behind_proxy, "ada@example.org", "/account")).status == 200
    user = await User.objects.aget()
    assert (user.username, user.has_usable_password(), user.is_superuser) == ("ada@example.org", False, False)
    assert (
        await named(behind_proxy, "ada@example.org", "/api/runs", method="POST", body=[RUN])
    ).status == 403
    await sync_to_async(give)(user, Role.EDITOR)
    assert (
        await named(behind_proxy, "ada@example.org", "/api/runs", method="POST", body=[RUN])
    ).status == 201
    assert await User.objects.acount() == 1
    await sync_to_async(deactivated)()
    assert (await named(behind_proxy, "ada@example.org")).status == 401


@pytest.mark.parametrize("name", ["", " ", "a" * 151, "a\x07b"])
async def test_a_name_that_is_none_opens_nothing(behind_proxy: Asks, name: str) -> None:
    for path in ("/api/timelines", "/", "/sign-in"):
        assert (await named(behind_proxy, name, path)).status == 401
    assert await User.objects.acount() == 0


async def test_the_header_is_believed_from_a_trusted_address_alone_and_once(
    behind_proxy: Asks, settings: Any
) -> None:
    twice = await behind_proxy("/api/timelines", token=False, twice=("X-Forwarded-User", "ada"))
    assert twice is not None
    assert twice.status == 400
    behind_proxy.connection = {"server": ("10.0.0.1", 8000), "client": ("10.0.0.9", 50000)}
    assert (await named(behind_proxy, "ada")).status == 401
    settings.LOGIN = ("password",)
    settings.PROXY_USER_HEADER = b""
    behind_proxy.connection = {"server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 50000)}
    assert (await named(behind_proxy, "ada")).status == 401
    assert await User.objects.acount() == 0


async def test_a_socket_of_who_the_proxy_names_ends_when_the_account_is_deactivated(
    behind_proxy: Asks, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TRUSTED_PROXIES = ["unix"]
    await sync_to_async(User.objects.create_user)("ada")
    await closed_after(deactivated, monkeypatch, shown=("x-forwarded-user", "ada"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"LOGIN": "proxy", "TRUSTED_PROXIES": "unix"}, "needs the name of a header"),
        ({"LOGIN": "proxy", "PROXY_USER_HEADER": "X-User"}, "TRUSTED_PROXIES"),
        ({"LOGIN": "proxy", "PROXY_USER_HEADER": "Cookie", "TRUSTED_PROXIES": "unix"}, "needs the name of a header"),
        ({"TRUSTED_PROXIES": "anywhere"}, "which is no network"),
    ],
)  # fmt: skip
def test_settings_that_would_let_anybody_in_are_refused(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    done = manage(tmp_path, "check", **environment)
    assert done.returncode != 0
    assert sentence in done.stderr


@pytest.mark.long
def test_django_has_nothing_to_say_of_a_teams_deployment(tmp_path: Path) -> None:
    team = {"LOGIN": "password", "BEHIND_TLS": "1", "ALLOWED_HOSTS": "rebalance.internal", "SECRET_KEY": "0123456789abcdef" * 4}  # fmt: skip
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **team)
    assert (done.returncode, "no issues" in done.stdout) == (0, True), done.stderr


async def test_a_person_changes_their_own_password_and_other_sessions_end(person: Person) -> None:
    other = Person(person.asks)
    await person.sign_in()
    await other.sign_in()
    fields = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    for wrong in ({"old_password": "guessed"}, {"new_password2": "x"}, {"new_password1": "1234", "new_password2": "1234"}):  # fmt: skip
        answer = await person("/account/password", method="POST", **(fields | wrong))
        assert answer.status == 400
        assert b'role="alert"' in answer.body
        assert b"guessed" not in answer.body
    assert (await person("/account/password", method="POST", **fields)).headers["location"] == "/account"
    assert (await person("/account")).status == 200
    assert (await other("/api/timelines")).status == 401
    assert (await other.sign_in(password=NEW)).status == 302


async def test_guesses_of_the_old_password_are_bounded(person: Person) -> None:
    await person.sign_in()
    fields = {"new_password1": NEW, "new_password2": NEW}
    for _ in range(views.GUESSES_MOST):
        await person("/account/password", method="POST", old_password="guessed", **fields)
    answer = await person("/account/password", method="POST", old_password=PASSWORD, **fields)
    assert answer.status == 429
