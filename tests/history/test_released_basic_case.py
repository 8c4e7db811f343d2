"""The basic case as Kafka 4.3.1 writes it: 48 records typed by hand, and what the product says of them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.history.logs import FOO, released_basic

BATCH = released_basic().recorded()


def row(frame: dict[str, Any], member: str) -> tuple[Any, ...]:
    """Epoch, state, and partitions assigned, being given up, and to come."""
    part = frame["members"][member]
    sets = (part[name].get(FOO, []) for name in ("assigned", "pending_revocation", "pending_assignment"))
    return (part["epoch"], part["state"], *sets)


def test_a_group_without_an_epoch_record_stands_at_epoch_1() -> None:
    frame = released_basic().frame(at=1)
    assert (frame["group_epoch"], frame["assignment_epoch"]) == (1, 1)
    assert row(frame, "A") == (0, "STABLE", [], [], [])


def test_a_join_gives_epoch_2_and_everything_at_once() -> None:
    frame = released_basic().frame(at=5)
    assert (frame["state"], frame["group_epoch"], frame["assignment_epoch"]) == ("Stable", 2, 2)
    assert row(frame, "A") == (2, "STABLE", [0, 1, 2], [], [])
    assert frame["target"] == {"A": {FOO: [0, 1, 2]}}
    assert frame["clients"] is None
    assert frame["timers"] is None


@pytest.mark.parametrize(
    ("at", "state", "epochs", "rows"),
    [
        (11, "Reconciling", (3, 3), {"A": (2, "STABLE", [0, 1, 2], [], []), "B": (3, "UNRELEASED_PARTITIONS", [], [], [2])}),
        (13, "Reconciling", (3, 3), {"A": (2, "UNREVOKED_PARTITIONS", [0, 1], [2], [])}),
        (14, "Reconciling", (3, 3), {"A": (3, "STABLE", [0, 1], [], []), "B": (3, "UNRELEASED_PARTITIONS", [], [], [2])}),
        (15, "Stable", (3, 3), {"B": (3, "STABLE", [2], [], [])}),
        (26, "Stable", (4, 4), {"A": (4, "STABLE", [0], [], []), "B": (4, "STABLE", [2], [], []), "C": (4, "STABLE", [1], [], [])}),
    ],
)  # fmt: skip
def test_each_move_is_told_to_give_up_acknowledged_and_taken(
    at: int, state: str, epochs: tuple[int, int], rows: dict[str, tuple[Any, ...]]
) -> None:
    frame = released_basic().frame(at=at)
    assert (frame["state"], (frame["group_epoch"], frame["assignment_epoch"])) == (state, epochs)
    assert {
        member: (row(frame, member)[0], row(frame, member)[1], *(got for got in _named(frame, member)))
        for member in rows
    } == rows


def _named(frame: dict[str, Any], member: str) -> list[list[int]]:
    """The same sets, whether the log has told the topic's name by then or not."""
    part = frame["members"][member]
    return [
        next(iter(part[name].values()), [])
        for name in ("assigned", "pending_revocation", "pending_assignment")
    ]


def test_a_leave_computes_no_target_so_the_group_is_assigning() -> None:
    frame = released_basic().frame(at=33)
    assert (frame["state"], frame["group_epoch"], frame["assignment_epoch"]) == ("Assigning", 5, 4)
    assert list(frame["members"]) == ["A", "C"]


def test_the_last_leave_empties_the_group_and_keeps_its_epochs() -> None:
    frame = released_basic().frame()
    assert (frame["state"], frame["group_epoch"], frame["assignment_epoch"]) == ("Empty", 7, 6)
    assert frame["members"] == {}


def test_a_commit_teaches_the_name_of_a_topic_id() -> None:
    assert list(released_basic().frame(at=26)["topics"]) == [FOO, "foo"]
    frame = released_basic().frame(at=27)
    assert frame["topics"] == {"foo": {"id": FOO, "partitions": None}}
    assert frame["members"]["A"]["assigned"] == {"foo": [0]}


