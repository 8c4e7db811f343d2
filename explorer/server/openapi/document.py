"""The OpenAPI 3.1 document: the table of operations, the addresses of the URL map, and the shapes that answers are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from django.urls import URLPattern, URLResolver, get_resolver

from explorer.server.openapi.operation import Content, Operation, Parameter
from explorer.server.openapi.schemas import names_of, object_schema, schema_of, shapes_of
from explorer.server.openapi.tables import OPERATIONS
from explorer.web.endpoint import ErrorAnswer, methods_of
from groups.places import VERSION

JSON: Final = "application/json"

MEANINGS: Final = {
    304: "Not modified: the answer still has the ETag of If-None-Match",
    400: "The request cannot be understood",
    401: "The token is missing, wrong, expired or revoked",
    403: "The token does not allow it, or a page of another origin asks",
    404: "There is nothing of that id",
    408: "The body came too slowly",
    409: "It is not in the state for that, or was deleted or changed meanwhile",
    413: "The body, or what it asks for, is larger than this address takes",
    422: "It cannot be done with what is stored",
    429: "As much is under way as the server takes; Retry-After is when to ask again",
    503: "The server, or a part of it, is not ready; Retry-After is when to ask again",
    507: "The server's disk is full",
}

SUCCESS: Final = {200: "The answer", 201: "Made, or queued to be", 202: "Queued", 204: "Done"}

CONVERTERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    "int": {"type": "integer", "minimum": 0},
}
"""Parts of an address by Django's converters."""

PART: Final = re.compile(r"<(\w+):(\w+)>")


class Address:
    """An address of the API: its name, its pattern as Django has it, and the methods that its view takes."""

    def __init__(self, name: str, pattern: str, methods: tuple[str, ...]) -> None:
        self.name = name
        self.pattern = pattern
        self.methods = methods

    @property
    def path(self) -> str:
        return "/" + PART.sub(r"{\2}", self.pattern)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The name and the converter of each part that varies."""
        return [(name, converter) for converter, name in PART.findall(self.pattern)]


def addresses() -> list[Address]:
    """Every address that ``endpoint`` made, in the order of the paths."""
    found = [
        Address(str(each.name), route, methods)
        for each, route in _patterns(get_resolver(), "")
        if (methods := methods_of(each.callback))
    ]
    return sorted(found, key=lambda address: address.path)


def _patterns(resolver: URLResolver, before: str) -> Iterator[tuple[URLPattern, str]]:
    for each in resolver.url_patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _patterns(each, route)
        else:
            yield each, route


def errors_of(address: Address, method: str, operation: Operation) -> list[int]:
    """The statuses of errors: those that every such operation has, and its own."""
    found = {401, 403, 429, 503, *operation.errors}
    if address.parts:
        found.add(404)
    if operation.query or operation.body is not None:
        found.add(400)
    if method == "GET":
        # An id in the query may name nothing, too.
        found |= {404} if any(each.name in ("at", "import", "cluster") for each in operation.query) else set()
    else:
        found |= {400, 408, 409, 413, 507}
    return sorted(found)


@cache
def document() -> dict[str, Any]:
    """The whole document. It does not change while the process lives."""
    known = addresses()
    annotations = [ErrorAnswer]
    for rows in OPERATIONS.values():
        for row in rows.values():
            annotations += [*_annotations(row.answer), *_annotations(row.body)]
    shapes = shapes_of(annotations)
    names = names_of(shapes)
    writer = _Writer({shape: f"#/components/schemas/{name}" for shape, name in names.items()})
    paths: dict[str, dict[str, Any]] = {}
    for address in known:
        rows = OPERATIONS[address.name]
        paths[address.path] = {
            **({"parameters": [_part(*part) for part in address.parts]} if address.parts else {}),
            **{method.lower(): writer.operation(address, method, rows[method]) for method in address.methods},
        }
    statuses = {
        status
        for address in known
        for method in address.methods
        for status in errors_of(address, method, OPERATIONS[address.name][method])
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rebalance Explorer",
            "version": VERSION,
            "summary": "Timelines of Apache Kafka consumer groups, and what went wrong in them",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The server's token (var/token), or one of an account",
                }
            },
            "responses": {
                "Unchanged": {"description": MEANINGS[304]},
                **{f"Error{status}": writer.error(status) for status in sorted(statuses)},
            },
            "schemas": {
                names[shape]: object_schema(shape, writer.refer)
                for shape in sorted(shapes, key=names.__getitem__)
            },
        },
    }


def _annotations(value: Any) -> Iterator[Any]:
    """The annotations in an answer, a body or a schema that is made of both."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _annotations(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _annotations(each)
    elif not isinstance(value, str | int | float | Content | None):
        yield value


def _part(name: str, converter: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": dict(CONVERTERS[converter])}


class _Writer:
    """Writes parts of the document with references to the shapes."""

    def __init__(self, references: Mapping[type, str]) -> None:
        self.refer = references.__getitem__

    def schema(self, value: Any) -> Any:
        """A schema in which annotations may be, as JSON."""
        if isinstance(value, Mapping):
            return {name: self.schema(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.schema(each) for each in value]
        if isinstance(value, str | int | float | None):
            return value
        return schema_of(value, self.refer)

    def content(self, value: Any) -> dict[str, Any]:
        """Media types with their schemas."""
        parts = value if isinstance(value, tuple) else (value,)
        return {
            (each.media if isinstance(each, Content) else JSON): (
                {"schema": {"description": each.note}}
                if isinstance(each, Content)
                else {"schema": self.schema(each)}
            )
            for each in parts
        }

    def error(self, status: int) -> dict[str, Any]:
        headers = {"Retry-After": {"schema": {"type": "integer"}}} if status in (429, 503) else {}
        return {
            "description": MEANINGS[status],
            **({"headers": headers} if headers else {}),
            "content": self.content(ErrorAnswer),
        }

    def operation(self, address: Address, method: str, row: Operation) -> dict[str, Any]:
        success: dict[str, Any] = {"description": SUCCESS[row.status]}
        if row.answer is not None:
            success["content"] = self.content(row.answer)
        responses = {str(row.status): success}
        if method == "GET":
            responses["304"] = {"$ref": "#/components/responses/Unchanged"}
        for status in errors_of(address, method, row):
            responses[str(status)] = {"$ref": f"#/components/responses/Error{status}"}
        return {
            "operationId": f"{method.lower()}-{address.name.removeprefix('api-')}",
            "summary": row.summary,
            "tags": [address.path.split("/")[2]],
            **({"parameters": [self.parameter(each) for each in row.query]} if row.query else {}),
            **(
                {"requestBody": {"required": True, "content": self.content(row.body)}}
                if row.body is not None
                else {}
            ),
            "responses": responses,
        }

    def parameter(self, parameter: Parameter) -> dict[str, Any]:
        return {
            "name": parameter.name,
            "in": "query",
            "description": parameter.note,
            **({"required": True} if parameter.required else {}),
            "schema": self.schema(parameter.schema),
        }
