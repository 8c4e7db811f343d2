"""The ASGI application: HTTP, sockets, and what lives next to them: the embedded worker, the housekeeping, the inspector's
declarations made beforehand."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
# Django must be set up before anything imports a model.
django.setup(set_prefix=False)

from channels.routing import URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from explorer.access.gate import Gate, Handler  # noqa: E402
from explorer.pages.inspector import offloading  # noqa: E402
from explorer.pages.inspector.preparing import prepare_guesses  # noqa: E402
from explorer.pages.laboratory.asking import children  # noqa: E402
from explorer.pages.rehearsal.asking import children as rehearsals  # noqa: E402
from explorer.push.sockets import routes  # noqa: E402
from explorer.server import housekeeping, memory, static_version  # noqa: E402
from explorer.server.worker import EmbeddedWorker  # noqa: E402
from explorer.sharing.door import Door  # noqa: E402
from explorer.watchers import watchers  # noqa: E402
from groups import reserve  # noqa: E402

UPLOADS = ("/api/imports", "/import/")
"""The addresses that take files; every other one takes a page of text."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Start what lives next to the server, and end it with the server."""
    async with contextlib.AsyncExitStack() as stack:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await stack.enter_async_context(background_tasks())
                except Exception as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            else:
                break
        await gate.crowd.note_now()
    await send({"type": "lifespan.shutdown.complete"})


@contextlib.asynccontextmanager
async def background_tasks() -> Any:
    # What a server writes (uploads, logs) is its own alone.
    os.umask(0o077)
    memory.keep_little()
    if settings.LINKS_ONLY:
        # Runs, imports and tidying up are the business of the other server.
        yield
        return
    stack = contextlib.ExitStack()
    stack.enter_context(static_version.kept(Path(settings.STATIC_ROOT)))
    await asyncio.to_thread(stack.enter_context, reserve.held_open())
    await asyncio.to_thread(housekeeping.at_start)
    worker = None
    if not settings.REDIS_URL:
        worker = EmbeddedWorker()
        await asyncio.to_thread(worker.start)
    watchers.start()
    tasks = [
        asyncio.create_task(housekeeping.keep_sweeping(), name="housekeeping"),
        asyncio.create_task(prepare_guesses(), name="guesses"),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(watchers.stop)
        await asyncio.to_thread(children.close)
        await asyncio.to_thread(rehearsals.close)
        await asyncio.to_thread(offloading.children.close)
        if worker is not None:
            await asyncio.to_thread(worker.stop)
        await asyncio.to_thread(stack.close)


gate = Gate(Handler(), URLRouter(routes), uploads=UPLOADS, door=Door())


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """What a server is given: everything but its start and end passes the gate."""
    await (lifespan if scope["type"] == "lifespan" else gate)(scope, receive, send)
