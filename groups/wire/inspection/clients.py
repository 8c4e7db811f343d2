"""What somebody who knows only an older version makes of bytes: a leader that was not restarted yet, an old broker.

Blobs that members hand to each other may only grow at their end, so that an old client reads the front and ignores
the rest; the consequences for the group come from ``groups.wire.embedded.older_clients``. Values of records are refused where
their version is not known.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.values import Fields
from groups.wire.embedded import older_clients
from groups.wire.embedded.user_data import COOPERATIVE_STICKY, STICKY
from groups.wire.errors import RecordError
from groups.wire.generated.embedded import SUBSCRIPTION
from groups.wire.inspection.inspecting import Inspection, inspect
from groups.wire.inspection.kinds import kind_named
from groups.wire.inspection.nodes import REST, Node, find

NOTHING_LOST: Final = "Nothing is lost."


def seen_by(
    name: str, data: bytes, version: int, *, assignor: str | None = None, whole: Inspection | None = None
) -> Fields:
    """How ``data`` looks to a reader that knows the kind up to ``version``::

        {"version": 0, "read": 15, "ignored": 21,
         "fields": [{"name": "topics", "read": true}, {"name": "ownedPartitions", "read": false}],
         "consequences": ["It takes the member to hold nothing: …"]}

    The consequences of a subscription are those of a leader with ``assignor``; where that is not given it is the one
    whose user data the subscription has, else cooperative-sticky, which asks for most. ``RecordError`` if there is
    no such kind. ``whole`` is the inspection of the bytes, where it was made before.
    """
    kind = kind_named(name)
    whole = whole or inspect(name, data)
    written = whole.version
    refused = not kind.layout.appends and written is not None and written > version
    seen = None if refused else inspect(name, data, version=version)
    known = {node.name for node in seen.fields} if seen is not None and seen.problem is None else set()
    read = seen.read if seen is not None else 0
    if refused:
        consequences = [f"It does not know version {written}, and refuses the bytes."]
    else:
        consequences = _consequences(name, data, version, whole.fields, known, assignor)
    return {
        "version": version,
        "read": read,
        "ignored": whole.length - read,
        "fields": [
            {"name": node.name, "read": node.name in known} for node in whole.fields if node.name != REST
        ],
        "consequences": consequences or [NOTHING_LOST],
    }


def clients(name: str, data: bytes, *, assignor: str | None = None) -> list[Fields]:
    """``seen_by`` for every version that is known; none for kinds whose readers all know the same."""
    layout = kind_named(name).layout
    try:
        written, _, _ = layout.read(data, None)
    except RecordError:
        return []
    if written is None or len(layout.versions) < 2 or not layout.older_read_it:
        return []
    whole = inspect(name, data)
    return [seen_by(name, data, version, assignor=assignor, whole=whole) for version in layout.versions]


def _consequences(
    name: str, data: bytes, version: int, whole: list[Node], known: set[str], assignor: str | None
) -> list[str]:
    if name == "subscription":
        seen = older_clients.seen_by(SUBSCRIPTION, data, version)
        consequences = older_clients.consequences(seen, assignor or _assignor(whole))
        return [each.sentence for each in consequences]
    if name == "sticky-user-data" and find(whole, "generation") is not None and "generation" not in known:
        return ["It cannot tell which of two members that claim a partition had it last."]
    return []


def _assignor(fields: list[Node]) -> str:
    user_data = find(fields, "userData")
    return STICKY if user_data is not None and user_data.kind == "sticky-user-data" else COOPERATIVE_STICKY
