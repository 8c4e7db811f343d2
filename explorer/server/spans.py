"""Requests and tasks as OpenTelemetry spans, sent to a collector (``OTEL_EXPORTER_OTLP_ENDPOINT``) as OTLP in JSON.

What has ended is sent in batches by a thread of its own. A collector that is away costs spans and one line of the log, never a request.
"""

from __future__ import annotations

import logging
import queue
import re
import secrets
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.conf import settings

from groups.places import VERSION

log = logging.getLogger(__name__)

SERVER, CONSUMER = 2, 5
"""OTLP's kinds of a span: one that answers a request, and one that takes a task."""

OK, ERROR = 1, 2
"""OTLP's codes of a status."""

WAITING_MOST: Final = 2_000
"""Spans that wait to be sent; further ones are dropped."""

AT_ONCE: Final = 200
EVERY_S: Final = 2.0
SEND_S: Final = 5.0

TRACEPARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
"""The header of W3C Trace Context, by which a proxy's or another program's trace goes on here."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a span is in its trace; as text the header that continues it."""

    trace_id: str
    id: str
    parent_id: str

    def __str__(self) -> str:
        return f"00-{self.trace_id}-{self.id}-01"


def place_after(header: str) -> Place:
    """A new span's place: after that of the header, or in a trace of its own where there is none."""
    found = TRACEPARENT.fullmatch(header)
    trace_id, parent_id = (found[1], found[2]) if found else (secrets.token_hex(16), "")
    return Place(trace_id, secrets.token_hex(8), parent_id)


_waiting: queue.Queue[dict[str, Any]] = queue.Queue(WAITING_MOST)
_starting = threading.Lock()
_threads: list[threading.Thread] = []


def note(
    name: str, place: Place, seconds: float, *, kind: int, failed: bool, facts: Mapping[str, str | int | None]
) -> None:
    """Have a span sent that ends now; nothing where no collector is named."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return
    ended_ns = time.time_ns()
    span = {
        "traceId": place.trace_id,
        "spanId": place.id,
        **({"parentSpanId": place.parent_id} if place.parent_id else {}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(ended_ns - round(seconds * 1e9)),
        "endTimeUnixNano": str(ended_ns),
        "attributes": facts,
        "status": {"code": ERROR if failed else OK},
    }
    try:
        _waiting.put_nowait(span)
    except queue.Full:
        return
    with _starting:
        if not _threads:
            _threads.append(threading.Thread(target=_send, name="spans", daemon=True))
            _threads[0].start()


def _send() -> None:
    # Logging imports this module, before the models that the other one imports can be.
    from groups.trace_formats import otlp_attributes

    away = False
    while True:
        ended = [_waiting.get()]
        time.sleep(EVERY_S)
        while len(ended) < AT_ONCE and not _waiting.empty():
            ended.append(_waiting.get())
        spans = [one | {"attributes": otlp_attributes(one["attributes"])} for one in ended]
        resource = {"service.name": "rebalance-explorer", "service.version": VERSION}
        scopes = [{"scope": {"name": "rebalance-explorer"}, "spans": spans}]
        body = {
            "resourceSpans": [{"resource": {"attributes": otlp_attributes(resource)}, "scopeSpans": scopes}]
        }
        request = urllib.request.Request(  # noqa: S310 (the operator's own address, http or https)
            f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces",
            data=orjson.dumps(body),
            headers={"Content-Type": "application/json"},
        )
        try:
            urllib.request.urlopen(request, timeout=SEND_S).close()  # noqa: S310
            away = False
        except (OSError, ValueError) as error:
            if not away:
                log.warning("The collector of OpenTelemetry does not take spans: %s", error)
            away = True
