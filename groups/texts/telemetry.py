"""What clients push of their metrics (KIP-714), as files have it: OTLP, a JSON line or a message of Protocol Buffers for each push.

A collector's file exporter writes both, and a broker's plug-in what it was sent; messages have their lengths before them, or a file has one.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping
from typing import IO, Final, NamedTuple

from groups.history.entries import Payload
from groups.wire.codecs.primitives import read_unsigned_varint
from groups.wire.errors import RecordError

PREFIX: Final = "org.apache.kafka.consumer."
LINE: Final = re.compile(r'^\s*\{\s*"resourceMetrics"\s*:', re.MULTILINE)
_BINARY: Final = re.compile(
    rb"(?:[\0-\x0f].{3})?\n.{0,65000}?\n[\x1a-\x7f]" + re.escape(PREFIX.encode()), re.DOTALL
)
MESSAGE_BYTES_MOST: Final = 16 * 1024 * 1024

Fields = Mapping[int, tuple[str, str]]
_FIELDS: Final[Mapping[str, Fields]] = {
    "metrics": {1: ("resourceMetrics", "resource_metrics*")},
    "resource_metrics": {1: ("resource", "resource"), 2: ("scopeMetrics", "scope_metrics*")},
    "resource": {1: ("attributes", "attribute*")},
    "scope_metrics": {1: ("scope", "scope"), 2: ("metrics", "metric*")},
    "scope": {1: ("name", "text")},
    "metric": {1: ("name", "text"), 5: ("gauge", "numbers"), 7: ("sum", "numbers")},
    "numbers": {1: ("dataPoints", "point*"), 2: ("aggregationTemporality", "varint")},
    "point": {3: ("timeUnixNano", "<Q"), 4: ("asDouble", "<d"), 6: ("asInt", "<q"), 7: ("attributes", "attribute*")},
    "attribute": {1: ("key", "text"), 2: ("value", "value")},
    "value": {1: ("stringValue", "text")},
}  # fmt: skip
"""By message its fields that are read: JSON's name, and a message (``*``: repeated) or how the value is written."""

DELTA: Final = (1, "AGGREGATION_TEMPORALITY_DELTA")
_HANDLE: Final = re.compile(r"(.+)#consumer-\d+")
"""librdkafka's handle of a client, which it pushes as the scope's name; Java's pushes name no client."""


class Point(NamedTuple):
    """One value of a client, whose attributes name it; ``is_delta``: since the push before."""

    attributes: dict[str, str]
    name: str
    value: float
    at_ms: int
    is_delta: bool


def is_binary(head: bytes) -> bool:
    """Whether a file that begins so has telemetry as messages of Protocol Buffers."""
    return _BINARY.match(head) is not None


def lines(opened: IO[bytes]) -> Iterator[str]:
    """Each message of a file as the JSON line that it could be; one that is cut, or none, is a line that is cut."""
    head = opened.read(4)
    while head:
        if head.startswith(b"\n"):
            message = head + opened.read(MESSAGE_BYTES_MOST)
        else:
            length = int.from_bytes(head)
            message = opened.read(length) if length <= MESSAGE_BYTES_MOST else b""
            message = message if len(message) == length else b"\x07"
        try:
            yield json.dumps({"resourceMetrics": [], **_decoded(message, "metrics")})
        except (RecordError, ValueError, struct.error):
            yield '{"resourceMetrics":'
            return
        head = opened.read(4)


def points(line: str) -> list[Point]:
    """The consumers' values in a push. Raises ``ValueError`` for one that is cut, or is something else."""
    try:
        return list(_points(json.loads(line)))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
        raise ValueError("the telemetry is cut off, or not whole") from None


def _points(push: Payload) -> Iterator[Point]:
    for resource in push["resourceMetrics"]:
        shared = _attributes(resource.get("resource") or {})
        for scope in resource["scopeMetrics"]:
            handle = _HANDLE.fullmatch((scope.get("scope") or {}).get("name") or "")
            named = {"client_id": handle[1]} if handle else {}
            for metric in scope["metrics"]:
                numbers = metric.get("sum") or metric.get("gauge")
                if numbers is None or not metric["name"].startswith(PREFIX):
                    continue
                name = metric["name"].removeprefix(PREFIX).removeprefix("coordinator.").replace(".", "_")
                is_delta = numbers.get("aggregationTemporality") in DELTA
                for point in numbers["dataPoints"]:
                    value = float(point.get("asDouble", point.get("asInt", 0)))
                    attributes = {**named, **shared, **_attributes(point)}
                    yield Point(attributes, name, value, int(point["timeUnixNano"]) // 1_000_000, is_delta)


def _attributes(holder: Payload) -> dict[str, str]:
    some = holder.get("attributes") or ()
    return {str(each["key"]): str(each["value"].get("stringValue", "")) for each in some}


def _decoded(data: bytes, message: str) -> Payload:
    found: dict[str, object] = {}
    repeated: dict[str, list[object]] = {}
    at = 0
    while at < len(data):
        tag, at = read_unsigned_varint(data, at, 10)
        name, form = _FIELDS[message].get(tag >> 3, ("", ""))
        length = {1: 8, 5: 4}.get(tag & 7, -1)
        if tag & 7 in (0, 2):
            length, at = read_unsigned_varint(data, at, 10)
        if tag & 7 == 0:
            # It is the value itself.
            found[name] = length
            continue
        part, at = data[at : at + length], at + length
        if length < 0 or at > len(data):
            raise ValueError
        if form.endswith("*"):
            repeated.setdefault(name, []).append(_value(part, form))
        else:
            found[name] = _value(part, form)
    return {**found, **repeated}


def _value(part: bytes, form: str) -> str | float | Payload | None:
    if form == "text":
        return part.decode(errors="replace")
    if form.startswith("<"):
        [number] = struct.unpack(form, part)
        return float(number) if form == "<d" else int(number)
    return _decoded(part, form.removesuffix("*")) if form.removesuffix("*") in _FIELDS else None
