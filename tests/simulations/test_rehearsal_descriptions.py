"""A group to rehearse with, described by hand or taken from a timeline's moment; mistakes are told in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from simulations.protocol.client.classic.releases import row_for
from simulations.rehearsal.judging import answer
from simulations.rehearsal.moments import document_of_frame, text_of
from simulations.rehearsal.question_yaml import question_of
from simulations.rehearsal.values import RehearsalError
from simulations.rehearsal.versions import version_of
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.test_rehearsal import THREE, way


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"members": 0}, "members: must be 1 to"),
        ({"members": 61}, "members: must be 1 to 60"),
        ({"topics": {}}, "topics: a group needs at least one topic"),
        ({"topics": {"foo": 3000}}, "topics.foo: must be 1 to 2000"),
        ({"client": "2.0"}, "client: client 2.0 is older than 2.1"),
        (
            {"client": "librdkafka", "to": "cooperative"},
            "to: A is a client of librdkafka, which ends at its start with eager and cooperative assignors together",
        ),
        (
            {"client": "librdkafka", "assignors": ["range", "cooperative-sticky"]},
            "assignors: librdkafka ends at its start with range, cooperative-sticky",
        ),
        ({"new_client": "librdkafka"}, "new_client: expected the release of a client"),
        ({"client": "new"}, "client: expected the release of a client"),
        ({"client": "2.2", "static": True}, "client: a client 2.2 knows no group.instance.id"),
        ({"client": "2.3", "assignors": ["cooperative-sticky"]}, "that begins with 2.4"),
        ({"assignors": ["com.acme.Mine"]}, "is none of Kafka's assignors"),
        ({"assignors": ["range", "custom-cooperative"]}, "no rebalance protocol is supported by all"),
        (
            {"members": {"a": {"assignors": ["range"]}, "b": {"assignors": ["sticky"]}}},
            "INCONSISTENT_GROUP_PROTOCOL",
        ),
        ({"members": {"a": {"protocol": "consumer"}}}, "there is nothing to upgrade"),
        (
            {"members": {"a": {"instance_id": "x"}, "b": {"instance_id": "x"}}},
            "two members have one instance_id",
        ),
        ({"members": 30, "at_once": 1}, "at_once: 30 members are bounced 3 or more at once"),
        ({"migration_policy": "both"}, "migration_policy: unknown migration policy both"),
        ({"too": 1}, "too: unknown key"),
        ({"start": {"generation": 3, "members": {"A": {}, "B": {}}}}, "start.members: the start lacks C"),
        ({"start": {"members": {}}}, "start: a start needs generation"),
        (
            {"start": {"generation": 3, "members": {"A": {"owned": {"foo": [6]}}, "B": {}, "C": {}}}},
            "must be 0 to 5",
        ),
        (
            {
                "start": {
                    "generation": 3,
                    "members": {"A": {"owned": {"foo": [1]}}, "B": {"owned": {"foo": [1]}}, "C": {}},
                }
            },
            "foo-1 is given to A already",
        ),
    ],
)
def test_a_description_that_makes_no_sense_is_told_in_one_line(changes: Mapping[str, Any], says: str) -> None:
    with pytest.raises(RehearsalError) as refused:
        question_of(json.dumps(THREE | changes))
    told = f"{refused.value.field}: {refused.value}"
    assert says in told
    assert "\n" not in told


def test_a_mistake_in_yaml_is_told_with_its_line() -> None:
    with pytest.raises(RehearsalError) as refused:
        question_of("topics: {foo: 6}\nmembers: 3\nclient: old\n")
    assert (refused.value.line, refused.value.field) == (3, "client")


def test_assignors_may_be_named_by_their_classes_and_releases_with_a_patch() -> None:
    found = question_of(
        "topics: {foo: 6}\nmembers: 1\nclient: 3.8.1\nassignors: org.apache.kafka.clients.consumer.StickyAssignor\n"
    )
    assert found.members[0].assignors == ("sticky",)
    assert (found.members[0].client, found.members[0].release) == ("3.8", "3.5")
    assert row_for(version_of("2.0")) is None


# -- a timeline's moment


def frame_of(text: str) -> dict[str, Any]:
    from groups.history.frames.frame import frame
    from groups.history.replay.fold import replay
    from groups.history.state.group import initial_state

    scenario = load(text, "orders")
    state = initial_state(scenario.group)
    for entry in run(scenario):
        state = replay(state, entry)
    return frame(state)


def test_a_moment_becomes_a_description_of_its_group_and_what_the_log_did_not_tell_is_said() -> None:
    frame = frame_of(
        "protocol: classic\nassignor: sticky\ntopics: {orders: {partitions: 4}, other: {partitions: 2}}\n"
        "members:\n  A: {subscribe: [orders], instance_id: a1}\n  B: {subscribe: [orders], session_timeout_ms: 10000}\n"
        "script: [{at: 0s, join: [A, B]}]\nuntil: 20s\n"
    )
    document = document_of_frame(frame)
    found = question_of(text_of(document))
    assert dict(found.topics) == {"orders": 4}, "who subscribes to nothing of a topic does not bring it"
    assert {m.name: (m.instance_id, m.session_timeout_ms) for m in found.members} == {
        "A": ("a1", 45_000),
        "B": (None, 10_000),
    }
    assert found.members[0].assignors == ("sticky",)
    assert found.start is not None
    given = {name: dict(owned) for name, owned in found.start.owned.items()}
    assert given == {name: {"orders": tuple(m["assigned"]["orders"])} for name, m in frame["members"].items()}
    planned = way(answer(found), "planned")
    assert planned["stages"][0]["epoch"] == frame["generation"], "it goes on from the very generation"
    assert (planned["outcome"], planned["stages"][1]["conversion"]) == ("done", "online")
    assert any("release" in each for each in document["assumed"])
    assert any("goes by sticky" in each for each in document["assumed"])


def test_a_moment_of_the_consumer_protocol_alone_is_one_whose_brokers_can_be_rolled() -> None:
    frame = frame_of(
        "brokers: 4.3.1\ntopics: {orders: {partitions: 4}}\nmembers: {A: {subscribe: [orders]}, B: {subscribe: [orders]}}\n"
        "script: [{at: 0s, join: [A, B]}]\nuntil: 20s\n"
    )
    with pytest.raises(RehearsalError, match="nothing to upgrade but the brokers"):
        document_of_frame(frame)
    document = {**document_of_frame(frame, to="brokers"), "to": "brokers", "brokers": "4.3"}
    assert any("group.remote.assignor" in each for each in document["assumed"])
    planned = way(answer(question_of(text_of(document))), "planned")
    assert (planned["outcome"], len(planned["stages"])) == ("done", 4)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"protocol": "share"}, "a share group"),
        ({"protocol": None}, "not known yet"),
        ({"members": {}}, "nobody is in the group"),
    ],
)
def test_a_moment_without_a_classic_group_is_refused(changes: dict[str, Any], says: str) -> None:
    frame = {"group": "g", "protocol": "classic", "members": {"A": {"protocol": "classic"}}, "topics": {}}
    with pytest.raises(RehearsalError, match=says):
        document_of_frame(frame | changes)
