"""Names of the product, and sentences about it, are in the field's own words instead of an older manner of speaking."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

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


SENTENCE_ENDS = re.compile(r"(?<=[.!?;:])\s+|\n\s*\n")
COMMENT = re.compile(r"/\*(.*?)\*/|^[ \t]*//([^\n]*)", re.DOTALL | re.MULTILINE)
OLDER = re.compile(rf"\b(?:{'|'.join(sorted(WORDS))})\b", re.IGNORECASE)
QUOTED = re.compile(r"``.*?``|`[^`\n]*`", re.DOTALL)

SHARE_MOST = 0.01
"""Of the sentences of a room's docstrings and comments. In nine well-kept code bases it is 0 to 0.9 %."""


def python_texts(text: str) -> Iterator[str]:
    """Docstrings, also those of fields and constants, and comments."""
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def shares(rooms: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """Room → the share of its sentences that have such a word outside of code."""
    counts: dict[str, float] = {}
    for room, texts in rooms.items():
        sentences = [
            each for text in texts for each in SENTENCE_ENDS.split(QUOTED.sub("", text)) if each.strip()
        ]
        counts[room] = sum(bool(OLDER.search(each)) for each in sentences) / max(len(sentences), 1)
    return counts


def test_hardly_a_sentence_of_docstrings_and_comments_has_a_word_of_an_older_manner() -> None:
    rooms: dict[str, list[str]] = {}
    for top in ("explorer", "groups", "simulations"):
        for path in (ROOT / top).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            inner = path.relative_to(ROOT / top).parts
            room = f"{top}/{inner[0]}" if len(inner) > 1 else top
            rooms.setdefault(room, []).extend(python_texts(path.read_text()))
    for path in (ROOT / "static/js").rglob("*.js"):
        rooms.setdefault("static/js", []).extend("".join(each) for each in COMMENT.findall(path.read_text()))
    assert {room: share for room, share in shares(rooms).items() if share >= SHARE_MOST} == {}
    assert shares({"one": ["It says so. It is so. ``says`` is a key."]}) == {"one": 1 / 3}
