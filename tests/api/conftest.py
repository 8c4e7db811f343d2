from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.http import HttpResponse
from django.test import Client


class Api:
    """Django's test client with JSON on both sides; an answer is ``(status, JSON)``."""

    def __init__(self) -> None:
        self.client = Client()

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        return read(self.client.get(f"/api/{path}", query))

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        return read(self.client.post(f"/api/{path}", orjson.dumps(body), content_type="application/json"))

    def patch(self, path: str, body: Any) -> tuple[int, Any]:
        return read(self.client.patch(f"/api/{path}", orjson.dumps(body), content_type="application/json"))

    def delete(self, path: str) -> tuple[int, Any]:
        return read(self.client.delete(f"/api/{path}"))


def read(response: HttpResponse) -> tuple[int, Any]:
    return response.status_code, orjson.loads(response.content) if response.content else None


@pytest.fixture
def api() -> Api:
    return Api()
