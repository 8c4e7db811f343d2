"""Share links for people who sign in: what they open, to whom, and until when."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from explorer.access.gate import Gate, Handler
from explorer.accounts.models import AuditEntry
from explorer.accounts.permissions import Role
from explorer.accounts.roles import give
from explorer.asgi import UPLOADS
from explorer.sharing import links, tokens
from explorer.sharing.addresses import cookie_name
from explorer.sharing.door import Door
from explorer.sharing.models import Link
from groups.models import Timeline
from tests.access.conftest import Asks, _no_sockets
from tests.access.test_roles import by
from tests.access.test_signing_in import PASSWORD, Person, person, team
from tests.stories import a_day_of_three

__all__ = ["person", "team"]


@pytest.fixture
def asks(transactional_db: None) -> Asks:
    asking = Asks()
    asking.gate = Gate(Handler(), _no_sockets, uploads=UPLOADS, door=Door())
    return asking


@pytest.fixture
def eve(team: Asks) -> Any:
    """A program of Eve, an editor."""
    give(User.objects.create_user("eve", password=PASSWORD), Role.EDITOR)
    return by(team, "eve")


@pytest.fixture
async def made(eve: Any, stored: Callable[..., Timeline]) -> Any:
    """The answer to Eve, who makes a link for people who sign in."""
    timeline = await sync_to_async(stored)(a_day_of_three())
    body = orjson.dumps({"view": "reader", "who": "signed-in"})
    answer = await eve(f"/api/timelines/{timeline.id}/links", "POST", body)
    assert answer.status == 201
    return answer.json


async def test_whoever_signs_in_opens_it_and_nobody_else_learns_what_it_shows(
    person: Person, made: Any
) -> None:
    url = made["url"]
    assert (made["who"], url, made["embed_url"]) == ("signed-in", f"/shared/{made['id']}/", None)
    for path in (url, f"{url}state", f"{url}?at=7"):
        stranger = await person(path)
        assert (stranger.status, stranger.body) == (303, b"")
        assert stranger.headers["location"].startswith("/sign-in?next=%2Fshared%2F")
        assert made["title"] not in repr(stranger.headers)
    back = await person.sign_in(then=f"{url}?at=7")
    assert back.headers["location"] == f"{url}?at=7"
    page = await person(back.headers["location"], headers={"Accept-Encoding": "gzip"})
    text = gzip.decompress(page.body).decode()
    assert (made["title"] in text, "Shared by eve, open until" in text) == (True, True)
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert (await person(f"{url}state")).json == {"open": True}
    assert await sync_to_async(lambda: Link.objects.get().opened)() == 1
    (noted,) = await sync_to_async(lambda: list(AuditEntry.objects.filter(action="share")))()
    assert (noted.name, noted.details["who"]) == ("eve", "signed-in")


async def test_it_ends_when_it_is_withdrawn_and_for_an_account_that_is_no_longer_active(
    person: Person, made: Any
) -> None:
    url = made["url"]
    await person.sign_in()
    assert (await person(url)).status == 200
    await sync_to_async(User.objects.filter(username="ada").update)(is_active=False)
    assert (await person(url)).status == 303
    await sync_to_async(User.objects.filter(username="ada").update)(is_active=True)
    await person.sign_in()
    await sync_to_async(links.withdraw)(made["id"])
    assert ((await person(url)).status, (await person(f"{url}state")).status) == (404, 410)


async def test_whoever_may_withdraw_a_link_is_offered_it_and_no_one_else(
    person: Person, eve: Any, made: Any
) -> None:
    path = f"/api/timelines/{await sync_to_async(lambda: Link.objects.get().timeline_id)()}/links"
    await person.sign_in()
    (seen,) = (await person(path)).json
    assert (seen["author"], seen["may_withdraw"]) == ("eve", False)
    (own,) = (await eve(path)).json
    assert own["may_withdraw"] is True
    assert (await eve(f"/api/links/{made['id']}", "DELETE")).status == 204


async def test_no_token_opens_it_and_no_server_of_links_alone(
    team: Asks, eve: Any, made: Any, settings: Any
) -> None:
    token = tokens.draw()
    await sync_to_async(Link.objects.update)(token_hash=tokens.hashed(token))
    cookie = {"Cookie": f"{cookie_name(made['id'])}={token}"}
    paths = (f"/s/{token}", f"/s/{token}/card.png", f"/s/{token}/embed/", f"/s/open/{made['id']}/")
    for path in paths:
        answer = await team(path, headers=cookie, token=False)
        assert answer is not None
        assert (answer.status, made["title"] in answer.body.decode()) == (404, False), path
    # A link for anyone is at no address that a session opens.
    await sync_to_async(Link.objects.update)(signed_in=False)
    assert (await eve(made["url"])).status == 404
    await sync_to_async(Link.objects.update)(signed_in=True)
    settings.LINKS_ONLY = True
    assert (await eve(made["url"])).status == 404


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"embed_origins": ["https://wiki.example"]}, "Nobody can sign in within a frame: leave embed_origins out."),
        ({"who": "mara"}, "who='mara' must be one of anyone, signed-in."),
    ],
)  # fmt: skip
async def test_what_such_a_link_cannot_be_is_one_line(
    eve: Any, made: Any, more: dict[str, Any], says: str
) -> None:
    timeline = await sync_to_async(lambda: Link.objects.get().timeline_id)()
    body = orjson.dumps({"who": "signed-in"} | more)
    answer = await eve(f"/api/timelines/{timeline}/links", "POST", body)
    assert (answer.status, answer.message) == (400, says)
