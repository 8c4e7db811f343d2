"""Polls become records that lead to what was described, and whatever was not seen is said."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.clusters.sentences import unreadable
from groups.clusters.tables import members
from groups.history.entries import Entry, Kind, Provenance
from groups.history.following.group import FollowedGroup
from groups.history.following.partition import PartitionLog
from groups.history.frames.frame import frame
from groups.history.passes.recorder import Recorder
from groups.history.polls.described_groups import classic_groups
from groups.history.polls.description import (
    DescribedGroup,
    GroupDescription,
    GroupKind,
    MemberDescription,
    StreamsFacts,
    StreamsTasks,
    Undescribed,
)
from groups.history.polls.plain import plain
from groups.history.polls.recording import BELIEVED_AFTER_MS, MOVING_SHOWN_AFTER_MS, PolledGroup
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from groups.history.state.plain import from_plain, to_plain
from groups.wire.embedded.consumer_protocol import encode_assignment
from tests.history.test_following import batch

GROUP = "orders"
IDS = {"foo": "Zm9vAAAAAAAAAAAAAAAAAA", "bar": "YmFyAAAAAAAAAAAAAAAAAA"}


def member(
    name: str, epoch: int, has: dict[str, tuple[int, ...]], wants: dict[str, tuple[int, ...]]
) -> MemberDescription:
    return MemberDescription(
        member_id=name,
        client_id=name.lower(),
        host="/10.0.0.1",
        epoch=epoch,
        subscribed=("foo",),
        assignment=has,
        target=wants,
        member_type=1,
    )


def group(epoch: int, target: int, *members: MemberDescription, state: str = "Stable") -> GroupDescription:
    return GroupDescription(
        group=GROUP,
        kind=GroupKind.CONSUMER,
        state=state,
        group_epoch=epoch,
        assignment_epoch=target,
        assignor="uniform",
        members=members,
        topic_ids=IDS,
    )


def folded(entries: list[Entry], state: State | None = None) -> State:
    state = state or initial_state(GROUP)
    for entry in entries:
        state = replay(state, entry)
    return state


@st.composite
def descriptions(draw: st.DrawFn) -> GroupDescription:
    """Groups as a coordinator may describe them: no partition with two members, epochs behind or at the target's."""
    names = draw(st.lists(st.sampled_from("ABCDEF"), unique=True, max_size=5))
    epoch = draw(st.integers(1, 40))
    target = draw(st.integers(max(1, epoch - 1), epoch)) if names else epoch
    places = [(topic, number) for topic in IDS for number in range(4)]
    has: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    wants: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    for topic, number in places if names else ():
        if (owner := draw(st.sampled_from([*names, ""]))) != "":
            has[owner].setdefault(topic, []).append(number)
        if (owner := draw(st.sampled_from([*names, ""]))) != "":
            wants[owner].setdefault(topic, []).append(number)
    return group(
        epoch,
        target,
        *(
            member(
                name,
                draw(st.integers(max(0, target - 1), target)),
                {topic: tuple(each) for topic, each in has[name].items()},
                {topic: tuple(each) for topic, each in wants[name].items()},
            )
            for name in names
        ),
        state="Stable" if names else "Empty",
    )


def shown(told: GroupDescription) -> dict[str, Any]:
    """What a frame must say of a description."""
    return {
        "group_epoch": told.group_epoch,
        "assignment_epoch": told.assignment_epoch,
        "members": {
            each.member_id: (each.epoch, {topic: list(some) for topic, some in each.assignment.items()})
            for each in told.members
        },
        "target": {
            each.member_id: {topic: list(some) for topic, some in (each.target or {}).items()}
            for each in told.members
        },
    }


def framed(state: State) -> dict[str, Any]:
    made = frame(state)
    return {
        "group_epoch": made["group_epoch"],
        "assignment_epoch": made["assignment_epoch"],
        "members": {name: (each["epoch"], each["assigned"]) for name, each in made["members"].items()},
        "target": {name: each for name, each in made["target"].items() if name in made["members"]},
    }


