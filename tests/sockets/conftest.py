from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import orjson
import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.conf import settings

from explorer.access.gate import Gate, Handler
from explorer.push import hub as hub_module
from explorer.push.sockets import routes
from groups import storage
from groups.models import Timeline
from tests.stories import GROUP

application = Gate(Handler(), URLRouter(routes))

HEADERS = [(b"host", b"127.0.0.1:8000"), (b"authorization", f"Bearer {settings.ACCESS_TOKEN}".encode())]
"""What a program sends, which is let in."""


WAIT_S = 60
"""What is waited for comes; how soon, on a busy machine, is no matter."""


class Socket:
    """A browser's end of a socket (Channels' own communicator would need Daphne)."""

    def __init__(self, path: str, headers: list[tuple[bytes, bytes]] | None = None, query: str = "") -> None:
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": query.encode(),
            "headers": HEADERS if headers is None else headers,
            "subprotocols": [],
        }
        self.application = ApplicationCommunicator(application, scope)
        self.is_closed = False

    async def opens(self) -> bool:
        await self.application.send_input({"type": "websocket.connect"})
        answer = await self.application.receive_output(timeout=WAIT_S)
        return bool(answer["type"] == "websocket.accept")

    async def hears_text(self) -> str:
        message = await self.application.receive_output(timeout=WAIT_S)
        assert message["type"] == "websocket.send"
        text: str = message["text"]
        return text

    async def hears(self) -> dict[str, Any]:
        message: dict[str, Any] = orjson.loads(await self.hears_text())
        return message

    async def hears_nothing(self) -> bool:
        return bool(await self.application.receive_nothing(timeout=0.2))

    async def is_closed_with(self) -> int:
        message = await self.application.receive_output(timeout=WAIT_S)
        assert message["type"] == "websocket.close"
        code: int = message["code"]
        return code

    async def closes(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            await self.application.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.application.wait(timeout=WAIT_S)


@pytest.fixture
async def opens() -> AsyncIterator[Callable[..., Awaitable[Socket]]]:
    """Opens sockets, and closes them when the test is over."""
    async with AsyncExitStack() as stack:

        async def open_socket(path: str, **options: Any) -> Socket:
            socket = Socket(path, **options)
            stack.push_async_callback(socket.closes)
            assert await socket.opens()
            return socket

        yield open_socket


@pytest.fixture(autouse=True)
def _no_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tails come when a test asks for them."""
    monkeypatch.setattr(hub_module, "TAIL_EVERY_S", 3600.0)


@pytest.fixture
async def timeline(transactional_db: None) -> Timeline:
    return await database_sync_to_async(storage.create_timeline)(
        title="Orders", source="simulation", group=GROUP
    )


@pytest.fixture
async def writer(timeline: Timeline) -> storage.Writer:
    return await database_sync_to_async(storage.open_writer)(timeline.id, "the test")
