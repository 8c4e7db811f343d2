"""Folding without Spark: incarnations, names in front, gaps, segments given twice."""

from __future__ import annotations

from groups.pipeline.folding.context import Compaction, LostOffsets
from groups.pipeline.report import GroupSeen
from tests.history.modern_logs import ShareRecords, StreamsRecords
from tests.pipeline.folds import fold
from tests.pipeline.segments import BAR, FOO, Group, Segment, hash_of, record, sample_group


def test_sequences_are_dense_and_units_settle_on_their_last_record() -> None:
    found = fold(sample_group()).entries()

    assert [entry["sequence"] for entry in found] == list(range(1, len(found) + 1))
    units: dict[int, list[bool]] = {}
    for entry in found:
        if entry["kind"] == "record":
            units.setdefault(entry["unit"], []).append(entry["settled"])
    assert all(settled == [False] * (len(settled) - 1) + [True] for settled in units.values())


def test_names_are_told_before_the_first_record_that_needs_them() -> None:
    found = fold(sample_group()).entries()

    assert found[0]["payload"] == {
        "note": "topics",
        "topics": {"foo": {"id": FOO, "partitions": 3}},
        "source": "metadata hash",
    }
    assert found[0]["provenance"] == "inferred"


def test_a_group_that_was_deleted_and_created_again_is_two_timelines() -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0]})).add(group.leave("A")).add(group.delete())
    lines = fold(segment.add(group.join("B", {FOO: [0]})))

    assert lines.timelines == ["orders#1", "orders#2"]
    assert [line["deleted"] for line in lines.of("timeline")] == [True, False]


def test_tombstones_behind_a_deletion_stay_with_the_timeline_that_ended() -> None:
    group = Group()
    expired = [record(1, group.commit()[0]["key"], None)]
    lines = fold(
        Segment().add(group.join("A", {FOO: [0]})).add(group.leave("A")).add(group.delete()).add(expired)
    )

    assert lines.timelines == ["orders#1"]


def test_a_migration_stays_within_its_timeline() -> None:
    group = Group()
    upgrade = [record(2, {"group": "orders"}, None), *group.join("A", {FOO: [0]})]
    lines = fold(Segment().add(group.classic(1, ["A"])).add(upgrade))

    assert lines.timelines == ["orders#1"]


def test_a_classic_group_that_was_deleted_and_created_again_is_two_timelines() -> None:
    group = Group()
    gone = [record(2, {"group": "orders"}, None)]
    lines = fold(Segment().add(group.classic(1, ["A"])).add(gone).add(group.classic(1, ["B"])))

    assert lines.timelines == ["orders#1", "orders#2"]


def test_the_same_segment_twice_gives_every_record_once() -> None:
    once, twice = fold(sample_group()), fold(sample_group(), sample_group())

    assert twice.entries() == once.entries()
    [repeated] = twice.of("repeated")
    assert (repeated["records"], repeated["conflicts"]) == (len(once.entries()) - 1, [])


def test_two_logs_that_disagree_keep_the_first_and_say_so() -> None:
    group = Group()
    lines = fold(Segment().add(group.commit(offset=1)), Segment().add(group.commit(offset=2)))

    [repeated] = lines.of("repeated")
    [entry] = lines.entries()
    assert entry["payload"]["value"]["offset"] == 1
    assert [(conflict["offset"], conflict["records"]) for conflict in repeated["conflicts"]] == [(0, 1)]


def test_lost_offsets_stand_as_a_gap_at_their_place() -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0]})).skip(3).add(group.advance("A", {FOO: [0]}))
    lost = LostOffsets(from_offset=5, to_offset=7, reason="damaged")

    found = fold(segment, lost={17: (lost,)}).notes()

    # The file itself has a hole there, too, as compaction leaves one: that is told in front.
    assert found[1:] == [
        {"note": "gap", "partition": 17, "from_offset": 5, "to_offset": 7, "reason": "damaged"}
    ]
    assert found[0]["compacted"]


def test_offsets_that_compaction_took_are_one_gap_before_the_first_record() -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0]})).skip(300).add(group.advance("A", {FOO: [0]}))

    assert fold(segment, compacted={17: Compaction(5, 304, 300, 600)}).notes() == [
        {
            "note": "gap",
            "partition": 17,
            "from_offset": 5,
            "to_offset": 304,
            "reason": "compacted",
            "compacted": True,
            "missing": 300,
            "offsets": 600,
        }
    ]


