"""Rules of the classic client of 4.3.1, one case each: why it joins, what it gives up and takes, what its leader does."""

from __future__ import annotations

import pytest

from groups.wire.embedded.consumer_protocol import decode_subscription
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.messages.classic_requests import JoinGroup, SyncGroup
from tests.simulations.classic_application import (
    BACK_OFF_MS,
    INTERVAL_MS,
    SESSION_MS,
    ClassicApplication,
)

# The join loop.


def test_a_first_join_has_nothing_to_revoke_and_no_reason() -> None:
    app = ClassicApplication()
    app.joins()
    assert (app.calls, app.sent, app.alarm) == ([], ["join -: "], 300_000)


def test_a_member_takes_the_id_that_it_is_given_and_joins_with_it_at_once() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(-1, 79)
    assert app.sent == ["join A: need to re-join with the given member-id: A"]
    app.joined(1)
    assert app.sent == ["sync 1"]
    app.synced(0, 1)
    assert app.calls == ["on_partitions_assigned [0, 1]"]
    app.called()
    assert (app.consumer.owned, app.consumer.reason) == ({"foo": (0, 1)}, "")


def test_an_assignment_of_nothing_is_told_to_the_application_too() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.synced()
    assert app.calls == ["on_partitions_assigned []"]


def test_an_eager_member_revokes_also_nothing_and_a_cooperative_one_only_what_it_dropped() -> None:
    eager = ClassicApplication()
    eager.stable_with()
    eager.waits()
    eager.beaten(27)
    assert eager.calls == ["on_partitions_revoked []"]
    cooperative = ClassicApplication(assignors=("cooperative-sticky",))
    cooperative.stable_with(0, 1)
    cooperative.does(cooperative.consumer.subscribe(("foo", "bar"), now_ms=cooperative.now_ms))
    assert (cooperative.calls, cooperative.sent) == ([], ["join A: subscription has changed"])
    cooperative.joined(2)
    cooperative.synced(0, 1)
    cooperative.called()
    cooperative.does(cooperative.consumer.subscribe(("bar",), now_ms=cooperative.now_ms))
    assert cooperative.calls == ["on_partitions_revoked [0, 1]"]


def test_a_reason_is_cut_to_what_the_protocol_takes_and_old_clients_give_none() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.does(app.consumer.enforce_rebalance("x" * 300, app.now_ms))
    app.called()
    assert app.sent == ["join A: " + "x" * 255]
    app.joined(2)
    app.synced(0)
    app.called()
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.called()
    assert app.sent == ["join A: rebalance enforced by user"]


def test_a_join_carries_the_settings_and_what_the_member_owns() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",), rack_id="r1", instance_id="i1")
    app.stable_with(0, 1, generation=4)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    request = app.last(JoinGroup)
    assert (request.session_timeout_ms, request.rebalance_timeout_ms) == (SESSION_MS, 300_000)
    assert (request.instance_id, request.client_id, request.client_host) == ("i1", "a", "/10.0.0.1")
    ((name, metadata),) = request.protocols
    subscription = decode_subscription(metadata)
    assert name == "cooperative-sticky"
    assert subscription["ownedPartitions"] == [{"topic": "foo", "partitions": [0, 1]}]
    assert (subscription["generationId"], subscription["rackId"]) == (4, "r1")


@pytest.mark.parametrize("code", [14, 15, 16])
def test_a_join_that_met_a_coordinator_which_is_not_ready_is_sent_again_a_back_off_later(code: int) -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(-1, code)
    assert (app.sent, app.returned, app.alarm) == ([], [], BACK_OFF_MS)
    app.waits()
    name = {14: "CoordinatorLoadInProgress", 15: "CoordinatorNotAvailable", 16: "NotCoordinator"}[code]
    assert app.sent == [f"join -: rebalance failed due to {name}Exception"]
    early = ClassicApplication()
    early.joins()
    early.joined(-1, code)
    assert early.consumer.waits(early.now_ms)
    early.does(early.consumer.go_on(early.now_ms))
    assert early.sent == app.sent, "who walks all orders ends the wait without the time that it takes"
    assert not early.consumer.waits(early.now_ms)


