"""Tests of connections, each in a child process: so many at once, and ended in time whatever the broker does."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest

from explorer.web.children import left_of
from explorer.web.endpoint import BadRequest
from groups.clusters.checking import Step
from groups.history.state.plain import to_plain
from groups.jobs import waiting
from groups.jobs.children import ChildFailed, ParentStops, run_child

STEP_TIMEOUT_MS: Final = 5_000
"""How long a step of the test may take where the properties do not say: somebody waits for it."""

TEST_MOST_S: Final = 60.0

TESTS_AT_ONCE: Final = 4
"""Each is a process and a thread, for as long as a silent broker lets it wait."""

CHILD: Final = "groups.clusters.check_child"

_free = threading.BoundedSemaphore(TESTS_AT_ONCE)


def tested(request: HttpRequest, properties: Mapping[str, str]) -> list[dict[str, Any]]:
    """The steps of the test, to the first that failed. ``BadRequest`` (429) while as many as may be are under way."""
    if not _free.acquire(blocking=False):
        raise BadRequest(
            f"{TESTS_AT_ONCE} clusters are being tested, as many as this server tests at once. Try again soon.",
            status=429,
        )
    waiting.begins()
    try:
        return _steps(request, {"request.timeout.ms": str(STEP_TIMEOUT_MS), **properties})
    finally:
        _free.release()


def _steps(request: HttpRequest, properties: dict[str, str]) -> list[dict[str, Any]]:
    left = left_of(request)
    end_s = time.monotonic() + TEST_MOST_S
    steps: list[dict[str, Any]] = []
    problem = f"The test was ended after {TEST_MOST_S:g} s; what answers takes too long."
    try:
        for message in run_child(
            CHILD,
            question={"properties": properties},
            cancelled=lambda: left() or time.monotonic() > end_s,
        ):
            steps.append(message["step"])
        if time.monotonic() <= end_s:
            return steps
    except (ChildFailed, ParentStops) as error:
        problem = f"The test ended before its time: {error}"
    return [*steps, to_plain(Step(name="rights", state="failed", text=problem))]
