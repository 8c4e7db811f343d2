"""The picture of a link's card: who owned what over time, as PNG. It holds bars and no text, so no name can be in it.

Written here, by zlib and a handful of chunks (PNG, third edition): a library for pictures would be a dependency for one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from explorer.figures.thumbnails import HUES, owners_of, sampled
from groups.history.frames.changes import apply
from groups.history.frames.shapes import Frame
from groups.incidents.pieces import Piece
from groups.storage.handing_on import Incident

WIDTH: Final = 1200
HEIGHT: Final = 630
"""What chat tools ask for (``og:image``)."""

MARGIN: Final = 48
ROWS_MOST: Final = 24
FRAMES_MOST: Final = 240

GROUND: Final = (241, 244, 245)
PANEL: Final = (255, 255, 255)
NOBODY: Final = (200, 69, 47)
COLOURS: Final = (
    (36, 112, 181), (132, 32, 92), (85, 105, 15), (58, 49, 137), (11, 122, 99), (154, 79, 134), (95, 111, 122),
)  # fmt: skip
"""Those of members in ``static/css/base.css``; the last one is that of all who come later."""

Colour = tuple[int, int, int]


def card(incident: Incident) -> bytes:
    """The PNG."""
    frames = frames_of(incident.pieces)
    lanes = {member["id"]: member["lane"] for member in incident.summary.get("cast") or ()}
    order = list(dict.fromkeys(lanes.values()))
    hues = {member: min(order.index(lane), HUES) for member, lane in lanes.items()}
    owners = [owners_of(frame) for frame in sampled(frames, FRAMES_MOST)]
    rows = sorted({key for owned in owners for key in owned})[:ROWS_MOST]
    pixels = [bytearray(bytes(GROUND) * WIDTH) for _ in range(HEIGHT)]
    _fill(pixels, MARGIN // 2, MARGIN // 2, WIDTH - MARGIN // 2, HEIGHT - MARGIN // 2, PANEL)
    if rows:
        _bars(pixels, rows, owners, hues)
    return png(pixels)


def frames_of(pieces: Sequence[Piece]) -> list[Frame]:
    """The frames at the moments, as many as a picture has columns for."""
    moments = sum(len(piece.moments) for piece in pieces)
    every = max(1, moments // FRAMES_MOST)
    frames = []
    for piece in pieces:
        frame, applied, changes = piece.frame, 0, piece.changes
        for number, moment in enumerate(piece.moments):
            if number % every:
                continue
            upto = applied
            while upto < len(changes) and changes[upto]["sequence"] <= moment["sequence"]:
                upto += 1
            frame = apply(frame, changes[applied:upto])
            applied = upto
            frames.append(frame)
    return frames


def _bars(
    pixels: list[bytearray],
    rows: Sequence[tuple[str, int]],
    owners: Sequence[Mapping[tuple[str, int], tuple[str, bool]]],
    hues: Mapping[str, int],
) -> None:
    high = (HEIGHT - 2 * MARGIN) / len(rows)
    wide = (WIDTH - 2 * MARGIN) / len(owners)
    for row, key in enumerate(rows):
        top, bottom = int(MARGIN + row * high) + 1, int(MARGIN + (row + 1) * high) - 2
        for column, owned in enumerate(owners):
            left, right = int(MARGIN + column * wide), int(MARGIN + (column + 1) * wide)
            holder = owned.get(key)
            if holder is None:
                middle = (top + bottom) // 2
                _fill(pixels, left, middle, right, middle + 2, NOBODY)
                continue
            member, going = holder
            colour = COLOURS[hues.get(member, HUES)]
            _fill(pixels, left, top, right, bottom, _paler(colour) if going else colour)


def _paler(colour: Colour) -> Colour:
    red, green, blue = ((255 + part) // 2 for part in colour)
    return red, green, blue


def _fill(pixels: list[bytearray], left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
    line = bytes(colour) * max(0, right - left)
    for y in range(top, bottom):
        pixels[y][3 * left : 3 * right] = line


def png(pixels: Sequence[bytes | bytearray]) -> bytes:
    """Rows of red, green and blue bytes as a PNG."""
    head = struct.pack(">IIBBBBB", len(pixels[0]) // 3, len(pixels), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in pixels), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
