"""The audit log: who did what, when and from where; who reads it, and how long it is kept."""

from __future__ import annotations

import io
import json
import os
import re
from datetime import timedelta
from functools import partial
from getpass import getuser
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from explorer.access import signing_in
from explorer.access.clients import client_of
from explorer.accounts import audit, tokens
from explorer.accounts.guesses import Guesses
from explorer.accounts.models import AuditEntry
from explorer.accounts.permissions import Role
from explorer.accounts.roles import give
from explorer.pages.account import views
from explorer.server import retention
from groups.models import Timeline
from tests.access.conftest import Asks
from tests.access.test_account_tokens import sent
from tests.access.test_roles import RUN, people
from tests.access.test_signing_in import PASSWORD, Person, person, team

__all__ = ["people", "person", "team"]


async def entries(**wanted: Any) -> list[tuple[str, str, str, str]]:
    """Who, how, what and about what, the oldest first."""
    found = AuditEntry.objects.filter(**wanted).order_by("pk")
    return [tuple(row) async for row in found.values_list("name", "by", "action", "about")]  # type: ignore[misc]


async def test_what_changes_something_or_is_forbidden_leaves_an_entry_and_what_reads_none(
    people: dict[str, Any],
) -> None:
    await sync_to_async(AuditEntry.objects.all().delete)()
    made = (await people["ada"]("/api/runs", "POST", RUN)).json["id"]
    await people["ada"](f"/api/timelines/{made}")
    await people["ada"]("/api/inspect", "POST", b'{"bytes": "00"}')
    await people["eve"](f"/api/timelines/{made}", "DELETE")
    await people["ada"]("/api/runs", "POST", b'{"scenario": "none"}')
    await people["eve"](f"/api/timelines/{made}/exports", "POST", b'{"format": "data"}')
    await people["ada"](f"/api/timelines/{made}", "PATCH", b'{"title": "outage"}')
    await people["ada"](f"/api/timelines/{made}", "DELETE")
    brought = (await people["ada"]("/api/imports", "POST", b'{"sample": true}')).json["id"]
    await people["root"]("/api/kept/delete", "POST", f'{{"imports": ["{brought}"]}}'.encode())
    found = [row for row in await entries() if row[2] != "export"]
    assert [row[:3] for row in found] == [
        ("ada", "token test", "run"),
        ("eve", "token test", "forbidden"),
        ("ada", "token test", "change"),
        ("ada", "token test", "delete"),
        ("ada", "token test", "import"),
        ("root", "token test", "delete"),
    ]
    assert found[3][3] == f"timeline {made} (outage)", "in words, though it is gone"
    details = await sync_to_async(
        lambda: list(AuditEntry.objects.order_by("pk").values_list("details", flat=True))
    )()
    assert details[0] == {"made": f"/api/timelines/{made}"}
    assert details[-1] == {"deleted": [brought]}
    assert {row async for row in AuditEntry.objects.values_list("client", flat=True)} == {"127.0.0.1"}


async def test_signing_in_and_out_and_wrong_passwords_leave_entries(person: Person) -> None:
    await person.sign_in(password="guessed")
    await person.sign_in()
    await person("/sign-out", method="POST")
    assert await entries() == [
        ("", "", "sign-in-refused", "ada"),
        ("ada", "", "sign-in", "ada"),
        ("ada", "browser", "sign-out", "ada"),
    ]
    assert not await sync_to_async(AuditEntry.objects.filter(details__icontains="guessed").exists)()


async def test_roles_and_tokens_and_accounts_leave_entries(person: Person) -> None:
    await sync_to_async(lambda: give(User.objects.get(), Role.ADMIN))()
    eve = await sync_to_async(User.objects.create_user)("eve", password=PASSWORD)
    await person.sign_in()
    await person("/account/tokens", method="POST", name="ci", scope="read", days="7")
    lists = {"grants-TOTAL_FORMS": "0", "grants-INITIAL_FORMS": "0"}
    address = f"/admin/auth/user/{eve.pk}/change/"
    await person(address, method="POST", role="2", username="eve", is_active="on", **lists)
    await person(address, method="POST", role="2", username="", **lists)
    found = await entries()
    assert [row[2:] for row in found] == [
        ("role", "ada"),
        ("sign-in", "ada"),
        ("tokens", "/account/tokens"),
        ("role", "eve"),
        ("administer", address),
    ], "a form that is not taken leaves none"
    assert found[0][:2] == ("", f"command of {getuser()}")
    change = await AuditEntry.objects.aget(about="eve")
    assert (change.name, change.details) == (
        "ada",
        {"role": "editor", "before": "viewer", "on": "everywhere"},
    )


