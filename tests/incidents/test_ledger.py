"""The notes of a recording: who read what, and what the coordinator logged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from .coordinator_log import arrivals, removals
from .ledger import Ledger

LOG = """\
1000 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId g] Member m1 joins the consumer group using the consumer protocol.
2000 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId g] Member m1 fenced from the group because the member session expired.
2500 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId other] Member m1 left the consumer group.
3000 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId g] Member m2 left the consumer group.
4000 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [Group g] Member m3-7 has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed
5000 INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] Member m4-9 in group g has failed, removing it from the group.
"""


def test_the_coordinators_log_tells_who_went_and_why() -> None:
    assert removals(LOG, "g") == [
        (2000, "m1", "session_expired"),
        (3000, "m2", "left"),
        (4000, "m3-7", "left"),
        (5000, "m4-9", "session_expired"),
    ]
    assert arrivals(LOG, "g") == [(1000, "m1")]


def test_a_killed_process_leaves_a_hole_until_another_reads() -> None:
    ledger = Ledger()
    ledger.assigned("b", 1, ["t-1"], 10)
    assert ledger.stopped("b", 1, "killed", 50) == ["t-1"]
    ledger.assigned("a", 1, ["t-1"], 80)
    assert list(ledger.holes(100)) == [("t-1", "b", 1, "killed", 50, 80)]


def test_a_process_that_was_stopped_reads_nothing_until_it_goes_on() -> None:
    ledger = Ledger()
    ledger.assigned("b", 1, ["t-1"], 10)
    ledger.stopped("b", 1, "paused", 50)
    ledger.resumed("b", 1, 60, reads=True)
    assert list(ledger.holes(100)) == [("t-1", "b", 1, "paused", 50, 60)]


def test_in_a_slow_callback_a_client_reads_nothing_of_what_it_keeps() -> None:
    ledger = Ledger()
    ledger.assigned("a", 1, ["t-0", "t-1"], 10)
    ledger.given_up("a", 1, ["t-1"], 20)
    ledger.busy("a", 1, 20, 28)
    ledger.assigned("b", 1, ["t-1"], 30)
    assert list(ledger.holes(50)) == [("t-0", "a", 1, "revoking", 20, 28), ("t-1", "a", 1, "revoked", 20, 30)]


def test_a_hand_over_is_a_hole_and_what_two_read_at_once_is_none() -> None:
    ledger = Ledger()
    ledger.assigned("a", 1, ["t-0", "t-1"], 10)
    ledger.given_up("a", 1, ["t-0"], 20)
    ledger.assigned("b", 1, ["t-0"], 30)
    ledger.assigned("b", 1, ["t-1"], 30)
    ledger.given_up("a", 1, ["t-1"], 40)
    assert list(ledger.holes(50)) == [("t-0", "a", 1, "revoked", 20, 30)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(1, 20)), max_size=30))
def test_at_every_moment_a_partition_is_read_or_in_a_hole(acts: list[tuple[str, bool, int]]) -> None:
    ledger, now, reading, read_at = Ledger(), 0, set[str](), list[tuple[int, bool]]()
    for client, takes, pause in acts:
        now += pause
        if takes and client not in reading:
            ledger.assigned(client, 1, ["t-0"], now)
            reading.add(client)
        elif not takes and client in reading:
            ledger.given_up(client, 1, ["t-0"], now)
            reading.discard(client)
        read_at.append((now, bool(reading)))
    holes = list(ledger.holes(now + 1)) if ledger.stretches else []
    begun = next((at for at, somebody in read_at if somebody), None)
    for at, somebody in read_at:
        if begun is not None and at >= begun:
            inside = any(hole.from_ms <= at < (hole.to_ms or now + 1) for hole in holes)
            assert inside != somebody
