"""A partition that two members have at once is said to have two owners, with both and since when until when; not a wait."""

from __future__ import annotations

from typing import Any

from groups.history.findings.finder import Finder
from groups.history.passes.recorder import Recorder
from groups.history.state.plain import from_plain, to_plain
from tests.history.logs import FOO, STABLE, UNREVOKED, Log, Records
from tests.history.test_causes import moments
from tests.history.test_classic_group import generation

R = Records()


def found(log: Log, kind: str) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == kind]


def verdict(log: Log) -> str:
    return str(log.recorded().summary["verdict"]["text"]).replace("\u202f", " ")


def before(*, jump: bool = False) -> Log:
    """B has all four partitions; A comes and is to have two of them; B is told to give those up."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 4})
    log.at(0).write(
        R.member("B"),
        R.epoch(1),
        R.target("B", 0, 1, 2, 3),
        R.target_epoch(1, 1),
        R.current("B", 1, 0, STABLE, dict.fromkeys(range(4), 1)),
    )
    epoch = 4 if jump else 2
    log.at(1_000).write(
        R.member("A"),
        R.epoch(epoch),
        R.target("A", 0, 1),
        R.target("B", 2, 3),
        R.target_epoch(epoch, 1),
        R.current("A", epoch, 0, STABLE),
    )
    return log


def told_to_revoke(log: Log) -> None:
    log.at(2_000).write(R.current("B", 1, 1, UNREVOKED, {2: 1, 3: 1}, {0: 1, 1: 1}))


def taken(log: Log, at_ms: int = 20_000, epoch: int = 2) -> None:
    log.at(at_ms).write(R.current("A", epoch, epoch, STABLE, {0: epoch, 1: epoch}))


def released(log: Log, at_ms: int = 27_800, epoch: int = 2) -> None:
    log.at(at_ms).write(R.current("B", epoch, 1, STABLE, {2: 1, 3: 1}))


def held_twice() -> Log:
    """A gets what B is still revoking, for 7.8 s."""
    log = before()
    told_to_revoke(log)
    taken(log)
    released(log)
    return log


def test_two_owners_open_the_verdict_with_both_members_all_partitions_and_times() -> None:
    log = held_twice()
    [one] = found(log, "two_owners")
    assert one["says"] == "Two owners: A got foo-0 and -1 while B still had them, for 7.8\u202fs"
    assert (one["from_ms"], one["to_ms"], one["partitions"]) == (20_000, 27_800, ["foo-0", "foo-1"])
    assert (one["members"], one["certain"]) == (["B", "A"], True)
    assert verdict(log).startswith(
        "Two owners: A got foo-0 and -1 while B still had them, for 7.8 s, from 20.0 s to 27.8 s."
    )


def test_the_step_in_which_a_partition_gets_a_second_owner_names_the_first_one() -> None:
    says = [moment["says"] for moment in moments(held_twice().recorded())]
    assert "A gets foo-0, foo-1, which B still has in the log" in says
    log = before()
    told_to_revoke(log)
    released(log)
    taken(log, at_ms=28_000)
    assert "A gets foo-0, foo-1" in [moment["says"] for moment in moments(log.recorded())]


def test_the_causes_of_two_owners_are_those_of_the_groups_protocol() -> None:
    [one] = found(held_twice(), "two_owners")
    [cause] = one["causes"]
    assert "KAFKA-16147" in cause
    assert "the leader's assignor" not in one["look_at"]


def test_who_got_its_partitions_did_not_wait_for_them_any_more() -> None:
    log = before()
    told_to_revoke(log)
    taken(log)
    log.at(60_000).write(R.commit(0, 1))
    assert found(log, "waited_for") == []
    assert verdict(log).startswith(
        "Two owners: A got foo-0 and -1 while B still had them, for 40.0 s, from 20.0 s, to the end."
    )


def test_who_gets_back_what_it_was_revoking_released_nothing() -> None:
    log = before()
    told_to_revoke(log)
    log.at(20_000).write(R.epoch(3), R.target("A"), R.target("B", 0, 1, 2, 3), R.target_epoch(3, 1))
    log.at(20_500).write(R.current("B", 3, 1, STABLE, dict.fromkeys(range(4), 1)))
    assert found(log, "slow_revocation") == []
    assert found(log, "waited_for") == []
    assert found(log, "moved") == []


def test_who_gets_a_part_back_released_the_rest() -> None:
    log = before()
    told_to_revoke(log)
    log.at(20_000).write(R.epoch(3), R.target("A", 0), R.target("B", 1, 2, 3), R.target_epoch(3, 1))
    log.at(20_500).write(R.current("B", 3, 1, STABLE, {1: 1, 2: 1, 3: 1}))
    [one] = found(log, "slow_revocation")
    assert one["partitions"] == ["foo-0"]


def test_the_earlier_owner_has_it_alone_when_the_later_one_gives_it_up() -> None:
    log = before()
    told_to_revoke(log)
    taken(log)
    log.at(25_000).write(R.current("A", 3, 2, STABLE))
    log.at(60_000).write(R.commit(0, 1))
    [one] = found(log, "two_owners")
    assert (one["from_ms"], one["to_ms"]) == (20_000, 25_000)
    assert found(log, "no_owner") == []


def test_a_gap_since_the_earlier_owners_last_record_is_named_instead() -> None:
    log = before()
    told_to_revoke(log)
    log.at(10_000).note(note="gap", partition=0, from_offset=20, to_offset=24, missing=4)
    taken(log)
    released(log)
    assert found(log, "two_owners") == []
    [one] = found(log, "release_missing")
    assert one["says"] == (
        "A got foo-0 and -1, and the log has no release by B: records are missing before it, which can explain that"
    )
    assert "Two owners" not in verdict(log)
    assert "two owners" not in verdict(log)


def test_a_gap_before_the_earlier_owners_last_record_explains_nothing() -> None:
    log = before()
    log.at(1_500).note(note="gap", partition=0, from_offset=20, to_offset=24, missing=4)
    told_to_revoke(log)
    taken(log)
    released(log)
    assert len(found(log, "two_owners")) == 1


def test_an_epoch_that_jumped_since_the_earlier_owners_last_record_is_a_gap() -> None:
    log = before(jump=True)
    taken(log, epoch=4)
    released(log, epoch=4)
    assert found(log, "two_owners") == []
    assert len(found(log, "release_missing")) == 1


def test_a_leader_that_gives_a_partition_to_two_members_makes_two_owners() -> None:
    log = Log()
    log.at(0).write(generation(1, {"A": [0, 1], "B": [1]}))
    log.at(30_000).write(generation(2, {"A": [0], "B": [1]}))
    [one] = found(log, "two_owners")
    assert (one["partitions"], one["from_ms"], one["to_ms"]) == (["foo-1"], 0, 30_000)
    assert found(log, "no_owner") == []


def test_the_times_of_two_owners_survive_a_checkpoint() -> None:
    log = before()
    told_to_revoke(log)
    taken(log)
    recorder = Recorder(group=log.group)
    for entry in log.entries:
        recorder.add(entry)
    recorder.flush(final=True)
    again = from_plain(Finder, to_plain(recorder.finder))
    assert again.ownership.shared == recorder.finder.ownership.shared
    assert len(again.ownership.shared.open) == 2