async def test_admins_alone_read_filter_and_export_the_log(people: dict[str, Any], person: Person) -> None:
    await people["ada"]("/api/runs", "POST", RUN)
    for path in ("/audit", "/api/audit", "/api/audit.jsonl"):
        assert (await people["ada"](path)).status == 403
    await sync_to_async(lambda: give(User.objects.get(username="ada"), Role.ADMIN))()
    await person.sign_in()
    page = (await person("/audit")).body.decode()
    assert "token test" in page
    assert "role: editor" in page
    shown = (await person("/audit?action=run&account=ada&days=1")).body.decode()
    assert len(re.findall("<tr>", shown)) == 2, "the head and one row"
    assert (await person("/audit?action=made-up")).status == 400

    rows = (await people["root"]("/api/audit?action=run")).json["rows"]
    assert [(row["account"], row["by"], row["client"]) for row in rows] == [
        ("ada", "token test", "127.0.0.1")
    ]
    answer = await people["root"]("/api/audit.jsonl?days=7")
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert lines[0]["id"] > lines[-1]["id"]
    older = (await people["root"](f"/api/audit?before={lines[0]['id']}")).json["rows"]
    assert older[0]["id"] == lines[1]["id"]
    assert (await people["root"]("/api/audit?days=x")).status == 400


@pytest.mark.django_db
def test_entries_are_kept_as_long_as_the_setting_says(settings: Any) -> None:
    settings.LOGIN = ("password",)
    settings.AUDIT_KEEP_DAYS = 30
    for days in (29, 31):
        audit.note("sign-in", f"{days} days ago")
        AuditEntry.objects.filter(about=f"{days} days ago").update(at=timezone.now() - timedelta(days=days))
    retention.forget()
    assert list(AuditEntry.objects.values_list("about", flat=True)) == ["29 days ago"]


@pytest.mark.django_db
def test_the_newest_entries_are_kept_up_to_a_number(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LOGIN = ("password",)
    monkeypatch.setattr(audit, "ENTRIES_MOST", 3)
    for number in range(5):
        audit.note("sign-in", str(number))
    retention.forget()
    assert list(AuditEntry.objects.values_list("about", flat=True)) == ["4", "3", "2"]


async def test_what_is_forbidden_leaves_a_bounded_number_of_entries(
    people: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_in, "refusals", Guesses(2, 600.0))
    await sync_to_async(AuditEntry.objects.all().delete)()
    for path in ("/api/audit?account=x", "/admin/", "/audit"):
        assert (await people["eve"](path)).status == 403
    await people["ada"]("/api/clusters", "POST", b"{}")
    found = [(row[0], row[2], row[3]) for row in await entries()]
    assert found == [
        ("eve", "forbidden", "GET /api/audit"),
        ("eve", "forbidden", "GET /admin/"),
        ("ada", "forbidden", "POST /api/clusters"),
    ]


@pytest.mark.django_db
def test_a_deleted_account_leaves_its_name(settings: Any) -> None:
    settings.LOGIN = ("password",)
    ada = User.objects.create_user("ada")
    audit.note("sign-in", "ada", ada)
    ada.delete()
    entry = AuditEntry.objects.get()
    assert (entry.name, entry.account) == ("ada", None)


@pytest.mark.django_db
def test_without_accounts_nothing_is_logged(settings: Any) -> None:
    User.objects.create_user("ada")
    call_command("set_role", "ada", "editor")
    assert AuditEntry.objects.count() == 0


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "client"),
    [
        ([], "10.0.0.1", ["1.2.3.4"], "10.0.0.1"),
        (["10.0.0.0/8"], "10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
        (["10.0.0.0/8"], "10.0.0.1", ["6.6.6.6, 1.2.3.4"], "1.2.3.4"),
        (["10.0.0.0/8"], "10.0.0.1", ["6.6.6.6", "1.2.3.4, 10.0.0.9"], "1.2.3.4"),
        (["10.0.0.0/8"], "10.0.0.1", ["nonsense"], "10.0.0.1"),
        (["10.0.0.0/8"], "10.0.0.1", [], "10.0.0.1"),
        (["10.0.0.0/8"], "192.0.2.1", ["1.2.3.4"], "192.0.2.1"),
        (["unix"], "", ["1.2.3.4"], "1.2.3.4"),
        (["unix"], "", ["::1"], "::1"),
        ([], "", ["1.2.3.4"], ""),
        (["unix"], "127.0.0.1", ["1.2.3.4"], "127.0.0.1"),
    ],
)  # fmt: skip
def test_a_client_is_where_a_trusted_proxy_says_and_nobody_else(
    settings: Any, trusted: list[str], peer: str, forwarded: list[str], client: str
) -> None:
    settings.TRUSTED_PROXIES = trusted
    scope = {"client": (peer, 1)} if peer else {}
    assert client_of(scope, [(b"x-forwarded-for", each.encode()) for each in forwarded]) == client


