"""Cases of the laboratory as links and documents: each comes back, and what cannot be said is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.laboratory import Before, Case, CaseError, CaseTopic, Event
from simulations.laboratory.documents import from_json, to_json
from simulations.laboratory.links import KEYS, QUERY_MOST, case_of, query_of
from simulations.laboratory.presets import SHAPES, Racks, Shape, Sizes, Subscriptions, preset
from tests.simulations.test_laboratory import cases, made_or_refused
from tests.tiers import examples


@examples(80)
@given(cases())
def test_a_case_comes_back_from_its_link_and_from_its_document(case: Case) -> None:
    query = query_of(case)
    assert case_of(query) == case
    assert query_of(case_of(query)) == query
    assert from_json(to_json(case)) == case


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.members} members")
def test_every_preset_has_a_short_link(shape: Shape) -> None:
    for event in Event:
        for kind in Subscriptions:
            case = preset(shape, subscriptions=kind, racks=Racks.THREE, sizes=Sizes.SKEWED, event=event)
            query = query_of(case)
            assert case_of(query) == case
            assert len(query) < 160


@examples(80)
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        st.one_of(
            st.text("0123456789abcx.,-:=~gijleavrownstd", max_size=14),
            st.sampled_from(
                ["6", "3,2", "range", "own", "given", "join", "leave:0-9", "grow:0.9", "nested", "6.1"]
            ),
        ),
    )
)
def test_any_query_is_a_case_or_one_line_that_names_the_key(told: dict[str, str]) -> None:
    query = "&".join(f"{key}={value}" for key, value in told.items())
    case = made_or_refused(lambda: case_of(query))
    if case is not None:
        assert case_of(query_of(case)) == case


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("", "g", "lacks g="),
        ("g=6&t=3&q=1", "query", "'q' is no key"),
        ("&".join(["a=1"] * 900), "query", "'a' is no key"),
        ("g=٣&t=3", "g", "is no group"),
        ("g=6&g=7&t=3", "g", "twice"),
        ("g=0&t=3", "members", "at least one member"),
        ("g=1001&t=3", "g", "1,001 members are more than the laboratory's 1,000"),
        ("g=900.101&t=3", "members", "more than the laboratory's 1,000"),
        ("g=6&t=10001", "t", "more than 10,000"),
        ("g=6&t=200x51&s=same", "topics", "10,200 partitions are more than the laboratory's 10,000"),
        ("g=6&t=201x1", "t", "more than 200"),
        ("g=xyz&t=3", "g", "is no group"),
        ("g=6&t=0", "topics", "at least one partition"),
        ("g=6&t=3&e=leave:9", "event", "places from 0 to 5"),
        ("g=2&t=3&e=leave:0-1", "event", "one member has to stay"),
        ("g=6.1&t=3", "event", "newcomers belong to join"),
        ("g=6&t=3&e=join", "event", "join needs newcomers"),
        ("g=2&t=3&from=given&b=01", "b", "it needs 1 for each of the 3 partitions"),
        ("g=2&t=3&from=given&b=019", "before", "no member of the group"),
        ("g=2&t=3&from=own&seed=9999999999999999", "seed", "the seed must be"),
        ("g=2&t=3&n=A,A", "members", "two members are called A"),
        ("g=2&t=3&s=8,1", "s", "names more than the 1 topics"),
        (f"g=6&t=3&n={'x' * QUERY_MOST}", "query", "more than the 8,000"),
    ],
)  # fmt: skip
def test_what_a_link_cannot_say_is_told_with_its_key_and_the_bound(query: str, field: str, says: str) -> None:
    with pytest.raises(CaseError) as caught:
        case_of(query)
    assert caught.value.field == field
    assert says in str(caught.value)


def test_a_group_that_does_not_fit_into_a_link_says_so() -> None:
    given = ((0,) * 5_000,)
    case = Case(
        members=preset(Shape(100, 1, 5_000)).members,
        topics=(CaseTopic(partitions=5_000),),
        before=Before.GIVEN,
        given=given,
    )
    with pytest.raises(CaseError, match="more than the 8,000 that a link can carry"):
        query_of(case)