@given(st.lists(descriptions(), min_size=1, max_size=6))
def test_the_frame_after_each_poll_is_what_was_described(polls: list[GroupDescription]) -> None:
    watched = PolledGroup(group=GROUP)
    state = initial_state(GROUP)
    at_ms = 0
    for told in polls:
        # Epochs that go back are believed when they stay so.
        for _ in range(3):
            at_ms += BELIEVED_AFTER_MS
            state = folded(watched.take(told, at_ms), state)
        assert framed(state) == shown(told)


@given(st.lists(descriptions(), min_size=1, max_size=6), st.integers(0, 5))
def test_a_recording_that_is_stored_and_taken_up_again_makes_the_same_entries(
    polls: list[GroupDescription], cut: int
) -> None:
    whole, parted = PolledGroup(group=GROUP), PolledGroup(group=GROUP)
    made: list[list[Entry]] = [[], []]
    for number, told in enumerate(polls):
        if number == cut:
            parted = from_plain(PolledGroup, to_plain(parted))
        for watched, entries in zip((whole, parted), made, strict=True):
            entries += watched.take(told, number * 1000)
    assert made[0] == made[1]


@given(st.lists(descriptions(), min_size=1, max_size=5))
def test_entries_of_polls_are_dense_inferred_and_recorded_in_batches(polls: list[GroupDescription]) -> None:
    watched, recorder = PolledGroup(group=GROUP), Recorder(group=GROUP)
    entries = [entry for number, told in enumerate(polls) for entry in watched.take(told, number * 10_000)]
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    for entry in entries:
        inferred = entry.provenance is Provenance.INFERRED
        assert inferred == (entry.kind is Kind.RECORD)
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert (batch is None) == (not entries)


@given(descriptions())
def test_a_poll_that_tells_nothing_new_makes_no_entry(told: GroupDescription) -> None:
    watched = PolledGroup(group=GROUP)
    assert watched.take(told, 0)
    assert watched.take(told, 1000) == []


def says(entries: list[Entry]) -> list[str]:
    return [entry.payload["says"] for entry in entries if "says" in entry.payload]


A = member("A", 3, {"foo": (0, 1)}, {"foo": (0, 1)})


def test_epochs_that_nobody_saw_are_said_aloud() -> None:
    watched = PolledGroup(group=GROUP)
    state = folded(watched.take(group(12, 12, replace(A, epoch=12)), 0))
    entries = watched.take(group(15, 15, replace(A, epoch=15)), 1000)
    anomalies = []
    for entry in entries:
        state = replay(state, entry)
        anomalies += [anomaly.says for anomaly in state.anomalies]
    assert anomalies == ["The group epoch jumped from 12 to 15: 2 changes unseen."]


def test_an_observation_says_when_the_poll_before_it_was() -> None:
    watched = PolledGroup(group=GROUP)
    watched.take(group(3, 3, A), 5000)
    watched.take(group(3, 3, A), 7000)
    [observed] = [
        entry
        for entry in watched.take(group(4, 4, replace(A, epoch=4)), 8000)
        if entry.kind is Kind.OBSERVATION
    ]
    assert observed.payload["polled_before_ms"] == 7000


def test_a_moment_of_an_old_coordinators_memory_is_not_folded() -> None:
    watched = PolledGroup(group=GROUP)
    watched.take(group(3, 3, A), 0)
    old = group(2, 2, replace(A, epoch=2))
    entries = watched.take(old, 1000)
    assert says(entries) == ["Epochs went back: an old coordinator answered, or the log was truncated"]
    assert all(entry.kind is Kind.NOTE for entry in entries)
    assert says(watched.take(group(3, 3, A), 1400)) == ["Seen again after 0.4 s"]