async def test_behind_a_unix_socket_wrong_passwords_are_bounded_by_the_clients_address(
    person: Person, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = ["unix"]
    person.asks.connection = {"server": None, "client": None}
    await person("/sign-in")
    for number in range(views.GUESSES_FROM_ADDRESS_MOST):
        fields = {"username": f"name-{number}", "password": "guessed"}
        await person("/sign-in", method="POST", headers={"X-Forwarded-For": "192.0.2.7"}, **fields)
    fields = {"username": "ada", "password": PASSWORD}
    for address, status in (("192.0.2.7", 429), ("6.6.6.6, 192.0.2.7", 429), ("192.0.2.8", 302)):
        answer = await person("/sign-in", method="POST", headers={"X-Forwarded-For": address}, **fields)
        assert answer.status == status, address


async def test_no_token_or_password_is_in_the_log(team: Asks, person: Person) -> None:
    await person.sign_in()
    page = await person("/account/tokens", method="POST", name="ci", scope="write", days="7")
    (text,) = re.findall(rf"{tokens.SHAPE.pattern}", page.body.decode())
    await sync_to_async(lambda: give(User.objects.get(), Role.EDITOR))()
    await sent(team, "/api/runs", text, "POST", RUN)
    rows = repr([row async for row in AuditEntry.objects.values()])
    assert "token ci" in rows
    assert text not in rows
    assert PASSWORD not in rows
    assert person.cookies["rebalance-session"] not in rows


@pytest.mark.django_db(transaction=True)
def test_commands_that_change_or_take_something_leave_an_entry_with_the_systems_user(
    settings: Any, tmp_path: Path
) -> None:
    settings.STORE_URL, file = str(tmp_path / "store"), tmp_path / "entries.jsonl"
    command = partial(call_command, stdout=io.StringIO(), stderr=io.StringIO())
    command("import_log", "groups/samples/orders-enrich", "--engine", "local")
    assert not AuditEntry.objects.exists(), "in local mode nobody has a name"
    settings.LOGIN = ("password",)
    command("import_log", "groups/samples/orders-enrich", "--engine", "local")
    one, *_ = Timeline.objects.values_list("pk", flat=True)
    command("timeline", "rename", one, "outage")
    command("timeline", "list")
    command("timeline", "export", one, "--format", "data", "--out", str(file))
    command("timeline", "remove", one)
    with pytest.raises(CommandError):
        command("timeline", "remove", one)
    rows = AuditEntry.objects.order_by("pk").values_list("by", "action", "about", "details")
    assert {row[0] for row in rows} == {f"command of {getuser()}"}
    assert [row[1:] for row in rows] == [
        ("import", "import_log groups/samples/orders-enrich", {}),
        ("change", f"timeline rename {one} outage", {}),
        ("export", f"timeline export {one}", {}),
        ("delete", f"timeline remove {one}", {}),
        ("delete", f"timeline remove {one}", {"failed": True}),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_command_of_a_user_without_a_name_on_an_address_with_a_secret_is_logged_without_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    settings.LOGIN = ("password",)
    monkeypatch.setattr(audit, "getuser", nameless)
    for name, *arguments in (
        ("import_log", "s3://key:secret@bucket/logs?x=y"),
        ("clusters", "apply", "\udcff"),
    ):
        with pytest.raises(CommandError):
            call_command(name, *arguments, stdout=io.StringIO(), stderr=io.StringIO())
    rows = AuditEntry.objects.order_by("pk").values_list("by", "about")
    assert list(rows) == [
        (f"command of uid {os.getuid()}", "import_log s3://…@bucket/logs?…"),
        (f"command of uid {os.getuid()}", r"clusters apply \udcff"),
    ]
