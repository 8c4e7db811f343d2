"""The broker's request log: clients' requests and their answers, written by the broker itself.

With ``kafka.request.logger`` at DEBUG a broker writes a line for each request that it has answered (Kafka's
``RequestChannel`` and ``RequestConvertToJson``)::

    [2026-11-21 21:50:28,796] DEBUG Completed request:{"requestHeader": {…}, "request": {…}, "response": {…}, …} (…)

What is in front is the logging layout's affair: a date as above (the shipped layout, in the broker's own zone),
ISO 8601, or milliseconds since 1970. The same in a form that anybody can write, JSON Lines::

    {"done_ms": 1795297828796, "total_ms": 126.68, "api": "CONSUMER_GROUP_HEARTBEAT", "version": 1, "client": "a",
     "host": "127.0.0.1", "request": {…}, "response": {…}}

Fields are Kafka's own, bytes in base64. ``host`` may be left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from typing import Final

from groups.texts.found import LineProblem
from groups.texts.line_time import line_time
from groups.wire.codecs.values import Value

MARK: Final = "Completed request:"

_CONNECTION: Final = re.compile(r"^.{0,300}:\d+-(.{0,300}):\d+-\d+(?:-\d+)?$")

_FORM: Final = '{"done_ms", "total_ms", "api", "version", "client", "request", "response"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One request with its answer. ``api`` is Kafka's constant (``CONSUMER_GROUP_HEARTBEAT``).

    ``done_ms`` is when the answer had been sent, ``total_ms`` how long that took since the request had been read.
    ``host`` is the client's address as the broker saw it, ``None`` where the log does not say.
    """

    line: int
    done_ms: int
    total_ms: float
    api: str
    version: int
    client: str
    host: str | None
    request: Mapping[str, Value]
    response: Mapping[str, Value]

    @property
    def arrived_ms(self) -> float:
        """When the broker had read the request; the log's own delay may make it a little late."""
        return self.done_ms - self.total_ms


def read_request_log(
    lines: Iterable[str], *, apis: frozenset[str] | None = None, utc_offset: timedelta = timedelta()
) -> Iterator[LoggedRequest | LineProblem]:
    """The requests of a log in its order; lines of other loggers are passed over.

    ``apis`` leaves out all others. ``utc_offset`` is that of dates without a zone.
    """
    zone = timezone(utc_offset) if utc_offset else UTC
    for number, line in enumerate(lines, 1):
        read = read_request(number, line, zone)
        if isinstance(read, LineProblem) or (read is not None and (apis is None or read.api in apis)):
            yield read


def read_request(number: int, line: str, zone: timezone = UTC) -> LoggedRequest | LineProblem | None:
    """The request of a line; null for one of another logger."""
    at = line.find(MARK)
    if at < 0 and not line.lstrip().startswith("{"):
        return None
    try:
        return _logged(number, line, at, zone) if at >= 0 else _given(number, line)
    except _BadLine as problem:
        return LineProblem(number, None, str(problem))


class _BadLine(Exception):
    pass


def _logged(number: int, line: str, at: int, zone: timezone) -> LoggedRequest:
    begin = at + len(MARK)
    if not line[begin:].lstrip().startswith("{"):
        raise _BadLine("expected the request as JSON, as brokers since 2.8 write it")
    begin += len(line[begin:]) - len(line[begin:].lstrip())
    given = _parsed(line, begin, "; is the line cut short?")
    done_ms = _time_of(line[:at], zone)
    header = _of(given, "requestHeader", Mapping)
    connection = given.get("connection")
    host = _CONNECTION.match(connection) if isinstance(connection, str) else None
    return LoggedRequest(
        line=number,
        done_ms=done_ms,
        total_ms=float(_of(given, "totalTimeMs", (int, float))),
        api=_of(header, "requestApiKeyName", str),
        version=_of(header, "requestApiVersion", int),
        client=header.get("clientId") or "",
        host=host[1] if host else None,
        request=_of(given, "request", Mapping),
        response=_of(given, "response", Mapping),
    )


def _given(number: int, line: str) -> LoggedRequest:
    given = _parsed(line, len(line) - len(line.lstrip()))
    host = given.get("host")
    return LoggedRequest(
        line=number,
        done_ms=_of(given, "done_ms", int),
        total_ms=float(_of(given, "total_ms", (int, float))),
        api=_of(given, "api", str),
        version=_of(given, "version", int),
        client=given.get("client") or "",
        host=host if isinstance(host, str) else None,
        request=_of(given, "request", Mapping),
        response=_of(given, "response", Mapping),
    )


def _parsed(line: str, begin: int, hint: str = "") -> Mapping[str, Value]:
    """The object that begins there; a logged one has words of the layout behind it."""
    given: Mapping[str, Value]
    try:
        given, end = json.JSONDecoder().raw_decode(line, begin)
    except json.JSONDecodeError as error:
        raise _BadLine(f"no JSON at column {error.pos + 1}: {error.msg}{hint}") from None
    except (ValueError, RecursionError) as error:
        raise _BadLine(f"no JSON of a request: {error!s:.80}") from None
    if not hint and line[end:].strip():
        raise _BadLine(f"no JSON at column {end + 1}: Extra data")
    return given


def _of(given: Mapping[str, Value], name: str, kind: type | tuple[type, ...]) -> Value:
    value = given.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        found = "nothing" if name not in given else f"{value!r:.40}"
        raise _BadLine(f"{name} is {found}; a line is the broker's own or {_FORM}")
    return value


def _time_of(text: str, zone: timezone) -> int:
    found = line_time(text, zone)
    if found is None:
        raise _BadLine(
            "no time in front of the request: expected a date with milliseconds, or milliseconds since 1970"
        )
    return found.at_ms
