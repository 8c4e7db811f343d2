"""Times in which nobody read a partition, and the timeout that a removal waited for: told where faults and callbacks are."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Provenance
from groups.history.evidence.unread_partitions import STOPPED_MAX, Reading
from groups.history.state.plain import from_plain, to_plain
from tests.history.logs import Log
from tests.history.test_causes import R, moments, removal, two_members


def running() -> Log:
    """A reads foo-0 and foo-1, B foo-2, as their callbacks tell; sessions of 10 s run."""
    log = two_members()
    log.provenance = Provenance.SIMULATED
    log.callback("A", "on_partitions_assigned", "end", [0, 1])
    log.callback("B", "on_partitions_assigned", "end", [2])
    log.at(1_000).timer("session", "A", "started", 11_000)
    log.timer("session", "B", "started", 11_000)
    return log


def killed() -> Log:
    log = running()
    log.at(4_000).fault("kill", "A")
    fired = log.at(11_000).timer("session", "A", "fired", 11_000)
    log.write(*R.leave("A", 4), R.target("B", 0, 1, 2), R.target_epoch(4), cause=fired)
    log.at(12_000).write(R.current("B", 4, 3, 0, {0: 4, 1: 4, 2: 3}))
    log.at(12_500).callback("B", "on_partitions_assigned", "start", [0, 1])
    log.at(14_700).callback("B", "on_partitions_assigned", "end", [0, 1])
    return log


def unread(log: Log) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == "unread"]


def verdict(log: Log) -> str:
    return str(log.recorded().summary["verdict"]["text"]).replace("\u202f", " ")


def test_nobody_reads_from_the_kill_until_the_next_owner_has_begun() -> None:
    first, second = unread(killed())
    assert (first["partition"], second["partition"]) == ("foo-0", "foo-1")
    assert (first["from_ms"], first["to_ms"], first["why"], first["open"]) == (4_000, 14_700, "killed", False)
    assert first["says"] == "foo-0 was read by nobody for 10.7\u202fs, since A was killed"
    assert first["needs"] == ["callbacks", "faults"]


def test_the_verdict_tells_the_kill_the_timeout_and_what_nobody_read_cause_first() -> None:
    assert (
        "At 4.0 s A was killed, and at 11.0 s it was removed when its session expired (session timeout 10.0 s); "
        "nobody read foo-0 and -1 for 10.7 s; foo-0 and -1 were unassigned for 1.0 s."
    ) in verdict(killed())
    assert killed().recorded().summary["verdict"]["worst"]["at_ms"] == 4_000


def test_the_moment_of_an_expired_session_tells_how_long_the_session_was() -> None:
    said = [moment["says"].replace("\u202f", " ") for moment in moments(killed().recorded())]
    assert any(
        one.startswith("A's session expired (session timeout 10.0 s); foo-0, foo-1 are") for one in said
    )
    assert removal(killed().recorded())["timeout_ms"] == 10_000


def test_what_nobody_reads_at_the_end_is_still_open() -> None:
    log = running()
    log.at(4_000).fault("kill", "A")
    log.at(9_000).heartbeat("B", 3, steady=True)
    assert [(one["partition"], one["length_ms"], one["open"]) for one in unread(log)] == [
        ("foo-0", 5_000, True),
        ("foo-1", 5_000, True),
    ]
    assert "At 4.0 s A was killed; nobody read foo-0 and -1 for 5.0 s up to the end." in verdict(log)


def test_a_pause_after_which_the_same_process_reads_on_is_told_as_a_pause_alone() -> None:
    log = running()
    log.at(2_000).fault("pause", "A")
    log.at(5_000).fault("resume", "A")
    assert [one["length_ms"] for one in unread(log)] == [3_000, 3_000]
    assert "A was paused for 3.0 s." in verdict(log)
    assert "nobody read" not in verdict(log)


def test_a_log_of_records_alone_tells_nothing_of_who_read() -> None:
    log = two_members()
    log.at(60_000).write(*R.leave("B", 4))
    assert unread(log) == []
    assert "killed" not in verdict(log)


def test_who_reads_a_partition_beside_the_killed_process_is_not_nobody() -> None:
    log = running()
    log.callback("B", "on_partitions_assigned", "end", [0])
    log.at(4_000).fault("kill", "A")
    assert [one["partition"] for one in unread(log)] == ["foo-1"]


def test_what_is_remembered_of_partitions_that_nobody_reads_is_bounded_and_survives_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("groups.history.evidence.unread_partitions.STOPPED_MAX", 1)
    assert STOPPED_MAX > 1
    assert len(unread(killed())) == 1
    recorder = killed().recorded()
    assert recorder.summary["findings"]
    reading = from_plain(Reading, to_plain(Reading()))
    assert (reading.stopped, reading.unread, reading.killed) == ({}, [], {})


# Until the first owner.


def grown() -> Log:
    """foo gets a fourth partition at 35 s, which is B's from 72 s on."""
    log = two_members()
    log.at(35_000).topics(foo={"id": "cLledStpRu6ixDUvA4jVgA", "partitions": 4})
    log.at(36_000).write(R.epoch(4, 7), R.target("B", 2, 3), R.target_epoch(4))
    log.at(72_100).write(R.current("B", 4, 3, 0, {2: 3, 3: 4}))
    return log


