"""Motifs: each has the entries that prove it, a process is one whatever its member ids, and what happened once is none."""

from __future__ import annotations

from groups.history.digests import Digest
from groups.history.digests.motifs import motifs_of
from groups.history.digests.values import FREE, MEMBER, OWN, REVOKING, WAITS, MemberValue, PartitionValue
from groups.history.evidence.display_names import NamedMember

PROCESSES = {"a": ("A", "a"), "a2": ("A~2", "a"), "b": ("B", "b"), "c": ("C", "c")}
MEMBERS = {
    one: NamedMember(id=one, name=name, joined=0, lane=lane) for one, (name, lane) in PROCESSES.items()
}


def digest(
    owners: list[tuple[int, int, str | None]] = [],  # noqa: B006
    flags: list[tuple[int, str, int]] = [],  # noqa: B006
) -> Digest:
    """Column ``n`` is the moment of entry ``10 n``, at ``n`` seconds; partitions are those of topic ``t``."""
    made = Digest(begins=True)
    for column in range(13):
        row = (10 * column, 10 * column, 1000 * column, 1000 * column, 1, 0, 0, 0)
        for held, value in zip(made.columns.lists(), row, strict=True):
            held.append(value)
    made.partitions.changes = [
        (column, ("t", number), PartitionValue(owner, FREE if owner is None else OWN))
        for column, number, owner in owners
    ]
    made.members.changes = [(column, one, MemberValue(each, 0, 0, 0)) for column, one, each in flags]
    return made


def found(made: Digest) -> list[tuple[str, list[int], str]]:
    return [(one["kind"], one["sequences"], one["text"]) for one in motifs_of(made, MEMBERS, {"t": "foo"})]


def test_partitions_that_return_together_are_one_motif_and_a_restart_is_no_other_owner() -> None:
    back = digest(
        [(0, 0, "a"), (0, 1, "a"), (2, 0, None), (2, 1, None), (3, 0, "b"), (3, 1, "b"), (5, 0, "a2"), (5, 1, "a2")]
    )  # fmt: skip
    assert found(back) == [("returned", [0, 30, 50], "foo-0 and -1 return to A after another member")]
    longer = digest([(1, 0, "a"), (2, 0, "b"), (3, 0, "c"), (4, 0, "a")])
    assert found(longer) == [("returned", [10, 20, 30, 40], "foo-0 returns to A after 2 other owners")]
    assert found(digest([(0, 0, "a"), (1, 0, None), (2, 0, "a"), (4, 0, "a2"), (6, 0, "b")])) == []


def test_a_member_joins_amid_a_reconciliation_only_while_one_lasts() -> None:
    amid = [
        (0, "a", MEMBER),
        (1, "a", MEMBER | REVOKING),
        (2, "a", MEMBER | REVOKING | WAITS),
        (4, "b", MEMBER),
    ]
    assert found(digest(flags=amid)) == [("joined_amid", [10, 40], "B joins while A reconciles")]
    ended = [*amid[:3], (3, "a", MEMBER), (4, "b", MEMBER)]
    assert found(digest(flags=ended)) == []
    # What begins with the join is caused by it.
    assert found(digest(flags=[amid[0], (4, "a", MEMBER | REVOKING), (4, "b", MEMBER)])) == []


def test_a_process_that_leaves_three_times_is_a_motif_under_all_its_member_ids() -> None:
    twice = [(0, "a", MEMBER), (1, "a", 0), (2, "a2", MEMBER), (3, "a2", 0)]
    assert found(digest(flags=twice)) == []
    thrice = [*twice, (5, "a", MEMBER), (6, "a", 0)]
    assert found(digest(flags=thrice)) == [("left_often", [10, 30, 60], "A leaves 3 times")]
