"""The board in Chromium: opening, playing, scrubbing and zooming, from three members to a thousand, beside an empty page.

Lost frames are those that a screen of 60 Hz would have shown and the page did not; an empty page in the same run loses some, too.
A key is answered when the frame after it has been made. Event Timing's own ``duration`` goes on to whatever is presented next: of
the key that pauses it told 170 to 1,300 ms, where the browser's trace shows its frame submitted after 7.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.benchmarks.board_data import LARGE, LONG, MIDDLE, Size
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.pages import CHROMIUM
from tests.browser.board import becomes
from tests.serving import ROOT, Served, environment_for, served

PLAY_S: Final = 12
SCRUB_S: Final = 6
QUIET_S: Final = 2
"""Interactive: from the beginning of so long a time without a task over 50 ms."""

STEP_S: Final = 1.35
SEEKS: Final = 15
KEYS: Final = ("ArrowRight", "ArrowLeft", "Shift+ArrowRight", "Shift+ArrowLeft", "n", "p", "Home", "End")

WATCH: Final = """
window.__tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.__tasks.push([entry.startTime, entry.duration]);
}).observe({ type: 'longtask', buffered: true });
window.__keys = [];
window.__slowest = ['', 0];
addEventListener('keydown', ({ key, timeStamp }) => requestAnimationFrame(() => {
  const drawn = new MessageChannel();
  drawn.port1.onmessage = () => {
    const ms = performance.now() - timeStamp;
    window.__keys.push(ms);
    if (ms > window.__slowest[1]) window.__slowest = [`${key} at ${document.getElementById('board')?.dataset.sequence}`, ms];
  };
  drawn.port2.postMessage(null);
}), true);
window.__count = () => {
  const frames = { times: [], on: true };
  const each = (time) => { frames.times.push(time); if (frames.on) requestAnimationFrame(each); };
  requestAnimationFrame(each);
  return frames;
};
"""

LOST: Final = """
() => {
  const { times } = window.__frames;
  window.__frames.on = false;
  let lost = 0;
  for (let i = 1; i < times.length; i += 1) lost += Math.max(0, Math.round((times[i] - times[i - 1]) * 60 / 1000) - 1);
  return 100 * lost / Math.max(1, lost + times.length - 1);
}
"""


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in (LARGE, MIDDLE, LONG):
            prepare(folder, size)
        with served(folder) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
            yield from measured(browser, server)
            browser.close()


def prepare(folder: Path, size: Size) -> None:
    """Simulates and stores a timeline in a process of its own."""
    environment = environment_for(folder)
    for command in ("manage.py migrate --verbosity 0", f"-m tests.benchmarks.board_data {size.timeline}"):
        subprocess.run([sys.executable, *command.split()], cwd=ROOT, env=environment, check=True)


def measured(browser: Browser, server: Served) -> Iterator[Figure]:
    """All figures of a server that has the timelines."""
    yield Figure(what="frames lost by an empty page", value=empty(browser, server), unit="%")
    yield from board(
        browser, server, LARGE.timeline, f"{LARGE.members:,} × {LARGE.partitions:,} × {LARGE.entries:,}", 2
    )
    yield from board(
        browser,
        server,
        MIDDLE.timeline,
        f"{MIDDLE.members:,} × {MIDDLE.partitions:,} × {MIDDLE.entries:,}",
        2,
    )
    yield from first_play(browser, server, "kip848-six-partitions", "a case study of three members")
    yield from board(browser, server, "kip848-six-partitions", "a case study of three members", 2)
    yield from board(browser, server, LONG.timeline, f"a million entries of {LONG.members} members", 3)


def empty(browser: Browser, server: Served) -> float:
    page = opened(browser, server)
    page.goto(server.url + "/static/img/mark.svg")
    page.evaluate(WATCH)
    lost = frames_lost(page, lambda: page.wait_for_timeout(PLAY_S * 1000))
    page.context.close()
    return lost


def board(browser: Browser, server: Served, timeline: str, what: str, open_s: float) -> Iterator[Figure]:
    page = opened(browser, server)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.dataReceived", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(f"{server.url}/t/{timeline}?at=1&view=investigator", wait_until="commit")
    becomes(page, "document.documentElement.dataset.alive === 'true'", every_ms=20)
    yield Figure(
        what=f"{what}: over the wire until the first frame", value=sum(sizes) / 1e6, unit="MB", goal=3
    )
    interactive = wait_until_quiet(page)
    yield Figure(what=f"{what}: open to interactive", value=interactive / 1000, unit="s", goal=open_s)
    page.evaluate("window.__tasks.length = 0")

    for speed, key in ((1, None), (4, "]]")):
        for one in key or "":
            page.keyboard.press(one)
        before = step_of(page)
        page.keyboard.press("Space")
        lost = frames_lost(page, lambda: page.wait_for_timeout(PLAY_S * 1000))
        made, there_are = step_of(page) - before, steps_of(page)
        if before + made < there_are:  # at its end it has stopped, and Space would begin anew
            page.keyboard.press("Space")
        due = min(1 + int(PLAY_S * speed / STEP_S), there_are - before)
        yield Figure(what=f"{what}: frames lost while it plays at {speed}×", value=lost, unit="%", goal=1)
        yield Figure(
            what=f"{what}: steps made of {due} due at {speed}×",
            value=float(min(made, due)),
            unit="steps",
            goal=due,
            at_least=True,
        )
    yield Figure(
        what=f"{what}: frames lost while it is scrubbed",
        value=frames_lost(page, lambda: scrub(page)),
        unit="%",
        goal=1,
    )
    yield Figure(
        what=f"{what}: frames lost while it is zoomed",
        value=frames_lost(page, lambda: zoom(page)),
        unit="%",
        goal=1,
    )
    yield Figure(what=f"{what}: seek anywhere, median", value=seeks(page), unit="ms", goal=100)
    press_everywhere(page)
    slowest, ms = page.evaluate("window.__slowest")
    count = page.evaluate("window.__keys.length")
    yield Figure(
        what=f"{what}: slowest of {count} keys until its frame was made ({slowest})",
        value=float(ms),
        unit="ms",
        goal=100,
    )
    yield Figure(
        what=f"{what}: longest task after it was interactive", value=longest_task(page), unit="ms", goal=50
    )
    yield Figure(
        what=f"{what}: the same in processor time, without what the machine does beside it",
        value=longest_in_processor_time(browser, page),
        unit="ms",
        goal=50,
    )
    yield Figure(what=f"{what}: heap", value=heap(session), unit="MB", goal=300)
    page.context.close()


def first_play(browser: Browser, server: Served, timeline: str, what: str) -> Iterator[Figure]:
    """From opening it until it has played to its end once."""
    page = opened(browser, server)
    browser.start_tracing(page=page, categories=["toplevel"])
    page.goto(f"{server.url}/t/{timeline}?at=1&view=investigator", wait_until="commit")
    becomes(page, "document.documentElement.dataset.alive === 'true'", every_ms=20)
    page.keyboard.press("Space")
    becomes(page, "document.getElementById('play-word').textContent === 'Pause'", every_ms=200)
    becomes(page, "document.getElementById('play-word').textContent === 'Play'", every_ms=500, within_s=120)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    yield Figure(
        what=f"{what}: longest task from open to the end of its first play",
        value=longest_task(page),
        unit="ms",
        goal=50,
    )
    yield Figure(
        what=f"{what}: the same in processor time, of tasks of any length",
        value=longest_of(events),
        unit="ms",
        goal=50,
    )
    page.context.close()


def opened(browser: Browser, server: Served) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([server.cookie()])  # type: ignore[list-item]
    page = context.new_page()
    page.add_init_script(WATCH)
    return page


def wait_until_quiet(page: Page) -> float:
    """When the page became interactive, in ms after it was opened."""
    ends = time.monotonic() + 300
    while time.monotonic() < ends:
        now, last = page.evaluate(
            "[performance.now(), Math.max(0, ...window.__tasks.filter(([, ms]) => ms > 50).map(([at, ms]) => at + ms))]"
        )
        alive = page.evaluate("performance.getEntriesByName('alive')[0]?.startTime ?? performance.now()")
        if now - max(last, alive) > QUIET_S * 1000:
            return float(max(last, alive))
        page.wait_for_timeout(100)
    return float("nan")


def frames_lost(page: Page, act: Any) -> float:
    """Per cent of the frames of the time that ``act`` takes."""
    page.evaluate("() => { window.__frames = window.__count(); }")
    act()
    return float(page.evaluate(LOST))


def scrub(page: Page) -> None:
    """The pointer goes to and fro over the axis."""
    box = page.locator(".mstrip, #tracks:not(:empty)").first.bounding_box()
    assert box is not None
    y = box["y"] + min(20, box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] * 0.3, y)
    page.mouse.down()
    ends, turn = time.monotonic() + SCRUB_S, 0
    while time.monotonic() < ends:
        turn += 1
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.6 * abs((turn % 60) / 30 - 1)), y)
        page.wait_for_timeout(30)
    page.mouse.up()


def zoom(page: Page) -> None:
    """Where there is a map; lanes have no zoom, and get the keys all the same."""
    rows = page.locator(".mgrid [tabindex='0']")
    if rows.count():
        rows.first.focus()
    for _ in range(6):
        for key in ("w", "w", "s", "s"):
            page.keyboard.press(key)
            page.wait_for_timeout(200)


def seeks(page: Page) -> float:
    """The time from asking for a moment to its being on the board."""
    last = page.evaluate("window.rebalanceExplorer.timeline.last")
    times = []
    for turn in range(SEEKS):
        sequence = 1 + (turn * 7919 * 13) % last
        times.append(
            page.evaluate(
                """async (at) => {
                  const began = performance.now();
                  await window.rebalanceExplorer.go(at);
                  await new Promise(requestAnimationFrame);
                  return performance.now() - began;
                }""",
                sequence,
            )
        )
        page.wait_for_timeout(200)
    return middle(times)


def press_everywhere(page: Page) -> None:
    """Every key that moves the board, at places all over the timeline, the beginnings of chunks among them."""
    starts, last = page.evaluate(
        "(({ chunks, last }) => [chunks.map(({ first }) => first), last])(window.rebalanceExplorer.timeline)"
    )
    places = [1, *starts[1 :: max(1, len(starts) // 4)], last // 3, last]
    for place in places:
        for key in KEYS:
            # What is returned would be written as JSON by the page: of a frame of 10,000 partitions, one long task.
            page.evaluate("async (at) => { await window.rebalanceExplorer.go(at); }", place)
            page.wait_for_timeout(150)
            page.keyboard.press(key)
            page.wait_for_timeout(150)


def longest_task(page: Page) -> float:
    return float(page.evaluate("Math.max(0, ...window.__tasks.map(([, ms]) => ms))"))


def longest_in_processor_time(browser: Browser, page: Page) -> float:
    """Of the page's tasks while it plays at 4×, is sought and stepped, from the browser's own trace."""
    browser.start_tracing(page=page, categories=["toplevel"])
    page.keyboard.press("Space")
    page.wait_for_timeout(3_000)
    page.keyboard.press("Space")
    seeks(page)
    return longest_of(json.loads(browser.stop_tracing())["traceEvents"])


def longest_of(events: list[dict[str, Any]]) -> float:
    """The longest task of the page's main thread, in ms of processor time."""
    main = {event["tid"] for event in events if event.get("args", {}).get("name") == "CrRendererMain"}
    return max(
        (
            event["tdur"] / 1000
            for event in events
            if event.get("tid") in main and event["ph"] == "X" and "tdur" in event
        ),
        default=0.0,
    )


def heap(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def step_of(page: Page) -> int:
    return int(page.locator("#step").inner_text().replace(",", ""))


def steps_of(page: Page) -> int:
    return int(page.locator("#steps").inner_text().replace(",", "").rstrip("+"))