def test_every_moment_says_what_its_records_support() -> None:
    moments = orjson.loads(BATCH.moments)
    told = [(moment["sequence"], moment["shape"], moment["says"].replace(FOO, "foo")) for moment in moments]
    assert told == [
        (5, "join", "A joins and gets foo-0, foo-1, foo-2"),
        (11, "join", "B joins; foo-2 goes to B"),
        (13, "revoke", "A is asked to revoke foo-2"),
        (14, "acknowledge", "A confirms the revocation; foo-2 is released"),
        (15, "gain", "B gets foo-2"),
        (21, "join", "C joins; foo-1 goes to C"),
        (23, "revoke", "A is asked to revoke foo-1"),
        (24, "acknowledge", "A confirms the revocation; foo-1 is released"),
        (25, "advance", "B moves to member epoch 4; it has nothing to revoke"),
        (26, "gain", "C gets foo-1"),
        (27, "commit", "Offsets of foo-0 are committed"),
        (28, "commit", "Offsets of foo-1 are committed"),
        (29, "commit", "Offsets of foo-2 are committed"),
        (33, "remove", "B is removed; no record says why; foo-2 is unassigned"),
        (
            36,
            "target",
            "Target computed: foo-2 goes to A; C moves to member epoch 5; it has nothing to revoke",
        ),
        (37, "gain", "A gets foo-2"),
        (41, "remove", "C is removed; no record says why; foo-1 is unassigned"),
        (44, "target", "Target computed: foo-1 goes to A; A gets foo-1"),
        (48, "remove", "A is removed; no record says why; foo-0, foo-1, foo-2 are unassigned"),
    ]


def test_the_verdict_is_made_of_findings_and_links_to_their_proof() -> None:
    verdict = BATCH.summary["verdict"]
    assert verdict["text"] == (
        "A joined (group epoch 2). At 8.0\u202fs B and C joined within 8.0\u202fs. "
        "At 24.0\u202fs B was removed (looks like it left by itself); foo-2 was unassigned for 1.1\u202fs. "
        "At 34.0\u202fs C was removed; the log does not say why; foo-1 was unassigned for 0.3\u202fs. "
        "At 40.0\u202fs A was removed; the log does not say why. "
        "4 moves of 2 partitions. "
        "The group is empty at the end."
    )
    assert "".join(clause["text"] for clause in verdict["clauses"]) == verdict["text"]
    linked = {clause["text"]: clause["sequence"] for clause in verdict["clauses"] if clause["sequence"]}
    assert linked["4 moves of 2 partitions"] == 44
    assert linked["foo-2 was unassigned for 1.1\u202fs"] == 33


def test_moves_are_found_with_whom_from_and_to_and_where_they_are_proved() -> None:
    moved = [finding for finding in BATCH.summary["findings"] if finding["kind"] == "moved"]
    assert [(f["partition"], f["from"], f["to"], f["sequences"]) for f in moved] == [
        ("foo-2", "A", "B", [14, 15]),
        ("foo-1", "A", "C", [24, 26]),
        ("foo-2", "B", "A", [33, 37]),
        ("foo-1", "C", "A", [41, 44]),
    ]


def test_removals_need_no_more_than_records_and_claim_no_reason() -> None:
    removed = [finding for finding in BATCH.summary["findings"] if finding["kind"] == "removed"]
    assert [(f["name"], f["why"], f["needs"]) for f in removed] == [
        ("B", None, ["records"]),
        ("C", None, ["records"]),
        ("A", None, ["records"]),
    ]


def test_each_wait_for_a_holder_is_found_with_its_length() -> None:
    waited = [finding for finding in BATCH.summary["findings"] if finding["kind"] == "waited_for"]
    assert [(one["says"], one["sequences"]) for one in waited] == [
        ("B waited 1.2\u202fs for A to release foo-2", [11, 14]),
        ("C waited 1.2\u202fs for A to release foo-1", [21, 24]),
    ]


def test_the_summary_lists_cast_and_epochs() -> None:
    assert [(one["name"], one["joined"]) for one in BATCH.summary["cast"]] == [("A", 1), ("B", 6), ("C", 16)]
    starts = [(one["epoch"], one["sequence"]) for one in BATCH.summary["epochs"]]
    assert starts == [(2, 5), (3, 11), (4, 21), (5, 33), (6, 41), (7, 48)]
