"""The join phases of a classic group: who is waited for, how long, and who is told what."""

from __future__ import annotations

import pytest

from simulations.protocol.coordinator.timers import JOIN, SESSION
from simulations.protocol.messages.classic_requests import JoinAnswer
from tests.simulations.classic_broker import DELAY_MS, RANGE, REBALANCE_MS, SESSION_MS, ClassicBroker


def test_the_first_phase_goes_on_while_members_come() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B")
    broker.expire(JOIN)
    assert (broker.timers, broker.state) == ([f"join - {DELAY_MS}"], "PreparingRebalance")
    broker.expire(JOIN)
    assert (broker.codes, broker.state) == ({"A": 0, "B": 0}, "CompletingRebalance")
    assert broker.group.generation == 1


def test_the_first_phase_goes_on_no_longer_than_the_rebalance_timeout() -> None:
    broker = ClassicBroker()
    broker.joins("A", rebalance_timeout_ms=7_000)
    waited = [DELAY_MS]
    for name in "BCDE":
        broker.joins(name, rebalance_timeout_ms=7_000)
        broker.expire(JOIN)
        if broker.state != "PreparingRebalance":
            break
        waited.append(int(broker.timers[0].split()[-1]))
    assert waited == [3_000, 3_000, 1_000]


def test_everybody_is_told_of_the_generation_and_the_leader_of_the_members() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B", protocols=(("range", b"of B"),))
    broker.expire(JOIN)
    broker.expire(JOIN)
    leader, follower = broker.answers["A"], broker.answers["B"]
    assert isinstance(leader, JoinAnswer)
    assert isinstance(follower, JoinAnswer)
    assert (leader.leader, leader.generation, leader.protocol_name) == ("A", 1, "range")
    assert [(each.member_id, each.metadata) for each in leader.members] == [
        ("A", RANGE[0][1]),
        ("B", b"of B"),
    ]
    assert (follower.leader, follower.member_id, follower.members) == ("A", "B", ())
    assert broker.written == []
    assert broker.timers == [
        "join - off",
        f"session A {SESSION_MS}",
        f"session B {SESSION_MS}",
        f"sync - {REBALANCE_MS}",
    ]


def test_dynamic_members_that_do_not_join_again_are_removed_with_their_timers_and_static_ones_stay() -> None:
    broker = ClassicBroker()
    broker.joins("S", instance_id="s")
    broker.joins("A")
    broker.joins("B")
    broker.expire(JOIN)
    broker.expire(JOIN)
    assert broker.state == "CompletingRebalance"
    broker.join("A", protocols=(("range", b"other"),))
    assert (broker.state, broker.timers[-1]) == ("PreparingRebalance", f"join - {REBALANCE_MS}")
    broker.expire(JOIN)
    assert set(broker.group.members) == {"S", "A"}
    assert "session B off" in broker.timers
    assert "session S off" not in broker.timers
    assert broker.codes == {"A": 0}
    assert broker.group.leader == "A", "the first that has joined"
    assert broker.group.pending_sync == {"S", "A"}


def test_if_nobody_joins_the_phase_waits_again_where_static_members_are_left() -> None:
    broker = ClassicBroker()
    broker.stable("S", instance_id="s")
    broker.joins("A")
    broker.leave("A")
    assert broker.state == "PreparingRebalance"
    broker.expire(JOIN)
    assert broker.timers == ["join - off", f"join - {REBALANCE_MS}"]
    assert (broker.state, broker.group.generation, set(broker.group.members)) == (
        "PreparingRebalance",
        1,
        {"S"},
    )


def test_a_phase_ends_when_the_last_has_joined_and_nobody_is_still_to_come() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("C", new=True)
    broker.join("A", protocols=(("range", b"other"),))
    broker.join("B", protocols=(("range", b"other"),))
    assert broker.codes == {}, "C has its id, and has not joined with it"
    broker.join("C")
    assert (broker.codes, broker.group.generation) == ({"A": 0, "B": 0, "C": 0}, 2)


@pytest.mark.parametrize("how", ["leaves", "expires"])
def test_a_phase_ends_when_the_one_that_was_missing_goes(how: str) -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A", protocols=(("range", b"other"),))
    assert broker.codes == {}
    if how == "leaves":
        assert broker.leave("B") == [0]
    else:
        broker.expire(SESSION, "B")
    assert (broker.codes, broker.state, set(broker.group.members)) == ({"A": 0}, "CompletingRebalance", {"A"})


@pytest.mark.parametrize("how", ["leaves", "expires"])
def test_a_phase_ends_when_an_id_that_was_drawn_is_given_up(how: str) -> None:
    broker = ClassicBroker()
    broker.stable("A")
    broker.join("C", new=True)
    broker.join("A", protocols=(("range", b"other"),))
    assert broker.codes == {}
    if how == "leaves":
        assert broker.leave("C") == [0]
        assert "session C off" in broker.timers
    else:
        broker.expire(SESSION, "C")
    assert (broker.codes, broker.state) == ({"A": 0}, "CompletingRebalance")


def test_whose_phase_is_not_over_is_not_put_out_by_a_session() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A", protocols=(("range", b"other"),))
    broker.expire(SESSION, "A")
    assert (broker.codes, set(broker.group.members)) == ({}, {"A", "B"}), "its request waits, so it is alive"
    broker.expire(SESSION, "B")
    assert broker.codes == {"A": 0}


def test_a_member_that_has_come_to_a_first_phase_and_went_silent_is_put_out_and_told_so() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B")
    broker.expire(SESSION, "A")
    assert (broker.codes, set(broker.group.members)) == ({"A": 25, "B": 0}, {"B"})
    assert broker.state == "CompletingRebalance", "all who are left have joined"
