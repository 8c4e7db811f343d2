"""The client's half of client mode, and an assignor as Kafka Streams would bring it, through the real coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from simulations.protocol.assignors.client_side import (
    CLIENT_ASSIGNORS,
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    MemberAnswer,
)
from simulations.protocol.assignors.streams_like import Reason, StreamsError, StreamsLike, read
from simulations.protocol.client.consumer.assigning import Assigning, AssigningStep, Computing
from simulations.protocol.coordinator.timers import ASSIGNMENT
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    metadata_of,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer
from tests.simulations.broker import BAR, FOO, GROUP, Broker


class Members:
    """Members that heartbeat one after the other and do what their part of client mode asks, without a network."""

    def __init__(self, *, topics: tuple[str, ...] = ("foo",)) -> None:
        self.broker = Broker("kip")
        self.topics = topics
        self.parts: dict[str, Assigning] = {}
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, dict[str, tuple[int, ...]]] = {}
        self.answers: dict[str, HeartbeatAnswer] = {}

    def join(self, member: str, *assignors: ClientAssignor) -> None:
        self.parts[member] = Assigning(GROUP, member, assignors)
        self.epochs[member], self.owned[member] = 0, {}
        self.beat(member)

    def beat(self, member: str) -> list[Computing]:
        """One full heartbeat; what of its assignment it got is its own at once, what it lost it gives up."""
        part = self.parts[member]
        answer = self.broker.heartbeat(
            member,
            self.epochs[member],
            self.owned[member],
            subscribed_topic_names=self.topics,
            rebalance_timeout_ms=300_000,
            client_assignors=part.offers(),
        )
        assert not answer.error_code, answer
        self.epochs[member], self.answers[member] = answer.member_epoch, answer
        if answer.assigned is not None:
            self.owned[member] = {t: tuple(p) for t, p in answer.assigned.items() if p}
        asks = part.take_answer(answer)
        self.run(part, asks)
        return asks

    def run(self, part: Assigning, asks: list[Computing]) -> None:
        while asks:
            request = asks.pop()
            if isinstance(request, InstallAssignment):
                asks = part.installed(self.broker.shard.install(request, 0).answer)
            else:
                asks = part.prepared(self.broker.shard.prepare(request, 0).answer)

    def settle(self, rounds: int = 6) -> None:
        for _ in range(rounds):
            self.broker.expire(ASSIGNMENT, None)
            for member in self.parts:
                self.beat(member)
        group = self.broker.group
        assert group.assignment_epoch == group.group_epoch
        assert set(self.epochs.values()) == {group.group_epoch}


class Failing(ClientAssignor):
    name = "failing"

    def assign(self, group: ClientGroup) -> ClientAnswer:
        raise ZeroDivisionError


class Remembering(ClientAssignor):
    """Gives everything to everybody's first, and keeps what it was told."""

    name = "remembering"

    def __init__(self) -> None:
        self.told: list[tuple[int, dict[str, tuple[int, ...]]]] = []

    def assign(self, group: ClientGroup) -> ClientAnswer:
        first, *rest = group.members
        whole = {topic_id: tuple(range(topic.partitions)) for topic_id, topic in group.topics.items()}
        return ClientAnswer(
            members={first: MemberAnswer(partitions=whole), **{each: MemberAnswer() for each in rest}}
        )

    def on_assignment(self, answer: MemberAnswer, error: int, epoch: int) -> None:
        self.told.append((epoch, {t: tuple(p) for t, p in answer.partitions.items()}))


def sticky() -> ClientAssignor:
    return CLIENT_ASSIGNORS["sticky"]()


def test_members_of_a_client_side_assignor_share_the_partitions_and_keep_what_they_have() -> None:
    group = Members()
    group.join("a", sticky())
    group.settle()
    assert group.owned["a"] == {FOO: (0, 1, 2)}
    group.join("b", sticky())
    group.settle()
    assert sorted(len(owned[FOO]) for owned in group.owned.values()) == [1, 2]
    assert set(group.owned["a"][FOO]) < {0, 1, 2}


def test_an_assignor_that_fails_has_every_member_told_so() -> None:
    group = Members()
    group.join("a", Failing())
    group.join("b", Failing())
    group.settle()
    assert {answer.note.error for answer in group.answers.values()} == {2}


def test_an_assignor_hears_of_its_whole_assignment_once_an_epoch_also_of_what_others_hold() -> None:
    group = Members()
    first, second = Remembering(), Remembering()
    group.join("b", first)
    group.settle()
    assert first.told == [(1, {FOO: (0, 1, 2)})]
    group.join("c", second)
    group.settle()
    assert first.told[1:] == [(2, {FOO: (0, 1, 2)})]
    assert second.told == [(2, {})]


def test_a_stale_epoch_is_asked_again_after_the_next_heartbeat_with_the_epoch_that_it_brought() -> None:
    part = Assigning(GROUP, "a", (sticky(),))
    (asked,) = part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3, compute=True))
    assert asked.member_epoch == 3
    assert part.prepared(PrepareAnswer(error_code=ErrorCode.STALE_MEMBER_EPOCH)) == []
    (again,) = part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=4))
    assert again == replace(asked, member_epoch=4)
    assert part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=4, compute=True)) == [], "one is out"
    (install,) = part.prepared(
        PrepareAnswer(assignor="sticky", group=ClientGroup(members={}, topics={}, epoch=5))
    )
    assert isinstance(install, InstallAssignment)
    assert part.installed(InstallAnswer(error_code=ErrorCode.STALE_MEMBER_EPOCH)) == []
    (later,) = part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=5))
    assert later == replace(install, member_epoch=5)
    part.installed(InstallAnswer())
    assert part.step is AssigningStep.IDLE
    assert part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=5)) == []


