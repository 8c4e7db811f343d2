"""The classic protocol's coordinator, rule by rule: who may join, when a phase ends, who gets what, and who is put out."""

from __future__ import annotations

import pytest

from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.timers import JOIN, SYNC
from simulations.protocol.messages.classic_requests import JoinAnswer, LeavingMember
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommittedOffset, OffsetCommit
from tests.simulations.broker import FOO
from tests.simulations.classic_broker import DELAY_MS, GROUP, RANGE, REBALANCE_MS, SESSION_MS, ClassicBroker

# JoinGroup.


def test_a_new_member_is_given_an_id_first_and_the_group_that_is_made_for_it_is_written_empty() -> None:
    broker = ClassicBroker()
    broker.join("A", new=True)
    answer = broker.answers["A"]
    assert isinstance(answer, JoinAnswer)
    assert (int(answer.error_code), answer.member_id, answer.generation) == (79, "A", -1)
    assert broker.timers == [f"session A {SESSION_MS}"]
    assert broker.written == [(0, [])]
    broker.join("A")
    assert (broker.codes, broker.written, broker.state) == ({}, [], "PreparingRebalance")
    assert f"join - {DELAY_MS}" in broker.timers
    assert "session A 300000" in broker.timers, "until the phase ends it has no session of its own"


def test_a_client_that_does_not_ask_for_an_id_and_a_static_one_join_at_once() -> None:
    broker = ClassicBroker()
    broker.join("A", new=True, version=3)
    broker.join("B", new=True, instance_id="b")
    assert broker.codes == {}
    assert set(broker.group.members) == {"A", "B"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_id": ""}, 24),
        ({"session_timeout_ms": 5_999}, 26),
        ({"session_timeout_ms": 6_000}, 79),
        ({"session_timeout_ms": 1_800_000}, 79),
        ({"session_timeout_ms": 1_800_001}, 26),
        ({"protocols": ()}, 23),
        ({"protocol_type": ""}, 23),
    ],
)
def test_a_join_that_breaks_a_rule_is_refused(fields: dict[str, object], code: int) -> None:
    broker = ClassicBroker()
    broker.join("A", new=True, **fields)
    assert broker.codes == {"A": code}


def test_an_id_that_nobody_drew_is_unknown() -> None:
    broker = ClassicBroker()
    broker.join("A")
    assert (broker.codes, broker.written) == ({"A": 25}, [])
    broker.stable("B")
    broker.join("A")
    assert broker.codes == {"A": 25}


def test_who_shares_no_protocol_with_everybody_is_refused() -> None:
    broker = ClassicBroker()
    broker.stable("A", protocols=(("range", b""), ("sticky", b"")))
    broker.join("B", new=True, protocols=(("roundrobin", b""),))
    assert broker.codes == {"B": 23}
    broker.join("B", new=True, protocol_type="connect")
    assert broker.codes == {"B": 23}
    broker.join("B", new=True, protocols=(("sticky", b""),))
    assert broker.codes == {"B": 79}


def test_a_full_group_refuses_who_is_no_member() -> None:
    broker = ClassicBroker(classic_max_size=1)
    broker.stable("A")
    broker.join("B", new=True)
    assert broker.codes == {"B": 81}
    broker.join("A", protocols=(("range", b"other"),))
    assert broker.state == "CompletingRebalance", "a member may always join again"


def test_while_a_group_rebalances_those_count_that_have_joined() -> None:
    broker = ClassicBroker(classic_max_size=2)
    broker.stable("A", "B")
    broker.leave("B")
    broker.joins("C")
    assert broker.codes == {}
    broker.joins("D")
    assert broker.codes == {}, "A has not joined yet"
    broker.join("A", protocols=(("range", b"other"),))
    assert broker.codes == {"A": 81}, "and there is no room for it any more"


# A JoinGroup of who is a member already.


@pytest.mark.parametrize(("name", "joins"), [("A", True), ("B", False)])
def test_in_a_stable_group_the_leader_rebalances_and_a_follower_that_tells_nothing_new_does_not(
    name: str, joins: bool
) -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join(name)
    if joins:
        assert (broker.codes, broker.state) == ({}, "PreparingRebalance")
    else:
        answer = broker.answers["B"]
        assert isinstance(answer, JoinAnswer)
        assert (answer.generation, answer.leader, answer.members) == (1, "A", ())
        assert broker.state == "Stable"
    broker.join("B", protocols=(("range", b"other"),))
    assert broker.state in ("PreparingRebalance", "CompletingRebalance")


