"""Finders: each is a file, which the registry finds, the reference lists, and a checkpoint carries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from shutil import copytree, ignore_patterns

from groups.history.findings.declaring import Watch
from groups.history.findings.finder import SOURCES, Finder
from groups.history.findings.patterns.pattern import DeclaredPattern
from groups.history.findings.registry import finders, rows
from groups.history.state.plain import from_plain, to_plain
from tests.history import findings_page
from tests.history.findings_page import SOURCE_NAMES
from tests.history.test_patterns import quiet_hour
from tests.house import ROOT

ROOM = ROOT / "groups" / "history" / "findings"


def test_each_file_that_declares_a_finder_is_found() -> None:
    files = [path for path in ROOM.rglob("*.py") if "FINDER: Final" in path.read_text(encoding="utf-8")]
    assert len(finders()) == len(files)


def test_the_reference_has_the_patterns_that_finders_declare() -> None:
    assert findings_page.PAGE.read_text(encoding="utf-8") == findings_page.text(), (
        "write it anew: python -m tests.history.findings_page write"
    )


def test_the_reference_describes_each_other_kind_and_what_it_is_read_from() -> None:
    patterns = {each.pattern.kind for each in finders() if isinstance(each, DeclaredPattern)}
    declared = {kind: row.needs for row in rows() for kind in row.kinds if kind not in patterns}
    described = findings_page.described()
    assert described.keys() == declared.keys()
    assert {kind for kind, needs in described.items() if needs and needs != declared[kind]} == set()


def test_no_kind_is_declared_twice_and_no_place_is_taken_twice() -> None:
    kinds = Counter(kind for row in rows() for kind in row.kinds)
    places = Counter(each.place for each in finders())
    assert [one for one, count in (*kinds.items(), *places.items()) if count > 1] == []


def test_what_finders_watch_by_themselves_is_plain_and_has_a_name_of_its_own() -> None:
    watches = [each.watch for each in finders() if each.watch is not None]
    assert len({watch.__name__ for watch in watches}) == len(watches)
    for watch in watches:
        assert issubclass(watch, Watch)
        assert watch.kinds
        assert from_plain(watch, to_plain(watch())) == watch()


def test_a_patterns_sources_are_some_that_a_log_can_have() -> None:
    for each in finders():
        if isinstance(each, DeclaredPattern):
            wanted = {source for some in each.pattern.sources for source in some}
            assert wanted <= SOURCE_NAMES.keys()
            assert wanted <= {*SOURCES.values(), "commits"}
            assert each.pattern.lacks(frozenset(wanted)) is None
            assert each.pattern.lacks(frozenset()) is not None


def test_of_a_log_without_members_nothing_is_said_to_be_beyond_it() -> None:
    assert Finder().undecided([]) == []


def test_a_quiet_log_of_records_says_which_patterns_it_cannot_rule_out() -> None:
    told = {one["kind"] for one in quiet_hour().summary()["cannot_tell"]}
    assert {"zombie", "assignor_failure", "absent_static_member", "sync_never_sent", "fence_loop"} <= told
    assert told.isdisjoint({"storm", "slow_revocation", "limbo", "session_expiry"}), (
        "it has records and commits"
    )


TOY = """
from typing import Final
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding

def found_toys(facts: Facts) -> list[Finding]:
    return [finding("toy", "A toy", [1])]

FINDER: Final = Declared(place=999, find=found_toys, rows=(Row(kinds=("toy",)),))
"""

PROGRAM = """
from groups.history.passes.recorder import Recorder
from groups.history.findings import registry
from groups.history.findings.finder import Finder
frame = {"members": {}, "topics": {}, "protocol": None, "state": None}
print([one["says"] for one in Finder().findings(frame)], [row.kinds for row in registry.rows()][-1])
"""


def test_another_finding_touches_one_file_of_the_product(tmp_path: Path) -> None:
    copytree(ROOT / "groups", tmp_path / "groups", ignore=ignore_patterns("__pycache__"))
    (tmp_path / "groups/history/findings/toy.py").write_text(TOY, encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        # The rest of the tree stands behind the copy, which holds this one package.
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True,
        check=True,
    )
    assert told.stdout.decode().split("\n")[0] == "['A toy'] ('toy',)"
