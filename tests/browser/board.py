"""What tests say about a board in a browser."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error, Page, expect

Fetch = Callable[[str], Any]


def at(timeline: str, step: int, fetch: Fetch) -> str:
    """The address of a step; sequences are the simulator's business."""
    moments = fetch(f"/api/timelines/{timeline}/chunks/1")["moments"]
    found = next(moment["sequence"] for moment in moments if moment["step"] == step)
    return f"/t/{timeline}?at={found}"


def frame_of(page: Page) -> Any:
    """The frame that the board shows."""
    return page.evaluate("rebalanceExplorer.frame()")


def step_of(page: Page) -> int:
    return int(page.locator("#step").inner_text())


def becomes(page: Page, expression: str, *, every_ms: float = 50, within_s: float = 20) -> None:
    """Wait until an expression is true on the page. Playwright's own way has the page evaluate text, which the page's
    policy refuses."""
    until_s = time.monotonic() + within_s
    while True:
        # A page that is being left has nothing to say.
        with contextlib.suppress(Error):
            if page.evaluate(expression):
                return
        assert time.monotonic() < until_s, f"{expression} is not so"
        page.wait_for_timeout(every_ms)


def at_step(page: Page, step: int) -> None:
    expect(page.locator("#step")).to_have_text(str(step))


def equals_the_fresh_frame(page: Page, timeline: str, fetch: Fetch) -> None:
    """What was made of changes in the browser is what the server folds from entries."""
    shown = frame_of(page)
    assert shown == fetch(f"/api/timelines/{timeline}/frame?at={shown['sequence']}")
    assert page.locator("#board").get_attribute("data-sequence") == str(shown["sequence"])
    assert chips(page) == partitions_of(shown)


def chips(page: Page) -> dict[str, str]:
    """Where each chip lies: ``{"foo-1": "A revoking"}``."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('#board .chip')].map((chip) =>
             [chip.dataset.key, `${chip.closest('.lane').dataset.lane ?? 'nobody'} ${chip.dataset.mode}`]))"""
    )


def partitions_of(frame: Any) -> dict[str, str]:
    """The same, worked out from a frame without the browser's help."""
    wanted = {
        f"{topic}-{number}": member
        for member, target in (frame["target"] or {}).items()
        for topic, numbers in target.items()
        for number in numbers
    }
    known = frame["group_epoch"] == frame["assignment_epoch"] and frame["group_epoch"] > 0
    read = {topic for member in frame["members"].values() for topic in member["subscribed"]}
    placed = {
        f"{topic}-{number}": "nobody free"
        for topic, about in frame["topics"].items()
        if topic in read
        for number in range(about["partitions"] or 0)
    }
    # A member that came back under another id (``A~2``) lies in the lane of the one it stands for.
    lane = {member: member.split("~")[0] for member in frame["members"]}
    for member, state in frame["members"].items():
        for topic, numbers in state["assigned"].items():
            for number in numbers:
                key = f"{topic}-{number}"
                placed[key] = (
                    f"{lane[member]} {'own' if not known or wanted.get(key) == member else 'leaving'}"
                )
    for member, state in frame["members"].items():
        told = ((frame["clients"] or {}).get(member) or {}).get("revoking") or {}
        for revoked in (state["pending_revocation"], told):
            for topic, numbers in revoked.items():
                for number in numbers:
                    placed[f"{topic}-{number}"] = f"{lane[member]} revoking"
    return placed