def test_who_did_not_hear_of_the_generation_is_told_again() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B")
    broker.expire(JOIN)
    broker.expire(JOIN)
    broker.join("A")
    answer = broker.answers["A"]
    assert isinstance(answer, JoinAnswer)
    assert (answer.generation, [each.member_id for each in answer.members]) == (1, ["A", "B"])
    broker.join("B")
    assert broker.state == "CompletingRebalance"
    broker.sync("B")
    broker.join("A", protocols=(("range", b"other"),))
    assert broker.codes == {"B": 27}, "whoever waited for its assignment has to join again"
    assert broker.state == "PreparingRebalance"


# SyncGroup.


def test_whoever_waits_is_answered_once_the_leaders_assignment_is_in_the_log() -> None:
    broker = ClassicBroker()
    for name in "ABC":
        broker.joins(name)
    while broker.state == "PreparingRebalance":
        broker.expire(JOIN)
    broker.sync("B")
    assert broker.codes == {}
    broker.sync("A", "A", "B")
    assert (broker.codes, broker.written) == ({}, [(1, ["A", "B", "C"])])
    assert broker.timers == []
    broker.append()
    assert broker.state == "Stable"
    assert {name: answer.assignment for name, answer in broker.answers.items()} == {"A": b"A", "B": b"B"}  # type: ignore[union-attr]
    broker.sync("C")
    assert (broker.codes, broker.answers["C"].assignment) == ({"C": 0}, b"")  # type: ignore[union-attr]
    assert broker.timers == ["sync - off"], "the leader left it out, and it was the last to ask"


def test_an_assignment_that_could_not_be_written_has_everybody_join_again() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B")
    broker.expire(JOIN)
    broker.expire(JOIN)
    broker.sync("B")
    broker.sync("A", "A", "B")
    broker.append(ErrorCode.NOT_COORDINATOR)
    assert (broker.codes, broker.state) == ({"A": 16, "B": 16}, "PreparingRebalance")


def test_an_assignment_of_a_generation_that_is_over_is_nothing() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("B")
    broker.expire(JOIN)
    broker.expire(JOIN)
    broker.sync("A", "A", "B")
    stored = broker.last
    broker.join("B", protocols=(("range", b"other"),))
    assert broker.codes == {"A": 27}
    broker.last = stored
    broker.append()
    assert (broker.codes, broker.state) == ({}, "PreparingRebalance")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"generation": 2}, 22),
        ({"generation": 0}, 22),
        ({"member_id": "X"}, 25),
        ({"instance_id": "i"}, 25),
        ({"protocol_type": "connect"}, 23),
        ({"protocol_name": "sticky"}, 23),
        ({"protocol_name": None}, 23),
        ({"protocol_name": None, "protocol_type": None, "version": 4}, 0),
        ({"group_id": ""}, 24),
    ],
)
def test_a_sync_that_does_not_fit_the_group_is_refused(fields: dict[str, object], code: int) -> None:
    broker = ClassicBroker()
    broker.stable("A")
    broker.sync("A", **fields)  # type: ignore[arg-type]
    assert broker.codes == {"A": code}


def test_a_sync_while_members_are_to_join_again_says_so() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A")
    broker.sync("B")
    assert broker.codes == {"B": 27}


def test_who_does_not_ask_for_its_assignment_in_time_is_put_out_static_or_not() -> None:
    broker = ClassicBroker()
    broker.joins("A")
    broker.joins("S", instance_id="s")
    broker.expire(JOIN)
    broker.expire(JOIN)
    broker.sync("A", "A", "S")
    broker.append()
    assert broker.state == "Stable"
    broker.expire(SYNC, bound=0)
    assert broker.timers == [], "of another generation"
    broker.expire(SYNC, bound=1)
    assert (set(broker.group.members), broker.state) == ({"A"}, "PreparingRebalance")
    assert "session S off" in broker.timers


# Heartbeats and leaving.


def test_a_heartbeat_is_told_of_the_rebalance_and_keeps_the_member_alive() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    assert (broker.beat("B"), broker.timers) == (0, [f"session B {SESSION_MS}"])
    assert (broker.beat("B", 0), broker.beat("X")) == (22, 25)
    assert broker.timers == []
    broker.join("A")
    assert (broker.beat("B"), broker.timers) == (27, [f"session B {SESSION_MS}"])


def commits(broker: ClassicBroker, name: str, generation: int) -> list[int]:
    """The errors that a commit of one partition is answered with."""
    request = OffsetCommit(
        group_id=GROUP,
        member_id=name,
        member_epoch=generation,
        offsets=(CommittedOffset(topic="foo", topic_id=FOO, partition=0, offset=7),),
    )
    broker.shard.image = Image(topics={"foo": ImageTopic(name="foo", topic_id=FOO, partitions=1)})
    broker.last = broker.shard.commit(request, broker.now_ms)
    return [int(each) for _, _, each in broker.last.answer.error_codes]


