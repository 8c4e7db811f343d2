"""Connections whose clients take their time: in bounds, which uvicorn leaves to a proxy in front of it.

A client may open connections and say nothing, or one header after the other, for ever; each is a file of the operating
system, and the server has no more than some thousand. And it may ask for something large and not read it, which then
stays in memory.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

LEVEL: Final = 6
WINDOW_BITS: Final = 15
"""Of a compressor that lives for one message; a socket has none of its own."""

CLIENT_WINDOW_BITS: Final = 12
"""Browsers have nothing to say to us: what a socket keeps to read them is small."""

FRAMES_MOST: Final = 16
"""Messages whose frames are kept. A message reaches all its sockets within a moment."""

FRAMES_BYTES_MOST: Final = 4 * 1024 * 1024

_RSV1: Final = 0x40
"""The bit of a frame's first byte that states that it is compressed."""

_SYNC_TAIL: Final = b"\x00\x00\xff\xff"
"""What a compressor's flush ends with, and a message leaves out (RFC 7692, 7.2.1)."""


def deflate() -> ServerPerMessageDeflateFactory:
    """How compression is negotiated: each message by itself, in both directions."""
    return ServerPerMessageDeflateFactory(
        server_no_context_takeover=True,
        client_no_context_takeover=True,
        server_max_window_bits=WINDOW_BITS,
        client_max_window_bits=CLIENT_WINDOW_BITS,
    )


class SharedFrames:
    """The frames of the last texts. It lives on one event loop."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._bytes = 0

    def frame(self, text: str, window_bits: int) -> bytes:
        """A whole text frame of the server's; ``window_bits`` 0 leaves it uncompressed.

        A sender to many passes one ``str`` to all: its hash is computed once, and it is found by identity.
        """
        key = (text, window_bits)
        made = self._kept.get(key)
        if made is None:
            made = framed(text.encode(), window_bits)
            self._kept[key] = made
            self._bytes += len(made) + len(text)
            while len(self._kept) > FRAMES_MOST or self._bytes > FRAMES_BYTES_MOST:
                (old, _), gone = self._kept.popitem(last=False)
                self._bytes -= len(gone) + len(old)
        return made


def framed(data: bytes, window_bits: int) -> bytes:
    if not window_bits:
        return Frame(Opcode.TEXT, data).serialize(mask=False)
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, -window_bits)
    packed = compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)
    whole = bytearray(Frame(Opcode.TEXT, packed.removesuffix(_SYNC_TAIL)).serialize(mask=False))
    whole[0] |= _RSV1
    return bytes(whole)


def window_bits_of(extensions: Sequence[Extension]) -> int | None:
    """What a connection agreed on; 0 for no compression, null where its frames cannot be shared."""
    if not extensions:
        return 0
    only = extensions[0]
    if len(extensions) == 1 and isinstance(only, PerMessageDeflate) and only.local_no_context_takeover:
        return only.local_max_window_bits
    return None


HEAD_S: Final = 20.0
"""From a connection's first moment, or from the first byte of a further request, to the end of its head."""

HEAD_BYTES_MOST: Final = 64 * 1024
"""A head: the longest addresses of ours are the laboratory's, with 8,000 letters, and cookies have 4 KB each."""


FRAMING_BYTES_MOST: Final = 8 * 1024 * 1024
"""What comes of a request behind its head and is no body: the lengths of chunks, and a trailer that does not end."""

READ_S: Final = 60.0
"""As long as a client may read nothing, or almost nothing, of an answer that waits for it."""


FRAGMENTS_MOST: Final = 64
"""Frames of one message. A browser sends one; empty ones have no end, and take more memory here than they have bytes."""


