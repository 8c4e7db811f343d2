"""What clients of a mixed group read beside its records: whose fault it is, and until when."""

from __future__ import annotations

from pathlib import Path

import pytest

from groups.history.entries import NotedTopic
from simulations.invariants.known_faults import OUTDATED, READS_BEYOND
from simulations.invariants.mixed_clients import Client, Misread, Unwritten
from simulations.invariants.model import Member, Topics
from simulations.proof.fuzzing.batches import judged
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.verdict import KNOWN, verdict_on
from simulations.world.scenario import load

FOUND = Path(__file__).with_name("fixtures") / "found"

FOO_0, FOO_1 = ("foo", 0), ("foo", 1)


def member(*held: tuple[str, int]) -> Member:
    return Member(assigned=dict.fromkeys(held, 1))


@pytest.fixture
def topics() -> Topics:
    topics = Topics()
    topics.there_are({"foo": NotedTopic(id="F", partitions=2)})
    return topics


@pytest.fixture
def unwritten(topics: Topics) -> Unwritten:
    return Unwritten(topics)


def test_what_a_new_classic_member_owned_beyond_its_records_is_a_known_fault(unwritten: Unwritten) -> None:
    client = Client(owned={FOO_0: 1, FOO_1: 2})
    unwritten.begins("A", client, member(("F", 0)))
    assert unwritten.of_others("A", client, member(("F", 0)), {FOO_1}) == (set(), {FOO_1})
    assert unwritten.of_others("A", client, member(("F", 0)), {FOO_0}) == ({FOO_0}, set()), (
        "it is written down"
    )


def test_what_it_is_given_later_is_held_against_the_rules_again(unwritten: Unwritten) -> None:
    client = Client(owned={FOO_1: 2})
    unwritten.begins("A", client, member())
    assert unwritten.of_others("A", client, member(("F", 1)), {FOO_1}) == ({FOO_1}, set())
    client.owned[FOO_1] = 9
    assert unwritten.of_others("A", client, member(), {FOO_1}) == ({FOO_1}, set()), "it began with it anew"


def test_what_nobody_wrote_down_is_no_excuse_for_who_was_a_member_before(unwritten: Unwritten) -> None:
    client = Client(owned={FOO_1: 2})
    assert unwritten.of_others("A", client, member(), {FOO_1}) == ({FOO_1}, set())


def test_a_part_of_a_deleted_topic_is_none_of_the_next_one_of_its_name_unless_that_is_written_down(
    topics: Topics, unwritten: Unwritten
) -> None:
    client = Client(owned={FOO_1: 2})

    def told(partitions: int, topic_id: str, sequence: int) -> None:
        change = {"foo": NotedTopic(id=topic_id, partitions=partitions)}
        unwritten.note_topics(change, sequence)
        topics.there_are(change)

    told(3, "F", 5)
    assert unwritten.of_others("A", client, member(), {FOO_1}) == ({FOO_1}, set()), "it only grew"
    told(3, "G", 6)
    assert unwritten.of_others("A", client, member(("F", 1)), {FOO_1}) == (set(), set())
    assert unwritten.of_others("A", client, member(("G", 1)), {FOO_1}) == ({FOO_1}, set())


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("upgraded-while-a-member-gives-up", READS_BEYOND),
        ("removed-and-back-with-what-it-reads", READS_BEYOND),
        ("upgraded-amid-a-new-subscription", OUTDATED),
    ],
)
def test_a_fault_of_the_released_coordinator_is_told_by_its_name(name: str, fault: str) -> None:
    scenario = load((FOUND / f"kafka-mixed-{name}.yaml").read_text(encoding="utf-8"))
    assert verdict_on(scenario, "kafka").unknown == KNOWN + fault


def test_what_the_heartbeat_that_changed_a_member_does_not_name_is_taken_by_mistake() -> None:
    misread, client = Misread(), Client(owned={FOO_0: 6, FOO_1: 6})
    misread.names("A", 5, {FOO_0})
    misread.names("A", 7, {FOO_0, FOO_1})
    misread.changed("A", client, {FOO_0, FOO_1}, (), 5)
    assert misread.taken("A", {FOO_0, FOO_1}) == {FOO_1}, "it began after it asked"
    misread.changed("A", client, set(), {FOO_1}, 7)
    misread.changed("A", client, {FOO_1}, (), 7)
    assert misread.taken("A", {FOO_0, FOO_1}) == set(), "it had named it"


def test_a_conversion_asks_nobody_to_give_up_a_topic_that_is_gone() -> None:
    """A classic member that does not lead keeps it until something else has it join again."""
    assert judged(12723, "kafka", groups=Groups.MIXED).broken is None
