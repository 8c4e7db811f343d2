"""One operation of the API as a row of the table, and short ways to write its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

from explorer.server.openapi.schemas import Schema
from explorer.web.endpoint import SEARCH_LENGTH_MOST

WHOLE_MOST: Final = 10**18 - 1
"""``explorer.web.endpoint.number`` takes 18 digits."""

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
FLAG: Final[Schema] = {"type": "boolean"}
ANYTHING: Final[Schema] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A key of the query string."""

    name: str
    schema: Schema
    note: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """A body that is not JSON."""

    media: str
    note: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What one method of one address takes and answers. ``call``: the method, and the address's name in the URL map.

    ``answer`` and ``body`` are a ``TypedDict``, another annotation of such, a schema or a ``Content``; None is no body. ``errors``: statuses
    beyond those that follow from the kind of operation (``document.errors_of``).
    """

    call: str
    summary: str
    _: KW_ONLY
    answer: Any = None
    query: tuple[Parameter, ...] = ()
    body: Any = None
    status: int = 200
    errors: tuple[int, ...] = ()


def queued(call: str, summary: str, *, body: Any, answer: Any) -> Operation:
    """It makes something that is worked on later."""
    return Operation(call, summary, body=body, answer=answer, status=201)


def whole(
    name: str, note: str, *, least: int = 0, most: int = WHOLE_MOST, required: bool = False
) -> Parameter:
    return Parameter(name=name, schema=number(least, most), note=note, required=required)


def text(name: str, note: str, *, most: int | None = None, required: bool = False) -> Parameter:
    bound = {} if most is None else {"maxLength": most}
    return Parameter(name=name, schema={**TEXT, **bound}, note=note, required=required)


def texts(name: str, note: str, *, most: int | None = None) -> Parameter:
    """A key that may come several times."""
    bound = {} if most is None else {"maxItems": most}
    return Parameter(name=name, schema={**TEXTS, **bound}, note=note)


def one_of(name: str, note: str, choices: Iterable[str], *, required: bool = False) -> Parameter:
    return Parameter(name=name, schema={"enum": list(choices)}, note=note, required=required)


def number(least: int = 0, most: int = 2**53 - 1) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def enum(choices: Iterable[object]) -> dict[str, Any]:
    return {"enum": [str(each) for each in choices]}


def maybe(schema: Schema) -> dict[str, Any]:
    """Null, too."""
    return {"anyOf": [schema, {"type": "null"}]}


def array(items: Schema, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, **({} if most is None else {"maxItems": most})}


def fields(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object. A name with a question mark behind it may be left out: ``{"title?": TEXT}``. Values are schemas, or annotations of shapes."""
    return {
        "type": "object",
        "properties": {name.rstrip("?"): schema for name, schema in properties.items()},
        "required": [name for name in properties if not name.endswith("?")],
    }


TEXT_PROBLEM: Final = fields(
    {"line": {"type": ["integer", "null"]}, "field": {"type": ["string", "null"]}, "message": TEXT}
)
"""A mistake in a text."""

AFTER: Final = whole("after", "how many were shown before; the header Link leads to the next page")
NAMED: Final = text("q", "a part of the name, or of a note's text", most=SEARCH_LENGTH_MOST)
