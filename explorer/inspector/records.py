"""The bytes of a timeline's records: a record is stored in JSON form, and has one way to be written."""

from __future__ import annotations

from typing import Any

from explorer.api.endpoint import BadRequest
from explorer.inspector.answering import BYTES_MOST, Asked, answer_to, too_many
from explorer.inspector.topics import topic_names
from groups import storage
from groups.models import Timeline
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError
from groups.wire.inspection.kinds import kebab
from groups.wire.records import encode_record, is_opaque


def bytes_of_entry(timeline: Timeline, sequence: int) -> dict[str, Any]:
    """Key and value of the record that is entry ``sequence``, each as ``/api/inspect`` answers it."""
    found = storage.entries_between(timeline, sequence, sequence)
    if not found:
        raise BadRequest(
            f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {sequence}.", status=404
        )
    entry = found[0]
    if entry["kind"] != "record":
        raise BadRequest(
            f"Entry {sequence} of timeline {timeline.id} is a {entry['kind']}; only records have bytes.",
            status=404,
        )
    payload = entry["payload"]
    try:
        key, value = encode_record(payload)
    except RecordError as error:
        raise BadRequest(f"Entry {sequence} cannot be written as bytes: {error}.", status=422) from error
    number = payload.get("type")
    known = RECORD_TYPES.get(number) if isinstance(number, int) else None
    topics = topic_names(timeline)
    readable = known is not None and not is_opaque(payload)
    return {
        "timeline": timeline.id,
        "sequence": sequence,
        "type": number,
        "title": f"{known.message if known else f'record of type {number}'} of {timeline.group or timeline.title}",
        "place": place_of(entry),
        "key": _answer(key, "key" if known else None, topics),
        "value": _answer(value, kebab(known.value.name) if known and readable else None, topics),
    }


def place_of(entry: dict[str, Any]) -> str:
    """Where a record stands: its offset where the timeline knows it."""
    if entry.get("partition") is not None and entry.get("offset") is not None:
        return f"__consumer_offsets-{entry['partition']}, offset {entry['offset']}"
    return f"entry {entry['sequence']}"


def _answer(data: bytes | None, kind: str | None, topics: dict[str, str]) -> dict[str, Any] | None:
    if data is None:
        return None
    if len(data) > BYTES_MOST:
        raise BadRequest(too_many(len(data)), status=413)
    return answer_to(Asked(data=data, kind=kind, topics=topics), guesses=False)
