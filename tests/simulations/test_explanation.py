"""An explanation is true: its steps, taken one by one, lead from what members had to what the assignor answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulations.protocol.assignors import ASSIGNORS, AssignorError, Explanation, GroupSpec, MemberSpec, Topic

TopicPartition = tuple[str, int]
Held = dict[str, set[TopicPartition]]

WAYS = [(protocol, name) for protocol, names in ASSIGNORS.items() for name in names]
LOOKS_AT_NOTHING_OWNED = ("range", "roundrobin")


def partition_of(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def replayed(spec: GroupSpec, assignor: str, steps: list[dict[str, Any]]) -> Held:
    """Takes the steps: what every member has in the end. Sentences are for people, this reads the data."""
    held: Held = {member_id: set() for member_id in spec.members}
    if assignor not in LOOKS_AT_NOTHING_OWNED:
        for member_id, member in spec.members.items():
            held[member_id] = {(topic, p) for topic, owned in member.owned.items() for p in owned}
    moves: list[tuple[TopicPartition, str, str]] = []
    for step in steps:
        named = (
            [partition_of(name) for name in step.get("partitions", ()) if isinstance(name, str)]
            if isinstance(step.get("partitions"), list)
            else []
        )
        match step["step"]:
            case "cut":
                start = 0
                for position, member_id in enumerate(step["members"]):
                    size = step["least"] + (position < step["with_one_more"])
                    held[member_id] |= {(step["topic"], p) for p in range(start, start + size)}
                    start += size
            case "deal":
                ring = step["members"]
                for p in range(step["partitions"]):
                    held[ring[p % len(ring)]].add((step["topic"], p))
            case "place":
                for member_id, partitions in step["given"].items():
                    held[member_id] |= {(topic, p) for topic in step["topics"] for p in partitions}
            case "drop" | "over-quota":
                held[step["member"]] -= set(named)
            case "give":
                held[step["member"]] |= set(named)
            case "move":
                [moved] = named
                held[step["from"]].remove(moved)
                held[step["to"]].add(moved)
                moves.append((moved, step["from"], step["to"]))
            case "restore":
                for moved, giver, taker in reversed(moves):
                    held[taker].remove(moved)
                    held[giver].add(moved)
    return held


@st.composite
def groups(draw: st.DrawFn) -> GroupSpec:
    topics = {f"t-{i}": draw(st.integers(1, 5)) for i in range(draw(st.integers(1, 3)))}
    racks = draw(st.booleans())
    alike = draw(st.booleans())
    names = [f"m{i}" for i in range(draw(st.integers(1, 5)))]
    takers = [*names, None, None]
    owned: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    for topic, count in topics.items():
        for partition in range(count):
            taker = draw(st.sampled_from(takers))
            if taker is not None:
                owned[taker].setdefault(topic, []).append(partition)
    members = {}
    for name in names:
        subscribed = (
            list(topics) if alike else draw(st.lists(st.sampled_from(list(topics)), min_size=1, unique=True))
        )
        members[name] = MemberSpec(
            topics=tuple(subscribed),
            owned=owned[name],
            generation=draw(st.sampled_from([4, 5])),
            rack_id=draw(st.sampled_from("ab")) if racks else None,
        )
    on = {t: {p: ["ab"[p % 2]] for p in range(count)} for t, count in topics.items()} if racks else {}
    subscriptions = {frozenset(member.topics) for member in members.values()}
    return GroupSpec(
        members=members,
        topics={t: Topic(partitions=count, racks=on.get(t)) for t, count in topics.items()},
        homogeneous=len(subscriptions) == 1,
    )


@pytest.mark.parametrize(("protocol", "assignor"), WAYS)
@given(spec=groups())
@settings(max_examples=40, deadline=None)
def test_the_steps_lead_to_the_answer_and_the_answer_is_the_same_without_them(
    protocol: str, assignor: str, spec: GroupSpec
) -> None:
    explanation = Explanation()
    try:
        answer = ASSIGNORS[protocol][assignor]().assign(spec, explanation)
    except AssignorError:
        return
    assert answer == ASSIGNORS[protocol][assignor]().assign(spec)
    planned = answer.members if answer.intended is None else answer.intended
    told = {m: {(t, p) for t, owned in planned.get(m, {}).items() for p in owned} for m in spec.members}
    assert replayed(spec, assignor, explanation.steps) == told
    assert all(step["says"] and not step["says"].endswith(".") for step in explanation.steps)


def told(spec: GroupSpec, assignor: str, protocol: str = "consumer") -> list[str]:
    explanation = Explanation()
    ASSIGNORS[protocol][assignor]().assign(spec, explanation)
    return [step["says"] for step in explanation.steps]


def test_a_topic_that_nobody_subscribes_to_any_more_is_no_matter_of_quotas() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t",), owned={"gone": [0], "t": [0, 1]}),
            "B": MemberSpec(topics=("t",)),
        },
        topics={"t": Topic(partitions=2), "gone": Topic(partitions=1)},
        homogeneous=True,
    )
    says = told(spec, "uniform")
    assert "A does not keep gone-0: nobody subscribes to the topic" in says
    assert "A had 2 and may keep 1: it gives up t-1" in says


def test_who_holds_none_of_a_topic_is_not_told_to_have_the_most_of_those_who_could_give() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("s", "t"), owned={"s": [0, 1, 2, 3, 4]}),
            "B": MemberSpec(topics=("t",), owned={"t": [0, 1]}),
            "C": MemberSpec(topics=("t",)),
        },
        topics={"s": Topic(partitions=5), "t": Topic(partitions=2)},
    )
    move = "t-1 moves from B, which has the most of those with t to give, to C, which has the least of its subscribers"
    assert move in told(spec, "uniform")


def test_with_racks_the_one_more_is_for_those_who_fill_up_first_and_not_for_the_first_in_order() -> None:
    spec = GroupSpec(
        members={"A": MemberSpec(topics=("t",), rack_id="a"), "B": MemberSpec(topics=("t",), rack_id="b")},
        topics={"t": Topic(partitions=3, racks={0: ["b"], 1: ["b"], 2: ["a"]})},
    )
    [place] = [says for says in told(spec, "range", "classic") if says.startswith("t:")]
    assert "so 1 each, one more for the first to fill up" in place


def test_a_move_says_whether_it_goes_back_to_an_owner_of_a_generation_ago() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t",), owned={"t": [0, 1, 2, 3]}, generation=2),
            "B": MemberSpec(topics=("t", "u"), generation=2),
            "Z": MemberSpec(topics=("t",), owned={"t": [0]}, generation=1),
        },
        topics={"t": Topic(partitions=4), "u": Topic(partitions=0)},
    )
    assert [says for says in told(spec, "sticky", "classic") if " moves from " in says] == [
        "t-0 moves from A to Z, its owner of a generation ago: they have 3 and 1 now",
        "t-1 moves from A to B, the smallest subscriber: they have 2 and 1 now",
    ]


def test_a_claim_that_loses_to_an_older_one_is_not_said_to_lose_to_a_later() -> None:
    """Kafka asks an earlier claimer for its subscription's generation, which old clients do not send."""
    topic = bytes.fromhex("000000010001740000000100000000")
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t",), user_data=topic + (5).to_bytes(4, "big")),
            "B": MemberSpec(topics=("t",), user_data=topic + (3).to_bytes(4, "big")),
        },
        topics={"t": Topic(partitions=2)},
    )
    [lost] = [says for says in told(spec, "sticky", "classic") if says.startswith("A does not keep")]
    assert lost.endswith("and is compared with this one's subscription, not its user data")
