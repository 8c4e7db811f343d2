"""The laboratory: cases, their links, the six answers, and what is said of them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.frames.frame import FrameMaker
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.laboratory import (
    BOARDS,
    Before,
    Case,
    CaseError,
    CaseTopic,
    Event,
    Member,
    answer,
    answers,
)
from simulations.laboratory.assignor_answers import Board, counts_of, places_of
from simulations.laboratory.cases import NOBODY
from simulations.laboratory.changes import CHANGES, changed
from simulations.laboratory.links import case_of, query_of
from simulations.laboratory.moments import case_of_frame
from simulations.laboratory.playing import scenario_of, why_not
from simulations.laboratory.presets import Racks, Shape, Sizes, happening, preset
from simulations.laboratory.sentences import title_of, verdict
from simulations.laboratory.sheets import sheet
from simulations.protocol.assignors import ASSIGNORS
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.serving import ROOT
from tests.tiers import examples

SIX = Shape(6, 3, 21)
LOOK = "g=abcabc.a&t=12,6,3&s=same&from=range&e=join"
UNIFORM = Board("consumer", "uniform")


def look(**more: Any) -> Case:
    """Six members in three racks, twelve, six and three partitions."""
    return preset(SIX, **{"sizes": Sizes.SKEWED, "racks": Racks.THREE, "event": Event.JOIN} | more)


def letters(case: Case, owners: tuple[int, ...]) -> str:
    return "".join("." if owner == NOBODY else case.names[owner] for owner in owners)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    topics = tuple(
        CaseTopic(partitions=draw(st.integers(1, 6)), name=name)
        for name in draw(st.sampled_from([(None,), (None, None), ("foo", None, "b&r"), (None,) * 5]))
    )
    some = st.sets(st.integers(0, len(topics) - 1)).map(lambda found: tuple(sorted(found)))

    def member(number: int) -> Member:
        named = draw(st.booleans())
        return Member(
            topics=draw(st.sampled_from([tuple(range(len(topics))), draw(some)])),
            rack=draw(st.sampled_from([None, "a", "b", "c"])),
            name=f"worker {number}" if named else None,
            member_id=f"id+{number}" if draw(st.booleans()) else None,
        )

    members = tuple(member(number) for number in range(draw(st.integers(1, 5))))
    event = draw(st.sampled_from([*Event]))
    facts: dict[str, Any] = {"event": event}
    if event is Event.JOIN:
        facts["joining"] = tuple(member(number) for number in range(5, 5 + draw(st.integers(1, 3))))
    if event is Event.LEAVE:
        if len(members) == 1:
            members = (*members, member(9))
        facts["leaving"] = tuple(
            sorted(draw(st.sets(st.integers(0, len(members) - 1), min_size=1, max_size=len(members) - 1)))
        )
    if event is Event.GROW:
        facts["grown"] = (draw(st.integers(0, len(topics) - 1)), draw(st.integers(1, 5)))
    before = draw(st.sampled_from([*Before]))
    if before is Before.OWN:
        facts["seed"] = draw(st.integers(0, 2**53 - 1))
    if before is Before.GIVEN:
        owner = st.integers(NOBODY, len(members) - 1)
        facts["given"] = tuple(
            tuple(draw(st.lists(owner, min_size=topic.partitions, max_size=topic.partitions)))
            for topic in topics
        )
    return Case(members=members, topics=topics, before=before, **facts)


def made_or_refused(make: Callable[[], Case]) -> Case | None:
    """The case, or None after a look at the refusal: one line, and where."""
    refused: CaseError | None = None
    try:
        return make()
    except CaseError as error:
        refused = error
    assert str(refused)
    assert "\n" not in str(refused)
    assert refused.field
    return None


# -- answers


def test_six_members_and_a_newcomer_as_kafkas_own_classes_answer() -> None:
    case = look()
    assert query_of(case) == LOOK
    told = {f"{each.board.protocol} {each.board.assignor}": each for each in answers(case)}
    assert [letters(case, each.before) for each in told.values()] == ["ABABCCDEDEFFABCDEFABC"] * 6
    assert {
        name: (m.moved, m.revoked, m.most - m.least) for name, each in told.items() if (m := each.measures)
    } == {
        "classic range": (1, 1, 3),
        "classic roundrobin": (19, 19, 0),
        "classic sticky": (3, 3, 0),
        "classic cooperative-sticky": (3, 3, 0),
        "consumer range": (5, 5, 3),
        "consumer uniform": (3, 3, 0),
    }
    assert letters(case, told["consumer uniform"].after) == "ABABCCDEDEFFABCDEFGGG"
    cooperative = told["classic cooperative-sticky"]
    assert cooperative.sent is not None
    assert letters(case, cooperative.sent) == "AB..C.DEDEFFABCDEFABC"
    assert "".join(part["text"] for part in verdict(case, answers(case))) == (
        "When G joins, sticky, cooperative-sticky and uniform move 3 partitions and end even; roundrobin moves 19. "
        "Range leaves G with 1 partition of 21."
    )


@pytest.mark.parametrize(
    ("event", "moved"),
    [
        (Event.FULL, [0, 0, 0, 0, 0, 0]),
        (Event.STABLE, [0, 10, 0, 0, 0, 0]),
        (Event.LEAVE, [2, 14, 0, 0, 2, 0]),
        (Event.GROW, [9, 19, 0, 0, 9, 0]),
    ],
)
def test_the_other_events_without_racks(event: Event, moved: list[int]) -> None:
    case = preset(SIX, sizes=Sizes.SKEWED, event=event)
    assert [each.measures.moved for each in answers(case) if each.measures] == moved


@examples(40)
@given(cases(), st.sampled_from(BOARDS))
def test_an_answer_is_the_same_every_time_and_gives_nobody_what_it_does_not_read(
    case: Case, board: Board
) -> None:
    found = answer(case, board)
    again: Case = pickle.loads(pickle.dumps(case))
    assert pickle.loads(pickle.dumps(answer(again, board))) == found
    if found.measures is None or found.faults:
        return
    topics = [place for place, size in enumerate(case.sizes) for _ in range(size)]
    for topic, owner in zip(topics, found.after, strict=True):
        if owner != NOBODY:
            assert owner in case.present
            assert topic in case.everybody[owner].topics
    steps = sheet(case)["answers"][BOARDS.index(board)]["steps"]
    assert all(0 <= column < len(topics) for step in steps for column in step["columns"])


def test_answers_do_not_depend_on_the_process() -> None:
    code = "from tests.simulations.test_laboratory import look; from simulations.laboratory.sheets import sheet; print(sheet(look()))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_where_each_assignor_left_the_group_itself_the_seed_counts_and_members_stay_the_same() -> None:
    case = preset(Shape(5, 2, 17), before=Before.OWN)
    befores = {seed: answer(replace(case, seed=seed), UNIFORM).before for seed in range(6)}
    assert len(set(befores.values())) > 1
    for before in befores.values():
        assert set(before) == {0, 1, 2, 3, 4}
    # A group that its own assignor left has nothing to do when nothing changes.
    for board in BOARDS:
        found = answer(case, board).measures
        assert found is not None
        assert found.moved == 0


def test_every_board_is_an_assignor_and_every_assignor_has_its_board() -> None:
    there = {(protocol, name) for protocol, named in ASSIGNORS.items() for name in named}
    assert {(board.protocol, board.assignor) for board in BOARDS} == there


# -- steps, scorecard, words


def test_the_steps_frame_the_columns_that_they_speak_of() -> None:
    told = sheet(look())
    uniform = told["answers"][5]["steps"]
    assert (
        uniform[0]["says"]
        == "All subscribe to the same topics. 21 partitions, 7 members: 3 each, nothing left over."
    )
    over = uniform[1]
    assert over["says"].startswith("A, B and C have more than their share")
    assert over["columns"] == [18, 19, 20]
    assert over["strip"][0] == [0, 3, 4]
    given_out = next(step for step in uniform if "handed out" in step["says"])
    assert given_out["chips"] == [[18, 6], [19, 6], [20, 6]]
    assert given_out["strip"][6] == [6, 3, 0]
    for each in told["answers"]:
        closing = each["steps"][-1]
        assert [count for _, count, _ in closing["strip"]] == each["counts"]["after"]
    assert told["answers"][3]["steps"][-2]["says"].startswith(
        "Withheld: others may still hold orders-2, orders-3 and orders-5,"
    )


def test_the_best_of_a_row_is_marked_and_nothing_where_all_are_equal() -> None:
    rows = {row["key"]: row for row in sheet(look())["scorecard"]}
    assert rows["interrupted"]["values"] == [6, 6, 6, 3, 5, 3]
    assert rows["interrupted"]["best"] == [3, 5]
    assert rows["local"]["best"] == [0, 2, 3]
    assert rows["rebalances"]["values"] == [1, 1, 1, 2, 1, 1]
    plain = {row["key"]: row for row in sheet(preset(SIX, event=Event.FULL))["scorecard"]}
    assert plain["local"]["values"] == [None] * 6
    assert plain["moved"]["best"] == []


@examples(40)
@given(cases())
def test_whatever_the_case_there_is_a_sentence_whose_clauses_lead_to_boards(case: Case) -> None:
    parts = verdict(case, answers(case))
    text = "".join(part["text"] for part in parts)
    assert text.endswith(".")
    assert "  " not in text
    assert all(part["board"] in range(6) for part in parts if "board" in part)
    assert any("board" in part for part in parts)
    assert title_of(case)


# -- clicking


def test_presets_change_one_axis_and_leave_the_others() -> None:
    case = changed(look(), {"what": "sizes", "to": "equal"})
    assert query_of(case) == "g=abcabc.a&t=7,7,7&s=same&from=range&e=join"
    case = changed(case, {"what": "subscriptions", "to": "nested"})
    case = changed(case, {"what": "racks", "to": "none"})
    case = changed(case, {"what": "before", "to": "own", "seed": 4})
    assert query_of(case) == "g=6.1&t=7,7,7&s=nested&from=own&e=join&seed=4"
    case = changed(case, {"what": "event", "to": "leave", "count": 2})
    assert query_of(case) == "g=6&t=7,7,7&s=nested&from=own&e=leave:1.4&seed=4"
    case = changed(case, {"what": "shape", "members": 60, "topics": 10, "partitions": 600})
    assert query_of(case) == "g=60&t=10x60&s=nested&from=own&e=leave:15.45&seed=4"


def test_members_and_topics_are_built_by_clicking() -> None:
    case = changed(look(), {"what": "members", "by": 1})
    assert query_of(case) == "g=abcabca.b&t=12,6,3&s=same&from=range&e=join"
    case = changed(case, {"what": "remove", "member": 0})
    assert query_of(case) == "g=bcabca.b&t=12,6,3&s=same&from=range&e=join"
    case = changed(case, {"what": "rack", "member": 6, "to": None})
    case = changed(case, {"what": "subscribe", "member": 0, "topic": 2, "to": False})
    assert query_of(case) == "g=bcabca.1&t=12,6,3&s=3,7,7,7,7,7,7&from=range&e=join"
    case = changed(case, {"what": "partitions", "topic": 1, "by": -2})
    case = changed(case, {"what": "topics", "by": 1})
    assert query_of(case) == "g=bcabca.1&t=12,4,3,3&s=b,f,f,f,f,f,f&from=range&e=join"
    case = changed(case, {"what": "leaves", "member": 1, "to": True})
    case = changed(case, {"what": "leaves", "member": 3, "to": True})
    assert (case.event, case.leaving, case.joining) == (Event.LEAVE, (1, 3), ())
    case = changed(case, {"what": "remove", "member": 1})
    assert case.leaving == (2,)
    case = changed(case, {"what": "leaves", "member": 2, "to": False})
    assert case.event is Event.STABLE


@examples(80)
@given(
    cases(),
    st.fixed_dictionaries(
        {"what": st.sampled_from(list(CHANGES))},
        optional={
            "to": st.sampled_from(
                ["equal", "same", "three", "own", "range", "leave", "join", "a", True, False, None]
            ),
            "by": st.sampled_from([1, -1, 4, -9]),
            "member": st.integers(0, 6),
            "topic": st.integers(0, 4),
            "count": st.integers(0, 4),
            "members": st.integers(0, 9),
            "topics": st.integers(0, 3),
            "partitions": st.integers(0, 9),
        },
    ),
)
def test_a_change_makes_another_case_or_says_why_not(case: Case, change: dict[str, Any]) -> None:
    made = made_or_refused(lambda: changed(case, change))
    if made is not None:
        assert case_of(query_of(made)) == made


# -- from a timeline, and to the board


FRAME: dict[str, Any] = {
    "protocol": "consumer",
    "target": {"id-b": {"foo": [0, 1]}, "id-a": {"foo": [2], "bar": [0]}},
    "topics": {"foo": {"id": "x", "partitions": 4}, "bar": {"id": "y", "partitions": None}},
    "members": {
        "id-a": {"subscribed": ["foo", "bar"], "assigned": {"foo": [2]}, "rack_id": "eu-1"},
        "id-b": {"subscribed": ["foo"], "assigned": {"foo": [0, 1]}, "rack_id": None},
    },
}


def test_a_moment_of_a_timeline_becomes_a_case_with_its_members_ids_and_target() -> None:
    case = case_of_frame(FRAME, [{"id": "id-b", "name": "B"}, {"id": "id-a", "name": "A"}])
    assert case.names == ("B", "A")
    assert case.ids == ("id-b", "id-a")
    assert case.topic_names == ("bar", "foo")
    assert [topic.partitions for topic in case.topics] == [1, 4]
    assert case.given == ((1,), (0, 0, 1, NOBODY))
    assert [member.topics for member in case.members] == [(1,), (0, 1)]
    assert case_of(query_of(case)) == case
    joined = happening(case, Event.JOIN, 2)
    assert joined.names == ("B", "A", "new-1", "new-2")
    # Steps speak of members by the names that the reader knows.
    assert "id-" not in str([each["steps"] for each in sheet(joined)["answers"]])


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({**FRAME, "protocol": "share"}, "a share group"),
        ({**FRAME, "members": {}}, "nobody is in the group"),
        (
            {**FRAME, "topics": {}, "target": {}, "members": {"A": {"subscribed": ["foo"], "assigned": {}}}},
            "no topic",
        ),
    ],
)
def test_a_moment_without_a_group_to_compare_says_so(frame: dict[str, Any], says: str) -> None:
    with pytest.raises(CaseError, match=says):
        case_of_frame(frame)


@pytest.mark.parametrize("partitions", [10_001, 2**31 - 1])
def test_a_moment_with_more_partitions_than_the_laboratory_takes_is_refused_by_the_number(
    partitions: int,
) -> None:
    """A record may tell any number: nothing is made of it first."""
    with pytest.raises(CaseError, match=f"{partitions:,} partitions are more than the laboratory's 10,000"):
        case_of_frame({**FRAME, "topics": {"foo": {"id": None, "partitions": partitions}}, "target": {}})


@pytest.mark.parametrize("event", [Event.FULL, Event.JOIN, Event.LEAVE, Event.GROW])
def test_what_the_simulator_plays_ends_where_the_board_says(event: Event) -> None:
    case = look(event=event)
    for board in BOARDS[4:]:
        found = answer(case, board)
        assert why_not(case, found) is None
        state = initial_state("laboratory")
        for entry in run(load(scenario_of(case, found)), "kafka", 1):
            state = replay(state, entry)
        frame = FrameMaker().frame(state)
        assert frame["state"] == "Stable"
        owned = {member: frame["members"][member]["assigned"] for member in frame["members"]}
        played = places_of(case, owned)
        if event is Event.FULL and board == UNIFORM:
            # On the board they join one after another, and each join finds a target that is kept as far as it goes.
            assert sorted(counts_of(case, played)) == sorted(counts_of(case, found.after))
        else:
            assert played == found.after


def test_what_the_simulator_cannot_play_says_why() -> None:
    joins = {each.board: why_not(look(), each) for each in answers(look())}
    assert [reason is None for reason in joins.values()] == [False] * 4 + [True] * 2
    assert "Open 5 (range) or 6 (uniform)" in str(joins[BOARDS[2]])
    stable = look(event=Event.STABLE)
    assert "Nothing happens" in str(why_not(stable, answer(stable, UNIFORM)))
