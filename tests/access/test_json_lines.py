"""Log lines as JSON, with what the request behind each has."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from django.test import Client

from explorer.server.json_lines import JsonLines


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, str]] = []
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler = Kept()
    logger = logging.getLogger("explorer.server.requests")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


def test_a_line_of_a_request_has_its_id_and_timeline(
    kept: Kept, client: Client, transactional_db: None
) -> None:
    client.get("/api/timelines/none-such", HTTP_X_REQUEST_ID="from-the-proxy-1")
    (line,) = kept.lines
    assert (line["request"], line["timeline"]) == ("from-the-proxy-1", "none-such")
    assert line["message"].startswith("GET /api/timelines/none-such: 404 in ")
    assert (line["level"], line["logger"]) == ("INFO", "explorer.server.requests")


def test_an_id_that_is_none_is_replaced(kept: Kept, client: Client, transactional_db: None) -> None:
    client.get("/healthz", HTTP_X_REQUEST_ID='a" b')
    client.get("/healthz")
    one, other = (line["request"] for line in kept.lines)
    assert one != other
    assert '"' not in one


def test_a_line_outside_of_requests_has_none_and_a_traceback_is_one_line(kept: Kept) -> None:
    logger = logging.getLogger("explorer.server.requests")
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        logger.exception("it failed\nhere")
    (line,) = kept.lines
    assert "request" not in line
    assert line["message"] == "it failed\nhere"
    assert line["traceback"].endswith("first\nsecond")