def test_a_join_without_an_answer_is_given_up_later_than_a_rebalance_may_last() -> None:
    app = ClassicApplication(rebalance_timeout_ms=40_000, request_timeout_ms=30_000)
    app.joins()
    assert app.consumer.timeout_ms(app.last(JoinGroup)) == 45_000
    assert app.consumer.timeout_ms(object()) == 30_000
    app.fails(JoinGroup)
    assert app.alarm == BACK_OFF_MS
    app.waits()
    assert app.sent == ["join -: rebalance failed due to DisconnectException"]


def test_a_rebalance_that_began_anew_is_joined_at_once() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.called()
    app.joined(-1, 27)
    assert app.sent == ["join A: rebalance failed due to RebalanceInProgressException"]
    assert app.calls == [], "what was revoked is not revoked twice"
    app.joined(2)
    app.synced(code=27)
    assert app.sent == ["join A: rebalance failed due to RebalanceInProgressException"]


def test_a_member_that_is_not_known_any_more_joins_as_a_new_one() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.called()
    app.joined(-1, 25)
    assert app.sent == ["join -: rebalance failed due to UnknownMemberIdException"]
    app.joined(-1, 79)
    app.joined(3)
    app.synced(code=25)
    assert app.sent == ["join -: rebalance failed due to UnknownMemberIdException"]


def test_a_generation_that_is_over_costs_what_is_owned_and_not_the_id() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.stable_with(0, 1)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.joined(2)
    app.synced(code=22)
    assert (app.calls, app.sent) == (["on_partitions_lost [0, 1]"], [])
    app.called()
    assert app.sent == ["join A: rebalance failed due to IllegalGenerationException"]
    assert app.consumer.owned == {}


@pytest.mark.parametrize("code", [23, 24, 26, 30, 81])
def test_a_join_that_is_refused_is_thrown_by_poll_and_tried_again_by_the_next(code: int) -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(-1, code)
    name = {
        23: "InconsistentGroupProtocol",
        24: "InvalidGroupId",
        26: "InvalidSessionTimeout",
        30: "GroupAuthorization",
        81: "GroupMaxSizeReached",
    }[code]
    assert (app.sent, app.returned) == ([], [f"poll {code} {name}Exception"])
    app.waits()
    assert (app.now_ms, app.sent) == (1_000, [f"join -: rebalance failed due to {name}Exception"])


@pytest.mark.parametrize("code", [14, 23, 42])
def test_a_sync_that_meets_an_error_it_does_not_expect_is_thrown_by_poll(code: int) -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.synced(code=code)
    assert (app.sent, app.returned) == ([], [f"poll {code} KafkaException"])
    app.waits()
    assert (app.now_ms, app.sent) == (1_000, ["join A: rebalance failed due to KafkaException"])


def test_a_sync_that_may_not_be_asked_for_is_thrown_as_what_it_is() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.synced(code=30)
    assert app.returned == ["poll 30 GroupAuthorizationException"]


@pytest.mark.parametrize("code", [15, 16])
def test_a_sync_that_the_coordinator_has_moved_from_is_joined_anew_a_back_off_later(code: int) -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.synced(code=code)
    assert app.sent == []
    app.waits()
    assert app.now_ms == BACK_OFF_MS
    assert [words.partition(":")[0] for words in app.sent] == ["join A"]


def test_who_is_fenced_by_its_instance_dies_wherever_it_hears_of_it() -> None:
    app = ClassicApplication(instance_id="i1")
    app.stable_with(0, 1)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.called()
    app.joined(-1, 82)
    assert app.returned == ["poll FencedInstanceIdException"]
    assert app.calls == [], "everything was revoked before"
    assert (app.consumer.ended, app.alarm) == (True, None)
    app.does(app.consumer.join(("foo",), app.now_ms))
    app.does([*app.consumer.leave(app.now_ms), *app.consumer.close(app.now_ms)])
    assert (app.sent, app.returned) == ([], [])


# The leader.


