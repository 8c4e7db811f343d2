"""What the board says of logs that begin in the middle, have holes, or contradict themselves: never more than they hold."""

from __future__ import annotations

import orjson

from groups.history.entries import Provenance
from groups.history.findings import COMINGS_KEPT_MAX
from tests.history.logs import FOO, HASH, STABLE, UNRELEASED, UNREVOKED, Log, Records

R = Records()


def told(log: Log) -> list[str]:
    return [moment["says"] for moment in orjson.loads(log.recorded().moments)]


def verdict(log: Log) -> str:
    return str(log.recorded().summary["verdict"]["text"])


def kinds(log: Log) -> list[str]:
    return [finding["kind"] for finding in log.recorded().summary["findings"]]


def named_log(provenance: Provenance = Provenance.RECORDED) -> Log:
    log = Log(provenance=provenance)
    log.topics(foo={"id": FOO, "partitions": 3})
    return log


def two_members() -> Log:
    log = named_log()
    log.write(
        R.member("A"),
        R.epoch(2, HASH),
        R.target("A", 0, 1),
        R.target_epoch(2),
        R.current("A", 2, 0, STABLE, {0: 2, 1: 2}),
    )
    log.at(1000).write(
        R.member("B"),
        R.epoch(3, HASH),
        R.target("B", 2),
        R.target_epoch(3),
        R.current("B", 3, 0, STABLE, {2: 3}),
    )
    return log  # fmt: skip


# Beginnings.


def test_a_member_that_is_first_seen_in_a_heartbeat_was_there_and_did_not_join() -> None:
    log = named_log()
    log.write(R.current("A", 12, 11, STABLE, {0: 5, 1: 7}))
    log.at(100).write(R.current("B", 12, 12, UNREVOKED, {}, {2: 12}))
    assert told(log) == [
        "The log begins in the middle: A is there, with foo-0, foo-1",
        "B is there, revoking foo-2",
    ]
    assert verdict(log) == "The log begins in the middle; A and B were already members."
    assert kinds(log) == ["midway", "began"]


def test_a_member_is_called_the_same_before_and_after_it_is_first_seen() -> None:
    long_id = "j2lxJP5aSPSdkb2mHn4yVw"
    log = named_log()
    log.write(
        R.member("Z"), R.epoch(400), R.target(long_id, 0), R.target_epoch(400), R.current("Z", 400, 0, STABLE)
    )
    log.at(100).write(R.current(long_id, 400, 399, STABLE, {0: 5}))
    assert told(log) == [
        "The log begins in the middle: Z joins; foo-0 goes to j2lxJP5a",
        "j2lxJP5a is there, with foo-0",
    ]


def test_a_changed_subscription_is_no_join() -> None:
    log = named_log()
    log.write(R.member("A", ["foo", "bar"]), R.epoch(30, 3), R.current("A", 29, 29, STABLE, {0: 2}))
    assert told(log) == ["The log begins in the middle: A is there, with foo-0"]
    assert verdict(log) == "The log begins in the middle; A was already a member."


def test_compaction_leaves_members_whose_joining_is_not_told() -> None:
    log = named_log()
    log.write(R.member("A"))
    log.at(10).write(R.member("B"))
    log.at(20).write(
        R.target("A", 0, 1), R.target_epoch(17, 20), R.current("A", 17, 16, STABLE, {0: 5, 1: 5})
    )
    log.at(9000).write(
        R.member("C"),
        R.epoch(18, HASH),
        R.target("C"),
        R.target_epoch(18, 9000),
        R.current("C", 18, 0, STABLE),
    )
    assert told(log)[:2] == ["The log begins in the middle: A is there", "B is there"]
    assert told(log)[2] == "Target computed: foo-0, foo-1 go to A; A is at epoch 17, with foo-0, foo-1"
    assert (
        verdict(log) == "The log begins in the middle; A and B were already members. At 9.0\u202fs C joined."
    )


def test_a_join_into_a_group_that_the_log_did_not_tell_of_is_a_join_in_the_middle() -> None:
    log = named_log()
    log.write(
        R.member("Z"),
        R.epoch(400, HASH),
        R.target("Z", 2),
        R.target_epoch(400, 1),
        R.current("Z", 400, 0, UNRELEASED),
    )
    log.at(3000).write(R.current("A", 399, 399, UNREVOKED, {0: 2, 1: 2}, {2: 2}))
    assert told(log) == [
        "The log begins in the middle: Z joins; foo-2 goes to Z",
        "A is there, with foo-0, foo-1, revoking foo-2",
    ]
    assert verdict(log) == "The log begins in the middle; A was already a member. Z joined (group epoch 400)."


def test_somebody_unknown_who_is_removed_is_told_as_that() -> None:
    log = named_log()
    log.write(R.current("A", 12, 11, STABLE, {0: 5}))
    log.at(5000).write(*R.leave("X", 13, HASH))
    assert told(log)[-1] == "A member was removed that the log had not told of; group epoch 13"