def test_epochs_that_stay_back_are_believed() -> None:
    watched = PolledGroup(group=GROUP)
    state = folded(watched.take(group(6, 6, replace(A, epoch=6)), 0))
    truncated = group(2, 2, replace(A, epoch=2))
    state = folded(watched.take(truncated, 1000), state)
    assert framed(state)["group_epoch"] == 6
    state = folded(watched.take(truncated, 1000 + BELIEVED_AFTER_MS), state)
    assert framed(state) == shown(truncated)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (29, "Unreadable from here: a topic of the assignment lacks the right DESCRIBE"),
        (30, "Unreadable from here: the group lacks the right DESCRIBE"),
    ],
)
def test_a_group_that_may_not_be_described_for_a_while_is_said_to_be_unreadable(
    code: int, sentence: str
) -> None:
    watched = PolledGroup(group=GROUP)
    watched.take(group(3, 3, A), 0)
    refused: DescribedGroup = Undescribed(group=GROUP, code=code)
    assert says(watched.take(refused, 1000)) == [sentence]
    assert watched.take(refused, 2000) == []
    assert says(watched.take(group(3, 3, A), 3000)) == ["Seen again after 2.0 s"]


def test_a_coordinator_that_moves_for_a_moment_is_not_worth_a_word_and_one_that_stays_away_is() -> None:
    watched = PolledGroup(group=GROUP)
    watched.take(group(3, 3, A), 0)
    moving: DescribedGroup = Undescribed(group=GROUP, code=16)
    assert watched.take(moving, 1000) == []
    assert watched.take(group(3, 3, A), 2000) == []
    watched.take(moving, 3000)
    assert says(watched.take(moving, 3000 + MOVING_SHOWN_AFTER_MS)) == [
        "Not seen from here: the group's coordinator does not answer"
    ]


def test_a_group_that_its_coordinator_does_not_have_is_deleted_and_a_missing_row_is_not() -> None:
    watched = PolledGroup(group=GROUP)
    state = folded(watched.take(group(3, 3, A), 0))
    assert watched.away(1000) == []
    state = folded(watched.take(Undescribed(group=GROUP, code=69), 2000), state)
    assert state.deleted


def classic(state: str, assigned: str = "") -> GroupDescription:
    return GroupDescription(
        group=GROUP,
        kind=GroupKind.CLASSIC,
        state=state,
        protocol_type="consumer",
        assignor="range",
        members=(MemberDescription(member_id="K", client_id="k", host="/10.0.0.1", assigned=assigned),),
    )


def test_a_classic_group_that_is_joining_leaves_an_observation_and_no_record() -> None:
    watched = PolledGroup(group=GROUP)
    watched.take(classic("Stable"), 0)
    joining = watched.take(classic("PreparingRebalance"), 1000)
    assert [(entry.kind, entry.payload["state"]) for entry in joining] == [
        (Kind.OBSERVATION, "PreparingRebalance")
    ]
    assert watched.take(classic("PreparingRebalance"), 2000) == []


def joining(state: str, *names: str) -> GroupDescription:
    """A classic group between two generations: Kafka leaves out metadata and protocol then."""
    members = tuple(
        MemberDescription(member_id=name, client_id=name.lower(), host="/10.0.0.1") for name in names
    )
    return replace(classic(state), assignor="", members=members)


def seen(watched: PolledGroup, *polls: GroupDescription) -> list[tuple[str | None, list[str]]]:
    """State and members of the frame after each poll."""
    state, found = initial_state(GROUP), []
    for second, told in enumerate(polls):
        state = folded(watched.take(told, second * 1000), state)
        shown_now = frame(state)
        found.append((shown_now["state"], sorted(shown_now["members"])))
    return found