def test_the_leader_assigns_and_syncs_with_everybodys_part() -> None:
    app = ClassicApplication()
    app.joins()
    app.leads(1)
    assert app.sent == ["sync 1 {A: [0, 1, 2, 3, 4, 5]}"]
    request = app.last(SyncGroup)
    assert (request.protocol_type, request.protocol_name) == ("consumer", "range")
    assert app.consumer.leads


def test_a_leader_whose_metadata_tell_of_more_partitions_joins_again() -> None:
    app = ClassicApplication(metadata_max_age_ms=5_000)
    app.joins()
    app.leads(1)
    app.synced(*range(6))
    app.called()
    app.topics["foo"] = Topic(partitions=8)
    app.waits()
    assert (app.now_ms, app.sent) == (INTERVAL_MS, ["beat 1"])
    app.beaten()
    app.waits()
    assert (app.now_ms, app.calls) == (5_000, ["on_partitions_revoked [0, 1, 2, 3, 4, 5]"])
    app.called()
    assert app.sent == ["join A: cached metadata has changed"]


def test_who_is_given_more_than_its_metadata_tell_of_fetches_them_once_the_callback_is_over() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",), rebalance_timeout_ms=60_000)
    app.joins()
    app.joined(1)
    app.topics["foo"] = Topic(partitions=8)
    app.synced(0, 7)
    assert (app.calls, app.consumer.knows_metadata()) == (["on_partitions_assigned [0, 7]"], False)
    app.called()
    assert app.consumer.knows_metadata()
    app.topics["foo"] = Topic(partitions=9)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.joined(2)
    app.synced(0, 6)
    app.called()
    app.called()
    assert not app.consumer.knows_metadata(), "nothing of what it is given is new to it"


def test_who_leads_no_more_compares_nothing_any_more() -> None:
    app = ClassicApplication(metadata_max_age_ms=5_000)
    app.joins()
    app.leads(1)
    app.synced(*range(6))
    app.called()
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.called()
    app.joined(2)
    app.synced(0, 1, 2)
    app.called()
    assert not app.consumer.leads
    app.topics["foo"] = Topic(partitions=8)
    while app.now_ms < 6_000:
        app.waits()
        assert app.calls == []
        if app.sent:
            assert app.sent == ["beat 2"]
            app.beaten()


def test_a_leader_that_is_told_of_an_assignor_that_it_does_not_have_throws_and_joins_again() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1, leader="A", protocol_name="sticky")
    assert (app.sent, app.returned) == ([], ["poll IllegalStateException"])
    app.waits()
    assert app.sent == ["join A: rebalance failed due to IllegalStateException"]


# What is assigned.


def test_an_assignment_that_does_not_match_the_subscription_changes_nothing() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.synced(0, topic="bar")
    assert app.calls == ["on_partitions_revoked []"], (
        "it prepares another join, and was told of no assignment"
    )
    app.called()
    assert app.sent == ["join A: received assignment does not match the current subscription"]
    assert app.consumer.owned == {}


def test_a_cooperative_member_gives_up_what_it_does_not_get_and_joins_once_more() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.stable_with(0, 1, 2)
    app.waits()
    app.beaten(27)
    assert (app.calls, app.sent) == ([], ["join A: group is already rebalancing"])
    app.joined(2)
    app.synced(1, 5)
    assert app.calls == ["on_partitions_revoked [0, 2]"]
    app.called()
    assert app.calls == ["on_partitions_assigned [5]"]
    assert app.consumer.owned == {"foo": (1, 5)}
    app.called()
    assert app.sent == ["join A: need to revoke partitions and re-join"]


@pytest.mark.parametrize("code", [0, 27])
def test_an_answer_to_a_generation_that_was_lost_meanwhile_counts_as_none(code: int) -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.waits()
    assert app.sent == ["beat 1"]
    app.beaten(25)
    app.synced(0, code=code)
    name = "RebalanceInProgress" if code else "IllegalGeneration"
    assert (app.calls, app.sent) == ([], [f"join -: rebalance failed due to {name}Exception"])
