"""``python -m tests.house.shapes``: writes, from the ``TypedDict`` declarations in Python, ``shapes.d.ts`` for the
browser's modules and ``docs/reference/shapes.schema.json`` (JSON Schema) for other programs.

So each shape is declared once, and is the same for mypy, for ``tsc`` and for who reads the API. A test compares the files with
what would be written now.
"""

from __future__ import annotations

import json
import sys
import textwrap
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, get_args, get_origin, is_typeddict

from explorer.server.openapi.schemas import hints, is_optional, notes_of, object_schema, plain, shapes_of
from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame, Partitions
from groups.history.passes.summaries import Summary
from groups.history.story.moment import Moment, MomentShape
from groups.history.story.problems import Trouble
from groups.watching.group_row import GroupRow
from simulations.laboratory.shapes import Sheet
from tests.house import ROOT

SCHEMA = ROOT / "docs/reference/shapes.schema.json"

ROOTS = (Frame, Change, Moment, Summary, Trouble, GroupRow)
"""What the API hands out; the shapes that they are made of are found from here."""

TYPESCRIPT: dict[Path, tuple[type, ...]] = {
    ROOT / "static/js/shapes.d.ts": ROOTS,
    ROOT / "static/js/laboratory/shapes.d.ts": (Sheet,),
}
"""A file for each room of the browser's modules, and the shapes that it begins with."""

OPEN = frozenset({"Finding"})
"""Those with fields beside the named ones: each kind of finding has its own."""

NAMED: dict[str, Any] = {"Partitions": Partitions, "Shape": MomentShape}
"""Aliases that keep their name there, in the file that has the frames."""

WIDTH = 120

HEAD = """\
/**
 * Shapes that Python and the browser share. Written by `python -m tests.house.shapes` from their one declaration in
 * Python; nothing in this file exists at run time.
 */
"""

PLAIN: dict[Any, str] = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def typescript(roots: Sequence[type]) -> str:
    """A whole file."""
    aliases = (
        [f"export type {name} ={alias(hint)};\n" for name, hint in NAMED.items()] if Frame in roots else []
    )
    return "\n".join([HEAD, *aliases, *map(interface, shapes_of(roots))])


def alias(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "".join(f"\n  | '{each}'" for each in get_args(hint))
    return f" {written(hint, named=False)}"


def interface(shape: type) -> str:
    lines = [*comment(shape.__doc__, ""), f"export interface {shape.__name__} {{"]
    notes = notes_of(shape)
    for name, hint in hints(shape).items():
        mark = "?" if is_optional(shape, name) else ""
        lines += comment(notes.get(name), "  ")
        lines.append(f"  {name}{mark}: {written(hint)};")
    if shape.__name__ in OPEN:
        lines.append("  [key: string]: any;")
    return "\n".join([*lines, "}", ""])


def written(hint: Any, *, named: bool = True) -> str:
    """A type as TypeScript writes it."""
    for name, known in NAMED.items() if named else ():
        if hint == known:
            return name
    if hint in (Any, object):
        return "any"
    if hint in PLAIN:
        return PLAIN[hint]
    if is_typeddict(hint):
        return str(hint.__name__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return written(inner[0])
    if origin is Literal:
        return " | ".join(f"'{each}'" for each in inner)
    if origin is types.UnionType:
        return " | ".join(written(each) for each in inner)
    if origin in (dict, Mapping):
        return f"{{ [key: string]: {written(inner[1])} }}"
    if origin in (list, Sequence):
        of = written(inner[0])
        return f"({of})[]" if " " in of and not of.startswith("{") else f"{of}[]"
    raise TypeError(f"{hint} has no counterpart in TypeScript yet: add it to tests/house/shapes.py")


def comment(text: str | None, indent: str) -> list[str]:
    if not text:
        return []
    words = plain(text)
    if len(indent) + len(words) + len("/**  */") <= WIDTH:
        return [f"{indent}/** {words} */"]
    lines = textwrap.wrap(words, WIDTH - len(indent) - len(" * "))
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def json_schema() -> str:
    """The same as JSON Schema (draft 2020-12); a field more than those named is never an error, so that releases may add some."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Shapes of frames, changes, moments and summaries",
        "$defs": {
            shape.__name__: object_schema(shape, lambda named: f"#/$defs/{named.__name__}")
            for shape in shapes_of(ROOTS)
        },
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def texts() -> dict[Path, str]:
    """Each file that is written, and what it should hold."""
    return {file: typescript(roots) for file, roots in TYPESCRIPT.items()} | {SCHEMA: json_schema()}


def write() -> None:
    for file, text in texts().items():
        file.write_text(text)
        sys.stdout.write(f"{file.relative_to(ROOT)} written\n")


if __name__ == "__main__":
    write()
