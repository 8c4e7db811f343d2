"""Names of the product are in the field's own words: those of an older manner of speaking become fewer, room by room."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.house import ROOT

pytestmark = [pytest.mark.once, pytest.mark.long]

WORDS = frozenset(
    ["told", "tell", "tells", "says", "whoever", "heard", "foretell", "foretold", "anew", "beside", "stands"]
)

MOST = {
    "explorer": 1,
    "explorer/access": 1,
    "explorer/figures": 1,
    "explorer/pages": 10,
    "explorer/push": 1,
    "explorer/sharing": 5,
    "groups": 1,
    "groups/archiving": 1,
    "groups/clusters": 2,
    "groups/history": 130,
    "groups/imports": 4,
    "groups/incidents": 2,
    "groups/management": 7,
    "groups/packs": 1,
    "groups/pipeline": 10,
    "groups/storage": 1,
    "groups/watching": 14,
    "groups/wire": 4,
    "simulations/invariants": 78,
    "simulations/jobs": 3,
    "simulations/laboratory": 2,
    "simulations/lessons": 1,
    "simulations/management": 10,
    "simulations/proof": 37,
    "simulations/protocol": 19,
    "simulations/rehearsal": 4,
    "simulations/spark": 1,
    "simulations/sweeps": 1,
    "simulations/world": 19,
    "static/js": 42,
}
"""Names with such a word in each room; a number only falls. What a name says instead: known, reported, text, predicted."""

STORED = frozenset({"Anomaly"})
"""Dataclasses whose fields are keys of stored checkpoints under the fields' own names."""

DECLARED = re.compile(
    r"\b(?:function\*?|class|const|let)\s+([\w$]+)|^\s+(?:static\s+|async\s+|#)*([\w$]+)\([^()]*\)\s*\{",
    re.MULTILINE,
)
"""In a browser's module: functions, classes, constants and methods."""


def keys_of(tree: ast.Module) -> set[int]:
    """Nodes that name a key of JSON or a column: fields of typed dicts and models, and those of ``STORED``."""
    return {
        id(field.target if isinstance(field, ast.AnnAssign) else field.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and (
            {ast.unparse(base) for base in node.bases} & {"TypedDict", "models.Model"} or node.name in STORED
        )
        for field in node.body
        if isinstance(field, ast.AnnAssign | ast.Assign)
    }


def python_names(tree: ast.Module) -> Iterator[str]:
    """Functions, classes, arguments and targets of assignments; keys of JSON are left out."""
    keys = keys_of(tree)
    for node in ast.walk(tree):
        if id(node) in keys:
            continue
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def counted() -> Counter[str]:
    """Room → its names with such a word."""
    found: Counter[str] = Counter()
    for top in ("explorer", "groups", "simulations"):
        for path in (ROOT / top).rglob("*.py"):
            if "migrations" not in path.parts:
                inner = path.relative_to(ROOT / top).parts
                room = f"{top}/{inner[0]}" if len(inner) > 1 else top
                found[room] += sum(
                    bool(words_of(name) & WORDS) for name in python_names(ast.parse(path.read_text()))
                )
    for path in (ROOT / "static/js").rglob("*.js"):
        names = (one or other for one, other in DECLARED.findall(path.read_text()))
        found["static/js"] += sum(bool(words_of(name) & WORDS) for name in names)
    return +found


def test_no_room_gets_more_names_of_an_older_manner() -> None:
    found = counted()
    assert sum(found.values()) > 0, "then the table has done its work"
    assert {
        room: (count, MOST.get(room, 0)) for room, count in found.items() if count > MOST.get(room, 0)
    } == {}
