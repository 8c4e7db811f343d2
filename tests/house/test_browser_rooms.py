"""Rooms of the browser's modules: which may import which."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath

import pytest

from explorer.web.comments import MODULE_COMMENTS, without_comments
from explorer.web.modules import joined_path
from tests.house import ROOT

pytestmark = pytest.mark.once

JS = ROOT / "static/js"

IMPORT = re.compile(r"^(?:import|export)\s[^;]*?from\s+'(\.[^']+)';|import\('(\.[^']+)'\)", re.MULTILINE)

KNOWS = {
    "shared": "",
    "bytes": "shared",
    "frame": "shared",
    "source": "shared",
    "board": "frame shared",
    "clusters": "frame shared",
    "compare": "frame shared",
    "figures": "frame shared",
    "kept": "shared",
    "laboratory": "frame shared",
    "live": "frame shared",
    "sharing": "shared",
    "forks": "shared",
    "rebalances": "figures frame shared",
    "remedies": "shared",
    "scenario": "frame shared",
    "sweep": "shared",
    "timeline": "frame shared",
    "map": "board frame shared timeline",
    "panels": "bytes figures forks frame shared sharing timeline",
    "lesson": "board frame panels shared timeline",
    "troubles": "frame live shared",
    "import": "frame panels shared troubles",
    "stage": "board frame live map panels shared source timeline",
    "pages": "board bytes clusters compare figures frame import kept laboratory lesson live panels rebalances remedies scenario shared sharing source stage sweep timeline troubles",
}
"""Room → the rooms that it imports; a new arrow is a decision, and one that is gone leaves the table."""

FLOORS_MOST = 6


def arrows() -> dict[str, dict[str, str]]:
    """Room → room that it imports → one module that does."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(JS.rglob("*.js")):
        own = path.relative_to(JS)
        for match in IMPORT.findall(without_comments(path.read_text(), MODULE_COMMENTS)):
            if "/vendor/" in (match[0] or match[1]):
                continue
            target = PurePosixPath(joined_path(own.parent, match[0] or match[1]))
            if target.parts[0] != own.parts[0]:
                found[own.parts[0]].setdefault(target.parts[0], str(own))
    return found


def test_every_module_is_in_a_room() -> None:
    assert [path.name for path in JS.glob("*.js")] == []
    assert {path.relative_to(JS).parts[0] for path in JS.rglob("*.js")} == KNOWS.keys()


def test_a_room_imports_the_rooms_that_it_may_and_no_others() -> None:
    found = arrows()
    assert sum(map(len, found.values())) > 40
    forbidden = [
        f"{module} imports of {target}/"
        for room, targets in found.items()
        for target, module in targets.items()
        if target not in KNOWS[room].split()
    ]
    assert forbidden == []
    assert {room: sorted(found[room]) for room in KNOWS} == {
        room: sorted(KNOWS[room].split()) for room in KNOWS
    }


def test_the_rooms_stand_on_few_floors() -> None:
    floors: dict[str, int] = {}
    for room, known in KNOWS.items():
        # The table is in the order of the floors, so that a circle has no place in it.
        floors[room] = 1 + max((floors[each] for each in known.split()), default=0)
    assert max(floors.values()) <= FLOORS_MOST