def test_who_is_not_the_chosen_one_any_more_gives_up() -> None:
    for code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.INVALID_ASSIGNMENT):
        part = Assigning(GROUP, "a", (sticky(),))
        part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3, compute=True))
        part.prepared(PrepareAnswer(error_code=code))
        assert part.step is AssigningStep.IDLE
        assert part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3)) == []


def test_a_request_without_an_answer_goes_out_again_after_the_next_heartbeat() -> None:
    part = Assigning(GROUP, "a", (sticky(),))
    asked = part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3, compute=True))
    part.failed()
    assert part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3)) == asked


def test_a_copy_goes_its_own_way_and_two_that_will_do_the_same_are_told_alike() -> None:
    part = Assigning(GROUP, "a", (sticky(),))
    part.take_answer(HeartbeatAnswer(member_id="a", member_epoch=3, compute=True))
    twin = part.copy()
    same: Callable[[int], int] = int
    assert twin.canonical(same) == part.canonical(same)
    group = ClientGroup(members={}, topics={}, epoch=5)
    part.prepared(PrepareAnswer(assignor="sticky", group=group))
    assert twin.step is AssigningStep.PREPARING
    assert twin.canonical(same) != part.canonical(same)
    assert hash(part.canonical(lambda epoch: epoch - 3)) is not None


# As Kafka Streams would.


def streams(**fields: Any) -> StreamsLike:
    return StreamsLike(**{"topology": "t1", "topics": ("foo", "bar"), **fields})


def two_instances(**second: Any) -> Members:
    group = Members(topics=("foo", "bar"))
    group.join("a", streams())
    group.join("b", streams(**second))
    group.settle()
    return group


def metadata(group: Members, member: str) -> dict[str, Any]:
    note = group.broker.member(member).note
    return read(metadata_of(note))


def test_a_task_is_one_partition_number_of_all_its_topics_and_its_standby_is_told_elsewhere() -> None:
    group = two_instances()
    tasks = {member: metadata(group, member)["active"] for member in ("a", "b")}
    assert sorted(tasks["a"] + tasks["b"]) == [0, 1, 2]
    for member, own in tasks.items():
        assert group.owned[member].get(FOO, ()) == tuple(own)
        assert group.owned[member].get(BAR, ()) == tuple(task for task in own if task < 2)
    assert metadata(group, "a")["standby"] == tasks["b"]


def test_each_instance_is_written_to_in_the_version_that_it_writes_itself() -> None:
    group = two_instances(maximum_version=1)
    assert (group.broker.member("a").note.version, group.broker.member("b").note.version) == (2, 1)
    assert "standby" in metadata(group, "a")
    assert "standby" not in metadata(group, "b")


def test_the_instance_that_reads_the_newest_version_is_the_one_that_computes() -> None:
    group = Members(topics=("foo", "bar"))
    group.join("old", streams(maximum_version=1))
    group.join("new", streams())
    group.broker.expire(ASSIGNMENT, None)
    chosen = group.broker.shard.memory.chosen
    assert chosen is not None
    assert chosen.member_id == "new"


def test_instances_of_different_topologies_are_all_told_so_and_keep_what_they_have() -> None:
    group = Members(topics=("foo", "bar"))
    group.join("a", streams())
    group.settle()
    before = group.owned["a"]
    group.join("b", streams(topology="t2"))
    group.settle()
    assert {each.note.error for each in group.answers.values()} == {StreamsError.INCONSISTENT_TOPOLOGY}
    assert group.owned == {"a": before, "b": {}}


def test_a_source_topic_that_does_not_exist_is_an_error_of_the_assignment() -> None:
    group = two_instances()
    group.parts["b"] = Assigning(GROUP, "b", (streams(topics=("foo", "missing"), lags={0: 9}),))
    group.parts["a"] = Assigning(GROUP, "a", (streams(topics=("foo", "missing")),))
    group.beat("b")
    group.settle()
    assert {each.note.error for each in group.answers.values()} == {StreamsError.ASSIGNMENT_ERROR}


def test_one_instance_shuts_all_of_them_down_by_a_reason() -> None:
    group = two_instances()
    group.parts["b"] = Assigning(GROUP, "b", (streams(wants=Reason.SHUT_DOWN),))
    epoch = group.broker.group.group_epoch
    group.beat("b")
    assert group.broker.group.group_epoch == epoch + 1
    group.settle()
    assert {each.note.error for each in group.answers.values()} == {StreamsError.SHUTDOWN}


def test_a_standby_that_has_caught_up_gets_the_task_and_gives_another_for_it() -> None:
    group = two_instances()
    tasks = {member: list(metadata(group, member)["active"]) for member in ("a", "b")}
    more, fewer = sorted(tasks, key=lambda member: -len(tasks[member]))
    wanted = tasks[fewer][0]
    group.parts[more] = Assigning(GROUP, more, (streams(wants=Reason.CAUGHT_UP, lags={wanted: 0}),))
    group.beat(more)
    group.settle()
    assert wanted in metadata(group, more)["active"]
    assert wanted in group.owned[more][FOO]
    assert {each.note.error for each in group.answers.values()} == {0}
