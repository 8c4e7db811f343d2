"""Names of the product are in the field's own words: none has a word of an older manner of speaking."""

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

STORED = frozenset({"Anomaly", "Barrier", "PolledGroup"})
"""Dataclasses whose fields are keys of stored checkpoints under the fields' own names."""

COLUMNS = frozenset({"says"})
"""A column of alerts, which is written as an attribute."""

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
    stored = {node.id for node in ast.walk(tree) if id(node) in keys and isinstance(node, ast.Name)}
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
            case ast.Attribute(ctx=ast.Store()) if node.attr not in stored | COLUMNS:
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


def test_no_name_of_the_product_has_a_word_of_an_older_manner() -> None:
    assert counted() == {}, "what such a name says instead: text, sentence, reported, answers, predicted"


def test_a_name_with_such_a_word_is_found_and_a_key_of_json_is_none() -> None:
    tree = ast.parse("class A(TypedDict):\n  says: str\nclass B:\n  told: str\ndef tell(heard): anew = 1")
    assert sorted(name for name in python_names(tree) if words_of(name) & WORDS) == [
        "anew",
        "heard",
        "tell",
        "told",
    ]
