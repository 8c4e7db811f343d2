"""Children that stand ready: so many at once, ended when their asker has left, and replaced when they have ended."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groups.child_side import MEMORY_BYTES_MOST
from groups.jobs import children, warm_children
from groups.jobs.children import ChildFailed, ParentStops
from groups.jobs.warm_children import AskerLeft, Busy, WarmChildren
from tests.tasks.test_children import is_alive

pytestmark = pytest.mark.once

Until = Callable[[Callable[[], object]], None]


@pytest.fixture
def two() -> Iterator[WarmChildren]:
    two = WarmChildren("tests.tasks.answering_child", 2)
    yield two
    two.close()


def ask(warm: WarmChildren, **question: Any) -> Any:
    return json.loads(warm.ask(question))


def test_one_child_answers_question_after_question_of_any_length(two: WarmChildren) -> None:
    pids = {ask(two)["pid"] for _ in range(5)}
    assert len(pids) == 1
    assert len(ask(two, letters=3_000_000)["text"]) == 3_000_000
    assert ask(two)["pid"] in pids


def test_a_child_is_kept_however_much_memory_its_parent_has_had(two: WarmChildren) -> None:
    held = b"x" * (2 * MEMORY_BYTES_MOST)
    del held
    assert len({ask(two)["pid"] for _ in range(3)}) == 1


def test_so_many_are_asked_at_once_and_whoever_comes_then_is_told(two: WarmChildren) -> None:
    answers: list[Any] = []
    askers = [threading.Thread(target=lambda: answers.append(ask(two, sleep_s=2))) for _ in range(2)]
    for asker in askers:
        asker.start()
    time.sleep(0.2)
    with pytest.raises(Busy):
        ask(two)
    for asker in askers:
        asker.join()
    assert len({answer["pid"] for answer in answers}) == 2
    assert ask(two)["pid"] in {answer["pid"] for answer in answers}


def test_a_child_whose_asker_left_is_ended_and_another_takes_its_place(
    two: WarmChildren, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_children, "LEFT_S", 0.1)
    first = ask(two)["pid"]
    begun_s = time.monotonic()
    with pytest.raises(AskerLeft):
        two.ask({"sleep_s": 60}, left=lambda: time.monotonic() - begun_s > 0.2)
    until(lambda: not is_alive(first))
    assert ask(two)["pid"] != first


def test_whoever_left_before_is_not_asked_for(two: WarmChildren) -> None:
    with pytest.raises(AskerLeft):
        two.ask({"sleep_s": 60}, left=lambda: True)


def test_an_answer_that_is_nearly_there_is_waited_for_so_that_the_next_click_finds_a_warm_child(
    two: WarmChildren,
) -> None:
    asked = iter([False, True, True, True, True])
    first = ask(two)["pid"]
    assert json.loads(two.ask({"sleep_s": 0.1}, left=lambda: next(asked, True)))["pid"] == first


def test_a_child_that_ended_of_its_size_or_was_killed_is_replaced_without_anybody_noticing(
    two: WarmChildren,
) -> None:
    first = ask(two, holds_bytes=MEMORY_BYTES_MOST)["pid"]
    assert ask(two)["pid"] != first
    os.kill(ask(two)["pid"], 9)
    assert ask(two)["pid"] != first


def test_a_child_that_dies_of_its_question_is_told(two: WarmChildren) -> None:
    with pytest.raises(ChildFailed, match="ended with code 3"):
        ask(two, die=True)
    assert ask(two)["pid"]


def test_a_child_that_comes_to_no_answer_is_ended(two: WarmChildren, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_children, "ANSWER_S", 0.1)
    with pytest.raises(ChildFailed, match="no answer"):
        ask(two, sleep_s=60)


def test_children_end_with_the_server(two: WarmChildren, until: Until) -> None:
    pid = ask(two)["pid"]
    children.shutting_down.set()
    try:
        with pytest.raises(ParentStops):
            ask(two, sleep_s=60)
    finally:
        children.shutting_down.clear()
    until(lambda: not is_alive(pid))