@pytest.mark.parametrize(("generation", "code"), [(1, 0), (0, 22), (2, 22)])
def test_a_commit_that_is_taken_keeps_the_member_alive_too(generation: int, code: int) -> None:
    broker = ClassicBroker()
    broker.stable("A")
    assert commits(broker, "A", generation) == [code]
    assert broker.timers == ([] if code else [f"session A {SESSION_MS}"])
    assert len(broker.last.records) == (not code)


def test_a_commit_before_a_member_joins_again_is_taken_and_keeps_it_alive() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A")
    assert (broker.state, commits(broker, "B", 1)) == ("PreparingRebalance", [0])
    assert broker.timers == [f"session B {SESSION_MS}"]


def test_a_commit_between_joining_and_the_next_assignment_is_refused_and_keeps_nobody_alive() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A")
    broker.join("B")
    assert (broker.state, commits(broker, "B", 2)) == ("CompletingRebalance", [27])
    assert (broker.timers, broker.last.records) == ([], ())


def test_a_static_member_is_known_by_its_instance_wherever_it_is_told() -> None:
    broker = ClassicBroker()
    broker.stable("S", instance_id="s")
    assert broker.beat("S", instance_id="s") == 0
    assert broker.beat("other", instance_id="s") == 82
    assert broker.beat("S", instance_id="t") == 25
    assert broker.beat("S") == 0
    told = (LeavingMember(member_id="other", instance_id="s"), LeavingMember(member_id="S", instance_id="t"))
    assert broker.leave(*told) == [82, 25]
    assert (broker.timers, broker.written) == ([], [])
    assert broker.leave(LeavingMember(member_id="", instance_id="s")) == [0]
    assert broker.written == [(2, [])]
    assert broker.state == "Empty"


def test_of_several_that_leave_each_has_its_answer_and_the_group_rebalances_once() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B", "C")
    assert broker.leave("B", "X", "C", LeavingMember(member_id="")) == [0, 25, 0, 25]
    assert (set(broker.group.members), broker.state) == ({"A"}, "PreparingRebalance")
    assert broker.timers.count(f"join - {REBALANCE_MS}") == 1
    assert {"session B off", "session C off"} <= set(broker.timers)


def test_the_last_that_leaves_leaves_an_empty_generation() -> None:
    broker = ClassicBroker()
    broker.stable("A")
    assert broker.leave("A") == [0]
    assert (broker.written, broker.state, broker.group.generation) == ([(2, [])], "Empty", 2)
    assert broker.group.protocol_name is None
    assert broker.beat("A") == 25


def test_who_waits_in_a_phase_and_leaves_is_told_that_it_is_no_member() -> None:
    broker = ClassicBroker()
    broker.stable("A", "B")
    broker.join("A")
    assert broker.leave("A") == [0]
    assert broker.codes == {"A": 25}


# A static member that comes back.


def test_a_static_member_that_comes_back_takes_its_place_without_a_rebalance() -> None:
    broker = ClassicBroker()
    broker.stable("S", instance_id="s")
    broker.joins("A")
    broker.join("S", instance_id="s", protocols=(("range", b"other"),))
    broker.sync("S", "S", "A")
    broker.append()
    assert (broker.state, broker.group.generation) == ("Stable", 2)
    broker.join("S2", new=True, instance_id="s")
    assert (broker.codes, broker.state) == ({}, "Stable")
    assert broker.written == [(2, broker.written[0][1])]
    assert set(broker.written[0][1]) == {"S2", "A"}
    broker.append()
    answer = broker.answers["S2"]
    assert isinstance(answer, JoinAnswer)
    assert (answer.generation, answer.leader, answer.skip_assignment) == (2, "S2", True)
    assert {each.member_id for each in answer.members} == {"S2", "A"}
    assert broker.beat("S", instance_id="s") == 82


def test_an_older_static_client_that_comes_back_is_not_told_that_it_leads() -> None:
    broker = ClassicBroker()
    broker.stable("S", instance_id="s")
    broker.join("S2", new=True, instance_id="s", version=8)
    broker.append()
    answer = broker.answers["S2"]
    assert isinstance(answer, JoinAnswer)
    assert (answer.leader, answer.skip_assignment, answer.members) == ("S", False, ())


def test_a_return_that_could_not_be_written_is_undone() -> None:
    broker = ClassicBroker()
    broker.stable("S", instance_id="s")
    broker.join("S2", new=True, instance_id="s", protocols=(("range", b"other"),))
    broker.append(ErrorCode.NOT_COORDINATOR)
    assert broker.codes == {"S2": 16}
    assert set(broker.group.members) == {"S"}
    assert broker.group.members["S"].protocols == RANGE
    assert broker.beat("S", instance_id="s") == 0
