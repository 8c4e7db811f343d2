"""``python -m tests.house.shapes``: writes, from the ``TypedDict`` declarations in Python, ``shapes.d.ts`` for the
browser's modules and ``docs/reference/shapes.schema.json`` (JSON Schema) for other programs.

So each shape is declared once, and is the same for mypy, for ``tsc`` and for who reads the API. A test compares the files with
what would be written now.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame, Partitions
from groups.history.passes.summaries import Summary
from groups.history.story.moment import Moment, MomentShape
from groups.history.story.problems import Trouble
from groups.watching.columns import GroupRow
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

JSON_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
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


def shapes_of(roots: Sequence[type]) -> list[type]:
    """The shapes and those that they are made of, each once, in the order in which they are met."""
    found: list[type] = []

    def visit(annotation: Any) -> None:
        if is_typeddict(annotation):
            if annotation not in found:
                found.append(annotation)
                for hint in hints(annotation).values():
                    visit(hint)
            return
        for inner in get_args(annotation):
            visit(inner)

    for root in roots:
        visit(root)
    return found


def hints(shape: type) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)


def is_optional(shape: type, name: str) -> bool:
    # With postponed annotations the class itself does not know which of its keys are ``NotRequired``.
    optional: frozenset[str] = shape.__optional_keys__  # type: ignore[attr-defined]
    return name in optional or get_origin(hints(shape)[name]) is NotRequired


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


def notes_of(shape: type) -> dict[str, str]:
    """The docstrings below the fields, as they stand in the source; those of the classes that it extends as well."""
    notes: dict[str, str] = {}
    for base in [*getattr(shape, "__orig_bases__", ()), shape]:
        if not is_typeddict(base):
            continue
        (declared,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(declared, ast.ClassDef)
        for field, note in zip(declared.body, declared.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr):
                notes[ast.unparse(field.target)] = inspect.cleandoc(ast.literal_eval(note.value))
    return notes


def plain(text: str) -> str:
    """A docstring as one line, in JSON's words."""
    return " ".join(inspect.cleandoc(text).replace("``", "`").replace("None", "null").split())


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
        "$defs": {shape.__name__: object_schema(shape) for shape in shapes_of(ROOTS)},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def object_schema(shape: type) -> dict[str, object]:
    notes = notes_of(shape)
    properties = {
        name: schema_of(hint) | ({"description": plain(notes[name])} if name in notes else {})
        for name, hint in hints(shape).items()
    }
    required = [name for name in properties if not is_optional(shape, name)]
    described: dict[str, object] = {"description": plain(shape.__doc__)} if shape.__doc__ else {}
    return {**described, "type": "object", "properties": properties, "required": required}


def schema_of(hint: Any) -> dict[str, object]:
    if hint in (Any, object):
        return {}
    if hint in JSON_TYPES:
        return {"type": JSON_TYPES[hint]}
    if is_typeddict(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    origin, inner = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return schema_of(inner[0])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is types.UnionType:
        return {"anyOf": [schema_of(each) for each in inner]}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if origin in (list, Sequence):
        return {"type": "array", "items": schema_of(inner[0])}
    raise TypeError(f"{hint} has no counterpart in JSON Schema yet: add it to tests/house/shapes.py")


def texts() -> dict[Path, str]:
    """Each file that is written, and what it should hold."""
    return {file: typescript(roots) for file, roots in TYPESCRIPT.items()} | {SCHEMA: json_schema()}


def write() -> None:
    for file, text in texts().items():
        file.write_text(text)
        sys.stdout.write(f"{file.relative_to(ROOT)} written\n")


if __name__ == "__main__":
    write()