class ReadInTime(asyncio.Protocol):
    """A connection that is ended when its client reads nothing of what waits for it."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _unread: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        # So much waits that more is written only when some of it has been read.
        self._unread = self.loop.call_later(READ_S, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._is_read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_read()
        super().connection_lost(exc)

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


class BoundedConnection(ReadInTime, HttpToolsProtocol):
    """Uvicorn's protocol, which closes the connection of a head that does not end, and of an answer that nobody reads."""

    _due: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True
    _field_bytes = 0
    _framing_bytes = 0
    _is_trailing = False
    _cycles: tuple[RequestResponseCycle, ...] = ()
    """Requests that were not answered when the last one came. Uvicorn keeps the last one alone, and would go on answering the
    others of a client that has left."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._due is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        if self._in_head:
            self._head_bytes += len(data)
        self._framing_bytes += len(data)
        super().data_received(data)
        # What came behind the head's end is a body, which is counted elsewhere.
        too_much = self._in_head and self._head_bytes > HEAD_BYTES_MOST
        if too_much or self._framing_bytes > FRAMING_BYTES_MOST:
            self._give_up()

    def on_message_begin(self) -> None:
        self._is_trailing, self._field_bytes = False, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._field_bytes += len(name) + len(value)
        if self._field_bytes > HEAD_BYTES_MOST:
            self._give_up()
        elif not self._is_trailing:
            # A trailer is no header: it could speak otherwise than the head that was let in.
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head_is_there()
        self._is_trailing, self._field_bytes, self._framing_bytes = True, 0, 0
        super().on_headers_complete()
        if self.cycle is not None:
            self._cycles = (*(cycle for cycle in self._cycles if not cycle.response_complete), self.cycle)

    def on_body(self, body: bytes) -> None:
        self._framing_bytes -= len(body)
        super().on_body(body)

    def handle_websocket_upgrade(self) -> None:
        self._head_is_there()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        for cycle in self._cycles:
            cycle.disconnected = cycle.disconnected or not cycle.response_complete
            cycle.message_event.set()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._due = self.loop.call_later(HEAD_S, self._give_up)

    def _head_is_there(self) -> None:
        self._in_head = False
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _give_up(self) -> None:
        self._head_is_there()
        self.transport.abort()


class RefusableSocket(ReadInTime, WebSocketsSansIOProtocol):
    """Uvicorn's protocol, in which a handshake is over when it is refused, too, and when its client has left.

    Uvicorn takes it for an error of the application's ("returned without completing handshake"): every browser with an
    old cookie, and every page of another origin, would write to the server's log.

    What goes to many sockets is framed and compressed once (``SharedFrames``). Sockets that were opened together, as
    after a restart, are not pinged together.
    """

    _shared: Final = SharedFrames()

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.conn = ServerProtocol(
            extensions=[deflate()] if self.config.ws_per_message_deflate else [],
            max_size=self.config.ws_max_size,
            logger=self.logger,
        )

    def send_receive_event_to_app(self) -> None:
        """A text that is no UTF-8 ends the socket with 1007; uvicorn writes a traceback for each, as often as a client likes."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._end(CloseCode.INVALID_DATA)
                return
        super().send_receive_event_to_app()

    def _end(self, code: CloseCode) -> None:
        """Close the socket for what its client sent."""
        self.frames = []
        if not self.close_sent:
            self.conn.send_close(code)
            self.handle_parser_exception()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < FRAGMENTS_MOST:
            super().handle_cont(event)
        else:
            self._end(CloseCode.MESSAGE_TOO_BIG)

    def handle_ping(self) -> None:
        """A client that reads nothing has no pong: it could otherwise have as many written as it likes, all kept for it."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        # A transport that closes waits for its client to read first, for ever.
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def start_keepalive(self) -> None:
        if self.ping_interval:
            self.ping_timer = self.loop.call_later(
                random.uniform(0, self.ping_interval), self.send_keepalive_ping
            )

    async def send(self, message: Any) -> None:
        if await self._sent_to_many(message):
            return
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
        elif message["type"] == "websocket.accept" and not self.handshake_complete:
            raise ClientDisconnected

    async def _sent_to_many(self, message: Any) -> bool:
        """Whether it is a text on an open socket, which is then written; all else is uvicorn's affair."""
        text = message.get("text")
        if message["type"] != "websocket.send" or text is None or self.conn.state is not OPEN:
            return False
        window_bits = window_bits_of(self.conn.extensions)
        if window_bits is None:
            return False
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.conn.state is not OPEN:
            raise ClientDisconnected
        self.transport.write(self._shared.frame(text, window_bits))
        return True
