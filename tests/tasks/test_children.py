"""Child processes answer, end with their task, and end with their parent."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from groups.jobs import children
from groups.jobs.children import ChildFailed, ParentStops, run_child
from tests.tasks.child_programs import PROGRAM

pytestmark = pytest.mark.once

Until = Callable[[Callable[[], object]], None]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that has ended and that nobody asked about is not alive.
    with contextlib.suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return True


def test_a_child_is_asked_on_one_line_and_answers_with_lines() -> None:
    assert list(run_child(PROGRAM, ["echo"], question={"of": ["foo", 2]})) == [
        {"type": "answer", "question": {"of": ["foo", 2]}},
        {"type": "done"},
    ]


def test_every_line_of_a_quick_child_arrives_in_order_while_its_reader_is_slow() -> None:
    numbers = []
    for message in run_child(PROGRAM, ["chatty"], question={}):
        if message["type"] == "number":
            numbers.append(message["number"])
            if message["number"] % 2000 == 0:
                time.sleep(0.05)
    assert numbers == list(range(10_000))


def test_what_a_child_says_on_standard_error_does_not_stop_it() -> None:
    assert list(run_child(PROGRAM, ["loud"], question={})) == [{"type": "done"}]


def test_a_child_that_fails_is_told_with_its_last_words() -> None:
    messages = run_child(PROGRAM, ["failing"], question={})
    assert next(messages) == {"type": "batch"}
    with pytest.raises(ChildFailed, match=f"{PROGRAM} ended with code 1: ValueError: the disk is full"):
        next(messages)


def test_a_child_that_says_what_is_no_json_is_told_of() -> None:
    with pytest.raises(ChildFailed, match="said something that is no line of JSON"):
        list(run_child(PROGRAM, ["babbling"], question={}))


def test_a_program_that_does_not_exist_is_told_of() -> None:
    with pytest.raises(ChildFailed, match="ended with code 1"):
        list(run_child("tests.tasks.nothing", question={}))


def test_cancelling_ends_a_silent_child() -> None:
    cancelled = threading.Event()
    messages = run_child(PROGRAM, ["silent"], question={}, cancelled=cancelled.is_set)
    pid = next(messages)["pid"]
    assert is_alive(pid)
    cancelled.set()
    assert list(messages) == []
    assert not is_alive(pid)


def test_a_child_ends_when_its_task_stops_listening() -> None:
    messages = run_child(PROGRAM, ["silent"], question={})
    pid = next(messages)["pid"]
    messages.close()  # type: ignore[attr-defined]
    assert not is_alive(pid)


def test_a_child_that_will_not_end_is_killed_with_its_own_children(
    monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.setattr(children, "TERM_S", 0.3)
    messages = run_child(PROGRAM, ["stubborn"], question={})
    started = next(messages)
    messages.close()  # type: ignore[attr-defined]
    assert not is_alive(started["pid"])
    until(lambda: not is_alive(started["grandchild"]))


@pytest.fixture
def _server_ends() -> Iterator[None]:
    yield
    children.shutting_down.clear()


@pytest.mark.usefixtures("_server_ends")
def test_a_server_that_ends_ends_its_children_and_tells_their_tasks() -> None:
    messages = run_child(PROGRAM, ["silent"], question={})
    pid = next(messages)["pid"]
    children.shutting_down.set()
    with pytest.raises(ParentStops):
        next(messages)
    assert not is_alive(pid)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_dies_with_its_parent_however_that_ends(how: signal.Signals, until: Until) -> None:
    """The child sleeps and never looks at its input, so only the kernel can tell it."""
    parent = subprocess.Popen(
        [sys.executable, "-m", PROGRAM, "parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent, parent.stdin, parent.stdout:
        parent.stdin.write("{}\n")
        parent.stdin.flush()
        child = int(parent.stdout.readline().rpartition(":")[2].strip(" }\n"))
        assert is_alive(child)
        parent.send_signal(how)
        parent.wait(10)
    until(lambda: not is_alive(child))