def test_a_classic_group_that_cannot_finish_a_rebalance_is_shown_in_its_phase_with_its_members() -> None:
    polls = [
        classic("Stable"),
        joining("PreparingRebalance", "K"),
        joining("CompletingRebalance", "K", "L"),
        joining("PreparingRebalance", "L"),
    ]
    watched = PolledGroup(group=GROUP)
    assert seen(watched, *polls) == [
        ("Stable", ["K"]),
        ("PreparingRebalance", ["K"]),
        ("CompletingRebalance", ["K", "L"]),
        ("PreparingRebalance", ["L"]),
    ]
    assert watched.phases.began is not None
    assert seen(PolledGroup(group=GROUP), *polls[:2], polls[0]) == [
        ("Stable", ["K"]),
        ("PreparingRebalance", ["K"]),
        ("Stable", ["K"]),
    ]


def test_a_classic_group_that_never_had_a_generation_is_classic_and_has_no_epoch() -> None:
    watched = PolledGroup(group=GROUP)
    state = folded(watched.take(joining("PreparingRebalance", "K"), 0))
    found = frame(state)
    assert (found["protocol"], found["state"], found["generation"]) == ("classic", "PreparingRebalance", None)
    assert found["members"]["K"]["client_id"] == "k"
    assert "group_epoch" not in found


def test_a_member_that_joined_and_is_gone_before_a_generation_is_not_a_member_of_the_empty_group() -> None:
    """Kafka records the empty generation; the member was in no record."""
    polls = [classic("Stable"), joining("PreparingRebalance", "L"), joining("Empty")]
    expected = [("Stable", ["K"]), ("PreparingRebalance", ["L"]), ("Empty", [])]
    assert seen(PolledGroup(group=GROUP), *polls) == expected
    log, followed, state = (
        PartitionLog(partition=0),
        FollowedGroup(group="g", partition=0),
        initial_state("g"),
    )
    found = []
    for told in (
        classic_record(1, "K"),
        joining("PreparingRebalance", "L"),
        classic_record(2),
        joining("Empty"),
    ):
        if isinstance(told, GroupDescription):
            entries = followed.observe(told, log.next)
        else:
            [records] = log.take(batch(log.next, told))
            entries = followed.take(records, log, {})
        state = folded(entries, state)
        shown_now = frame(state)
        found.append((shown_now["state"], sorted(shown_now["members"])))
    assert found == [*expected, expected[-1]]


def classic_record(generation: int, *names: str) -> dict[str, Any]:
    """A record of a classic group in this generation."""
    members = [
        {
            "memberId": name, "groupInstanceId": None, "clientId": name.lower(), "clientHost": "/10.0.0.1",
            "rebalanceTimeout": 6000, "sessionTimeout": 6000, "subscription": "", "assignment": "",
        }
        for name in names
    ]  # fmt: skip
    value = {
        "protocolType": "consumer", "generation": generation, "protocol": "range" if names else None,
        "leader": names[0] if names else None, "currentStateTimestamp": 0, "members": members,
    }  # fmt: skip
    return {"type": 2, "key": {"group": "g"}, "version": 3, "value": value}


def test_two_rebalances_with_a_record_between_them_are_both_observed() -> None:
    """The first phase is no longer known after the record: the second one of the same name is news."""
    watched = PolledGroup(group=GROUP)
    second = replace(classic("Stable"), members=(replace(classic("Stable").members[0], client_id="other"),))
    assert seen(
        watched,
        classic("Stable"),
        joining("PreparingRebalance", "K"),
        second,
        joining("PreparingRebalance", "K"),
    ) == [
        ("Stable", ["K"]),
        ("PreparingRebalance", ["K"]),
        ("Stable", ["K"]),
        ("PreparingRebalance", ["K"]),
    ]


def test_who_is_not_described_between_two_generations_has_no_reason_of_its_own_for_being_gone() -> None:
    watched, recorder = PolledGroup(group=GROUP), Recorder(group=GROUP)
    second = replace(classic("Stable").members[0], member_id="L", client_id="l", host="/10.0.0.2")
    both = replace(classic("Stable"), members=(*classic("Stable").members, second))
    for at_ms, told in enumerate((both, joining("PreparingRebalance", "K"), classic("Stable"))):
        for entry in watched.take(told, at_ms * 1000):
            recorder.add(entry)
    recorder.flush(final=True)
    [removed] = [each for each in recorder.findings if each["kind"] == "removed"]
    assert removed["why"] is None
    assert sorted(recorder.frame["members"]) == ["K"]


