"""A case without its names: nothing of them is left, and every assignor answers as before."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.laboratory import Case, CaseError, CaseTopic, Event, Member, answers, renaming
from simulations.laboratory.presets import Racks, Shape, Sizes, preset
from simulations.laboratory.sheets import sheet

NAMES = st.text(alphabet="zyxQRS-_.é𐍈", min_size=6, max_size=12)


@st.composite
def named_cases(draw: st.DrawFn) -> Case:
    members, topics = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    names = draw(st.lists(NAMES, min_size=2 * members + topics, max_size=2 * members + topics, unique=True))
    subscribed = st.sets(st.integers(0, topics - 1), min_size=1)
    return Case(
        members=tuple(
            Member(topics=tuple(sorted(draw(subscribed))), name=names.pop(), member_id=names.pop())
            for _ in range(members)
        ),
        topics=tuple(CaseTopic(partitions=draw(st.integers(1, 6)), name=names.pop()) for _ in range(topics)),
        event=Event.LEAVE,
        leaving=(draw(st.integers(0, members - 1)),),
    )


@given(named_cases())
def test_no_name_is_left_and_all_six_answer_as_before(case: Case) -> None:
    hidden = renaming.nameless(case)
    told = orjson.dumps(sheet(hidden)).decode()
    for name in (*case.names, *case.ids, *case.topic_names):
        assert name not in told
    for before, after in zip(answers(case), answers(hidden), strict=True):
        assert (before.before, before.after, before.sent, before.measures) == (
            after.before, after.after, after.sent, after.measures,
        )  # fmt: skip


def test_the_laboratorys_own_names_stay() -> None:
    case = preset(Shape(6, 3, 21), sizes=Sizes.SKEWED, racks=Racks.THREE, event=Event.JOIN)
    assert renaming.nameless(case) is case


def test_a_case_that_would_be_answered_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = preset(Shape(6, 3, 21), sizes=Sizes.SKEWED, racks=Racks.THREE, event=Event.JOIN)
    named = replace(case, topics=tuple(replace(topic, name=f"t{at}") for at, topic in enumerate(case.topics)))
    monkeypatch.setattr(renaming, "_numbered", lambda kind, names: [f"{kind}-{len(names) - at}" for at in range(len(names))])  # fmt: skip
    with pytest.raises(CaseError, match="would answer otherwise"):
        renaming.nameless(named)
