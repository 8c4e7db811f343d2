"""What a map shows of a chunk that nobody has opened: every member as it was at the chunk's end, as the first pass found it.

A row between two such ends is the worst of both. What happened within is not known before the chunk is opened.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final

import cramjam
import orjson

from groups.history.digests.digester import digest_of
from groups.history.digests.values import NOBODY, MemberValue
from groups.history.frames.shapes import Frame

MEMBERS_LEAST: Final = 61
"""A smaller group has a board that draws no map (``static/js/stage/size.js``)."""

MEMBERS_MOST: Final = 5_000
"""Of more, the rows would cost the first pass a tenth of its time, and be thinner than a line of pixels."""

MemberRows = Mapping[str, MemberValue]


def is_mapped(members: int) -> bool:
    """Whether so many members get rows."""
    return MEMBERS_LEAST <= members <= MEMBERS_MOST


def coarse_members(frame: Frame) -> str:
    """The members of a frame, as text for an index."""
    rows = digest_of(frame, (), ()).members.start or {}
    columns = [list(rows), *map(list, zip(*rows.values(), strict=True))]
    return b64encode(bytes(cramjam.zstd.compress(orjson.dumps(columns)))).decode()


def read_coarse(text: str | None) -> MemberRows:
    """The inverse; nobody for ``None``, which an index of an earlier version has, too."""
    if text is None:
        return {}
    ids, *values = orjson.loads(bytes(cramjam.zstd.decompress(b64decode(text))))
    return {
        member_id: MemberValue(*each) for member_id, each in zip(ids, zip(*values, strict=True), strict=True)
    }


def worst_of(before: MemberRows, after: MemberRows) -> MemberRows:
    """Rows of a column that begins with the one and ends with the other."""
    return {
        member_id: before.get(member_id, NOBODY).merged(after.get(member_id, NOBODY))
        for member_id in {**before, **after}
    }
