"""Spans of requests and tasks, as a collector of OpenTelemetry is sent them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client

from explorer import celery
from explorer.server import requests, spans
from groups.imports.tasks import run_import
from tests.watching.receiver import receiver

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_request_and_the_task_that_it_began_are_spans_of_the_trace_that_the_request_names(
    client: Client, transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "EVERY_S", 0.2)
    with receiver() as collector:
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = f"http://127.0.0.1:{collector.port}"
        client.get("/api/imports/secret-id", HTTP_TRACEPARENT=f"00-{TRACE}-{PARENT}-01")
        began = requests.Noted("id", HttpRequest(), spans.place_after(f"00-{TRACE}-{PARENT}-01"))
        token = requests.current.set(began)
        try:
            headers: dict[str, Any] = {}
            celery.send_trace(headers)
        finally:
            requests.current.reset(token)
        run_import.apply(("none-such",), headers=headers)
        ends_s = time.monotonic() + 10
        found: list[dict[str, Any]] = []
        while len(found) < 2 and time.monotonic() < ends_s:
            time.sleep(0.1)
            found = [
                span
                for sent in collector.requests
                for resource in json.loads(sent.partition(b"\r\n\r\n")[2])["resourceSpans"]
                for span in resource["scopeSpans"][0]["spans"]
            ]
        assert all(sent.startswith(b"POST /v1/traces ") for sent in collector.requests)
    request, task = found
    assert request["name"] == "GET /api/imports/<slug:import_id>"
    assert (request["traceId"], request["parentSpanId"], request["kind"]) == (TRACE, PARENT, spans.SERVER)
    assert {"key": "http.response.status_code", "value": {"intValue": "404"}} in request["attributes"]
    assert "secret-id" not in str(request)
    assert (task["name"], task["traceId"], task["parentSpanId"]) == ("groups.import", TRACE, began.place.id)
    for span in found:
        assert len(span["spanId"]) == 16
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert abs(int(span["endTimeUnixNano"]) / 1e9 - time.time()) < 60


def test_without_a_collector_and_with_one_that_is_away_requests_are_answered(
    client: Client, transactional_db: None, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert settings.OTEL_EXPORTER_OTLP_ENDPOINT == ""
    before = spans._waiting.qsize()
    assert client.get("/healthz").status_code == 200
    assert spans._waiting.qsize() == before
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9"
    for _ in range(2):
        assert client.get("/healthz", HTTP_TRACEPARENT="rubbish").status_code == 200
    ends_s = time.monotonic() + 10
    while "does not take spans" not in caplog.text and time.monotonic() < ends_s:
        time.sleep(0.1)
    assert caplog.text.count("does not take spans") == 1
