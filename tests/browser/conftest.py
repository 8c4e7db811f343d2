"""A real server, a real Chromium, and a page that may not complain."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.conftest import missing
from tests.house import ROOT
from tests.serving import Served, installed, served

HERE = Path(__file__).parent

expect.set_options(timeout=60_000)
"""What is waited for comes or does not come; how soon, on a machine with a broker and Spark beside it, is no matter."""

CHROMIUM = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--process-per-site", "--disable-features=SpareRendererForSitePerProcess"),
]
"""Without a graphics processor the emulated one would take the time of the tests; nothing is asked of other hosts.
Pages of one context share a process: to start one and to compile the modules in it is half of what a page costs."""


CHROMIUMS = ("chromium-headless-shell", "chromium", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with installed(tmp_path_factory.mktemp("browser")) as running:
        yield running


DESK: ViewportSize = {"width": 1440, "height": 900}

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with accounts that its own commands have made: the admin ada, and the viewer vera."""
    with served(tmp_path_factory.mktemp("team"), LOGIN="password") as running:
        for words in (
            ["createsuperuser", "--noinput", "--email", "a@example.org", "--username", "ada"],
            ["createsuperuser", "--noinput", "--email", "v@example.org", "--username", "vera"],
            ["set_role", "vera", "viewer"],
        ):
            subprocess.run(
                [sys.executable, "manage.py", *words],
                cwd=ROOT,
                env=running.environment | {"DJANGO_SUPERUSER_PASSWORD": PASSWORD},
                check=True,
                capture_output=True,
            )
        yield running


@pytest.fixture
def open_team_page(browser: Browser, team: Served) -> Iterator[Callable[..., Page]]:
    """Opens the page of signing in, after a mistake, that of the account, with a token that was just made, or another one as its admin."""
    contexts: list[BrowserContext] = []

    def open_(address: str, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{team.url}/sign-in?next=/account")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill("guessed" if address == "/sign-in" else PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        if address == "/sign-in":
            page.get_by_role("alert").wait_for()
            return page
        page.get_by_label("Name").fill(f"{'W' * 45} {secrets.token_hex(4)}")
        page.get_by_role("button", name="Make a token").click()
        page.locator("#token-text").wait_for()
        if address != "/account":
            page.goto(f"{team.url}{address}")
        return page

    yield open_
    for context in contexts:
        context.close()


def chromium_path() -> str | None:
    """The Chromium that CHROMIUM names, else the machine's; ``None`` without one.

    First the one without windows (Debian's ``chromium-headless-shell``): the same engine, and a page in it takes half of the
    processor time, since nothing is prepared for a window.
    """
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, CHROMIUMS)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, or Playwright's own.

    Playwright runs an event loop in this thread, beside which no test of a socket can run one: it ends with this
    package.
    """
    path = chromium_path()
    with sync_playwright() as playwright:
        # A launch that fails would leave its folders behind.
        if not shutil.which(path or playwright.chromium.executable_path):
            missing("Chromium is not installed (Debian: apt-get install chromium)")
        try:
            running = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        except Error as error:
            missing(f"No Chromium: {str(error).splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture(scope="session")
def cookie(server: Served) -> Any:
    """What a browser has that came in by the printed address."""
    return server.cookie()


PER_PAGE = ("viewport", "color_scheme", "reduced_motion", "forced_colors")
"""Options that a page of a shared context can have by itself."""

STORED = "local_storage,indexeddb,cache_storage,service_workers"
"""What a reader's browser keeps of an origin, but for cookies and files that it need not ask for again."""


