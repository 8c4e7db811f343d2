"""Many bytes are inspected in a process of their own: 131,000 names would take the server seconds."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from explorer.pages.inspector import answering, offloading
from groups.places import python_path
from groups.wire.codecs.primitives import to_base64
from tests.api.conftest import Api
from tests.api.test_inspect import WORKED

pytestmark = pytest.mark.once

SIDE = {"text": WORKED, "kind": "subscription"}
GIVEN_UP = {"path": "ownedPartitions.0.partitions", "value": [0]}
TOO_LARGE = {"path": "ownedPartitions.0.partitions.0", "value": "many"}


def names(count: int) -> str:
    """A subscription of version 0 to so many topics without a name."""
    return to_base64(
        bytes(2) + count.to_bytes(4) + bytes(2 * count) + (-1).to_bytes(4, signed=True),
    )


def refuses(*sides: Any, **named: Any) -> Any:
    raise AssertionError("laid out in the server's process")


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("inspect", {"text": WORKED}),
        ("inspect", {"text": WORKED, "guess": False}),
        ("inspect", {**SIDE, "version": 0}),
        ("inspect", {**SIDE, "edits": [GIVEN_UP]}),
        ("inspect", {**SIDE, "edits": [TOO_LARGE]}),
        ("inspect/compare", {"first": SIDE, "second": {**SIDE, "name": "older", "version": 0}}),
        ("inspect/compare", {"first": SIDE, "second": {**SIDE, "edits": [GIVEN_UP]}}),
        ("inspect/compare", {"first": SIDE, "second": {**SIDE, "edits": [TOO_LARGE]}}),
    ],
)
def test_an_answer_is_the_same_wherever_it_is_made(
    api: Api, monkeypatch: pytest.MonkeyPatch, address: str, body: Any
) -> None:
    here = api.post(address, body)
    monkeypatch.setattr(offloading, "HERE_BYTES_MOST", 0)
    monkeypatch.setattr(offloading, "answer_here", refuses)
    assert api.post(address, body) == here


@pytest.mark.long
def test_many_names_are_never_laid_out_in_the_server(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offloading, "answer_here", refuses)
    large = {"bytes": names(131_000), "kind": "subscription"}
    status, answer = api.post("inspect", large | {"guess": False})
    assert status == 200
    assert answer["length"] == 262_010
    assert api.post("inspect/compare", {"first": SIDE, "second": large})[0] == 200


def test_both_sides_of_a_question_weigh_and_each_edit_lays_out_all_bytes_again() -> None:
    side = answering.Asked(data=bytes(100))
    assert offloading.weight([side]) == 100
    assert offloading.weight([side, answering.Asked(data=bytes(50), edits=[("a", 1)] * 3)]) == 300


@pytest.mark.long
def test_more_large_questions_at_once_than_are_answered_are_told_to_come_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offloading, "HERE_BYTES_MOST", 0)
    taken = [offloading.children._free.acquire(timeout=60) for _ in range(offloading.CHILDREN_MOST)]
    try:
        status, answer = api.post("inspect", {"text": WORKED})
    finally:
        for _ in taken:
            offloading.children._free.release()
    assert (status, "Try again soon" in answer["error"]["message"]) == (429, True)
    assert api.post("inspect", {"text": WORKED})[0] == 200


def test_the_child_starts_without_the_web() -> None:
    """It is started by a question that somebody waits for."""
    program = "import explorer.pages.inspector.child, sys; print('django' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={"PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "False\n"
