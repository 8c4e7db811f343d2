"""Makes a lesson from its YAML text. Every mistake is a ``ScenarioError`` with line, field and what would be right.

The form is described in docs/reference/lessons.md; what is in a run can only be checked with the run (``checking``).
"""

from __future__ import annotations

import re
from typing import Final, get_args

from groups.history.story.moment import MomentShape
from simulations.lessons.document import (
    BEATS_MAX,
    FACTS_MAX,
    MINUTES_MAX,
    OPTIONS_MAX,
    Ask,
    Beat,
    Fact,
    Kind,
    Lesson,
    Option,
    Place,
    Row,
    Table,
)
from simulations.lessons.texts import Text, read_text
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.nodes import Node, parse

KEYS: Final = ("title", "goal", "minutes", "pattern", *Kind, "marks", "table", "beats")
BEAT_KEYS: Final = ("at", "title", "text", "facts", "ask", "notes", "cite", "terms")
ASK_KEYS: Final = (
    "question",
    "at",
    "of",
    "expect",
    "among",
    "options",
    "places",
    "because",
    "hint",
    "then",
)
OPTION_KEYS: Final = ("says", "if", "because")
TABLE_KEYS: Final = ("source", "rows", "slip")
ROW_KEYS: Final = ("at", "says", "cells")

SHAPES: Final = get_args(MomentShape)
"""Moments that a place can name."""

NTH_MAX: Final = 1_000

MARK: Final = re.compile(r"[a-z][a-z0-9-]{0,30}")

RESERVED: Final = ("start", "end")


def read_lesson(text: str, lesson_id: str = "lesson") -> Lesson:
    """The lesson of a YAML text; ``lesson_id`` is its name in addresses."""
    root = parse(text, "lesson", "title, goal, minutes, one of study, scenario, log and case, and beats")
    found = root.mapping(KEYS, needs=("title", "goal", "minutes", "beats"), what="a lesson")
    kinds = [kind for kind in Kind if kind in found]
    if len(kinds) != 1:
        kinds_text = f", not {' and '.join(kinds)}" if kinds else ""
        raise ScenarioError(
            root.line,
            "study",
            f"a lesson is told of one thing: study, scenario, log or case{kinds_text}",
        )
    kind = kinds[0]
    beats = found["beats"].items()
    if not 1 <= len(beats) <= BEATS_MAX:
        raise found["beats"].wrong(f"a lesson has 1 to {BEATS_MAX} beats, these are {len(beats)}")
    return Lesson(
        id=lesson_id,
        title=found["title"].text(),
        goal=_text(found["goal"]),
        minutes=found["minutes"].integer(1, MINUTES_MAX - 1, "a lesson takes less than eight minutes"),
        pattern=found.text("pattern", None),
        kind=kind,
        of=found[kind].text(),
        of_line=found[kind].line,
        marks=found.read("marks", _marks, {}),
        beats=tuple(map(_beat, beats)),
        table=found.read("table", _table, None),
        text=text,
    )


def _text(node: Node) -> Text:
    return read_text(node.text(), node.line, node.field)


def _texts(node: Node) -> tuple[Text, ...]:
    return tuple(map(_text, node.each()))


def _marks(node: Node) -> dict[str, Place]:
    marks: dict[str, Place] = {}
    for name, value in node.mapping().items():
        if not MARK.fullmatch(name) or name in RESERVED:
            raise value.wrong(f"a mark is named with small letters, digits and '-', not {name!r}")
        place = read_place(value)
        if place.mark is not None and place.mark not in RESERVED:
            raise value.wrong("a mark names a step or an event of the run, not another mark")
        marks[name] = place
    return marks