def test_a_new_partition_is_unassigned_from_the_growth_of_its_topic_until_its_first_owner() -> None:
    [one] = [one for one in grown().recorded().summary["findings"] if one["kind"] == "no_owner"]
    assert (one["partition"], one["length_ms"], one["first"], one["before"]) == ("foo-3", 37_100, True, None)
    assert (
        "foo grew from 3 to 4 partitions; foo-3 was unassigned for 37.1 s, until its first owner."
        in verdict(grown())
    )


def test_the_longest_hand_over_is_said_to_be_the_longest_between_two_owners() -> None:
    log = grown()
    log.at(80_000).write(R.epoch(5, 7), R.target("B", 3), R.target("A", 0, 1, 2), R.target_epoch(5))
    log.at(81_000).write(R.current("B", 5, 4, 0, {3: 4}))
    log.at(82_900).write(R.current("A", 5, 2, 0, {0: 2, 1: 2, 2: 5}))
    log.at(90_000).write(R.epoch(6, 7), R.target("B", 2, 3), R.target("A", 0, 1), R.target_epoch(6))
    log.at(91_000).write(R.current("A", 6, 5, 0, {0: 2, 1: 2}))
    log.at(91_600).write(R.current("B", 6, 5, 0, {2: 6, 3: 4}))
    assert "foo-2 was unassigned for 1.9 s, the longest hand-over." in verdict(log)


def test_a_partition_that_had_an_owner_before_the_group_was_empty_is_not_called_new() -> None:
    log = two_members()
    log.at(5_000).write(*R.leave("B", 4))
    log.at(6_000).write(*R.leave("A", 5))
    log.at(9_000).write(R.member("A"), R.epoch(6), R.target("A", 0, 1, 2), R.target_epoch(6))
    log.at(12_000).write(R.current("A", 6, 0, 0, {0: 6, 1: 6, 2: 6}))
    assert not [
        one for one in log.recorded().summary["findings"] if one["kind"] == "no_owner" and one["first"]
    ]


# Who blocked whom.


def test_a_wait_leads_to_where_it_began_and_those_that_no_event_tells_are_summed_up() -> None:
    log = two_members()
    begin = log.at(10_000).write(R.epoch(4, 7), R.target("B", 1, 2), R.target("A", 0), R.target_epoch(4))
    log.at(11_000).write(R.current("B", 4, 3, 2, {2: 3}))
    log.at(12_000).write(R.current("A", 3, 2, 1, {0: 2}, {1: 2}))
    log.at(40_000).write(R.current("A", 4, 3, 0, {0: 2}))
    log.at(40_500).write(R.current("B", 4, 4, 0, {1: 4, 2: 3}))
    clauses = log.recorded().summary["verdict"]["clauses"]
    [wait] = [clause for clause in clauses if clause["text"].startswith("B waited")]
    assert begin <= wait["sequence"] < begin + 4
    assert "blocked" not in verdict(log)
    log.at(50_000).write(R.epoch(5, 7), R.target("B", 2), R.target("A", 0, 1), R.target_epoch(5))
    log.at(55_000).write(R.current("B", 5, 4, 0, {2: 3}))
    log.at(55_500).write(R.current("A", 5, 4, 0, {0: 2, 1: 5}))
    assert verdict(log).endswith("B blocked A for 5.0 s (foo-1).")
