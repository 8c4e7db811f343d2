"""A message that many sockets are sent is framed once, and compressed once: all of them are written the same bytes.

Browsers offer to have messages compressed (permessage-deflate, RFC 7692), and a server that keeps a compressor for each
socket compresses a message as often as there are sockets: of 15 KB and a thousand sockets that is most of a second. So
what is agreed on is that no message refers to those before it (``server_no_context_takeover``).
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode

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
