"""Damaged scenarios: whatever is done to a good document, it is read or refused with a line, and what is read runs."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import ScenarioError, load
from tests.simulations.test_scenario import EVERYTHING, GOOD
from tests.simulations.test_scenario_mistakes import BASE
from tests.tiers import examples

STUDIES = ("kip848-six-partitions", "released-fail-over", "incident-static-churn")
DOCUMENTS = [GOOD, EVERYTHING, BASE, *(studies.text(name) for name in STUDIES)]

JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from(
        ["A", "foo", "coordinator", "everything", "5s", "-1s", "", "~", "crash", "1e9", "0x10", "nan"]
    ),
    st.text(max_size=4),
    st.lists(st.sampled_from(["A", "B", "foo", 0]), max_size=3),
    st.dictionaries(st.sampled_from(["at", "A", "foo", "0"]), st.integers(0, 3), max_size=2),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where anything stands in a document, itself left out."""
    found = [path] if path else []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += paths(inner, (*path, key))
    return found


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@st.composite
def damaged(draw: st.DrawFn, most: int = 4) -> str:
    """A good document with one thing or ``most`` replaced, taken away, renamed or put twice."""
    document = yaml.safe_load(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, most))):
        there = paths(document)
        if not there:
            break
        path = draw(st.sampled_from(there))
        holder, key = at(document, path[:-1]), path[-1]
        match draw(st.sampled_from(["replace", "replace", "remove", "rename", "copy"])):
            case "replace":
                holder[key] = draw(JUNK)
            case "remove":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["at", "join", "kill", "foo", "A", "regex", "x"]))] = holder.pop(
                    key
                )
            case _ if isinstance(holder, list):
                holder.append(deepcopy(at(document, draw(st.sampled_from(there)))))
    return yaml.dump(document, sort_keys=False, Dumper=_Plain)


class _Plain(yaml.SafeDumper):
    """Writes no anchors, which scenarios do not take."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def refused(text: str) -> bool:
    """Whether the document is refused, in one line that says where."""
    error = error_of(text)
    if error is None:
        return False
    assert 1 <= error.line <= text.count("\n") + 1
    assert "\n" not in str(error)
    assert error.message
    return True


def error_of(text: str) -> ScenarioError | None:
    try:
        load(text)
    except ScenarioError as error:
        return error
    return None


@examples(150)
@given(damaged())
def test_a_damaged_document_is_read_or_refused_with_its_line(text: str) -> None:
    refused(text)


@examples(150)
@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_damaged_text_is_read_or_refused_with_its_line(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 6))
    put = data.draw(
        st.one_of(st.just(""), st.text("{}[]:,-#'\"&*!|>%@` \n\tA0~", max_size=4), st.text(max_size=2))
    )
    refused(text[:start] + put + text[start + length :])


@examples(40)
@given(damaged(1))
def test_what_is_read_runs(text: str) -> None:
    if not refused(text):
        for _ in islice(run(load(text)), 400):
            pass