def test_a_migration_ends_the_classic_group_where_the_consumer_group_begins() -> None:
    watched = PolledGroup(group=GROUP)
    state = folded(watched.take(classic("Stable"), 0))
    entries = watched.take(group(4, 4, replace(A, epoch=4)), 1000)
    records = [entry for entry in entries if entry.kind is Kind.RECORD]
    assert (records[0].payload["type"], records[0].payload["value"]) == (2, None)
    assert len({entry.unit for entry in records}) == 1
    assert framed(folded(entries, state)) == shown(group(4, 4, replace(A, epoch=4)))


def test_a_member_whose_assignment_cannot_be_decoded_is_not_shown_without_partitions() -> None:
    """A table with "#PARTITIONS 0" would say that it has nothing. Kafka's tool ends with an error."""
    assigned = encode_assignment(
        {"version": 1, "assignedPartitions": [{"topic": "foo", "partitions": [1, 0]}]}
    )
    (told,) = classic_groups(
        {
            "groups": [
                {
                    "errorCode": 0, "groupId": "orders", "groupState": "Stable", "protocolType": "consumer", "protocolData": "range",
                    "members": [
                        {
                            "memberId": name, "groupInstanceId": None, "clientId": name, "clientHost": "/h",
                            "memberMetadata": "", "memberAssignment": base64.b64encode(data).decode(),
                        }
                        for name, data in (("a", assigned), ("b", assigned[:-9]), ("c", b""))
                    ],
                }
            ]
        }
    )  # fmt: skip
    assert isinstance(told, GroupDescription)
    cells = [line.split() for line in members(told, verbose=True).splitlines()[1:]]
    assert [(row[1], row[4], row[6]) for row in cells] == [
        ("a", "2", "foo:0,1"),
        ("b", "?", "?"),
        ("c", "0", "-"),
    ]
    assert [member["assignment"] for member in plain(told)["members"]] == [{"foo": [0, 1]}, None, {}]
    (sentence,) = unreadable(told)
    assert sentence.startswith("Group orders: the assignment of member b cannot be decoded (")


def test_a_classic_groups_generation_is_unknown_wherever_it_would_be_told() -> None:
    watched, recorder = PolledGroup(group=GROUP), Recorder(group=GROUP)
    second = replace(classic("Stable").members[0], member_id="L", client_id="l", host="/10.0.0.2")
    both = replace(classic("Stable"), members=(*classic("Stable").members, second))
    entries = [
        *watched.take(classic("Stable"), 0),
        *watched.take(both, 60_000),
        *watched.take(classic("Stable"), 120_000),
    ]
    assert frame(folded(entries))["generation"] is None
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    told = batch.summary
    verdict = told["verdict"]
    assert verdict is not None
    assert b"eneration" not in batch.moments
    assert b"-1" not in batch.moments
    assert "-1" not in verdict["text"]
    assert told["epochs"] == []
    assert verdict["text"].startswith("K was already a member. "), (
        "who is there at the first poll did not join then"
    )


def test_a_member_at_epoch_0_with_nothing_is_told_even_behind_a_hole() -> None:
    watched = PolledGroup(group=GROUP)
    fresh = member("N", 0, {}, {})
    first = watched.take(group(3, 3, A), 0)
    hole = watched.interrupted(5_000, "Nobody watched until now")
    state = folded([*first, *hole, *watched.take(group(4, 4, A, fresh), 10_000)])
    assert state.partial
    assert frame(state)["members"]["N"]["epoch"] == 0


