"""Who may do what: viewers, editors and admins, on what they made and on what others made, everywhere and on one cluster."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.test import RequestFactory
from django.urls import resolve

from explorer.access.signing_in import found_at
from explorer.accounts import tokens
from explorer.accounts.models import Grant
from explorer.accounts.permissions import BY_ADDRESS, TABLE, Action, Role
from explorer.accounts.roles import Rights, give, rights_of
from explorer.accounts.targets import Target, target_of
from explorer.push.sockets import routes
from explorer.sharing.models import Link
from groups import authors, storage
from groups.imports import lifecycle
from groups.models import AlertRule, Cluster, Note, Timeline
from simulations.models import Proof, RemedySearch, Sweep
from tests.access.conftest import Answer, Asks
from tests.access.roles_page import PAGE, text
from tests.access.test_signing_in import NAME, PASSWORD, Person, closed_after, person, team
from tests.sharing.test_links import BY_COOKIE, BY_TOKEN, OPEN, patterns

__all__ = ["person", "team"]

IDS = {
    "timeline_id": "of-ada", "import_id": "of-ada", "sweep_id": "of-ada", "search_id": "of-ada", "proof_id": "of-ada", "link_id": "of-ada", "rule_id": "of-ada", "note_id": "of-ada", "cluster_id": "of-ada",
}  # fmt: skip
SINCE = {"until": "2100-01-01T00:00:00Z", "hides_names": False, "first": 1, "last": 1}


@cache
def methods_of(name: str, path: str) -> set[str]:
    """The methods that an address takes, by what it answers to one that is none."""
    if name == "admin":
        return {"GET", "POST"}
    match = resolve(path)
    request = RequestFactory().generic("MADE-UP", path)
    request.user = User()
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
    answer = match.func(request, *match.args, **match.kwargs)
    return set(answer["Allow"].split(", ")) - {"HEAD", "OPTIONS"} if answer.status_code == 405 else {"GET"}


def refusal_of(rights: Rights, method: str, path: str) -> tuple[int, str] | None:
    found = found_at(rights, method, path)
    assert found is not None
    return found.refused


def example(pattern: str) -> str:
    for name, value in IDS.items():
        pattern = re.sub(rf"<\w+:{name}>", value, pattern)
    return "/" + re.sub(r"<\w+:\w+>", "1", pattern)


@pytest.fixture
def addresses(db: None) -> list[tuple[str, str, str]]:
    """Every address and method behind the gate: its name, the method, and an example about what Ada has made."""
    found = []
    for name, pattern in patterns():
        if name not in OPEN | BY_TOKEN | BY_COOKIE:
            path = example(pattern)
            found += [(name, method, path) for method in sorted(methods_of(name, path))]
    return found


@pytest.fixture
def accounts(db: None) -> dict[str, User]:
    """Three people, one of each role, and one row of each kind that the editor Ada has made."""
    made = {name: User.objects.create_user(name) for name in ("vera", "ada", "eve", "root")}
    give(made["ada"], Role.EDITOR)
    give(made["eve"], Role.EDITOR)
    give(made["root"], Role.ADMIN)
    before = authors.current.set(made["ada"].pk)
    cluster = Cluster.objects.create(id="of-ada", name="prod")
    storage.create_timeline(title="t", source=Timeline.Source.SIMULATION, timeline_id="of-ada")
    lifecycle.create(title="i", paths=[], import_id="of-ada")
    RemedySearch.objects.create(id="of-ada", timeline_id="of-ada", at=1, seeds=1)
    Proof.objects.create(id="of-ada", title="p", question={})
    Sweep.objects.create(id="of-ada", title="s", axes={}, cases=1, engine="e")
    Link.objects.create(id="of-ada", token_hash="h", title="l", view="reader", **SINCE)
    AlertRule.objects.create(id="of-ada", cluster=cluster, kind="storm")
    Note.objects.create(id="of-ada", timeline_id="of-ada", sequence=0, text="n")
    authors.current.reset(before)
    return made


def test_every_address_method_and_socket_has_its_row_in_the_table_of_permissions(
    addresses: list[tuple[str, str, str]],
) -> None:
    """An address without a row is open to nobody where people sign in: add it to `explorer/accounts/permissions.py`."""
    sockets = {("SOCKET", str(each.pattern)) for each in routes if str(each.pattern)}
    assert {(method, name) for name, method, _ in addresses} | sockets == set(BY_ADDRESS)
    rows = sum(
        len(line.split()) - 1 for each in TABLE.values() for line in each.addresses.strip().splitlines()
    )
    assert rows == len(BY_ADDRESS), "no address is in two rows"


@pytest.mark.parametrize("name", ["vera", "ada", "eve", "root"])
def test_each_role_may_do_at_each_address_what_the_table_says_and_no_more(
    accounts: dict[str, User], addresses: list[tuple[str, str, str]], name: str
) -> None:
    rights = rights_of(accounts[name])
    assert rights is not None
    for address, method, path in addresses:
        permission = TABLE[BY_ADDRESS[method, address]]
        is_about = address != "admin" and target_of(resolve(path).kwargs) is not None
        least = permission.own if name == "ada" or not is_about else permission.others
        refused = refusal_of(rights, method, path)
        assert (refused is None) == (rights.role >= least), (method, path, refused)
        assert refused is None or (refused[0] == 403 and refused[1].endswith(".")), refused
        assert refusal_of(rights, "PUT", path) is not None, "a method without a row is open to nobody"


def test_what_matters_most_word_by_word(accounts: dict[str, User]) -> None:
    """By hand, not by the table: a table that is changed by mistake is noticed here."""
    allowed = {
        "vera": {"GET /t/of-ada", "POST /api/inspect", "POST /api/timelines/of-ada/exports", "GET /metrics"},
        "eve": {"POST /api/imports", "POST /api/runs", "POST /simulate/", "POST /api/timelines/of-ada/links", "POST /api/clusters/of-ada/rules", "POST /api/timelines/of-ada/notes"},
        "ada": {"DELETE /api/timelines/of-ada", "DELETE /api/imports/of-ada", "DELETE /api/sweeps/of-ada", "POST /api/remedies/of-ada/cancel", "DELETE /api/links/of-ada", "PATCH /api/timelines/of-ada", "PATCH /api/notes/of-ada", "DELETE /api/notes/of-ada"},
        "root": {"POST /api/clusters", "POST /api/clusters/check", "DELETE /api/clusters/of-ada", "POST /api/clusters/of-ada/rules/of-ada/test", "GET /admin/auth/user/"},
    }  # fmt: skip
    above: set[str] = set()
    for name in ("root", "ada", "eve", "vera"):
        rights = rights_of(accounts[name])
        assert rights is not None
        for each in above:
            assert refusal_of(rights, *each.split()) is not None, (name, each)
        above |= allowed[name]
        below = [n for n in ("vera", "eve", "ada", "root") if n == name or ("vera", "eve", "ada", "root").index(n) < ("vera", "eve", "ada", "root").index(name)]  # fmt: skip
        for each in {each for n in below for each in allowed[n]}:
            assert refusal_of(rights, *each.split()) is None, (name, each)


def test_a_role_on_a_cluster_adds_to_the_one_everywhere_and_opens_no_other_cluster(
    accounts: dict[str, User],
) -> None:
    mine, other = Cluster.objects.get(), Cluster.objects.create(id="other", name="other")
    for cluster in (mine, other):
        storage.create_timeline(
            title="l", source=Timeline.Source.LIVE, timeline_id=f"live-{cluster.pk}", cluster_id=cluster.pk
        )
    give(accounts["vera"], Role.ADMIN, mine)
    rights = rights_of(accounts["vera"])
    assert rights == Rights(accounts["vera"].pk, Role.VIEWER, (("of-ada", Role.ADMIN),))
    for method, path in (("DELETE", "/api/clusters/{}"), ("POST", "/api/clusters/{}/rules"), ("DELETE", "/api/timelines/live-{}")):  # fmt: skip
        assert refusal_of(rights, method, path.format("of-ada")) is None
        assert refusal_of(rights, method, path.format("other")) is not None
    for path in ("/api/clusters", "/api/imports", "/api/runs"):
        assert refusal_of(rights, "POST", path) is not None
    give(accounts["vera"], Role.VIEWER, mine)
    assert rights_of(accounts["vera"]) == Rights(accounts["vera"].pk, Role.VIEWER)


def test_an_account_has_one_role_everywhere_whatever_it_had_before(accounts: dict[str, User]) -> None:
    vera = accounts["vera"]
    for role in (Role.EDITOR, Role.ADMIN, Role.EDITOR, Role.EDITOR, Role.VIEWER):
        give(vera, role)
        vera.refresh_from_db()
        rights = rights_of(vera)
        assert rights is not None
        assert (rights.role, vera.is_superuser, vera.is_staff) == (
            role,
            role == Role.ADMIN,
            role == Role.ADMIN,
        )
    Grant.objects.create(account=vera, role=Role.EDITOR)
    with pytest.raises(IntegrityError):
        Grant.objects.create(account=vera, role=Role.ADMIN)


def by(team: Asks, name: str, scope: str = "write") -> Any:
    """Asks as a program of an account."""
    text = tokens.make(User.objects.get(username=name), "test", scope, 1)[1]

    async def asked(path: str, method: str = "GET", body: bytes = b"") -> Answer:
        headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}
        answer = await team(path, method=method, headers=headers, body=[body], token=False)
        assert answer is not None
        return answer

    return asked


@pytest.fixture
def people(team: Asks) -> dict[str, Any]:
    """Programs of Ada and Eve, editors, of Root, an admin, and of Vera, a viewer."""
    for name in ("eve", "vera", "root"):
        User.objects.create_user(name, password=PASSWORD)
    for name, role in (("ada", Role.EDITOR), ("eve", Role.EDITOR), ("root", Role.ADMIN)):
        give(User.objects.get(username=name), role)
    return {name: by(team, name) for name in ("ada", "eve", "root", "vera")}


RUN = b'{"scenario": "kip848-basic"}'


async def test_what_somebody_makes_has_its_author_and_others_cannot_delete_it(people: dict[str, Any]) -> None:
    assert (await people["vera"]("/api/runs", "POST", RUN)).status == 403
    made = (await people["ada"]("/api/runs", "POST", RUN)).json["id"]
    brought = (await people["ada"]("/api/imports", "POST", b'{"sample": true}')).json["id"]
    rows = {row["id"]: row for row in (await people["eve"]("/api/kept")).json["rows"]}
    assert {rows[one]["author"] for one in (made, brought)} == {"ada"}
    assert rows[made]["not_deletable"] == (
        "Others made this: only admins may delete a timeline, an import or a sweep."
    )
    for query, matching in (("author=ada", 2), ("author=eve", 0), ("author=ada&source=simulation", 1)):
        assert (await people["eve"](f"/api/kept?{query}")).json["matching"] == matching, query

    both = f'{{"timelines": ["{made}"], "imports": ["{brought}"]}}'.encode()
    refused = (await people["eve"]("/api/kept/delete", "POST", both)).json
    assert (refused["deleted"], {row["id"] for row in refused["refused"]}) == (0, {made, brought})
    assert (await people["eve"](f"/api/timelines/{made}", "DELETE")).status == 403
    assert (await people["eve"](f"/api/timelines/{made}", "PATCH", b'{"title": "x"}')).status == 403
    assert (await people["ada"](f"/api/timelines/{made}", "PATCH", b'{"title": "x"}')).status == 200
    kept = (await people["root"]("/api/kept")).json["rows"]
    assert {row["not_deletable"] for row in kept} == {""}
    assert (await people["ada"]("/api/kept/delete", "POST", both)).json == {"deleted": 2, "refused": []}


async def test_a_method_that_an_address_does_not_take_is_answered_with_those_that_it_takes(
    people: dict[str, Any],
) -> None:
    answer = await people["root"]("/api/imports", "PUT", b"{}")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")


async def test_what_has_no_author_is_for_admins_to_delete(people: dict[str, Any]) -> None:
    @sync_to_async
    def made_by_a_command() -> str:
        authors.current.set(None)
        return lifecycle.create(title="nightly", paths=[]).pk

    of_command = await made_by_a_command()
    assert (await people["ada"](f"/api/imports/{of_command}", "DELETE")).status == 403
    assert (await people["root"](f"/api/imports/{of_command}", "DELETE")).status == 204


@pytest.mark.long
async def test_timelines_of_an_import_have_its_author(people: dict[str, Any]) -> None:
    brought = (await people["eve"]("/api/imports", "POST", b'{"sample": true}')).json["id"]

    @sync_to_async
    def stored() -> Any:
        authors.current.set(None)  # a worker's process
        from groups.imports.tasks import run_import

        run_import(brought)
        return set(Timeline.objects.filter(imports=brought).values_list("author__username", flat=True))

    assert await stored() == {"eve"}


async def test_a_rule_with_a_webhook_is_for_admins_of_its_cluster(people: dict[str, Any]) -> None:
    await sync_to_async(Cluster.objects.create)(id="prod", name="prod")
    rule, webhook = b'{"kind": "unassigned", "for_s": 30}', b', "webhook": "https://chat.example/x"}'
    answer = await people["eve"]("/api/clusters/prod/rules", "POST", rule[:-1] + webhook)
    assert (answer.status, answer.json["error"]["field"]) == (403, "webhook")
    assert (await people["eve"]("/api/clusters/prod/rules", "POST", rule)).status == 201
    assert (await sync_to_async(AlertRule.objects.get)()).author_id is not None
    assert (await people["root"]("/api/clusters/prod/rules", "POST", rule[:-1] + webhook)).status == 201


async def test_a_token_that_only_reads_does_so_whatever_the_role(team: Asks, people: dict[str, Any]) -> None:
    text = await sync_to_async(lambda: tokens.make(User.objects.get(username="root"), "r", "read", 1)[1])()
    headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}
    answer = await team("/api/runs", method="POST", headers=headers, body=[RUN], token=False)
    assert answer is not None
    assert (answer.status, "may only read" in answer.message) == (403, True)


async def test_a_page_names_what_its_reader_may_not_do_and_why(person: Person) -> None:
    await person.sign_in()
    page = (await person("/import/")).body.decode()
    assert "Only editors may import a log; you are a viewer." in page
    assert "js/shared/needs" in page
    assert (await person("/import/", method="POST", sample="true")).status == 403
    await sync_to_async(lambda: give(User.objects.get(), Role.ADMIN))()
    page = (await person("/import/")).body.decode()
    assert "refused-actions" not in page
    assert "js/shared/needs" not in page


async def test_local_mode_has_no_roles_and_no_authors(asks: Asks) -> None:
    page = await asks("/timelines")
    assert page is not None
    assert b"Author" not in page.body
    assert b"refused-actions" not in page.body
    headers = {"Content-Type": "application/json"}
    made = await asks("/api/runs", method="POST", headers=headers, body=[RUN])
    assert made is not None
    kept = await asks("/api/kept")
    assert kept is not None
    (row,) = kept.json["rows"]
    assert (row["author"], row["not_deletable"]) == ("", "")
    deleted = await asks(f"/api/timelines/{row['id']}", method="DELETE")
    assert deleted is not None
    assert deleted.status == 204


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
async def test_a_socket_is_closed_when_its_accounts_role_has_changed(
    person: Person, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    await person.sign_in()
    change = lambda: give(User.objects.get(), role)  # noqa: E731
    await closed_after(change, monkeypatch, shown=("cookie", f"{NAME}={person.cookies[NAME]}"))


async def test_an_admin_gives_roles_on_the_admin_pages(person: Person) -> None:
    await sync_to_async(lambda: give(User.objects.get(), Role.ADMIN))()
    eve = await sync_to_async(User.objects.create_user)("eve", password=PASSWORD)
    await person.sign_in()
    address = f"/admin/auth/user/{eve.pk}/change/"
    page = (await person(address)).body.decode()
    assert "Superuser status" not in page
    lists = {"grants-TOTAL_FORMS": "0", "grants-INITIAL_FORMS": "0"}
    given = {"username": "eve", "is_active": "on", **lists}
    for role in (Role.EDITOR, Role.ADMIN, Role.VIEWER):
        assert (await person(address, method="POST", role=str(role.value), **given)).status == 302
        assert (await sync_to_async(lambda: rights_of(User.objects.get(pk=eve.pk)))()).role == role  # type: ignore[union-attr]


def test_the_command_gives_a_role(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    ada = User.objects.create_user("ada")
    cluster = Cluster.objects.create(id="prod", name="prod")
    call_command("set_role", "ada", "editor")
    call_command("set_role", "ada", "admin", "--cluster", "prod")
    assert capsys.readouterr().out == "ada is editor everywhere.\nada is admin on prod.\n"
    assert rights_of(ada) == Rights(ada.pk, Role.EDITOR, ((cluster.pk, Role.ADMIN),))
    for words, sentence in (
        (("eve", "editor"), "There is no account 'eve'."),
        (("ada", "editor", "--cluster", "x"), "There is no cluster 'x'."),
    ):
        with pytest.raises(CommandError, match=re.escape(sentence)) as refused:
            call_command("set_role", *words)
        assert refused.value.returncode == 2


def test_the_docs_have_the_table() -> None:
    """Else run `python -m tests.access.roles_page write`."""
    assert Path(PAGE).read_text(encoding="utf-8") == text()


def test_a_sentence_says_who_may() -> None:
    viewer, editor = Rights(1, Role.VIEWER), Rights(1, Role.EDITOR)
    assert (
        viewer.refused(Action.CLUSTER)
        == "Only admins may add, check, pause or remove a cluster; you are a viewer."
    )
    assert (
        editor.refused(Action.WITHDRAW, Target(2))
        == "Others made this: only admins may withdraw a share link."
    )
    assert editor.refused(Action.WITHDRAW, Target(1)) == ""
