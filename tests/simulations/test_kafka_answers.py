"""Thousands of small groups, answered as Kafka's own classes answered them."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.faults import FAULTS
from simulations.protocol.assignors.spec_document import answer_to
from tests.broker import jars
from tests.conftest import missing
from tests.simulations.kafka_answers import committed, drawn, kafka_answers

CASES_LEAST = 600
"""For each assignor."""


@pytest.mark.parametrize(
    ("protocol", "assignor"), [(protocol, name) for protocol, names in ASSIGNORS.items() for name in names]
)
def test_an_assignor_answers_as_kafkas_own_class_and_throws_where_it_throws(
    protocol: str, assignor: str
) -> None:
    cases = [
        case
        for case in committed()
        if (case["spec"]["protocol"], case["spec"]["assignor"]) == (protocol, assignor)
    ]
    assert len(cases) >= CASES_LEAST
    for case in cases:
        answer = answer_to(case["spec"])
        kafka = case["kafka"]
        if "error" in kafka:
            assert answer["faults"], case
        else:
            given = {member_id: owned for member_id, owned in answer["assignment"].items() if owned}
            assert given == kafka["assignment"], case["spec"]
            # Where Kafka's answer is not sound, the fault has a name.
            assert answer["valid"] or answer["faults"], case["spec"]


@pytest.mark.broker
def test_the_released_classes_still_give_these_answers() -> None:
    reason = jars.missing()
    if reason is not None:
        missing(reason)
    specs = list(drawn())
    assert specs == [case["spec"] for case in committed()]
    assert kafka_answers(specs) == [case["kafka"] for case in committed()]


def test_the_reference_tells_of_every_fault() -> None:
    told = (Path(__file__).parents[2] / "docs/reference/commands.md").read_text()
    assert [name for name in FAULTS if f"| `{name}` |" not in told] == []
