"""The map of a large group and the board of a small one show the same: its digest's cells are those of ``static/js/frame/view.js``."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import orjson
import pytest

from groups.history.digests import digest_of
from groups.history.digests import values as v
from groups.history.polls.recording import PolledGroup
from groups.wire.embedded.consumer_protocol import encode_assignment
from tests.history.corpus import CorpusLog, corpus
from tests.history.naive_digest import State, unrolled
from tests.history.test_any_log import batches, together
from tests.history.test_polls import GROUP, classic, joining
from tests.house import ROOT

PROGRAM: Final = ROOT / "tests" / "javascript" / "board-cells.js"

MODES: Final = {
    "own": v.OWN,
    "leaving": v.MODE_LEAVING,
    "revoking": v.MODE_REVOKING,
    "free": v.FREE,
    "twice": v.MODE_TWICE,
}
"""The names of the board, the numbers of the map."""

Material = tuple[dict[str, Any], list[Any], list[Any]]


def material(log: CorpusLog) -> Material:
    """The log's first frame, its changes and its moments."""
    made = batches(list(log.entries), str(log.semantics), set())
    frame = orjson.loads(made[0].checkpoint or b"")["frame"]
    return frame, together(made, "changes"), together(made, "moments")


def shown_by_the_board(logs: list[Material]) -> Iterator[list[dict[str, Any]]]:
    """Of each log what the browser's modules show of the first frame and of each moment; one process for all."""
    if shutil.which("node") is None:
        assert not os.environ.get("REQUIRE_ALL"), "Node is missing and REQUIRE_ALL is set"
        pytest.skip("Node is not installed")
    lines = [
        orjson.dumps({"frame": frame, "changes": changes, "rests": [each["sequence"] for each in moments]})
        for frame, changes, moments in logs
    ]
    done = subprocess.run(
        ["node", str(PROGRAM)], input=b"\n".join(lines), capture_output=True, check=True, timeout=300
    )
    return map(orjson.loads, done.stdout.splitlines())


@pytest.mark.long
def test_of_every_log_the_map_shows_the_owners_that_the_board_shows() -> None:
    logs = [log for log in corpus() if log.entries]
    materials = [material(log) for log in logs]
    cells, wrong = compared([log.name for log in logs], materials)
    assert not wrong, f"{len(wrong)} of {cells.total()} cells differ:\n" + "\n".join(wrong[:60])
    assert set(cells) == {"study", "found", "drawn", "sample", "recorded", "typed", "broken"}


def compared(names: list[str], materials: list[Material]) -> tuple[Counter[str], list[str]]:
    """How many cells were compared, and those that differ."""
    cells: Counter[str] = Counter()
    wrong: list[str] = []
    for name, each, boards in zip(names, materials, shown_by_the_board(materials), strict=True):
        columns = unrolled(digest_of(*each))
        assert len(columns) == len(boards), name
        for place, (column, board) in enumerate(zip(columns, boards, strict=True)):
            told, expected = cells_of(column), cells_of_board(board)
            cells[name.split()[0]] += len(expected)
            wrong += [
                f"{name}, column {place}, {key}: map {told.get(key)}, board {expected.get(key)}"
                for key in sorted({*told, *expected})
                if told.get(key) != expected.get(key)
            ]
    return cells, wrong


def test_while_an_eager_group_is_described_between_two_generations_neither_shows_an_owner() -> None:
    watched, entries = PolledGroup(group=GROUP), []
    given = {"version": 1, "assignedPartitions": [{"topic": "foo", "partitions": [0, 1]}], "userData": None}
    stable = classic("Stable", base64.b64encode(encode_assignment(given)).decode())
    polls = (stable, joining("PreparingRebalance", "K"), joining("CompletingRebalance", "K", "L"))
    for second, told in enumerate((*polls, stable, *polls[1:], classic("Empty"))):
        entries += watched.take(told, second * 1000, partitions={"foo": 2})
    made = batches(entries, "kafka", set())
    frame = orjson.loads(made[0].checkpoint or b"")["frame"]
    each = frame, together(made, "changes"), together(made, "moments")
    cells, wrong = compared(["polled"], [each])
    assert not wrong, "\n".join(wrong)
    assert cells["polled"]
    owners = [{value.owner for value in column[1].values()} for column in unrolled(digest_of(*each))]
    assert ["K" in some for some in owners[owners.index({"K"}) :]][:6] == [
        True,
        False,
        False,
        True,
        False,
        False,
    ]


def cells_of(column: State) -> dict[str, Any]:
    members, partitions = column
    told: dict[str, Any] = {f"{topic}-{number}": [*value] for (topic, number), value in partitions.items()}
    for member_id, value in members.items():
        if value.flags & v.MEMBER:
            told[f"member {member_id}"] = [value.owned, value.revoking, value.wanted]
    return told


def cells_of_board(board: dict[str, Any]) -> dict[str, Any]:
    assert board["followed"] == board["partitions"], "ownership.js and view.js differ"
    told: dict[str, Any] = {key: [owner, MODES[mode]] for key, (owner, mode) in board["partitions"].items()}
    return told | {f"member {member_id}": counts for member_id, counts in board["members"].items()}
