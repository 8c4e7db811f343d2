"""Records deleted unread, against starts of a log that overtake commits."""

from __future__ import annotations

import pytest

from groups.history.lag.loss import Loss, loss_of
from groups.history.lag.partition import Commit

pytestmark = pytest.mark.once

TIMES = [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("committed", "starts", "loss"),
    [
        ([Commit(0, 100)], [0, 50, 100, 100], None),
        ([Commit(0, 100)], [0, 110, 130, 130], Loss(20, 30)),
        ([Commit(0, 100), Commit(25, 200)], [0, 110, 190, 230], Loss(20, 40)),
        ([Commit(0, -1)], [0, 110, 130, 130], None),
        ([Commit(0, None), Commit(35, 125)], [0, 110, 130, 130], Loss(40, 5)),
        ([Commit(0, 100)], [90, 0, 110, 120], None),
        ([Commit(0, 100)], [-1, -1, 110, -1], Loss(30, 10)),
        ([], [0, 1, 2, 3], None),
    ],
)
def test_what_a_log_deleted_behind_its_retention_is_lost_once(
    committed: list[Commit], starts: list[int], loss: Loss | None
) -> None:
    assert loss_of(committed, TIMES, starts) == loss


def test_without_a_known_start_nothing_is_lost() -> None:
    assert loss_of([Commit(0, 100)], TIMES, ()) is None
