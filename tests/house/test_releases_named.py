"""A release's number is written in the table of releases alone: everything else asks it for the release or for a rule."""

from __future__ import annotations

import re
import subprocess
from typing import Final

import pytest

from groups.releases import OLDER, TABLE, Release, since
from groups.releases.table import version_of
from tests.house import ROOT

ROOMS: Final = ("explorer", "groups", "simulations", "static", "templates")
CODE: Final = ("*.py", "*.html", "*.js", "*.ts", "*.css")
"""What runs or is shown. Scenarios and recordings name the release that they are of: for them it is data."""

NUMBERS: Final = re.compile(
    r"(?<![\w.])(?:"
    + "|".join(re.escape(each) for each in Release if each.count(".") == 2)
    + r")(?![\w.]*\d)"
)


def named(text: str) -> list[str]:
    """Each line that has a release's number with its patch level."""
    if not NUMBERS.search(text):
        return []
    return [line.strip() for line in text.splitlines() if NUMBERS.search(line)]


def test_no_file_of_the_product_but_the_table_has_the_number_of_a_release() -> None:
    globs = [f":(glob){room}/**/{kind}" for room in ROOMS for kind in CODE]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *globs, ":!groups/releases", ":!static/vendor"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    files = [ROOT / name for name in listed.split("\0") if name]
    assert len(files) > 500
    found = {
        str(file.relative_to(ROOT)): lines
        for file in files
        if file.is_file() and (lines := named(file.read_text(encoding="utf-8")))
    }
    assert found == {}, "name it through groups.releases, or write “Kafka's released coordinator”"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("Played as Kafka 4.3.1", True),
        ("as 4.4.0.", True),
        ("from 4.4 on", False),
        ("mode 14.3.1", False),
        ("4.3.10", False),
    ],
)
def test_a_number_is_found_where_it_is_one(line: str, wrong: bool) -> None:
    assert bool(named(line)) is wrong


def test_a_rule_is_in_one_table_with_the_release_that_has_it_first() -> None:
    names = [*OLDER, *(rule.name for rule in TABLE)]
    assert len(set(names)) == len(names)
    oldest_modern = min(version_of(each) for each in Release if each.rules.consumer_protocol)
    assert all(version_of("4.0") < version_of(first) <= oldest_modern for first in OLDER.values())
    assert since("assignor_change_bumps") == "4.4"
    with pytest.raises(KeyError):
        since("no_such_rule")