def streams(state: str, epoch: int, assignment_epoch: int, *members: MemberDescription) -> GroupDescription:
    return GroupDescription(
        group="g", kind=GroupKind.STREAMS, state=state, group_epoch=epoch, assignment_epoch=assignment_epoch,
        members=members, topology={"epoch": 0, "subtopologies": []},
    )  # fmt: skip


def task_member(
    name: str, epoch: int, has: Mapping[str, tuple[int, ...]], wants: Mapping[str, tuple[int, ...]]
) -> MemberDescription:
    facts = StreamsFacts(
        topology_epoch=0, process_id=name, endpoint=None, tags=(),
        tasks=StreamsTasks(active=has), target=StreamsTasks(active=wants),
    )  # fmt: skip
    return MemberDescription(
        member_id=name, client_id=name, host="/h", epoch=epoch, assignment=has, target=wants, streams=facts
    )


def test_a_streams_group_is_shown_as_its_coordinator_describes_it_from_not_ready_to_stable() -> None:
    """Its state follows from the topology that was validated; a member that is behind gives tasks up before it has its target."""
    whole, half = {"0": (0, 1, 2, 3)}, {"0": (0, 1)}
    polled, state = PolledGroup(group="g"), initial_state("g")
    for at_ms, told in enumerate(
        (
            streams("NotReady", 2, 1, task_member("a", 1, {}, {})),
            streams("Stable", 2, 2, task_member("a", 2, whole, whole)),
            streams(
                "Reconciling", 3, 3, task_member("a", 2, whole, half), task_member("b", 3, {}, {"0": (2, 3)})
            ),
            streams(
                "Reconciling", 3, 3, task_member("a", 2, half, half), task_member("b", 3, {}, {"0": (2, 3)})
            ),
            streams("NotReady", 3, 3, task_member("a", 3, half, half)),
        )
    ):
        for entry in polled.take(told, at_ms):
            state = replay(state, entry)
        shown = frame(state)
        assert shown["state"] == told.state
        assert {name: each["assigned"] for name, each in shown["members"].items()} == {
            each.member_id: {topic: list(numbers) for topic, numbers in each.assignment.items()}
            for each in told.members
        }


def test_the_settings_that_the_cluster_reports_are_noted_when_they_change() -> None:
    polled = PolledGroup(group=GROUP)
    a = member("A", 1, {"foo": (0,)}, {"foo": (0,)})
    set_to = {"consumer.session.timeout.ms": 6000}
    first = polled.take(group(1, 1, a), 0, settings=set_to)
    assert first[-1].payload == {"note": "settings", "settings": set_to, "source": "cluster"}
    assert polled.take(group(1, 1, a), 1_000, settings=set_to) == []
    assert not polled.is_set_otherwise(set_to)
    # Settings that cannot be read for a moment are those of before.
    assert not polled.is_set_otherwise(None)
    assert polled.is_set_otherwise({"consumer.session.timeout.ms": 7000})
    assert recorded_of(polled) == recorded_of(from_plain(PolledGroup, to_plain(polled)))


def recorded_of(polled: PolledGroup) -> list[Entry]:
    """What the next poll adds if a setting is another."""
    return from_plain(PolledGroup, to_plain(polled)).take(
        group(2, 2), 2_000, settings={"consumer.session.timeout.ms": 7000}
    )


def test_of_a_polled_member_that_is_gone_the_polls_do_not_show_why() -> None:
    recorder = Recorder(group=GROUP)
    polled = PolledGroup(group=GROUP)
    a, b = (member(name, 1, {"foo": (number,)}, {"foo": (number,)}) for number, name in enumerate("AB"))
    for at_ms, told in ((0, group(1, 1, a, b)), (60_000, group(2, 2, replace(a, epoch=2)))):
        for entry in polled.take(told, at_ms):
            recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    [gone] = [each for each in recorder.findings if each["kind"] == "removed"]
    assert gone["says"] == "B was removed; polls do not show why"
    assert "polls do not show why" in str(batch.summary["verdict"])
    assert b"no poll shows why" in batch.moments
