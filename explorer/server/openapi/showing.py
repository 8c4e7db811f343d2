"""The OpenAPI document as the values that its page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from explorer.server.openapi.operation import WHOLE_MOST

PLAIN: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}

EXACT_MOST: Final = 2**53 - 1
"""The largest bound that means something to a reader: what lies beyond is the width of a column."""


class Part(NamedTuple):
    """Words of a type; ``shape`` is the one that they name, else empty."""

    text: str
    shape: str = ""


class Field(NamedTuple):
    """A row: a parameter, or a field of an object."""

    name: str
    parts: list[Part]
    note: str
    may_be_left_out: bool


def page_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """``rooms`` with their operations, and ``shapes``."""
    rooms: dict[str, list[dict[str, Any]]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                rooms.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    schemas = document["components"]["schemas"]
    return {
        "rooms": sorted(rooms.items()),
        "shapes": [
            {"name": name, "note": schema.get("description", ""), "fields": fields_of(schema)}
            for name, schema in schemas.items()
        ],
        "version": document["info"]["version"],
    }


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    statuses = operation["responses"]
    return {
        "id": operation["operationId"],
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "query": [
            Field(each["name"], parts_of(each["schema"]), each["description"], not each.get("required"))
            for each in operation.get("parameters", ())
        ],
        "bodies": _contents(operation.get("requestBody", {})),
        "answers": [
            (status, HTTPStatus(int(status)).phrase, _contents(response))
            for status, response in statuses.items()
            if status.startswith("2")
        ],
        "errors": [
            (status, HTTPStatus(int(status)).phrase) for status in statuses if not status.startswith("2")
        ],
    }


def _contents(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each media type with its type in words, and the fields where it is an object without a name."""
    return [
        {"media": media, "parts": parts_of(content["schema"]), "fields": fields_of(content["schema"])}
        for media, content in part.get("content", {}).items()
    ]


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """The fields of an object, or of a list's objects; none of a named shape, which has its own place on the page."""
    if schema.get("type") == "array":
        return fields_of(schema.get("items", {}))
    required = schema.get("required", ())
    return [
        Field(name, parts_of(each), each.get("description", ""), name not in required)
        for name, each in schema.get("properties", {}).items()
    ]


def parts_of(schema: Mapping[str, Any]) -> list[Part]:
    return list(_parts(schema))


def _parts(schema: Mapping[str, Any]) -> Iterator[Part]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield Part(name, name)
    elif "anyOf" in schema:
        yield from _joined(schema["anyOf"], " or ")
    elif "allOf" in schema:
        yield from _joined(schema["allOf"], " with ")
    elif "enum" in schema:
        yield Part(", ".join(str(each) or "empty" for each in schema["enum"]))
    elif "const" in schema:
        yield Part(str(schema["const"]).lower())
    elif schema.get("type") == "array":
        yield Part("list of " if schema.get("items") else "list")
        yield from _parts(schema.get("items") or {"type": []})
        if "maxItems" in schema:
            yield Part(f", {schema['maxItems']:,} at most")
    elif "additionalProperties" in schema:
        yield Part("object of ")
        yield from _parts(schema["additionalProperties"])
    elif "properties" in schema:
        yield Part(f"object of {', '.join(schema['properties'])}")
    else:
        yield Part(_words(schema))


def _joined(schemas: list[Mapping[str, Any]], between: str) -> Iterator[Part]:
    for number, each in enumerate(schemas):
        if number:
            yield Part(between)
        yield from _parts(each)


def _words(schema: Mapping[str, Any]) -> str:
    types = schema.get("type", ())
    words = " or ".join(PLAIN[each] for each in ([types] if isinstance(types, str) else types))
    if "type" not in schema:
        words = schema.get("description") or "any value"
    least, most = schema.get("minimum"), schema.get("maximum", WHOLE_MOST)
    if least is not None:
        words += f" {least:,} to {most:,}" if most < EXACT_MOST else f" from {least:,}"
    if "maxLength" in schema:
        words += f" of {schema['maxLength']:,} characters at most"
    if "pattern" in schema:
        words += f" like {schema['pattern']}"
    return words + (" (ISO 8601)" if schema.get("format") == "date-time" else "")
