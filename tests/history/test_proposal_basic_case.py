"""KIP-848's basic case: the sixteen rows of its table are sixteen moments, and the frames at them are the rows."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.history.logs import frame_at
from tests.history.proposal import proposal_basic

BATCH = proposal_basic().recorded("kip")
MOMENTS: list[dict[str, Any]] = orjson.loads(BATCH.moments)
CHANGES: list[dict[str, Any]] = orjson.loads(BATCH.changes)


def frame_of(step: int) -> dict[str, Any]:
    assert BATCH.checkpoint is not None
    moment = next(moment for moment in MOMENTS if moment["step"] == step)
    return frame_at(orjson.loads(BATCH.checkpoint), CHANGES, moment["sequence"])


def test_epochs_of_a_group_begin_at_0() -> None:
    frame = proposal_basic().frame("kip", at=0)
    assert (frame["state"], frame["group_epoch"], frame["assignment_epoch"]) == ("Empty", 0, 0)


ROWS = [
    (1, 1, 0, "Assigning", {"A": (0, [], [])}),
    (2, 1, 1, "Reconciling", {"A": (0, [], [])}),
    (3, 1, 1, "Stable", {"A": (1, [0, 1, 2], [])}),
    (4, 2, 1, "Assigning", {"A": (1, [0, 1, 2], []), "B": (0, [], [])}),
    (5, 2, 2, "Reconciling", {"A": (1, [0, 1, 2], []), "B": (0, [], [])}),
    (6, 2, 2, "Reconciling", {"A": (1, [0, 1, 2], []), "B": (2, [], [2])}),
    (7, 2, 2, "Reconciling", {"A": (1, [0, 1, 2], []), "B": (2, [], [2])}),
    (8, 2, 2, "Reconciling", {"A": (2, [0, 1], []), "B": (2, [], [2])}),
    (9, 2, 2, "Stable", {"A": (2, [0, 1], []), "B": (2, [2], [])}),
    (10, 3, 2, "Assigning", {"A": (2, [0, 1], []), "B": (2, [2], []), "C": (0, [], [])}),
    (11, 3, 3, "Reconciling", {"A": (2, [0, 1], []), "B": (2, [2], []), "C": (0, [], [])}),
    (12, 3, 3, "Reconciling", {"A": (2, [0, 1], []), "B": (3, [2], []), "C": (0, [], [])}),
    (13, 3, 3, "Reconciling", {"A": (2, [0, 1], []), "B": (3, [2], []), "C": (3, [], [1])}),
    (14, 3, 3, "Reconciling", {"A": (2, [0, 1], []), "B": (3, [2], []), "C": (3, [], [1])}),
    (15, 3, 3, "Reconciling", {"A": (3, [0], []), "B": (3, [2], []), "C": (3, [], [1])}),
    (16, 3, 3, "Stable", {"A": (3, [0], []), "B": (3, [2], []), "C": (3, [1], [])}),
]


@pytest.mark.parametrize(("step", "group", "target", "state", "members"), ROWS)
def test_the_frame_at_each_row_is_the_row(
    step: int, group: int, target: int, state: str, members: dict[str, Any]
) -> None:
    frame = frame_of(step)
    assert (frame["group_epoch"], frame["assignment_epoch"], frame["state"]) == (group, target, state)
    assert {
        name: (part["epoch"], part["assigned"].get("foo", []), part["pending_assignment"].get("foo", []))
        for name, part in frame["members"].items()
    } == members


def test_the_sixteen_rows_are_sixteen_moments() -> None:
    assert [(moment["step"], moment["says"]) for moment in MOMENTS] == [
        (1, "A joins"),
        (2, "Target computed: foo-0, foo-1, foo-2 go to A"),
        (3, "A gets foo-0, foo-1, foo-2"),
        (4, "B joins"),
        (5, "Target computed: foo-2 goes to B"),
        (6, "B moves to member epoch 2; foo-2 is still owned by A"),
        (7, "A is asked to revoke foo-2"),
        (8, "A confirms the revocation; foo-2 is released"),
        (9, "B gets foo-2"),
        (10, "C joins"),
        (11, "Target computed: foo-1 goes to C"),
        (12, "B moves to member epoch 3; it has nothing to revoke"),
        (13, "C moves to member epoch 3; foo-1 is still owned by A"),
        (14, "A is asked to revoke foo-1"),
        (15, "A confirms the revocation; foo-1 is released"),
        (16, "C gets foo-1"),
    ]


def test_what_a_client_was_told_to_give_up_stands_until_the_coordinator_took_note() -> None:
    told, acknowledged = frame_of(7)["clients"]["A"], frame_of(8)["clients"]["A"]
    assert (told["owned"], told["revoking"]) == ({"foo": [0, 1, 2]}, {"foo": [2]})
    assert (acknowledged["owned"], acknowledged["revoking"]) == ({"foo": [0, 1]}, {})


def test_the_verdict_of_the_basic_case() -> None:
    assert BATCH.summary["verdict"]["text"] == (
        "A joined (group epoch 1). At 12.0\u202fs B and C joined within 10.6\u202fs. "
        "At 12.1\u202fs B waited 5.4\u202fs for A to release foo-2. "
        "2 partitions moved, each released before it was taken; "
        "foo-1 was unassigned for 0.6\u202fs, the longest hand-over. "
        "A blocked C for 5.3\u202fs (foo-1)."
    )