class Readers:
    """Browsers of readers, which keep the product's files between tests, and nothing else."""

    def __init__(self, browser: Browser, server: Served, cookie: Any) -> None:
        self._browser, self._server, self._cookie = browser, server, cookie
        self._shared: dict[tuple[int, bool], BrowserContext] = {}

    def shared(self, number: int, *, bypass_csp: bool = False) -> BrowserContext:
        """The so-many-th reader of a test, as if it had never been here; a page of its own keeps its process alive."""
        context = self._shared.get((number, bypass_csp))
        if context is None:
            context = self._browser.new_context(viewport=DESK, bypass_csp=bypass_csp)
            self._shared[number, bypass_csp] = context
            context.add_cookies([self._cookie])
            context.new_page().goto(f"{self._server.url}/help/")
        context.clear_cookies()
        context.add_cookies([self._cookie])
        return context

    def page_of(self, context: BrowserContext, viewport: ViewportSize = DESK, **media: Any) -> Page:
        """A page of a shared context, with the options of ``PER_PAGE``."""
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": self._server.url, "storageTypes": STORED})
        session.detach()
        if viewport != DESK:
            page.set_viewport_size(viewport)
        if media:
            page.emulate_media(**media)
        return page

    def alone(self, options: dict[str, Any]) -> BrowserContext:
        """A browser that keeps no file of the product, or that has options of its own."""
        context = self._browser.new_context(**({"viewport": DESK} | options))
        context.add_cookies([self._cookie])
        return context

    def leave(self, context: BrowserContext) -> None:
        """Closes what a test opened."""
        if context not in self._shared.values():
            context.close()
            return
        for page in context.pages[1:]:
            page.close()
        context.clear_permissions()


@pytest.fixture(scope="package")
def readers(browser: Browser, server: Served, cookie: Any) -> Readers:
    return Readers(browser, server, cookie)


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest, readers: Readers, server: Served
) -> Iterator[Callable[..., Page]]:
    """Opens an address of the server, each time as another reader; at the end no page may have complained, and none may
    have asked anything of another origin. Next to a broker no reader has files kept."""
    has_broker = request.node.get_closest_marker("broker") is not None
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def leaving(url: str) -> None:
        if not url.startswith((f"{server.url}/", "data:", "blob:")):
            complaints.append(f"asked {url} of another origin")

    def requested(asked: Request) -> None:
        leaving(asked.url)

    def open_(
        address: str,
        *,
        before: Callable[[Page], None] | None = None,
        view: str | None = "investigator",
        cold: bool = False,
        **options: Any,
    ) -> Page:
        """``view``: what this reader chose before, for case studies; ``None`` is somebody new. ``cold``: without files kept."""
        if cold or has_broker or options.keys() - {*PER_PAGE, "bypass_csp"}:
            context = readers.alone(options)
            page = context.new_page()
        else:
            context = readers.shared(len(contexts), bypass_csp=options.pop("bypass_csp", False))
            page = readers.page_of(context, **options)
        contexts.append(context)
        if view is not None:
            page.add_init_script(
                f"localStorage.getItem('view of stories') ?? localStorage.setItem('view of stories', '{view}')"
            )
        context.on("request", requested)
        page.on("websocket", lambda socket: leaving(socket.url.replace("ws", "http", 1)))
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None,
        )
        if before:
            before(page)
        page.goto(server.url + address)
        # Pages that are forms or text have nothing that must first come alive.
        is_text = address.endswith("/steps")
        if not is_text and (address == "/" or address.startswith(("/t/", "/inspect"))):
            page.wait_for_selector("html[data-alive]")
        return page

    yield open_
    for context in contexts:
        context.remove_listener("request", requested)
        readers.leave(context)
    assert complaints == []


AXE = Path(os.environ.get("AXE_CORE") or ROOT / "node_modules" / "axe-core" / "axe.min.js")
"""What `npm ci` installs, or the copy that the environment names."""


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's script."""
    if not AXE.is_file():
        missing("axe-core is not installed: run `npm ci`")
    return AXE.read_text()


@pytest.fixture
def fetch(server: Served) -> Callable[[str], Any]:
    """JSON from the server, past the browser."""

    def fetch_(address: str) -> Any:
        with server.open(address) as answer:
            return json.load(answer)

    return fetch_
