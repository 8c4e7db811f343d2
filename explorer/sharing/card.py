"""The picture of a link's card: who owned what over time, as PNG. It holds bars and no text, so no name can be in it.

Written here, by zlib and a handful of chunks (PNG, third edition): a library for pictures would be a dependency for one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from explorer.figures.thumbnails import HUES, owners_of, sampled
from groups.history.frames.shapes import Frame
from groups.incidents.pieces import Piece, frames_at_moments
from groups.storage.handing_on import Incident
from simulations.laboratory.shapes import Sheet

WIDTH: Final = 1200
HEIGHT: Final = 630
"""What chat tools ask for (``og:image``)."""

MARGIN: Final = 48
ROWS_MOST: Final = 24
FRAMES_MOST: Final = 240

STRIPE: Final = 24
"""Pixels of a stripe and its gap."""

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
    pixels = _panel()
    if rows:
        _bars(pixels, rows, owners, hues)
    return png(pixels)


def answers_card(sheet: Sheet) -> bytes:
    """The PNG of a laboratory's sheet: a row for each assignor, a column for each partition, in its owner's colour."""
    rows = [("", number) for number in range(len(sheet["answers"]))]
    columns = min(FRAMES_MOST, max((len(answer["after"]) for answer in sheet["answers"]), default=0))
    owners = [
        {
            ("", number): (str(answer["after"][partition]), False)
            for number, answer in enumerate(sheet["answers"])
            if partition < len(answer["after"]) and answer["after"][partition] >= 0
        }
        for partition in range(columns)
    ]
    hues = {str(place): min(place, HUES) for place in range(len(sheet["members"]))}
    pixels = _panel()
    if owners:
        _bars(pixels, rows, owners, hues)
    return png(pixels)


def _panel() -> list[bytearray]:
    pixels = [bytearray(bytes(GROUND) * WIDTH) for _ in range(HEIGHT)]
    _fill(pixels, MARGIN // 2, MARGIN // 2, WIDTH - MARGIN // 2, HEIGHT - MARGIN // 2, PANEL)
    return pixels


def frames_of(pieces: Sequence[Piece]) -> list[Frame]:
    """The frames at the moments, as many as a picture has columns for."""
    moments = sum(len(piece.moments) for piece in pieces)
    every = max(1, moments // FRAMES_MOST)
    return [
        frame
        for piece in pieces
        for number, (_, frame) in enumerate(frames_at_moments(piece.frame, piece.changes, piece.moments))
        if number % every == 0
    ]


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
            if going:
                _hatch(pixels, left, top, right, bottom, colour)
            else:
                _fill(pixels, left, top, right, bottom, colour)


def _paler(colour: Colour) -> Colour:
    red, green, blue = ((255 + part) // 2 for part in colour)
    return red, green, blue


def _fill(pixels: list[bytearray], left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
    line = bytes(colour) * max(0, right - left)
    for y in range(top, bottom):
        pixels[y][3 * left : 3 * right] = line


def _hatch(pixels: list[bytearray], left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
    """What is being revoked, as on the board: stripes from the lower left to the upper right."""
    stripe = bytes(colour) * (STRIPE // 2) + bytes(_paler(colour)) * (STRIPE // 2)
    line = stripe * ((right + STRIPE) // STRIPE + 1)
    for y in range(top, bottom):
        begin = 3 * (left + y) % len(stripe)
        pixels[y][3 * left : 3 * right] = line[begin : begin + 3 * max(0, right - left)]


def png(pixels: Sequence[bytes | bytearray]) -> bytes:
    """Rows of red, green and blue bytes as a PNG."""
    head = struct.pack(">IIBBBBB", len(pixels[0]) // 3, len(pixels), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in pixels), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
