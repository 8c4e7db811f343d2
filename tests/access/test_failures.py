"""What goes wrong is told to who asked: the right status, one sentence, and JSON under /api."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.db import IntegrityError, OperationalError
from django.urls import URLResolver, get_resolver

from explorer.access.signing_in import is_of_accounts
from explorer.pages.imports import uploading
from groups import storage
from groups.imports import lifecycle
from groups.models import Import
from tests.access.conftest import Asks

pytestmark = pytest.mark.once

NUL = "\0"

OWN_PAGE = {
    "Origin": "http://127.0.0.1:8000",
    "Cookie": f"csrftoken={'a' * 32}",
    "X-CSRFToken": "a" * 32,
}
"""What a browser sends for one of our own pages."""


@pytest.mark.parametrize(
    "path", ["/api/nowhere", "/api/timelines/nowhere", "/api/imports/nowhere/x", "/api/"]
)
async def test_nothing_under_the_api_is_told_in_json(asks: Asks, path: str) -> None:
    answer = await asks(path)
    assert answer.status == 404
    assert answer.message
    assert "\n" not in answer.message


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/t/nowhere",
        "/import/nowhere",
        "/sweeps/nowhere",
        "/remedies/nowhere",
        "/proofs/nowhere",
        "/t/nowhere/rebalances",
        "/t/nowhere/report",
    ],
)
async def test_nothing_elsewhere_is_a_page_that_leads_on(asks: Asks, path: str) -> None:
    answer = await asks(path)
    assert answer.status == 404
    assert b"There is nothing here" in answer.body
    assert b"To the start" in answer.body
    assert b"urlpattern" not in answer.body.lower()


def raising(error: Exception) -> Any:
    def fail(*given: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (OperationalError("database is locked"), 503, "database is locked"),
        (OperationalError("connection refused\n\tIs the server running?"), 503, "Is the server running"),
        (OperationalError("database or disk is full"), 507, "disk"),
        (OSError(28, "No space left on device"), 507, "disk is full"),
        (OSError(122, "Disk quota exceeded"), 507, "disk is full"),
        (ZeroDivisionError("secret detail"), 500, "the server's log"),
    ],
)
@pytest.mark.parametrize("path", ["/api/timelines/x", "/t/x"])
async def test_a_failure_is_told_by_what_it_means(
    asks: Asks, monkeypatch: pytest.MonkeyPatch, path: str, error: Exception, status: int, says: str
) -> None:
    monkeypatch.setattr(storage, "get", raising(error))
    answer = await asks(path)
    assert answer.status == status
    assert says in (
        answer.message if path.startswith("/api") else answer.body.decode().replace("&#x27;", "'")
    )
    assert b"secret detail" not in answer.body
    assert b"Traceback" not in answer.body
    assert (status == 503) == ("retry-after" in answer.headers)


async def test_an_expected_refusal_is_one_line_of_the_log_and_a_mistake_of_ours_a_traceback(
    asks: Asks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    """As with LOG_LEVEL=INFO: by default the lines of what a client did wrong are left out."""
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 1
    multipart = {"Content-Type": "multipart/form-data; boundary=b", **OWN_PAGE}
    form = {"Content-Type": "application/x-www-form-urlencoded", **OWN_PAGE}
    away = OperationalError("connection refused\n\tIs the server running?")
    race = IntegrityError("insert violates a foreign key\nDETAIL: there is no such row")
    cases = (
        ("/api/imports", [b"--b\r\nContent-Disposition\r\n\r\n--b--"], multipart, None, 400, ""),
        ("/api/imports", [b"x"], {**multipart, "Content-Type": "multipart/form-data"}, None, 400, "Invalid boundary"),
        ("/api/runs", [b"a=1&b=2&c=3"], form, None, 413, "GET/POST parameters exceeded"),
        ("/api/timelines/x", None, {}, away, 503, "connection refused Is the server running?"),
        ("/t/x", None, {}, away, 503, "connection refused Is the server running?"),
        ("/api/timelines/x", None, {}, race, 409, "violates a foreign key DETAIL: there is no such row"),
        ("/t/x", None, {}, ZeroDivisionError("a mistake"), 500, "a mistake"),
    )  # fmt: skip
    (handler,) = (each for each in logging.getLogger().handlers if each.name == "stderr")
    assert isinstance(handler, logging.StreamHandler)
    for logger in ("django.request", "django.security"):
        caplog.set_level(logging.INFO, logger)
    for path, body, headers, error, status, reason in cases:
        log = io.StringIO()
        monkeypatch.setattr(handler, "stream", log)
        if error is not None:
            monkeypatch.setattr(storage, "get", raising(error))
        answer = await asks(path, method="POST" if body else "GET", body=body or (b"",), headers=headers)
        assert answer.status == status, path
        lines = log.getvalue().splitlines()
        assert any(reason in line for line in lines), (path, lines)
        assert ("Traceback" in log.getvalue()) == (status == 500), lines


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/runs", b'{"scenario": "kip848-basic\\u0000"}'),
        ("/api/runs", b'{"scenario": "title: \\"a\\\\0b\\"\\ntopics: {foo: {partitions: 1}}\\nmembers: {A: {subscribe: [foo]}}\\nuntil: 10s\\n"}'),
        ("/api/laboratory", b'{"query": "timeline=\\u0000"}'),
        ("/api/laboratory", b'{"query": "timeline=%00"}'),
        ("/api/sweeps", b'{"shapes": ["6x3x21\\u0000"]}'),
        ("/api/inspect", b'{"text": "00", "timeline": "\\u0000"}'),
        ("/api/inspect", b'{"text": "\\u0000"}'),
    ],
)  # fmt: skip
async def test_the_character_nul_in_a_request_is_the_requests_mistake(
    asks: Asks, path: str, body: bytes
) -> None:
    answer = await asks(path, method="POST", body=[body], headers={"Content-Type": "application/json"})
    assert 400 <= answer.status < 500
    assert answer.message


@pytest.mark.parametrize("key", ["title", "group", "topics", "members"])
async def test_a_scenario_whose_name_has_nul_in_it_is_refused_with_its_place(asks: Asks, key: str) -> None:
    """YAML writes it so, too: as an escape."""
    names = {each: each for each in ("title", "group", "topics", "members")} | {key: "a\\0b"}
    text = (
        f'title: "{names["title"]}"\ngroup: "{names["group"]}"\ntopics: {{"{names["topics"]}": {{partitions: 1}}}}\n'
        f'members: {{"{names["members"]}": {{subscribe: ["{names["topics"]}"]}}}}\nscript: [{{at: 0s, join: "{names["members"]}"}}]\nuntil: 10s\n'
    )
    body = orjson.dumps({"scenario": text})
    answer = await asks("/api/runs", method="POST", body=[body], headers={"Content-Type": "application/json"})
    assert answer.status == 400
    # Names have rules of their own beside.
    assert "U+0000" in answer.message or answer.json["error"]["field"].startswith(key)
    form = urlencode({"scenario": text.replace("\\0", "\0")}).encode()
    page = await asks(
        "/simulate/",
        method="POST",
        body=[form],
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert page.status in (400, 403)


async def test_a_form_where_json_is_wanted_is_the_requests_mistake(asks: Asks) -> None:
    """The check of the page's token reads a browser's form before the view does."""
    headers = {"Content-Type": "multipart/form-data; boundary=x", **OWN_PAGE}
    answer = await asks("/api/runs", method="POST", body=[b"{}"], headers=headers)
    assert (answer.status, answer.message) == (400, "The request is a form, and must be JSON.")


def pages(patterns: Sequence[Any] = (), before: str = "/") -> list[str]:
    """The address of every page, with ``x`` where a name would be; what shows links has a door of its own."""
    found = []
    for pattern in patterns or get_resolver().url_patterns:
        if isinstance(pattern, URLResolver):
            if str(pattern.pattern) != "api/":
                found += pages(pattern.url_patterns, before + str(pattern.pattern))
        elif not str(pattern.pattern).startswith(("api/", "s/", "^s/")):
            found.append(before + re.sub(r"<[^>]+>", "x", str(pattern.pattern)))
    return found


async def test_a_page_takes_no_method_but_those_that_it_is_made_for(asks: Asks) -> None:
    assert {"/", "/t/x", "/clusters/x", "/compare"} <= set(pages())
    for path in pages():
        if is_of_accounts(path):  # this server has none, so no method finds them
            assert (await asks(path)).status == 404
            continue
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
            answer = await asks(path, method=method, headers=OWN_PAGE)
            assert answer.status == 405, (method, path)
            assert "GET" in answer.headers["allow"]


async def test_what_was_deleted_while_it_was_asked_for_is_no_failure(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await sync_to_async(lifecycle.create)(title="a log", paths=["/nowhere"])
    await Import.objects.filter(pk=found.id).aupdate(status=Import.Status.FAILED)
    look = uploading._room_for_one_more

    def deleted_meanwhile() -> None:
        look()
        Import.objects.all().delete()

    monkeypatch.setattr(uploading, "_room_for_one_more", deleted_meanwhile)
    answer = await asks(f"/api/imports/{found.id}/repeat", method="POST")
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