def test_a_log_that_begins_with_tombstones_begins_in_the_middle() -> None:
    log = named_log()
    log.write(*R.leave("X", 40, HASH))
    assert told(log) == ["The log begins in the middle: group epoch 40"]
    assert verdict(log) == "The log begins in the middle."


def test_a_static_member_that_takes_the_place_of_somebody_unknown() -> None:
    log = named_log()
    log.write(
        *(R.gone(8, "A"), R.gone(7, "A"), R.gone(5, "A")),
        R.member("A2", instanceId="i"),
        R.target("A2", 0),
        R.current("A2", 0, 0, STABLE, {0: 0}),
        R.current("A2", 20, 0, STABLE, {0: 0}),
    )
    assert told(log) == ["The log begins in the middle: A2 replaces A (same group.instance.id)"]
    assert "joined" not in kinds(log)


def test_a_scenario_that_starts_with_a_group_begins_and_has_no_middle() -> None:
    log = named_log(Provenance.SIMULATED)
    log.write(
        R.member("A"),
        R.member("B"),
        R.epoch(21),
        R.target_epoch(21),
        R.current("A", 21, 21, STABLE, {0: 21}),
        R.current("B", 21, 21, STABLE, {1: 21}),
    )
    assert told(log) == ["The group begins with A and B"]
    assert verdict(log) == "A and B were already members."


def test_of_a_group_too_large_to_be_named_all_who_were_there_are_counted() -> None:
    log = named_log(Provenance.SIMULATED)
    members = [f"m{number}" for number in range(COMINGS_KEPT_MAX + 50)]
    log.write(*(R.member(member) for member in members), R.epoch(21))
    assert verdict(log) == f"{COMINGS_KEPT_MAX + 50} members were already members."


def test_of_a_large_group_that_forms_all_who_joined_are_counted() -> None:
    log = named_log(Provenance.SIMULATED)
    for number in range(COMINGS_KEPT_MAX + 50):
        log.at(number * 100).write(
            R.member(f"m{number}"), R.epoch(number + 1), R.current(f"m{number}", number + 1, 0, STABLE)
        )
    count = COMINGS_KEPT_MAX + 50
    assert verdict(log).startswith(f"{count} members joined one after another (group epochs ")
    formed = next(found for found in log.recorded().summary["findings"] if found["kind"] == "formed")
    assert formed["joined"] == count
    assert formed["says"].startswith(f"The group formed with {count} members in ")


def test_a_segment_of_a_stable_group_begins_with_its_commits() -> None:
    log = named_log()
    log.write(R.commit(0, 7))
    assert verdict(log) == "Commits only; the log tells nothing of members."
    log.at(9000).write(R.current("A", 12, 12, UNREVOKED, {0: 5}, {1: 7}))
    log.at(9500).write(R.current("A", 13, 12, STABLE, {0: 5}))
    assert told(log)[1:] == [
        "The log begins in the middle: A is there, with foo-0, revoking foo-1",
        "A confirms the revocation; foo-1 is released",
    ]
    assert verdict(log).startswith("The log begins in the middle; A was already a member.")


def test_a_log_from_the_first_record_on_does_not_begin_in_the_middle() -> None:
    assert "midway" not in kinds(two_members())


# Holes.


def test_a_time_without_an_owner_is_not_measured_over_a_gap() -> None:
    log = two_members()
    log.at(2000).write(R.epoch(4), R.target("A", 0), R.target("B", 1, 2), R.target_epoch(4, 2000))
    log.at(3000).write(R.current("A", 4, 2, STABLE, {0: 2}))
    log.at(4000).note(note="gap", partition=0, from_offset=10, to_offset=999, reason=None)
    log.at(3_600_000).write(R.current("B", 17, 16, STABLE, {1: 16, 2: 3}))
    assert not {"no_owner", "moves"} & set(kinds(log))
    assert verdict(log).startswith("The log has a gap. ")


def test_a_jump_of_the_group_epoch_is_a_hole_too() -> None:
    log = two_members()
    log.at(2000).write(R.epoch(4), R.target("A", 0), R.target("B", 1, 2), R.target_epoch(4, 2000))
    log.at(3000).write(R.current("A", 4, 2, STABLE, {0: 2}))
    log.at(3_600_000).write(
        R.epoch(40), R.target_epoch(40, 3_600_000), R.current("B", 40, 16, STABLE, {1: 16, 2: 3})
    )
    assert "no_owner" not in kinds(log)


# Contradictions.


def test_two_owners_are_told_where_they_come_about() -> None:
    log = two_members()
    log.at(2000).write(R.current("B", 3, 3, STABLE, {2: 3}), R.current("A", 3, 2, STABLE, {0: 2, 2: 3}))
    assert told(log)[-1].endswith("foo-1 is released; foo-2 has two owners: it is still held at epoch 3")
    assert "released before" not in verdict(log)


def test_what_somebody_else_holds_by_now_is_not_called_free() -> None:
    """Compaction dropped the record with which A gave foo-0 up: B is seen with it first."""
    log = two_members()
    log.at(2000).write(R.current("B", 5, 3, STABLE, {0: 5, 2: 3}))
    log.at(3000).write(R.current("A", 5, 2, STABLE, {1: 2}))
    assert told(log)[-1] == "A confirms the revocation"


