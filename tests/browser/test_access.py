"""No page has a fault that axe-core finds, in both schemes, at a desk and on a phone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import large
from tests.serving import ROOT, Served

Open = Callable[..., Page]

PAGES = (
    *(
        "/",
        "/help/",
        "/import/",
        "/simulate/",
        "/laboratory",
        "/lessons/",
        "/lessons/three-epochs",
        "/lessons/write",
        "/inspect",
        "/sweeps",
        "/groups",
        "/clusters",
        "/timelines",
        "/status",
        "/differences",
        "/differences/told-to-give-up",
        "/docs/reference/settings",
        "/t/incident-slow-revocation/report",
        "/t/kip848-basic/steps",
        "/compare?runs=kip848-basic,kip429-eager,kip429-cooperative,incident-rebalance-storm",
        "/api/docs",
    ),
    *("/t/kip848-basic?at=52&view=reader", "/t/kip848-basic?at=121&view=reader"),
    *("/t/kip848-basic?at=52&view=investigator", "/t/incident-rebalance-storm?view=investigator"),
)
SIZES = ((1440, "light"), (390, "dark"))


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_page_has_no_fault_that_axe_finds(
    open_page: Open, axe: str, address: str, width: int, scheme: str
) -> None:
    page = open_page(
        address,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page.wait_for_load_state("networkidle")
    assert faults_of(page, axe) == []


@pytest.fixture(scope="module")
def stored(server: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of an import, a board of 24 members, a cluster that does not answer, and a recording put to the coordinator."""
    file = tmp_path_factory.mktemp("clusters") / "clusters.yaml"
    rule = "{kind: late, lag_s: 300, group: orders-*}"
    properties = '{bootstrap.servers: "127.0.0.1:1"}'
    file.write_text(f"clusters: {{away: {{properties: {properties}, watched: false, rules: [{rule}]}}}}")
    applying = [sys.executable, "manage.py", "clusters", "apply", str(file)]
    subprocess.run(applying, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    with server.open("/api/clusters") as answer:
        cluster = next(each["id"] for each in json.load(answer) if each["name"] == "away")
    command = [sys.executable, "manage.py", "import_log", "groups/samples/orders-enrich", "--engine", "local"]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    with server.open("/api/imports") as answer:
        imported = json.load(answer)[0]["id"]
    with server.open("/api/proofs", b'{"sample": "recorded-clients"}') as answer:
        proof = json.load(answer)["url"]
    return {
        "proof": proof,
        "import": f"/import/{imported}",
        "cluster": f"/clusters/{cluster}",
        "crowd": large.waiting_at(server, large.store(server, large.scenario(24))),
    }


@pytest.mark.parametrize("name", ["import", "crowd", "cluster", "proof"])
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_an_import_a_cluster_a_proof_and_a_board_of_many_fit_and_have_no_fault_that_axe_finds(
    open_page: Open, axe: str, stored: dict[str, str], name: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 844}
    page = open_page(
        stored[name], viewport=size, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True
    )
    page.wait_for_load_state("networkidle")
    if name == "crowd":
        page.locator("#board .opens").click()
        expect(page.locator("#board .others .line").first).to_be_visible()
    if name == "proof":
        expect(page.get_by_role("heading", level=2)).to_have_text("The simulated coordinator does the same")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults_of(page, axe) == []


@pytest.mark.parametrize("address", ["/sign-in", "/account", "/account/password", "/audit"])
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_page_of_accounts_has_no_fault_that_axe_finds(
    open_team_page: Open, axe: str, address: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 844}
    page = open_team_page(
        address, viewport=size, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True
    )
    assert faults_of(page, axe) == []


def faults_of(page: Page, axe: str) -> list[tuple[str, list[str]]]:
    """What axe-core finds on a page: rules, and the first nodes that break them."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]


def test_arrow_keys_walk_the_grid_and_leave_the_step_alone(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=52")
    step = page.locator("#step").inner_text()
    page.locator("[data-lane='A'] [role=rowheader]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-key='foo-0']")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-key='foo-1']")).to_be_focused()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('[data-lane]').dataset.lane") == "B"
    expect(page.locator("#step")).to_have_text(step)


def test_a_member_is_picked_by_key_and_its_events_stand_alone(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=121")
    page.locator("[data-lane='B'] [role=rowheader]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#who-filter")).to_have_value("B")
    page.keyboard.press("Enter")
    expect(page.locator("#who-filter")).to_have_value("")


def test_n_goes_from_problem_to_problem(open_page: Open, server: Served) -> None:
    with server.open("/api/timelines/incident-rebalance-storm") as answer:
        troubles: list[Any] = json.load(answer)["troubles"]
    assert len(troubles) > 1
    page = open_page("/t/incident-rebalance-storm?at=0")
    for number, _ in enumerate(troubles, 1):
        page.keyboard.press("n")
        expect(page.locator("#toast")).to_have_text(re.compile(rf"^Problem {number} of {len(troubles)}: "))
    page.keyboard.press("n")
    expect(page.locator("#toast")).to_have_text("No problem after this moment")
    page.keyboard.press("p")
    expect(page.locator("#toast")).to_have_text(
        re.compile(rf"^Problem {len(troubles) - 1} of {len(troubles)}: ")
    )


def test_home_scrolls_the_list_of_events_to_its_beginning(open_page: Open) -> None:
    page = open_page("/t/incident-rebalance-storm?view=investigator")
    page.keyboard.press("End")
    expect(page.locator(".ev[aria-current]")).to_be_visible()
    assert page.locator("#log").evaluate("node => node.scrollTop") > 0
    page.keyboard.press("Home")
    expect(page.locator("#step")).to_have_text("0")
    assert page.locator("#log").evaluate("node => node.scrollTop") == 0


def test_the_transport_stays_in_view_on_a_phone(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=52", viewport={"width": 390, "height": 844})
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = page.locator("#play").bounding_box()
    assert box is not None
    assert 0 < box["y"] < 844 - 30
