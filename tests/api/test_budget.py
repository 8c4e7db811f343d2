"""``manage.py budget``: limits that hold and limits that do not, as a CI asks it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from groups.models import Timeline
from simulations import small_scenarios
from tests.conftest import manage
from tests.house import ROOT
from tests.serving import environment_for


def budget(*words: str) -> tuple[int, list[dict[str, Any]], str]:
    """The exit code, the lines, and what is said of a failure."""
    out = io.StringIO()
    try:
        call_command("budget", *words, stdout=out)
    except CommandError as error:
        return error.returncode, [json.loads(line) for line in out.getvalue().splitlines()], str(error)
    return 0, [json.loads(line) for line in out.getvalue().splitlines()], ""


def test_a_run_is_held_against_each_limit_and_what_exceeds_one_is_kept(
    transactional_db: None, tmp_path: Path
) -> None:
    code, (line,), _ = budget("kip848-basic", "--max-rebalances", "1000", "--max-unassigned", "1h")
    assert (code, line["exceeded"]) == (0, [])
    assert min(line["rebalances"], line["moves"], line["unassigned"]) > 0

    report, page = tmp_path / "budget.xml", tmp_path / "run.html"
    most = line["rebalances"] - 1
    code, (again,), says = budget(
        line["timeline"], "--max-rebalances", str(most), "--max-moves", str(line["moves"]),
        "--junit", str(report), "--page", str(page),
    )  # fmt: skip
    assert (code, again["timeline"]) == (1, line["timeline"])
    assert again["exceeded"] == [f"rebalances {most + 1}, at most {most}"]
    assert says == f"Over the budget: {line['group']}: rebalances {most + 1}, at most {most}."
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["max-rebalances"]
    assert page.read_bytes().startswith(b"<!doctype html>")


@pytest.mark.long
def test_the_command_says_nothing_but_its_line_where_no_redis_is(tmp_path: Path) -> None:
    done = manage("budget", "kip848-basic", "--max-moves", "1000", environment=environment_for(tmp_path))
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_a_small_scenario_and_a_file_are_run_as_a_case_study_is(
    transactional_db: None, tmp_path: Path
) -> None:
    name = small_scenarios.names()[0]
    code, (line,), _ = budget(name, "--max-moves", "1000")
    file = tmp_path / "mine.yaml"
    file.write_text(small_scenarios.text(name))
    again = budget(str(file), "--max-moves", "1000")[1][0]
    assert code == 0
    assert {key: line[key] for key in ("group", "rebalances", "moves")} == {
        key: again[key] for key in ("group", "rebalances", "moves")
    }


def test_each_group_of_a_log_has_a_line(transactional_db: None) -> None:
    code, lines, _ = budget(str(ROOT / "groups/samples/orders-enrich"), "--max-moves", "100000")
    assert code == 0
    assert [line["group"] for line in lines] == list(
        Timeline.objects.order_by("group").values_list("group", flat=True)
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["kip848-basic"], "No limit is given"),
        (["-", "--max-moves", "1"], "into a file"),
        (["nowhere", "--max-moves", "1"], "neither a file nor a bundled scenario"),
        (["kip848-basic", "--seed", "x", "--max-moves", "1"], "x"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(transactional_db: None, words: list[str], says: str) -> None:
    code, lines, said = budget(*words)
    assert (code, lines, "\n" in said) == (2, [], False)
    assert says in said
