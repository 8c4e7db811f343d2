"""What is wrong with an assignment, in sentences."""

from __future__ import annotations

import pytest

from simulations.protocol.assignors.interface import GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors.validation import partitions_named, problems

SPEC = GroupSpec(
    members={
        "A": MemberSpec(topics=["T", "U"]),
        "B": MemberSpec(topics=["T"]),
        "C": MemberSpec(topics=["nowhere"]),
    },
    topics={"T": Topic(partitions=4), "U": Topic(partitions=1), "unread": Topic(partitions=2)},
)
SOUND: dict[str, dict[str, list[int]]] = {"A": {"T": [0, 1], "U": [0]}, "B": {"T": [2, 3]}}


def told(assigned: dict[str, dict[str, list[int]]], **options: bool) -> list[str]:
    return [problem.sentence for problem in problems(SPEC, assigned, **options)]


def test_a_sound_assignment_gives_each_partition_of_a_subscribed_topic_to_one_subscriber() -> None:
    assert told(SOUND) == []


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({"B": {}}, ["T-2, 3 are given to nobody"]),
        ({"A": {"T": [0, 1]}}, ["U-0 is given to nobody"]),
        ({"B": {"T": [1, 2, 3]}}, ["T-1 is given to A and B"]),
        ({"B": {"T": [2, 2, 3]}}, ["T-2 is given to B twice"]),
        (
            {"B": {"T": [2, 3], "U": [0]}},
            ["U-0 is given to B, which does not subscribe to U", "U-0 is given to A and B"],
        ),
        ({"B": {"T": [2, 3, 4, 9]}}, ["T-4, 9 are given to B, but T has 4 partitions, 0 to 3"]),
        ({"C": {"nowhere": [0]}}, ["nowhere-0 is given to C, but there is no topic nowhere"]),
        ({"Z": {"T": [2]}, "B": {"T": [3]}}, ["T-2 is given to Z, which is no member of the group"]),
    ],
)
def test_each_problem_is_one_sentence(change: dict[str, dict[str, list[int]]], sentences: list[str]) -> None:
    assert told(SOUND | change) == sentences


def test_what_a_cooperative_round_withholds_is_no_problem() -> None:
    assert told(SOUND | {"B": {}}, complete=False) == []
    assert told(SOUND | {"B": {"T": [1]}}, complete=False) == ["T-1 is given to A and B"]


def test_partitions_are_named_in_runs_and_never_by_the_thousand() -> None:
    assert partitions_named("T", [0]) == "T-0"
    assert partitions_named("T", [0, 1, 2, 5, 7, 8]) == "T-0 to 2, 5, 7, 8"
    assert partitions_named("T", range(0, 40, 2)) == "T-0, 2, 4, 6, 8, 10, 12, 14 and 12 more"
