"""``TypedDict`` declarations as JSON Schema (draft 2020-12).

A field beyond the named ones is never an error, so that releases may add some.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

Schema = Mapping[str, Any]
"""A JSON Schema as Python values."""

JSON_TYPES: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}

Refer = Callable[[type], str]
"""The ``$ref`` of a shape in the document that is written."""


def shapes_of(roots: Iterable[Any]) -> list[type]:
    """The shapes in ``roots`` and those that they contain, each once, in the order in which they are met."""
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


def notes_of(shape: type) -> dict[str, str]:
    """The docstrings below the fields, from the source; those of the classes that it extends as well."""
    notes: dict[str, str] = {}
    for base in [*getattr(shape, "__orig_bases__", ()), shape]:
        if not is_typeddict(base):
            continue
        try:
            (declared,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        except OSError:  # TypedDict("Name", {...}) is no class in the source, and has no docstrings
            continue
        assert isinstance(declared, ast.ClassDef)
        for field, note in zip(declared.body, declared.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr):
                notes[ast.unparse(field.target)] = inspect.cleandoc(ast.literal_eval(note.value))
    return notes


def plain(text: str) -> str:
    """A docstring as one line, in JSON's words."""
    return " ".join(inspect.cleandoc(text).replace("``", "`").replace("None", "null").split())


def object_schema(shape: type, refer: Refer) -> dict[str, Any]:
    """A ``TypedDict`` as a schema; shapes inside it are references."""
    notes = notes_of(shape)
    properties = {
        name: schema_of(hint, refer) | ({"description": plain(notes[name])} if name in notes else {})
        for name, hint in hints(shape).items()
    }
    required = [name for name in properties if not is_optional(shape, name)]
    described = {"description": plain(shape.__doc__)} if shape.__doc__ else {}
    return {**described, "type": "object", "properties": properties, "required": required}


def schema_of(hint: Any, refer: Refer) -> dict[str, Any]:
    if hint in (Any, object):
        return {}
    if hint in JSON_TYPES:
        return {"type": JSON_TYPES[hint]}
    if is_typeddict(hint):
        return {"$ref": refer(hint)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [each.value for each in hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return schema_of(inner[0], refer)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (types.UnionType, Union):
        return {"anyOf": [schema_of(each, refer) for each in inner]}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], refer)}
    if origin in (list, Sequence) or (origin is tuple and inner[1:] == (...,)):
        return {"type": "array", "items": schema_of(inner[0], refer)}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [schema_of(each, refer) for each in inner],
            "minItems": len(inner),
            "maxItems": len(inner),
        }
    raise TypeError(f"{hint} has no counterpart in JSON Schema yet: add it to {__name__}")


def names_of(shapes: Sequence[type]) -> dict[type, str]:
    """Each shape's name in a document: its own, or with its module's before it where several rooms use the same one."""
    counted = Counter(shape.__name__ for shape in shapes)
    return {
        shape: shape.__name__ if counted[shape.__name__] == 1 else f"{_room(shape)}{shape.__name__}"
        for shape in shapes
    }


def _room(shape: type) -> str:
    return "".join(part.title().replace("_", "") for part in shape.__module__.split(".")[-2:])
