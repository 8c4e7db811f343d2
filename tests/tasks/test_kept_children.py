"""A child that is kept for the next question is used again, replaced when it has ended, and ends by itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groups.jobs import children
from groups.jobs.children import ChildFailed, ParentStops
from groups.jobs.warm_children import WarmChildren
from tests.tasks.test_children import is_alive

pytestmark = pytest.mark.once

KEPT = WarmChildren("tests.tasks.kept_child")

Until = Callable[[Callable[[], object]], None]


@pytest.fixture(autouse=True)
def _no_child_stays() -> Iterator[None]:
    yield
    KEPT.close()


def ask(do: str = "answer", **more: Any) -> list[dict[str, Any]]:
    return list(KEPT.messages({"do": do, **more}))


def test_the_next_question_goes_to_the_same_child() -> None:
    answers = [ask() for _ in range(3)]

    assert len({answer[0]["pid"] for answer in answers}) == 1
    assert [answer[0]["before"] for answer in answers] == [0, 1, 2]
    assert [answer[-1] for answer in answers] == [{"type": "done"}] * 3


def test_a_child_that_died_meanwhile_is_replaced(until: Until) -> None:
    [first, _] = ask()
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: not is_alive(first["pid"]))

    [second, _] = ask()
    assert (second["pid"] != first["pid"], second["before"]) == (True, 0)


def test_a_child_that_ends_just_when_it_is_asked_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask("grow")[0]["pid"]
    monkeypatch.setattr(children.Child, "is_alive", property(lambda child: child._process.returncode is None))

    assert ask()[0]["pid"] != first


def test_a_child_that_nobody_asks_for_a_while_ends(until: Until) -> None:
    [first, _] = ask()
    until(lambda: not is_alive(first["pid"]))

    assert ask()[0]["before"] == 0


def test_whoever_finds_the_child_busy_starts_another_and_one_is_kept(until: Until) -> None:
    ask()
    pids: list[int] = []
    stop = threading.Event()

    def busy() -> None:
        question = {"do": "sleep"}
        for message in KEPT.messages(question, stop.is_set):
            pids.append(message["pid"])

    thread = threading.Thread(target=busy)
    thread.start()
    until(lambda: pids)
    other = ask()[0]["pid"]
    stop.set()
    thread.join(15)

    assert other != pids[0]
    assert ask()[0]["pid"] == other


def test_a_child_is_ended_when_its_question_is_cancelled() -> None:
    cancelled = threading.Event()
    messages = KEPT.messages({"do": "sleep"}, cancelled.is_set)
    pid = next(messages)["pid"]
    cancelled.set()

    assert list(messages) == []
    assert not is_alive(pid)
    assert ask()[0]["pid"] != pid


def test_a_child_is_ended_when_nobody_listens_any_more() -> None:
    messages = KEPT.messages({"do": "sleep"})
    pid = next(messages)["pid"]
    messages.close()  # type: ignore[attr-defined]

    assert not is_alive(pid)


def test_a_child_that_failed_says_why_in_one_sentence_and_is_not_kept() -> None:
    pid, said = (message for message in ask("fail"))

    assert said["type"] == "error"
    assert "Exception" not in said["message"]
    assert "ValueError" not in said["message"]
    assert said["message"].startswith("The import failed")
    assert "\n" not in said["message"]
    assert "the disk is full" in ask("fill")[-1]["message"]
    assert ask()[0]["pid"] != pid["pid"]


def test_a_child_that_dies_of_its_question_is_told_and_replaced() -> None:
    with pytest.raises(ChildFailed, match="ended with code 3"):
        ask("die")

    assert ask()[-1] == {"type": "done"}


@pytest.mark.parametrize("do", ["grow", "close"])
def test_a_child_that_holds_too_much_or_no_session_is_not_used_again(do: str, until: Until) -> None:
    first = ask(do)[0]["pid"]
    until(lambda: not is_alive(first))

    assert ask()[0]["pid"] != first


def test_kept_children_end_with_the_server(until: Until) -> None:
    pid = ask()[0]["pid"]
    children.shutting_down.set()
    try:
        with pytest.raises(ParentStops):
            ask()
    finally:
        children.shutting_down.clear()
    until(lambda: not is_alive(pid))
