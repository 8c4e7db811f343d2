"""Requests to the API: JSON there and back, kept answers that did not change, waiting where the server asks for it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Mapping
from email.message import Message
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

KEPT_MOST: Final = 64
"""Answers that are kept with their ETag; one has some hundred kilobytes at most."""

WAIT_MOST_S: Final = 60.0
"""In all, for a server that is busy (429, 503) and states when to ask again."""

Query = Mapping[str, object]


class ApiError(Exception):
    """The server's refusal: its status, a word for its kind, one sentence, and the field with what would be right."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(error.get("code", ""))
        self.field = error.get("field")
        self.expected = error.get("expected")
        super().__init__(str(error.get("message", "")) or f"The server answered {status}.")


class Unreachable(Exception):
    """No server answers at this address; the text is one sentence."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token along, to wherever it leads."""

    def redirect_request(self, *args: Any) -> None:
        return None


class Connection:
    """A server, and the token that is shown to it. Safe to use from one thread at a time."""

    def __init__(self, url: str, token: str = "", *, timeout_s: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server: write http://127.0.0.1:8000.")
        if not (token.isascii() and token.isprintable()):
            # The library's own message would have it.
            raise ValueError("The token has a line break or a letter that no token has.")
        self.url = url.rstrip("/")
        self._headers = {"Accept": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._kept: OrderedDict[str, tuple[str, Any]] = OrderedDict()

    # ``Any``: an answer is JSON, whose shape the address has in /api/openapi.json.
    def get(self, path: str, query: Query | None = None) -> Any:
        """An answer; one that has not changed since it was last asked for does not come again."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        address = f"{path}?{urlencode(given, doseq=True)}" if given else path
        etag, kept = self._kept.get(address, ("", None))
        status, headers, body = self._asked("GET", address, None, {"If-None-Match": etag} if etag else {})
        if status == 304:
            self._kept.move_to_end(address)
            return kept
        answer = json.loads(body)
        if etag := headers.get("ETag", ""):
            self._kept[address] = (etag, answer)
            if len(self._kept) > KEPT_MOST:
                self._kept.popitem(last=False)
        return answer

    def send(self, method: str, path: str, body: object = None) -> Any:
        """The answer to a request that makes, changes or computes something; null where it has no body."""
        _, _, answer = self._asked(method, path, None if body is None else json.dumps(body).encode(), {})
        return json.loads(answer) if answer else None

    def _asked(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, Message, bytes]:
        ends = time.monotonic() + WAIT_MOST_S
        more = {"Content-Type": "application/json"} if body is not None else {}
        request = urllib.request.Request(  # noqa: S310  (http and https alone, above)
            self.url + address, data=body, method=method, headers={**self._headers, **headers, **more}
        )
        while True:
            try:
                with self._opener.open(request, timeout=self._timeout_s) as answer:
                    return answer.status, answer.headers, answer.read()
            except urllib.error.HTTPError as error:
                with error:
                    if error.code == 304:
                        return 304, error.headers, b""
                    wait_s = _seconds(error.headers.get("Retry-After", ""))
                    if error.code in (429, 503) and wait_s and time.monotonic() + wait_s < ends:
                        time.sleep(wait_s)
                        continue
                    raise ApiError(error.code, _error_of(error.read())) from None
            except (OSError, HTTPException) as error:
                raise Unreachable(f"No answer of {self.url}: {getattr(error, 'reason', error)}.") from error


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _error_of(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
