"""A person signs in, is told of a wrong password, and signs out; the pages are readable in each theme and size."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PASSWORD
from tests.serving import Served, served

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_person_signs_in_after_a_mistake_and_out_again(
    browser: Browser, team: Served, theme: str, width: int, tmp_path: Path
) -> None:
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})
    page = context.new_page()
    problems: list[str] = []
    page.on(
        "console",
        lambda said: problems.append(f"{said.text} {said.location['url']}") if said.type == "error" else None,
    )
    page.goto(f"{team.url}/timelines?source=live")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("guessed")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not belong together")
    red, page_red = (
        page.get_by_role("alert").evaluate("shown => getComputedStyle(shown).color"),
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--bad')"),
    )
    assert (
        page.evaluate(
            "color => { const one = document.createElement('i'); one.style.color = color; document.body.append(one); return getComputedStyle(one).color; }",
            page_red,
        )
        == red
    ), "a mistake is red as elsewhere"
    assert page.get_by_label("Name").input_value() == "ada"
    assert page.get_by_label("Password").input_value() == ""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / "sign-in.png")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{team.url}/timelines?source=live")
    page.goto(f"{team.url}/account")
    page.get_by_label("Name").fill(f"prometheus {theme} {width}")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#token-text")).to_contain_text("rebalance_")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name=f"Revoke prometheus {theme} {width}").click()
    row = page.get_by_role("row").filter(has_text=f"prometheus {theme} {width}")
    expect(row).to_contain_text("revoked")
    expect(page.locator("#token-text")).to_have_count(0)
    page.get_by_role("link", name="Accounts, passwords and roles").click()
    expect(page.get_by_role("link", name="Users")).to_be_visible()
    page.goto(f"{team.url}/account")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{team.url}/timelines")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # Django's admin names no icon, so the browser asks for one at the usual address.
    assert [problem for problem in problems if not problem.endswith("/favicon.ico")] == []
    context.close()


def test_a_viewer_is_offered_nothing_that_would_be_refused_and_reads_why(
    browser: Browser, team: Served
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{team.url}/sign-in?next=/import/")
    page.get_by_label("Name").fill("vera")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    why = "Only editors may import a log; you are a viewer."
    expect(page.locator("#upload").get_by_role("note")).to_have_text(why)
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{team.url}/simulate/")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.goto(f"{team.url}/clusters")
    expect(page.get_by_role("button", name="Test the connection")).to_be_disabled()
    page.goto(f"{team.url}/t/kip848-basic")
    fork = page.locator("#fork-open")
    expect(fork).to_be_disabled()
    assert "Only editors may start runs" in (fork.get_attribute("title") or "")
    expect(page.locator("#copy")).to_be_enabled()
    page.goto(f"{team.url}/timelines")
    expect(page.get_by_label("Author")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_person_signs_in_at_a_provider_on_another_site(
    browser: Browser, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """The way back is a link from another site: the gate lets it in, and its cookie comes along."""
    warnings.simplefilter("ignore")
    from oidc_provider_mock import run_server_in_thread

    with run_server_in_thread() as provider:
        team = {
            "LOGIN": "oidc",
            "OIDC_ISSUER": f"http://localhost:{provider.server_port}",
            "OIDC_NAME": "the house",
        }
        client = {"OIDC_CLIENT_ID": "rebalance", "OIDC_CLIENT_SECRET": "a secret", "OIDC_ROLES": "none=admin"}
        with served(tmp_path, **team, **client) as server:
            page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
            page.set_default_timeout(60_000)
            page.goto(f"{server.url}/timelines?source=live")
            page.screenshot(path=tmp_path / "provider.png")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.get_by_role("link", name="Sign in at the house").click()
            page.locator("input[name=sub]").fill("ada")
            page.get_by_role("button", name="Authorize").click()
            page.wait_for_url(f"{server.url}/timelines?source=live")
            page.goto(f"{server.url}/account")
            expect(page.get_by_role("heading", name="ada")).to_be_visible()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("link", name="Sign in at the house")).to_be_visible()
            page.context.close()
