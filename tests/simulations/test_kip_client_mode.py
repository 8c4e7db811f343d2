"""A member computes the target: KIP-848's client mode, from the question to the installed assignment."""

from __future__ import annotations

from typing import Any

import pytest

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.kip import INSTALL_ASSIGNMENT, KIP_APIS, PREPARE_ASSIGNMENT, as_proposed, encode_kip_record
from simulations.protocol.assignors.client_side import (
    CLIENT_ASSIGNORS,
    ClientAnswer,
    MemberAnswer,
    Metadata,
    Offer,
)
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import ASSIGNMENT, COMPUTE, SESSION, TimerCancel, TimerStart
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer
from tests.simulations.broker import FOO, GROUP, Broker

STICKY = Offer(name="sticky", minimum_version=-1)


class Group(Broker):
    """A broker whose members list ``sticky``, and the two requests of who computes."""

    def __init__(self, semantics: str = "kip", **settings: Any) -> None:
        super().__init__(semantics, **settings)

    def offers(self, member_id: str, *offers: Offer, **fields: Any) -> None:
        answer = self.join(member_id, client_assignors=offers or (STICKY,), **fields)
        assert not answer.error_code

    def heartbeat(
        self, member: str, epoch: int, owned: dict[str, tuple[int, ...]] | None = None, /, **fields: Any
    ) -> HeartbeatAnswer:
        """Tells everything at epoch 0, as a client does until it is moved."""
        told = {"subscribed_topic_names": ("foo",), "rebalance_timeout_ms": 300_000} if epoch == 0 else {}
        return super().heartbeat(member, epoch, owned, **{**told, **fields})

    def target(self) -> None:
        self.expire(ASSIGNMENT, None)

    def prepare(self, member_id: str, epoch: int) -> PrepareAnswer:
        request = PrepareAssignment(group_id=GROUP, member_id=member_id, member_epoch=epoch)
        self.last = self.shard.prepare(request, self.now_ms)
        answer: PrepareAnswer = self.last.answer
        return answer

    def install(
        self, member_id: str, epoch: int, group_epoch: int, told: dict[str, Any], *, error: int = 0
    ) -> InstallAnswer:
        members = {
            member: given if isinstance(given, MemberAnswer) else MemberAnswer(partitions={FOO: given})
            for member, given in told.items()
        }
        request = InstallAssignment(
            group_id=GROUP,
            member_id=member_id,
            member_epoch=epoch,
            group_epoch=group_epoch,
            answer=ClientAnswer(members=members, error=error),
        )
        self.last = self.shard.install(request, self.now_ms)
        answer: InstallAnswer = self.last.answer
        return answer


def asked(group: Group, *members: str) -> None:
    """The members joined, and the first of them has been asked to compute."""
    for member in members:
        group.offers(member)
    group.target()
    assert group.heartbeat(members[0], 0).compute


def test_the_member_that_was_picked_is_asked_in_its_next_answer_and_its_time_runs() -> None:
    group = Group()
    group.offers("a")
    group.offers("b")
    assert group.group.group_epoch == 2
    group.target()
    assert group.last.records == ()
    assert group.group.assignment_epoch == 0
    assert not group.heartbeat("b", 0).compute
    assert group.heartbeat("a", 0).compute
    assert TimerStart(timer=COMPUTE, member_id="a", length_ms=300_000) in group.last.timers
    assert group.heartbeat("a", 0).compute, "until it prepares"
    assert not [each for each in group.last.timers if each.timer == COMPUTE], "its time counts from the first"


def test_a_member_prepares_computes_and_installs_and_everybody_is_moved() -> None:
    group = Group()
    asked(group, "a", "b")
    prepared = group.prepare("a", 0)
    assert (prepared.error_code, prepared.assignor) == (0, "sticky")
    assert prepared.group is not None
    assert prepared.group.epoch == 2
    assert not group.heartbeat("a", 0).compute, "it has begun"
    answer = CLIENT_ASSIGNORS["sticky"]().assign(prepared.group)
    told = {member: given.partitions[FOO] for member, given in answer.members.items()}
    assert group.install("a", 0, 2, told).error_code == 0
    assert group.types == [7, 7, 6]
    assert TimerCancel(timer=COMPUTE, member_id="a") in group.last.timers
    assert group.group.assignment_epoch == 2
    assert group.shard.memory.chosen is None
    for member in ("a", "b"):
        moved = group.heartbeat(member, 0, {})
        assert moved.member_epoch == 2
        assert moved.assigned == {FOO: tuple(told[member])}


