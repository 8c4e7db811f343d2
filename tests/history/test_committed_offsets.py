"""Committed offsets are judged: what went back, what was set or deleted, who else commits."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.evidence.positions import BACKS_KEPT_MAX, Positions
from groups.history.passes.indexing import Indexer
from groups.history.state.plain import from_plain, to_plain
from tests.history.storied import A, B, R, Story, two_reading

KINDS = ("offset_back", "offsets_set", "offsets_deleted", "two_writers", "unowned_commits")
MINUTE = 60_000


def committed(story: Story, at_ms: int, **offsets: int | None) -> None:
    """``p2=100``: foo-2 at offset 100; None deletes it."""
    records = [
        R.commit(int(name[1:]), offset if offset is not None else 0, at_ms=at_ms)
        | ({"value": None, "version": None} if offset is None else {})
        for name, offset in offsets.items()
    ]
    story.at(at_ms, lambda log: log.write(*records))


def judged(story: Story) -> dict[str, list[dict[str, Any]]]:
    findings = story.summary()["findings"]
    return {kind: some for kind in KINDS if (some := [one for one in findings if one["kind"] == kind])}


def moves_to_b(at_ms: int = 30_000) -> Story:
    """A has foo-0 and foo-1 until B takes foo-1."""
    story = Story()
    story.assign(0, {A: (0, 1)})
    story.commits((0, 1), 2_000, at_ms)
    story.assign(at_ms, {A: (0,), B: (1,)})
    story.commits((0,), at_ms + 2_000, MINUTE)
    return story


def test_a_group_that_reads_on_moves_no_offset_back() -> None:
    story = moves_to_b()
    story.commits((1,), 32_000, MINUTE)
    assert judged(story) == {}


def test_a_new_owner_that_begins_behind_the_commits_of_the_old_one_is_named_with_both_offsets() -> None:
    story = moves_to_b()
    committed(story, 32_000, p1=40)
    story.commits((1,), 34_000, MINUTE)
    [one] = judged(story)["offset_back"]
    assert (one["why"], one["name"], one["giver"], one["partitions"]) == (
        "handover",
        "app-b",
        "app-a",
        ["foo-1"],
    )
    assert (one["from_offset"], one["to_offset"], one["at_ms"], one["certain"]) == (140, 40, 32_000, True)
    assert one["cannot_know"] == "where app-b began to read, and why not at the committed offset"
    assert one["steps"] == one["sequences"][:1]
    assert any("the log of app-b as it got the partition" in each for each in one["look_at"])
    assert one["causes"]
    assert len(one["sequences"]) == 3, (
        "the last commit of the old owner, the hand-over, the first one of the new owner"
    )
    assert (
        "At 32.0 s the committed offset of foo-1 went back by 100, from 140 to 40: app-b took over from app-a and began "
        "behind its commits." in story.verdict()
    )
    worst = story.summary()["verdict"]["worst"]
    assert (worst["kind"], worst["sequence"]) == ("offset_back", one["sequences"][0])


def test_partitions_that_go_back_together_are_one_event() -> None:
    story = Story()
    story.assign(0, {A: (0, 1, 2)})
    story.commits((0, 1, 2), 2_000, 30_000)
    story.assign(30_000, {B: (0, 1, 2)})
    committed(story, 31_000, p0=10, p1=5, p2=7)
    [one] = judged(story)["offset_back"]
    assert one["partitions"] == ["foo-0", "foo-1", "foo-2"]
    assert "The committed offsets of foo-0, -1 and -2 went back, foo-1 by 135, from 140 to 5" in one["says"]


def test_an_owner_that_commits_an_older_offset_is_not_taken_for_a_new_one() -> None:
    story = moves_to_b()
    story.commits((1,), 32_000, 50_000)
    committed(story, 51_000, p1=100)
    [one] = judged(story)["offset_back"]
    assert (one["why"], one["name"], one["from_offset"], one["to_offset"]) == ("owner", "app-b", 240, 100)


def emptied() -> Story:
    story = moves_to_b()
    story.commits((1,), 32_000, MINUTE)
    story.remove(61_000, A)
    story.remove(62_000, B)
    return story


def test_offsets_that_are_set_back_while_nobody_is_a_member_were_set_by_somebody_else() -> None:
    story = emptied()
    committed(story, 90_000, p0=0, p1=12)
    story.assign(120_000, {A: (0, 1)})
    committed(story, 122_000, p0=10, p1=22)
    [one] = judged(story)["offsets_set"]
    assert (one["why"], one["partitions"], one["count"], one["at_ms"]) == (
        "back",
        ["foo-0", "foo-1"],
        2,
        90_000,
    )
    assert (one["partition"], one["from_offset"], one["to_offset"]) == ("foo-0", 290, 0)
    assert "offset_back" not in judged(story)
    assert (
        "while the group was empty, the committed offsets of foo-0 and -1 were set back (foo-0 from 290 to 0), by nobody of "
        "the group: an administrator's reset, or a client without membership." in story.verdict()
    )


def test_offsets_that_are_set_forward_or_for_the_first_time_are_told_as_that() -> None:
    story = emptied()
    committed(story, 90_000, p0=1_000)
    committed(story, 190_000, p7=3)
    first, second = judged(story)["offsets_set"]
    assert (first["why"], first["from_offset"], first["to_offset"]) == ("forward", 290, 1_000)
    assert (second["why"], second["partitions"]) == ("first", ["foo-7"])


def test_an_offset_that_expired_in_between_explains_why_a_group_begins_again() -> None:
    story = emptied()
    committed(story, 600_000, p0=None, p1=None)
    story.assign(700_000, {A: (0, 1)})
    committed(story, 702_000, p0=3, p1=300)
    found = judged(story)
    [gone] = found["offsets_deleted"]
    assert (gone["why"], gone["partitions"], gone["count"]) == ("empty", ["foo-0", "foo-1"], 2)
    assert "while the group was empty for 8 min 58 s" in gone["says"].replace("\u202f", " ")
    [back] = found["offset_back"]
    assert (back["why"], back["partitions"], back["to_offset"], back["name"]) == (
        "deleted",
        ["foo-0"],
        3,
        "app-a",
    )


def test_all_offsets_of_a_topic_that_are_deleted_under_members_tell_of_its_end() -> None:
    story = two_reading(30_000)
    committed(story, 31_000, p0=None, p1=None, p2=None, p3=None)
    [one] = judged(story)["offsets_deleted"]
    assert (one["why"], one["names"], one["count"]) == ("topic", ["foo"], 4)
    part = two_reading(30_000)
    committed(part, 31_000, p0=None)
    [one] = judged(part)["offsets_deleted"]
    assert one["why"] == "members"


def test_offsets_that_go_with_their_group_were_deleted_while_it_was_empty() -> None:
    story = emptied()

    def delete(log: Any) -> None:
        gone = [R.commit(number, 0, at_ms=0) | {"value": None, "version": None} for number in (0, 1)]
        group = gone[0]["key"]["group"]
        log.write(
            *gone,
            *({"type": kind, "key": {"groupId": group}, "version": None, "value": None} for kind in (6, 3)),
        )

    story.at(600_000, delete)
    [one] = judged(story)["offsets_deleted"]
    assert (one["why"], one["count"]) == ("empty", 2)


def test_a_topic_that_is_made_again_begins_anew_without_a_word_of_its_offsets_going_back() -> None:
    story = two_reading(30_000)
    committed(story, 31_000, p0=None, p1=None, p2=None, p3=None)
    committed(story, 40_000, p0=1, p1=1, p2=1, p3=1)
    assert set(judged(story)) == {"offsets_deleted"}


def test_two_clients_that_write_one_partition_move_its_offset_to_and_fro() -> None:
    story = moves_to_b()
    for number in range(5):
        committed(story, 32_000 + 4_000 * number, p1=1_000 + 10 * number)
        committed(story, 34_000 + 4_000 * number, p1=500 + 10 * number)
    found = judged(story)
    [one] = found["two_writers"]
    assert (one["partition"], one["count"], one["to_offset"], one["from_offset"]) == ("foo-1", 5, 500, 1_040)
    assert (one["from_ms"], one["to_ms"], one["certain"]) == (34_000, 50_000, False)
    assert "offset_back" not in found, "it is told once"


def test_commits_of_a_partition_that_no_member_holds_are_by_somebody_else() -> None:
    story = two_reading(MINUTE)
    story.commits((9,), 20_000, 40_000)
    [one] = judged(story)["unowned_commits"]
    assert (one["partitions"], one["count"], one["from_ms"], one["to_ms"]) == (["foo-9"], 10, 20_000, 38_000)
    late = two_reading(MINUTE)
    committed(late, 20_000, p9=1)
    assert judged(late) == {}, "one may come late from a former owner"


def test_an_open_transaction_is_the_worst_thing_and_is_told_with_its_producer_since_when() -> None:
    story = two_reading(150_000)
    story.at(
        35_000,
        lambda log: log.note(
            note="transaction",
            producer=4001,
            from_ms=35_000,
            from_offset=19,
            partition=7,
            partitions={"foo": [2]},
            committed=[70],
        ),
    )
    [one] = [each for each in story.summary()["findings"] if each["kind"] == "open_transaction"]
    assert (one["producer"], one["partitions"], one["from_ms"], one["committed"]) == (
        4001,
        ["foo-2"],
        35_000,
        [70],
    )
    assert (one["length_ms"], one["open"]) == (113_500, True)
    whose, hanging = one["look_at"]
    assert "shows the transactional.id of producer 4001" in whose
    assert (
        "kafka-transactions.sh abort --topic __consumer_offsets --partition 7 --start-offset 19 ends it"
        in hanging
    )
    assert (
        "From 35.0 s on producer 4001 has held foo-2 (at offset 70) in an open transaction for 1 min 5"
        in story.verdict()
    )
    assert story.summary()["verdict"]["worst"]["kind"] == "open_transaction"


@pytest.mark.parametrize(
    ("committed", "how"),
    [(True, ", which was then committed"), (False, ", which was then aborted"), (None, "")],
)
def test_an_open_transaction_that_ended_is_no_longer_open_and_says_how_long_it_held_the_partition(
    committed: bool | None, how: str
) -> None:
    story = two_reading(150_000)
    note = {"note": "transaction", "producer": 4001, "from_ms": 35_000, "from_offset": 19, "partition": 7}
    story.at(45_000, lambda log: log.note(**note, partitions={"foo": [2]}, committed=[70]))
    story.at(80_000, lambda log: log.note(note="transaction_ended", producer=4001, committed=committed))
    story.at(81_000, lambda log: log.note(note="transaction_ended", producer=4002, committed=True))
    [one] = [each for each in story.summary()["findings"] if each["kind"] == "open_transaction"]
    assert (one["open"], one["severity"], one["length_ms"], len(one["sequences"])) == (
        False,
        "warning",
        45_000,
        2,
    )
    assert one["says"].replace("\u202f", " ") == (
        f"Producer 4001 held foo-2 (at offset 70) in an open transaction for 45.0 s{how}: "
        "until then consumers that ask for stable offsets waited (UNSTABLE_OFFSET_COMMIT)"
    )
    assert "From 35.0 s on producer 4001 held foo-2" in story.verdict()
    assert story.summary()["verdict"]["headline"]["text"].endswith("; over.")


@pytest.mark.parametrize(
    "broken", [{"producer": "x"}, {"from_ms": None}, {"partitions": [1]}, {"committed": 7}]
)
def test_a_note_of_a_transaction_that_is_not_as_it_should_be_is_passed_over(broken: dict[str, Any]) -> None:
    story = two_reading(30_000)
    note = {"note": "transaction", "producer": 1, "from_ms": 0, "partitions": {}, "committed": []} | broken
    story.at(10_000, lambda log: log.note(**note))
    assert all(each["kind"] != "open_transaction" for each in story.summary()["findings"])


def test_a_group_that_never_has_members_is_not_said_to_be_empty() -> None:
    story = Story()
    story.commits((0, 1), 1_000, 30_000)
    committed(story, 31_000, p0=5)
    found = judged(story)
    assert set(found) == {"offset_back"}
    assert found["offset_back"][0]["why"] == "unknown"


def test_what_is_kept_of_offsets_is_bounded_and_survives_a_checkpoint() -> None:
    story = moves_to_b()
    for number in range(BACKS_KEPT_MAX + 50):
        committed(story, 32_000 + 20 * number, p1=1_000 - number)
    log = story.log()
    indexer = Indexer(group=log.group)
    for entry in log.entries:
        indexer.add(entry)
    positions = indexer.finder.rhythm.positions
    assert len(positions.backs) == BACKS_KEPT_MAX < positions.backs_count
    assert from_plain(Positions, to_plain(positions)) == positions
