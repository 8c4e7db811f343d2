"""What somebody who knows only an older version makes of bytes: a leader that was not restarted yet, an old broker.

Blobs that members hand to each other may only grow at their end, so that an old client reads the front and ignores
the rest (KIP-429, KIP-792, KIP-881 rely on it). Values of records are refused where their version is not known.
"""

from __future__ import annotations

from typing import Any

from groups.wire.errors import RecordError
from groups.wire.inspection.inspecting import inspect
from groups.wire.inspection.kinds import kind_named
from groups.wire.inspection.nodes import REST, Node, find
from groups.wire.inspection.words import number


def seen_by(name: str, data: bytes, version: int) -> dict[str, Any]:
    """How ``data`` looks to a reader that knows the kind up to ``version``::

        {"version": 0, "read": 15, "ignored": 21,
         "fields": [{"name": "topics", "read": true}, {"name": "ownedPartitions", "read": false}],
         "consequences": ["As a leader it takes this member for one that owns nothing, …"]}

    ``RecordError`` if there is no such kind, or it has no versions of that sort.
    """
    kind = kind_named(name)
    whole = inspect(name, data)
    written = whole.version
    if not kind.layout.appends:
        reads = written is None or written <= version
        seen = whole if reads else None
        consequences = [] if reads else [f"It does not know version {written}, and refuses the bytes."]
    else:
        seen = inspect(name, data, version=version)
        consequences = _consequences(name, whole.fields, seen.fields)
    known = {node.name for node in seen.fields} if seen is not None and seen.problem is None else set()
    read = seen.read if seen is not None else 0
    return {
        "version": version,
        "read": read,
        "ignored": whole.length - read,
        "fields": [
            {"name": node.name, "read": node.name in known} for node in whole.fields if node.name != REST
        ],
        "consequences": consequences or ["Nothing is lost."],
    }


def clients(name: str, data: bytes) -> list[dict[str, Any]]:
    """``seen_by`` for every version that is known; none for kinds that have just one."""
    layout = kind_named(name).layout
    try:
        written, _, _ = layout.read(data, None)
    except RecordError:
        return []
    if written is None or len(layout.versions) < 2 or not _tells_versions(name):
        return []
    return [seen_by(name, data, version) for version in layout.versions]


def _tells_versions(name: str) -> bool:
    """Requests and answers are only ever sent in a version that both sides know."""
    return not name.endswith(("-request", "-response")) and not name.startswith("streams-")


def _consequences(name: str, whole: list[Node], seen: list[Node]) -> list[str]:
    lost = {node.name for node in whole} - {node.name for node in seen}
    if name == "subscription":
        return _of_subscription(whole, lost)
    if name == "sticky-user-data" and "generation" in lost:
        return [
            "It knows no generation, and cannot tell which of two members that claim a partition had it last."
        ]
    return []


def _of_subscription(whole: list[Node], lost: set[str]) -> list[str]:
    told = []
    if find(whole, "ownedPartitions") is None:
        told.append("The writer knows version 0 alone: nothing is said of what it owns.")
    elif "ownedPartitions" in lost:
        told.append(
            "As a leader it takes this member for one that owns nothing, and may give its partitions to others at once."
        )
    generation = number(find(whole, "generationId"))
    if (
        "generationId" in lost
        and "ownedPartitions" not in lost
        and generation is not None
        and generation >= 0
    ):
        user_data = find(whole, "userData")
        if user_data is not None and user_data.kind == "cooperative-sticky-user-data":
            told.append("It takes the generation from the user data.")
        else:
            told.append("It does not see in which generation the partitions were owned.")
    rack = find(whole, "rackId")
    if "rackId" in lost and rack is not None and rack.value:
        told.append("It takes the member for one without a rack, which fits every rack.")
    return told