def test_the_group_may_have_moved_on_and_the_next_epoch_is_wanted_right_away() -> None:
    group = Group()
    asked(group, "a", "b")
    group.prepare("a", 0)
    group.offers("c")
    group.target()
    assert group.install("a", 0, 2, {"a": (0, 1), "b": (2,)}).error_code == 0
    assert (group.group.group_epoch, group.group.assignment_epoch) == (3, 2)
    assert group.shard.memory.chosen is not None
    assert group.heartbeat("a", 0, {}).compute
    again = group.prepare("a", 2)
    assert again.group is not None
    assert again.group.epoch == 3
    assert set(again.group.members) == {"a", "b", "c"}
    assert again.group.members["a"].target == {FOO: (0, 1)}


def test_who_left_meanwhile_is_in_the_target_of_the_epoch_that_was_handed_out_and_not_in_the_next() -> None:
    group = Group()
    asked(group, "a", "b")
    group.prepare("a", 0)
    group.heartbeat("b", -1)
    assert group.install("a", 0, 2, {"a": (0, 1), "b": (2,)}).error_code == 0
    assert set(group.group.target) == {"a", "b"}
    group.heartbeat("a", 0, {})
    group.prepare("a", 2)
    assert group.install("a", 2, 3, {"a": (0, 1, 2)}).error_code == 0
    assert set(group.group.target) == {"a"}
    assert not group.shard.state.anomalies


def test_another_is_picked_when_the_time_is_over_and_the_first_is_not_fenced() -> None:
    group = Group()
    asked(group, "a", "b")
    group.prepare("a", 0)
    group.expire(COMPUTE, "a")
    assert "a" in group.group.members
    assert group.install("a", 0, 2, {"a": (0, 1), "b": (2,)}).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.heartbeat("b", 0).compute
    group.expire(COMPUTE, "b")
    assert group.heartbeat("a", 0).compute, "all were tried: the round begins anew"
    group.expire(COMPUTE, "b")
    assert group.heartbeat("a", 0).compute, "a time that was over already changes nothing"


def test_who_begins_before_it_is_asked_again_has_no_more_time_than_who_was_asked() -> None:
    group = Group()
    asked(group, "a")
    group.expire(COMPUTE, "a")
    assert group.shard.memory.chosen is not None
    assert not group.shard.memory.chosen.notified, "its turn has come again"
    group.prepare("a", 0)
    assert group.last.timers == (TimerStart(timer=COMPUTE, member_id="a", length_ms=300_000),)
    group.prepare("a", 0)
    assert not group.last.timers, "a second request does not buy time"


@pytest.mark.parametrize("goes", ["leaves", "expires", "is fenced"])
def test_another_is_picked_when_the_one_that_computes_goes(goes: str) -> None:
    group = Group()
    asked(group, "a", "b")
    if goes == "leaves":
        group.heartbeat("a", -1)
    elif goes == "expires":
        group.expire(SESSION, "a")
    else:
        assert group.heartbeat("a", 7).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert TimerCancel(timer=COMPUTE, member_id="a") in group.last.timers
    group.target()
    assert group.heartbeat("b", 0).compute


def test_a_member_without_the_assignor_brings_the_coordinators_back() -> None:
    group = Group()
    asked(group, "a")
    group.join("b")
    group.target()
    assert group.types == [7, 7, 6]
    assert group.shard.memory.chosen is None
    assert not group.heartbeat("a", 0).compute