# What was taken away was not released.


def test_partitions_of_a_member_that_was_removed_were_not_released_by_it() -> None:
    log = two_members()
    log.at(5000).write(*R.leave("B", 4, HASH))
    log.at(6000).write(
        R.target("A", 0, 1, 2), R.target_epoch(4, 6000), R.current("A", 4, 2, STABLE, {0: 2, 1: 2, 2: 4})
    )
    assert "foo-2 was unassigned for 1.0\u202fs. 1 partition moved." in verdict(log)


def test_a_member_that_left_released_what_it_had() -> None:
    log = two_members()
    request = log.at(5000).heartbeat("B", -1)
    log.write(*R.leave("B", 4, HASH), cause=request)
    log.at(6000).write(
        R.target("A", 0, 1, 2), R.target_epoch(4, 6000), R.current("A", 4, 2, STABLE, {0: 2, 1: 2, 2: 4})
    )
    assert "1 partition moved, released before it was taken." in verdict(log)


# Coming back, and ending.


def test_a_static_member_that_comes_back_under_its_own_id() -> None:
    log = named_log()
    log.write(
        R.member("A", instanceId="i"),
        R.epoch(2),
        R.target("A", 0),
        R.target_epoch(2),
        R.current("A", 2, 0, STABLE, {0: 2}),
    )
    log.at(10).write(R.current("A", -2, 2, STABLE, {0: 0}))
    log.at(5000).write(
        *(R.gone(8, "A"), R.gone(7, "A"), R.gone(5, "A")),
        R.member("A", instanceId="i"),
        R.target("A", 0),
        R.current("A", 0, 0, STABLE, {0: 0}),
        R.current("A", 2, 0, STABLE, {0: 0}),
    )
    assert told(log)[-1] == "A comes back"


def test_what_a_static_member_was_giving_up_is_free_when_it_leaves_for_now() -> None:
    log = two_members()
    log.at(2000).write(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2}))
    log.at(3000).write(R.current("A", -2, 2, UNREVOKED, {0: 0}))
    assert told(log)[-1] == "A leaves for now; foo-0 stays assigned to it; foo-1 is released"


def test_who_joins_twice_is_named_once() -> None:
    log = two_members()
    log.at(5000).write(*R.leave("B", 4, HASH))
    log.at(9000).write(
        R.member("B"),
        R.epoch(5, HASH),
        R.target("B", 2),
        R.target_epoch(5),
        R.current("B", 5, 0, STABLE, {2: 5}),
    )
    assert verdict(log).startswith(
        "A and B joined one after another (group epochs 2–3). At 5.0\u202fs B was removed (looks like it was frozen or did not poll in time); rejoined at 9.0\u202fs; foo-2 was unassigned for 4.0\u202fs."
    )


def test_a_group_that_was_deleted_is_not_called_empty_at_the_end() -> None:
    log = named_log()
    log.write(R.epoch(7), R.target_epoch(7), R.current("A", 7, 0, STABLE))
    log.at(10).write(*R.leave("A", 8))
    log.at(20).write(R.gone(6), R.gone(3))
    assert verdict(log).endswith("The group is deleted at the end.")


def test_a_member_that_subscribes_anew_is_told_with_what_follows_from_it() -> None:
    log = two_members()
    log.at(5000).write(R.member("B", ["bar"]), R.epoch(4), R.current("B", 3, 3, UNREVOKED, {}, {2: 3}))
    assert told(log)[-1] == "B subscribes to bar; B is asked to revoke foo-2"


# Waiting.


def blocked() -> Log:
    """foo-1 is meant to go from A to B, and A was told."""
    log = two_members()
    log.at(2000).write(R.epoch(4), R.target("A", 0), R.target("B", 1, 2), R.target_epoch(4, 2000))
    log.at(3000).write(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2}))
    log.at(4000).write(R.current("B", 4, 3, UNRELEASED, {2: 3}))
    return log


def test_a_wait_that_is_not_over_when_the_log_ends_is_told() -> None:
    log = blocked()
    log.at(65_000).write(R.commit(0, 7))
    says = "B has waited 1\u202fmin 3\u202fs for A to release foo-1"
    waits = [f for f in log.recorded().summary["findings"] if f["kind"] == "waited_for"]
    assert [(wait["says"], wait["open"]) for wait in waits] == [(says, True)]
    assert verdict(log).endswith(f"{says}.")


def test_who_was_removed_released_nothing() -> None:
    log = blocked()
    log.at(47_000).write(*R.leave("A", 5, HASH))
    assert "B waited 45.0\u202fs for foo-1, until A was removed" in verdict(log)


def test_nobody_waits_whose_target_is_another_by_now() -> None:
    log = blocked()
    log.at(47_000).write(*R.leave("B", 5, HASH))
    log.at(60_000).write(R.target("A", 0, 1, 2), R.target_epoch(5, 60_000))
    assert "waited" not in verdict(log)
