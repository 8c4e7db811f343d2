"""The ASGI application: HTTP, sockets, and what lives beside them: the embedded worker, the housekeeping, the inspector's
declarations made beforehand."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
# Django must be set up before anything imports a model.
http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from explorer import housekeeping  # noqa: E402
from explorer.api.sockets import OwnPagesOnly, routes  # noqa: E402
from explorer.embedded import EmbeddedWorker  # noqa: E402
from explorer.inspector.preparing import prepare_guesses  # noqa: E402

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Start what lives beside the server, and end it with the server."""
    async with contextlib.AsyncExitStack() as stack:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await stack.enter_async_context(beside_the_server())
                except Exception as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            else:
                break
    await send({"type": "lifespan.shutdown.complete"})


@contextlib.asynccontextmanager
async def beside_the_server() -> Any:
    await asyncio.to_thread(housekeeping.at_start)
    worker = None
    if not settings.REDIS_URL:
        worker = EmbeddedWorker()
        await asyncio.to_thread(worker.start)
    tasks = [
        asyncio.create_task(housekeeping.keep_sweeping(), name="housekeeping"),
        asyncio.create_task(prepare_guesses(), name="guesses"),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        if worker is not None:
            await asyncio.to_thread(worker.stop)


application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": OwnPagesOnly(URLRouter(routes)),
        "lifespan": lifespan,
    }
)
