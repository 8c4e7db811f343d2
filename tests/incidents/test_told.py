"""What the product says of the recorded incidents: nothing false, and never less than it has told before."""

from __future__ import annotations

import re

import pytest

from .facts import FACTS, RECORDED, SEGMENTS, recorded_names
from .judge import NOTHING_HAPPENS, Judgement, floors
from .page import PAGE, page
from .scripts import INCIDENTS

NAMES = recorded_names()

SEGMENTS_BYTES_MOST = 60_000
INCIDENTS_LEAST = 20

PAGE_COMMAND = "python -m tests.incidents.page"


@pytest.mark.parametrize("name", NAMES)
def test_no_finding_is_false(judged: dict[str, Judgement], name: str) -> None:
    assert [(each.claim.says, each.because) for each in judged[name].false] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_clause_of_a_verdict_points_at_a_true_finding(judged: dict[str, Judgement], name: str) -> None:
    assert judged[name].unproven_clauses == []


@pytest.mark.parametrize("name", NAMES)
def test_no_fewer_facts_are_told_than_before(judged: dict[str, Judgement], name: str) -> None:
    assert judged[name].told_count >= floors()[name]


@pytest.mark.parametrize("name", [name for name in NOTHING_HAPPENS if name in NAMES])
def test_no_finding_of_an_incident_fires_where_nothing_happens(
    judged: dict[str, Judgement], name: str
) -> None:
    assert [each.says for each in judged[name].alarms] == []


def test_the_page_is_current(judged: dict[str, Judgement]) -> None:
    assert PAGE.read_text() == page(judged.values()), f"write it anew: {PAGE_COMMAND}"


def test_every_recording_is_small_and_can_be_made_anew() -> None:
    assert [name for name in NAMES if name not in INCIDENTS] == []
    sizes = {name: (RECORDED / name / SEGMENTS).stat().st_size for name in NAMES}
    assert {name: size for name, size in sizes.items() if size > SEGMENTS_BYTES_MOST} == {}
    assert all((RECORDED / name / FACTS).exists() for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_done_is_what_the_script_does(judged: dict[str, Judgement], name: str) -> None:
    facts, incident = judged[name].facts, INCIDENTS[name]
    assert (facts["title"], facts["done"]) == (incident.title, incident.done)


def test_at_least_twenty_incidents_are_recorded() -> None:
    assert len(NAMES) >= INCIDENTS_LEAST


@pytest.mark.parametrize("name", NAMES)
def test_nothing_lasts_for_no_time(judged: dict[str, Judgement], name: str) -> None:
    said = [each.says for each in judged[name].said.claims]
    said += [clause["text"] for each in judged[name].said.verdicts for clause in each["clauses"]]
    assert [each for each in said if re.search(r"(?<!\d)0\.0\u202fs", each)] == []