def test_a_leader_epoch_that_rises_is_a_note_before_the_first_record_of_the_new_coordinator() -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0]})).led(3)
    for _ in range(4):
        segment.add(group.commit(offset=5)).led(3)
    segment.add(group.commit(offset=6)).led(4).add(group.advance("A", {FOO: [0]})).led(4)

    found = fold(segment)

    [note] = [entry for entry in found.entries() if entry["payload"].get("note") == "coordinator"]
    assert note["payload"]["leader_epoch"] == 4
    assert found.entries()[note["sequence"]]["payload"]["value"]["offset"] == 6
    assert [one["kind"] for one in found.index()["summary"]["findings"]].count("coordinator_moved") == 1


def test_ids_that_nothing_names_are_reported_with_what_is_known() -> None:
    group = Group(topics={"foo": FOO, "bar": BAR})
    folded = fold(Segment().add(group.join("A", {FOO: [0, 1]}, metadata_hash=4711))).told()

    assert folded["nameless"] == [{"id": FOO, "highest": 1, "suggestion": None}]
    assert folded["named"] == []


def test_a_partition_count_that_grew_is_told_where_its_hash_stands() -> None:
    group = Group()
    grown = group.join("A", {FOO: [0, 1, 2, 3]}, hash_of({"foo": (FOO, 4)}))
    segment = Segment().add(group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)}))).add(grown)

    assert [note["topics"]["foo"]["partitions"] for note in fold(segment).notes()] == [3, 4]


def test_share_and_streams_groups_become_timelines_and_end_with_their_own_tombstones() -> None:
    share, streams = ShareRecords("shared"), StreamsRecords("counts")
    lives = {
        "shared": [
            [share.member("A"), share.epoch(2), share.target("A", 0), share.target_epoch(2), share.current("A", 2, 0, 0)],
            [share.share_state(initialized=[0, 1])],
            list(share.leave("A", 3)),
            list(share.deletion()),
            [share.member("B"), share.epoch(2)],
        ],
        "counts": [
            [streams.member("A"), streams.topology(), streams.epoch(2), streams.current("A", 2, 0, 1, {"0": [0]})],
            list(streams.leave("A", 3)),
            list(streams.deletion()),
            [streams.member("B"), streams.epoch(2)],
        ],
    }  # fmt: skip
    for group, requests in lives.items():
        segment = Segment()
        for request in requests:
            segment.add(request)
        lines = fold(segment)

        assert lines.timelines == [f"{group}#1", f"{group}#2"]
        assert [line["deleted"] for line in lines.of("timeline")] == [True, False]
        protocols = {line["headline"]["protocol"] for line in lines.of("timeline")}
        assert protocols == {"share" if group == "shared" else "streams"}


def test_a_share_groups_own_records_name_its_topics() -> None:
    share = ShareRecords("orders")
    segment = Segment().add([share.member("A"), share.epoch(2), share.target("A", 0)])
    segment.add([share.share_state(initialized=[0])])

    assert [(topic["id"], topic["name"], topic["source"]) for topic in fold(segment).told()["named"]] == [
        (FOO, "foo", "share state")
    ]


def test_records_that_nobody_understands_make_no_timeline_of_their_own() -> None:
    unknown = Segment().raw((bytes.fromhex("001f0006") + b"orders", b"\x00\x00"))

    assert fold(unknown).timelines == []


def test_a_group_that_waits_is_listed_under_the_protocol_of_its_records() -> None:
    seen = {
        "consumer": {1, 3, 5},
        "classic": {1, 2},
        "share": {10, 11},
        "streams": {1, 19},
        "simple": {1, 31},
    }

    assert {name: GroupSeen(types=types).protocol for name, types in seen.items()} == {n: n for n in seen}


def test_two_lives_of_one_length_are_each_found_again() -> None:
    group = Group()
    log = Segment()
    for member in ("A", "B"):
        log.add(group.join(member, {FOO: [0]})).add(group.leave(member)).add(group.delete())
    first = fold(log)
    lives = first.of("timeline")
    earlier = {
        "orders": [
            {"id": f"life-{told['incarnation']}", "entries": told["entries"], "digest": told["digest"]}
            for told in lives
        ]
    }

    again = fold(log, earlier=earlier)

    assert lives[0]["entries"] == lives[1]["entries"]
    assert [told["continues"] for told in again.of("timeline")] == ["life-1", "life-2"]
