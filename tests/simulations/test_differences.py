"""The table of differences: each case is played by both rules and gives what the table says."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from groups.history.state.group import Semantics
from simulations.proof.differences import DIFFERENCES, Case, Difference, play
from simulations.proof.differences.pages import markdown

CASES = [pytest.param(each.case, id=each.id) for each in DIFFERENCES if each.case is not None]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("semantics", list(Semantics))
def test_a_case_gives_by_either_rules_what_the_table_says(case: Case, semantics: Semantics) -> None:
    assert case.look(play(case, semantics)) == getattr(case, semantics)


@pytest.mark.parametrize("case", CASES)
def test_a_case_tells_the_two_apart(case: Case) -> None:
    assert case.kip != case.kafka


@pytest.mark.parametrize("case", CASES)
def test_a_case_can_be_shown_as_json(case: Case) -> None:
    for semantics in Semantics:
        steps = play(case, semantics)
        assert len(steps) == len(case.operations)
        assert json.loads(json.dumps(steps)) == steps
        operations = " ".join(step["operation"] for step in steps)
        assert not re.search(r"\w\(\w+=|b'|\('|None|True|False|\{'", operations), "words, not Python's"


@pytest.mark.parametrize("difference", [pytest.param(each, id=each.id) for each in DIFFERENCES])
def test_a_difference_is_shown_or_says_why_it_cannot_be(difference: Difference) -> None:
    assert (difference.case is None) != (difference.unshown is None)


SCENARIOS = [pytest.param(each, id=each.id) for each in DIFFERENCES if each.scenario is not None]


@pytest.mark.parametrize("difference", SCENARIOS)
@pytest.mark.parametrize("semantics", list(Semantics))
def test_a_scenario_gives_by_either_rules_what_the_table_says(
    difference: Difference, semantics: Semantics
) -> None:
    case = difference.scenario
    assert case is not None
    assert case.look(case.entries(semantics)) == getattr(case, semantics)


def test_what_neither_an_exchange_nor_a_run_can_show_is_bytes_or_the_same_in_both() -> None:
    """Each of these has its reason on its page."""
    words = [each.id for each in DIFFERENCES if not (each.case or each.scenario or each.studies)]
    assert len(words) <= 7, words


BEGIN = "<!-- differences: manage.py compare_semantics --markdown -->"
END = "<!-- end of differences -->"
"""The table is between these lines of ``docs/explanation/semantics.md``."""


def test_every_difference_has_an_id_of_its_own() -> None:
    ids = [each.id for each in DIFFERENCES]
    assert len(set(ids)) == len(ids)


def test_the_docs_tables_are_those_of_the_code() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/semantics.md").read_text()
    between = page.split(BEGIN)[1].split(END)[0].strip()
    assert between == markdown(DIFFERENCES), (
        "put what manage.py compare_semantics --markdown prints between the marks"
    )


def test_the_command_plays_a_case_by_both_rules() -> None:
    lines = _lines("first-epoch")
    assert lines[0]["kip"]["group"]["group_epoch"] == 1
    assert lines[0]["kafka"]["group"]["group_epoch"] == 2
    assert (lines[-1]["kip"], lines[-1]["kafka"]) == (1, 2)


def test_the_command_plays_a_scenario_by_both_rules() -> None:
    text, found = _lines("stale-commit")
    assert "auto_commit" in text["scenario"]
    assert (found["kip"], found["kafka"]) == ([0, 113, 0], [0])


def test_the_command_lists_every_difference() -> None:
    assert [line["id"] for line in _lines("--list")] == [each.id for each in DIFFERENCES]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing",), "there is no difference 'nothing'; compare_semantics --list names all"),
        ((), "give one of CASE, --list and --markdown"),
        (("first-epoch", "--list"), "give one of CASE, --list and --markdown"),
        (("dead",), "dead has no case"),
    ],
)
def test_the_command_says_in_one_line_what_it_cannot_do(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says) as refused:
        call_command("compare_semantics", *arguments, stdout=StringIO())
    assert refused.value.returncode == 2


def _lines(*arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("compare_semantics", *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]
