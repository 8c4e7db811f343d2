"""An explanation is true: its steps, taken one by one, lead from what members had to what the assignor answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors import ASSIGNORS, AssignorError, Explanation, GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors import explanation as explanation_module
from simulations.protocol.assignors.explanation import listed, named
from simulations.protocol.assignors.sharing import shares_in_words
from tests.tiers import examples

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
@examples(40)
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


def spec_of(
    topics: dict[str, int], racks: dict[int, list[str]] | None = None, **members: MemberSpec
) -> GroupSpec:
    return GroupSpec(
        members=members,
        topics={topic: Topic(partitions=count, racks=racks) for topic, count in topics.items()},
        homogeneous=len({member.topics for member in members.values()}) == 1,
    )


ALIKE = MemberSpec(topics=("t",), generation=1)
THREE = MemberSpec(topics=("t",), owned={"t": [0, 1, 2]}, generation=1)


@pytest.mark.parametrize(
    ("protocol", "assignor", "spec", "says"),
    [
        (
            "consumer",
            "uniform",
            spec_of({"t": 5}, A=ALIKE, B=ALIKE, C=ALIKE),
            [
                "All subscribe to the same topics. 5 partitions, 3 members: 1 each, 2 of them one more",
                "Nobody had anything: whole runs, in the order of topics, 1 to each member, and 2 to the last 2",
                "A gets t-0",
                "B gets t-1, t-2",
                "C gets t-3, t-4",
            ],
        ),
        (
            "consumer",
            "uniform",
            spec_of(
                {"t": 5},
                A=MemberSpec(topics=("t",), owned={"t": [0, 1, 2, 3]}),
                B=MemberSpec(topics=("t",), owned={"t": [4]}),
                C=MemberSpec(topics=("t",)),
            ),
            [
                "All subscribe to the same topics. 5 partitions, 3 members: 1 each, 2 of them one more",
                "A had 4 and may keep 2: it gives up t-2, t-3",
                "B does not fill its one more and hands it back: 1 member to come, of whom 1 may have one more",
                "Free, in this order: t-2, t-3",
                "C has room, and gets what is free next: t-2, t-3",
            ],
        ),
        (
            "consumer",
            "uniform",
            spec_of(
                {"t": 3, "u": 1},
                A=MemberSpec(topics=("t", "u"), owned={"t": [0, 1]}),
                B=MemberSpec(topics=("t",)),
            ),
            [
                "Subscriptions differ, so topic after topic, those with the most partitions a subscriber first: t, u",
                "t-2 is free and goes to B, which has the least of t's subscribers",
                "u-0 is free and goes to A, which has the least of u's subscribers",
                "t-1 moves from A, which has the most of those with t to give, to B, which has the least of its "
                "subscribers",
            ],
        ),
        (
            "classic",
            "sticky",
            spec_of({"t": 4, "u": 1}, A=THREE, B=MemberSpec(topics=("t", "u"), generation=1)),
            [
                "Subscriptions differ: topics with few subscribers come first: u, t",
                "u-0 is free and goes to B, the smallest subscriber that may have it: 1 with it",
                "t-3 is free and goes to B, the smallest subscriber that may have it: 2 with it",
            ],
        ),
        (
            "classic",
            "cooperative-sticky",
            spec_of({"t": 4}, A=THREE, B=ALIKE),
            [
                "All subscribe to the same topics. 4 partitions, 2 members: 2 each, nothing left over",
                "A owns 3, its quota is 2: it gives up t-2",
                "t-2 goes to B, the next with too little: 1 with it",
                "t-3 goes to B, the next with too little: 2 with it",
                "B is to get t-2 in the next round: another member may still hold it",
            ],
        ),
        (
            "classic",
            "sticky",
            spec_of(
                {"t": 4},
                {0: ["b"], 1: ["a"], 2: ["a"], 3: ["b"]},
                A=MemberSpec(topics=("t",), owned={"t": [0, 1, 2]}, generation=1, rack_id="a"),
                B=MemberSpec(topics=("t",), generation=1, rack_id="b"),
            ),
            [
                "All subscribe to the same topics. 4 partitions, 2 members: 2 each, nothing left over",
                "A does not keep t-0: no replica stands in its rack, a",
                "t-0 goes to B, the next with too little that is in a replica's rack: 1 with it",
                "t-3 goes to B, the next with too little that is in a replica's rack: 2 with it",
            ],
        ),
        (
            "classic",
            "range",
            spec_of(
                {"t": 3},
                {0: ["b"], 1: ["b"], 2: ["a"]},
                A=MemberSpec(topics=("t",), rack_id="a"),
                B=MemberSpec(topics=("t",), rack_id="b"),
            ),
            [
                "Racks first, as far as a member's share goes; t can gain by it. Members: A a, B b",
                "t: 3 partitions, 2 subscribers, so 1 each, one more for the first to fill up: to the first member "
                "with room that is in a replica's rack, the rest to who has room",
            ],
        ),
        (
            "classic",
            "range",
            spec_of({"t": 5, "u": 1}, A=ALIKE, B=MemberSpec(topics=("t", "u")), C=ALIKE),
            [
                "Members in order, static ones first: A, B, C. Each topic is cut up on its own",
                "t: 5 partitions, 3 subscribers, so 1 each, one more for the first 2",
                "u: 1 partition, 1 subscriber, so 1 each",
            ],
        ),
        (
            "classic",
            "roundrobin",
            spec_of({"t": 3, "u": 1}, A=ALIKE, B=MemberSpec(topics=("t", "u"))),
            [
                "Members stand in a ring: A, B",
                "t: one partition each, round its subscribers: t-0 goes to A, t-2 to A; the next topic goes on from "
                "there",
                "u: one partition each, round its subscribers: u-0 goes to B; the next topic goes on from there",
            ],
        ),
    ],
)
def test_a_small_group_is_told_whole(protocol: str, assignor: str, spec: GroupSpec, says: list[str]) -> None:
    assert told(spec, assignor, protocol) == says


def test_steps_beyond_the_most_are_counted_and_their_number_is_the_last_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explanation_module, "STEPS_MAX", 2)
    explanation = Explanation()
    for name in ("one", "two"):
        explanation.say("kind", name)
    assert [step["says"] for step in explanation.to_json()] == ["one", "two"]
    for name in ("three", "four"):
        explanation.say("kind", name)
    assert [step["says"] for step in explanation.to_json()] == ["one", "two", "2 more steps are left out"]
    assert explanation.to_json()[-1] == {
        "step": "more",
        "says": "2 more steps are left out",
        "left_out": 2,
    }


@pytest.mark.parametrize(("count", "names"), [(0, "nothing"), (2, "t-0, t-1")])
def test_a_few_names_are_listed_whole(count: int, names: str) -> None:
    assert listed(named(("t", number) for number in range(count))) == names


def test_of_many_names_the_first_are_listed_and_the_others_counted() -> None:
    names = [f"t-{number}" for number in range(23)]
    assert listed(names[:20]) == ", ".join(names[:20])
    assert listed(names) == ", ".join(names[:20]) + " and 3 more"


def test_shares_are_told_with_what_is_left_over() -> None:
    assert shares_in_words(2, 0) == "2 each"
    assert shares_in_words(0, 1) == "none each, one more for the first"
    assert shares_in_words(1, 2) == "1 each, one more for the first 2"
    assert shares_in_words(1, 2, "fill up") == "1 each, one more for the first 2 to fill up"