@pytest.mark.parametrize(
    ("member", "epoch", "code"),
    [
        ("", 0, ErrorCode.INVALID_REQUEST),
        ("a", -1, ErrorCode.INVALID_REQUEST),
        ("nobody", 0, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("b", 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("b", 0, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_both_requests_are_refused_in_the_proposals_order(member: str, epoch: int, code: ErrorCode) -> None:
    group = Group()
    asked(group, "a", "b")
    assert group.prepare(member, epoch).error_code == code
    assert group.last.records == ()
    assert group.install(member, epoch, 2, {"a": (0, 1, 2)}).error_code == code


def test_a_group_that_is_not_there_is_not_found() -> None:
    group = Group()
    assert group.prepare("a", 0).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert group.install("a", 0, 1, {}).error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize(
    ("group_epoch", "told"),
    [
        (2, {"a": (0, 1)}),
        (2, {"a": (0, 1, 2), "b": (2,)}),
        (2, {"a": (0, 1, 2, 3)}),
        (2, {"a": (0, 1, 2), "nobody": ()}),
        (2, {"a": (0, 1), "nobody": (2,)}),
        (2, {"a": MemberAnswer(partitions={FOO: (0, 1, 2)}, metadata=Metadata(version=9))}),
        (1, {"a": (0, 1, 2)}),
        (3, {"a": (0, 1, 2)}),
    ],
)
def test_an_assignment_that_does_not_suit_the_group_of_its_epoch_is_refused(
    group_epoch: int, told: dict[str, Any]
) -> None:
    group = Group()
    asked(group, "a", "b")
    group.prepare("a", 0)
    answer = group.install("a", 0, group_epoch, told)
    assert answer.error_code == ErrorCode.INVALID_ASSIGNMENT
    assert answer.error_message
    assert group.last.records == ()
    assert group.shard.memory.chosen is not None


def test_nothing_can_be_installed_before_it_was_prepared() -> None:
    group = Group()
    asked(group, "a")
    assert group.install("a", 0, 1, {"a": (0, 1, 2)}).error_code == ErrorCode.INVALID_ASSIGNMENT


def test_an_assignors_error_reaches_every_member_with_its_metadata() -> None:
    group = Group()
    asked(group, "a", "b")
    group.prepare("a", 0)
    told = {member: MemberAnswer(metadata=Metadata(0, b"?")) for member in ("a", "b")}
    assert group.install("a", 0, 2, told, error=2).error_code == 0
    for member in ("a", "b"):
        answer = group.heartbeat(member, 0, {})
        assert answer.member_epoch == 2
        assert (answer.note.error, answer.note.data) == (2, "Pw==")
        assert answer.body()["assignment"]["error"] == 2
    assert group.member("a").note.error == 2


@pytest.mark.parametrize(
    "changed",
    [
        Offer(name="sticky", minimum_version=-1, reason=3),
        Offer(name="sticky", minimum_version=-1, metadata=Metadata(0, b"new")),
        Offer(name="sticky", minimum_version=-1, maximum_version=4),
    ],
)
def test_a_change_of_what_an_assignor_tells_bumps_the_group_epoch(changed: Offer) -> None:
    group = Group()
    group.offers("a")
    group.heartbeat("a", 0, client_assignors=(STICKY,))
    assert group.last.records == (), "told again, and not changed"
    group.heartbeat("a", 0, client_assignors=(changed,))
    assert group.types == [5, 3]
    assert group.group.group_epoch == 2


def test_to_name_one_kind_of_assignor_takes_back_the_other() -> None:
    group = Group()
    group.offers("a")
    group.heartbeat("a", 0, server_assignor="range")
    assert (group.member("a").server_assignor, group.member("a").client_assignors) == ("range", ())
    group.heartbeat("a", 0, client_assignors=(STICKY,))
    assert group.member("a").server_assignor is None
    group.heartbeat("a", 0, client_assignors=())
    assert group.member("a").client_assignors == ()
    assert group.heartbeat("a", 0, client_assignors=(STICKY,), server_assignor="range").error_code == 42


def test_a_new_coordinator_forgets_who_was_picked_and_picks_again() -> None:
    group = Group()
    written: list[Any] = []
    for member in ("a", "b"):
        group.offers(member)
        written += group.last.records
    group.target()
    group.heartbeat("a", 0)
    assert group.prepare("a", 0).error_code == 0
    new = Shard(GROUP, group.shard.semantics, group.shard.settings, group.shard.image)
    new.load(written)
    group.shard = new
    started = group.shard.loaded(group.now_ms)
    assert [(each.timer, each.member_id) for each in started.timers] == [
        (SESSION, "a"),
        (SESSION, "b"),
        (ASSIGNMENT, None),
    ]
    assert group.install("a", 0, 2, {"a": (0, 1), "b": (2,)}).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    group.target()
    assert group.heartbeat("a", 0).compute


def test_requests_answers_and_records_are_what_the_proposals_codecs_take() -> None:
    group = Group()
    asked(group, "a", "b")
    heartbeat = group.last.answer.body()
    prepared = group.prepare("a", 0)
    for key, request, answer in (
        (
            PREPARE_ASSIGNMENT,
            PrepareAssignment(group_id=GROUP, member_id="a", member_epoch=0).body(),
            prepared.body(),
        ),
        (
            INSTALL_ASSIGNMENT,
            InstallAssignment(
                group_id=GROUP, member_id="a", member_epoch=0, group_epoch=2, answer=ClientAnswer(members={})
            ).body(),
            InstallAnswer().body(),
        ),
    ):
        whole = {"throttleTimeMs": 0, **answer}
        assert _read_back(KIP_APIS[key].request, request) == request
        assert _read_back(KIP_APIS[key].response, whole) == whole
    assert heartbeat["shouldComputeAssignment"]
    group.install(
        "a", 0, 2, {"a": MemberAnswer(partitions={FOO: (0, 1, 2)}, metadata=Metadata(0, b"x")), "b": ()}
    )
    installed = group.last.records
    group.heartbeat("a", 0, {})
    for record in (*installed, *group.last.records):
        proposed, left = as_proposed(record)
        assert encode_kip_record(proposed)[1]
        assert not {"error", "metadataVersion", "metadataBytes"} & set(left)


def _read_back(message: Message, body: dict[str, Any]) -> dict[str, Any]:
    out = bytearray()
    codec(message, 0).write(out, body)
    read: dict[str, Any] = codec(message, 0).read(bytes(out), 0)[0]
    return read


def test_a_members_record_lists_its_assignors() -> None:
    group = Group()
    group.offers("a", Offer(name="x", maximum_version=2, reason=1, metadata=Metadata(1, b"m")))
    record = next(each for each in group.last.records if each["type"] == 5)
    assert record["value"]["assignors"] == [
        {
            "name": "x",
            "minimumVersion": 0,
            "maximumVersion": 2,
            "reason": 1,
            "version": 1,
            "metadata": "bQ==",
        }
    ]
    proposed, _ = as_proposed(record)
    assert proposed["value"]["assignors"] == record["value"]["assignors"]
    assert encode_kip_record(proposed)[1]


def test_a_described_group_names_the_assignor_of_its_members_and_what_it_sent_with_each_assignment() -> None:
    group = Group()
    asked(group, "a")
    group.prepare("a", 0)
    group.install("a", 0, 1, {"a": MemberAnswer(partitions={FOO: (0,)}, metadata=Metadata(0, b"x"))}, error=1)
    described = group.shard.describe()
    (member,) = described["members"]
    assert (described["assignorName"], described["groupState"]) == ("sticky", "Reconciling")
    assert member["assignment"] == {"partitions": [], "error": 0, "metadataVersion": 0, "metadataBytes": ""}
    assert member["targetAssignment"] == {
        "partitions": [{"topicId": FOO, "topicName": "foo", "partitions": [0]}],
        "error": 1,
        "metadataVersion": 0,
        "metadataBytes": "eA==",
    }
    whole = {"throttleTimeMs": 0, "groups": [described]}
    assert _read_back(KIP_APIS[69].response, whole) == whole


def test_no_release_has_the_two_requests() -> None:
    group = Group("kafka")
    assert group.prepare("a", 0).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert group.install("a", 0, 1, {}).error_code == ErrorCode.UNSUPPORTED_VERSION
