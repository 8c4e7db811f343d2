"""The channel layer of the embedded default: in memory, and safe when a worker thread sends.

Channels' own in-memory layer puts a message into an ``asyncio.Queue`` from whatever thread sends. That wakes
nobody: the receiving loop notices at its next timer, and once the queue is full the rest is dropped. Here the
sending is done on the loop that receives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from channels.layers import InMemoryChannelLayer

SEND_TIMEOUT_S = 5.0
"""A loop that does not answer for so long is being shut down; a worker must not wait for it for ever."""


class ThreadSafeInMemoryChannelLayer(InMemoryChannelLayer):  # type: ignore[misc]
    home: asyncio.AbstractEventLoop | None = None
    """The loop that receives: there is one in a server process, and one after the other in tests."""

    async def new_channel(self, prefix: str = "specific.") -> str:
        self._settle()
        return str(await super().new_channel(prefix))

    async def receive(self, channel: str) -> dict[str, Any]:
        self._settle()
        message: dict[str, Any] = await super().receive(channel)
        return message

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        await self._at_home(super().send(channel, message))

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._at_home(super().group_send(group, message))

    def _settle(self) -> None:
        loop = asyncio.get_running_loop()
        if self.home is not loop:
            # Queues and groups of a loop that is gone could only be waited for in vain.
            if self.home is not None:
                self.channels.clear()
                self.groups.clear()
            self.home = loop

    async def _at_home(self, sending: Coroutine[Any, Any, None]) -> None:
        if self.home is None or self.home is asyncio.get_running_loop():
            await sending
        elif self.home.is_closed():
            sending.close()
        else:
            future = asyncio.run_coroutine_threadsafe(sending, self.home)
            await asyncio.wait_for(asyncio.wrap_future(future), SEND_TIMEOUT_S)
