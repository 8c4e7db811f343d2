"""A timeline that grows: what the socket says, what it does not say, and what it says twice.

Where the browser alone decides, the test is marked ``once``: PostgreSQL and Redis make no difference to it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.board import Fetch, becomes, equals_the_fresh_frame, step_of
from tests.serving import Served

Open = Callable[..., Page]
WAITS_S = 300
"""A run and its board take some thirty seconds of a processor together, which others may use meanwhile."""

MEMBERS = 10


def scenario(until_s: int) -> str:
    """Ten members join, and come back one after another; two entries a second."""
    return "\n".join(
        [
            "name: ten join and come back",
            "topics: {foo: {partitions: 12}}",
            "members:",
            *(f"  m{number}: {{subscribe: [foo]}}" for number in range(MEMBERS)),
            "script:",
            *(f"  - {{at: {number * 40}s, join: m{number}}}" for number in range(MEMBERS)),
            *(f"  - {{at: {600 + number * 300}s, kill: m{number}}}" for number in range(MEMBERS - 1)),
            *(f"  - {{at: {700 + number * 300}s, restart: m{number}}}" for number in range(MEMBERS - 1)),
            f"until: {until_s}s",
        ]
    )


LONG = scenario(9_000)
"""It still runs when its page is open; what is done to that page meets it amid the run."""

ENDS = scenario(3_500)
"""For what is as true of a run that ended early."""

SHORT = "topics: {foo: {partitions: 3}}\nmembers: {A: {subscribe: [foo]}}\nscript: [{at: 0s, join: A}]\nuntil: 10s"


@pytest.fixture
def run(server: Served) -> Callable[..., str]:
    """Starts a run, of some seconds if no other scenario is given; its timeline's id."""

    def start(text: str = LONG) -> str:
        with server.open("/api/runs", json.dumps({"scenario": text}).encode()) as answer:
            return str(json.load(answer)["timeline"])

    return start


def wait_for_the_end(page: Page, timeline: str, fetch: Fetch) -> int:
    """Until the run is over and the browser has all of it; the last sequence."""
    deadline = time.monotonic() + WAITS_S
    while time.monotonic() < deadline:
        stored = fetch(f"/api/timelines/{timeline}")
        here = page.evaluate("rebalanceExplorer.timeline.last")
        if stored["status"] != "running" and here == stored["last"]:
            becomes(page, "rebalanceExplorer.timeline.rest !== null")
            return int(here)
        page.wait_for_timeout(200)
    raise AssertionError(f"the browser is at {here}, the server at {stored['last']} and {stored['status']}")