def read_place(node: Node) -> Place:
    """``7`` (a step), ``start``, ``end``, a mark, or ``{gain: C}``, ``{gain: C, nth: 2}``."""
    if node.kind == "a whole number":
        return Place(line=node.line, field=node.field, step=node.integer(1, NTH_MAX))
    if node.kind != "a mapping":
        return Place(line=node.line, field=node.field, mark=node.text())
    pairs = node.mapping((*SHAPES, "nth"))
    nth = pairs.pop("nth").integer(1, NTH_MAX) if "nth" in pairs else 1
    if len(pairs) != 1:
        raise node.wrong("expected one event, such as {gain: C} or {gain: C, nth: 2}")
    shape, who = next(iter(pairs.items()))
    name = who.text()
    return Place(
        line=node.line, field=node.field, shape=shape, who=None if name == "anybody" else name, nth=nth
    )


def _facts(node: Node) -> tuple[Fact, ...]:
    found = node.mapping()
    if len(found) > FACTS_MAX:
        raise node.wrong(f"at most {FACTS_MAX} facts, these are {len(found)}")
    return tuple(
        Fact(reference=reference, expected=value.text(), line=value.line, field=value.field)
        for reference, value in found.items()
    )


def _beat(node: Node) -> Beat:
    found = node.mapping(BEAT_KEYS, needs=("at", "title", "text"), what="a beat")
    return Beat(
        at=read_place(found["at"]),
        title=found["title"].text(),
        text=_texts(found["text"]),
        facts=found.read("facts", _facts, ()),
        ask=found.read("ask", _ask, None),
        notes=found.read("notes", _text, None),
        cite=found.read("cite", _text, None),
        terms=tuple(item.text().lower() for item in found.read("terms", Node.items, [])),
        line=node.line,
        field=node.field,
    )


def _ask(node: Node) -> Ask:
    found = node.mapping(ASK_KEYS, needs=("question",), what="an ask")
    ways = [key for key in ("of", "options", "places") if key in found]
    if len(ways) != 1:
        raise node.wrong(
            "a question is answered in one way: of (a reference), options (each with if), or places: true"
        )
    if "of" in found and "expect" not in found:
        raise node.wrong(
            "a question with of needs expect: the answer as it is stated, which the run confirms"
        )
    for key in ("among", "expect", "because"):
        if key in found and "of" not in found:
            raise found[key].wrong(f"{key} goes with of")
    return Ask(
        question=_text(found["question"]),
        at=found.read("at", read_place, None),
        of=found.text("of", None),
        expect=found.text("expect", None),
        among=tuple(item.text() for item in found.read("among", Node.items, [])),
        options=found.read("options", _options, ()),
        places=found.yes("places"),
        because=found.read("because", _because, {}),
        hint=found.read("hint", _text, None),
        then=found.read("then", _text, None),
        line=node.line,
        field=node.field,
    )


def _because(node: Node) -> dict[str, Text]:
    return {answer: _text(value) for answer, value in node.mapping().items()}


def _options(node: Node) -> tuple[Option, ...]:
    items = node.items()
    if not 2 <= len(items) <= OPTIONS_MAX:
        raise node.wrong(f"a question has 2 to {OPTIONS_MAX} options, these are {len(items)}")
    return tuple(map(_option, items))


def _option(node: Node) -> Option:
    found = node.mapping(OPTION_KEYS, needs=("says", "if"), what="an option")
    facts = _facts(found["if"])
    if not facts:
        raise found["if"].wrong("an option needs at least one fact that makes it right")
    return Option(
        text=_text(found["says"]),
        facts=facts,
        because=found.read("because", _text, None),
        line=node.line,
        field=node.field,
    )


def _table(node: Node) -> Table:
    found = node.mapping(TABLE_KEYS, needs=("source", "rows"), what="a table")
    rows = tuple(map(_row, found["rows"].items()))
    if not rows:
        raise found["rows"].wrong("a table needs rows")
    return Table(source=found["source"].text(), rows=rows, slip=found.read("slip", _text, None))


def _row(node: Node) -> Row:
    found = node.mapping(ROW_KEYS, needs=ROW_KEYS, what="a row")
    return Row(
        at=read_place(found["at"]),
        text=_text(found["says"]),
        cells={name: value.text() for name, value in found["cells"].mapping().items()},
        line=node.line,
        field=node.field,
    )