def check_some_moments(page: Page, timeline: str, fetch: Fetch) -> None:
    total = page.evaluate("rebalanceExplorer.timeline.steps.length")
    assert total > 50
    for key in ("End", "ArrowLeft", "Shift+ArrowLeft", "Home", "ArrowRight", "Shift+ArrowRight", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(250)
        equals_the_fresh_frame(page, timeline, fetch)
    assert step_of(page) == total


@pytest.mark.quick
def test_a_run_is_followed_to_its_end(open_page: Open, run: Callable[..., str], fetch: Fetch) -> None:
    timeline = run(ENDS)
    page = open_page(f"/t/{timeline}", reduced_motion="reduce")
    last = wait_for_the_end(page, timeline, fetch)
    expect(page.locator("#basis")).to_contain_text(f"{last:,}")
    expect(page.locator('[data-banner="status"]')).to_have_count(0)
    expect(page.locator("#headline .clause").first).to_be_visible()
    check_some_moments(page, timeline, fetch)


@pytest.mark.once
def test_a_run_that_ended_before_the_socket_opened_has_its_events_tracks_and_protocol(
    open_page: Open, run: Callable[..., str], fetch: Fetch
) -> None:
    """The page was rendered before the first entry was stored, and everything was stored before it could listen."""
    timeline = run(SHORT)
    deadline = time.monotonic() + WAITS_S
    while fetch(f"/api/timelines/{timeline}")["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.2)

    def early(page: Page) -> None:
        """The page as it was at first: no entry, no chunk, still running. Modules run after this event."""
        page.add_init_script("""document.addEventListener('readystatechange', () => {
            if (document.readyState !== 'interactive') return;
            const data = document.getElementById('timeline-data');
            data.textContent = JSON.stringify({ ...JSON.parse(data.textContent),
              last: 0, entries: 0, status: 'running', protocol: '', summary: {}, chunks: [] });
            document.getElementById('chunk-data').textContent = 'null';
            document.getElementById('protocol').textContent = 'unknown';
        })""")

    page = open_page(f"/t/{timeline}", reduced_motion="reduce", before=early)
    wait_for_the_end(page, timeline, fetch)
    expect(page.locator("#log .ev").first).to_be_visible()
    expect(page.locator("#protocol")).to_have_text("consumer")
    equals_the_fresh_frame(page, timeline, fetch)


@pytest.mark.once
def test_a_link_to_a_moment_of_a_run_opens_there_once_the_moment_is_computed(
    open_page: Open, run: Callable[..., str], fetch: Fetch
) -> None:
    """The page was rendered after the run's first entries; the board waits for the moment, and stays there."""
    timeline = run("kip429-eager")
    deadline = time.monotonic() + WAITS_S
    while fetch(f"/api/timelines/{timeline}")["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.2)

    def early(page: Page) -> None:
        page.add_init_script("""document.addEventListener('readystatechange', () => {
            if (document.readyState !== 'interactive') return;
            const data = document.getElementById('timeline-data');
            const chunk = document.getElementById('chunk-data');
            const whole = JSON.parse(chunk.textContent);
            const { sequence: last } = whole.moments[0];
            const early = (each) => each.sequence <= last;
            chunk.textContent = JSON.stringify({ ...whole, last, moments: whole.moments.filter(early),
              changes: whole.changes.filter(early) });
            data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), last, entries: last, status: 'running',
              chunks: [{ first: 1, last }] });
        })""")

    moments = fetch(f"/api/timelines/{timeline}/chunks/1")["moments"]
    wanted = moments[len(moments) // 2]["sequence"]
    assert moments[0]["sequence"] < wanted < moments[-1]["sequence"]
    page = open_page(f"/t/{timeline}?at={wanted}", reduced_motion="reduce", before=early)
    wait_for_the_end(page, timeline, fetch)
    becomes(page, f"rebalanceExplorer.timeline.rest.sequence === {wanted}")
    expect(page).to_have_url(re.compile(rf"\?at={wanted}$"))


def test_messages_lost_on_purpose_are_fetched(open_page: Open, run: Callable[[], str], fetch: Fetch) -> None:
    """Every second message of changes never arrives, and one of those that do arrives twice."""
    dropped: list[int] = []
    heard: list[str] = []

    def lossy(page: Page) -> None:
        def handle(socket: WebSocketRoute) -> None:
            upstream = socket.connect_to_server()

            def pass_on(text: str | bytes) -> None:
                message = json.loads(text)
                heard.append(message["type"])
                if message["type"] == "changes" and heard.count("changes") % 2:
                    dropped.append(message["last"])
                    return
                socket.send(text)
                if message["type"] == "changes":
                    socket.send(text)

            upstream.on_message(pass_on)

        page.route_web_socket("**/ws/timelines/*", handle)

    timeline = run()
    page = open_page(f"/t/{timeline}", reduced_motion="reduce", before=lossy)
    wait_for_the_end(page, timeline, fetch)
    assert dropped, "nothing was dropped: the run was over before the page was open"
    check_some_moments(page, timeline, fetch)


@pytest.mark.once
def test_the_last_message_may_be_the_lost_one(open_page: Open, run: Callable[..., str], fetch: Fetch) -> None:
    """No message of changes arrives at all: the repeated tail alone brings the browser to the end."""

    def deaf(page: Page) -> None:
        def handle(socket: WebSocketRoute) -> None:
            upstream = socket.connect_to_server()
            upstream.on_message(
                lambda text: socket.send(text) if json.loads(text)["type"] in {"hello", "tail"} else None
            )

        page.route_web_socket("**/ws/timelines/*", handle)

    timeline = run(ENDS)
    page = open_page(f"/t/{timeline}", reduced_motion="reduce", before=deaf)
    wait_for_the_end(page, timeline, fetch)
    check_some_moments(page, timeline, fetch)


@pytest.mark.once
def test_a_lost_connection_is_told_and_mended(open_page: Open, run: Callable[[], str], fetch: Fetch) -> None:
    attempts: list[WebSocketRoute] = []

    def fragile(page: Page) -> None:
        def handle(socket: WebSocketRoute) -> None:
            attempts.append(socket)
            if len(attempts) <= 2:
                socket.close()
            else:
                socket.connect_to_server()

        page.route_web_socket("**/ws/timelines/*", handle)

    timeline = run()
    page = open_page(f"/t/{timeline}", reduced_motion="reduce", before=fragile)
    expect(page.locator('[data-banner="link"]')).to_contain_text("connection was lost")
    wait_for_the_end(page, timeline, fetch)
    expect(page.locator('[data-banner="link"]')).to_have_count(0)
    assert len(attempts) >= 3
    check_some_moments(page, timeline, fetch)


def test_the_cancel_button_is_not_replaced_while_entries_come(
    open_page: Open, run: Callable[..., str], fetch: Fetch
) -> None:
    """A press that begins on one button and ends on another is no click."""
    timeline = run()
    page = open_page(f"/t/{timeline}", reduced_motion="reduce")
    banner = page.locator('[data-banner="status"]')
    expect(banner).to_contain_text("so far")
    before = banner.inner_text()
    button = banner.locator("button").element_handle()
    assert button is not None
    expect(banner).not_to_have_text(before)
    assert (
        button.evaluate("node => node.isConnected")
        or fetch(f"/api/timelines/{timeline}")["status"] != "running"
    )
    wait_for_the_end(page, timeline, fetch)


def test_a_run_can_be_cancelled_and_what_was_computed_stays(
    open_page: Open, run: Callable[[], str], fetch: Fetch
) -> None:
    timeline = run()
    page = open_page(f"/t/{timeline}", reduced_motion="reduce")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator('[data-banner="status"]')).to_contain_text("cancelled")
    assert fetch(f"/api/timelines/{timeline}")["status"] == "cancelled"


@pytest.mark.once
def test_a_long_timeline_is_counted_to_its_end_however_much_of_it_is_here(
    open_page: Open, run: Callable[[], str], fetch: Fetch
) -> None:
    timeline = run()
    page = open_page(f"/t/{timeline}", reduced_motion="reduce")
    wait_for_the_end(page, timeline, fetch)
    chunks = fetch(f"/api/timelines/{timeline}")["chunks"]
    assert len(chunks) > 1
    page = open_page(f"/t/{timeline}?at=0", reduced_motion="reduce")
    becomes(page, "rebalanceExplorer.timeline.count !== null")
    page.keyboard.press("End")
    becomes(page, "rebalanceExplorer.timeline.atEnd")
    equals_the_fresh_frame(page, timeline, fetch)
    moments = sum(
        len(fetch(f"/api/timelines/{timeline}/chunks/{chunk['first']}")["moments"]) for chunk in chunks
    )
    expect(page.locator("#steps")).to_have_text(f"{moments:,}")
    expect(page.locator("#step")).to_have_text(f"{moments:,}")
