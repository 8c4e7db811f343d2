"""The bytes of a timeline's records: a record is stored in JSON form, and has one way to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.http import HttpRequest

from explorer.pages.inspector.answering import BYTES_MOST, Asked, too_many
from explorer.pages.inspector.offloading import answer
from explorer.pages.inspector.topics import topic_names
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.history.entries import EntryLine
from groups.history.state.group import Semantics
from groups.models import Timeline
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError
from groups.wire.inspection.kinds import kebab
from groups.wire.kip import KIP_RECORD_TYPES, as_proposed, encode_kip_record
from groups.wire.record_type import RecordType
from groups.wire.records import encode_record, is_opaque

SEARCHED_MOST: Final = 20_000
"""Entries among which the record before is looked for: some hundredths of a second, and hours of a busy group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The record that is an entry: its parts as bytes, and which kinds they are where that is known."""

    entry: EntryLine
    key: bytes | None
    value: bytes | None
    known: RecordType | None
    value_kind: str | None
    left_out: list[str]
    """Fields that a run by the proposal's rules keeps, and the proposal's own layout has no place for."""

    @property
    def layout(self) -> str:
        """What is said of a record that is not written as the released Kafka writes it; empty for all others."""
        if self.value_kind is None or not self.value_kind.startswith("kip-"):
            return ""
        besides = f"; the run keeps besides: {', '.join(self.left_out)}" if self.left_out else ""
        return f" Laid out as KIP-848 has it{besides}."


def record_at(timeline: Timeline, sequence: int) -> Found:
    """The record; ``BadRequest`` where the entry is none, or cannot be written."""
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
    try:
        return found_of(entry, timeline.semantics)
    except RecordError as error:
        raise BadRequest(f"Entry {sequence} cannot be written as bytes: {error}.", status=422) from error
    except TooLarge as error:
        raise BadRequest(str(error), status=413) from error


class TooLarge(ValueError):
    """A record of more bytes than are laid out."""


def found_of(entry: EntryLine, semantics: str) -> Found:
    """The record that an entry is, of a timeline of these semantics. ``RecordError`` or ``TooLarge`` where it cannot be written."""
    payload = entry["payload"]
    proposed = semantics == Semantics.KIP and not is_opaque(payload)
    left_out: list[str] = []
    if proposed:
        payload, left_out = as_proposed(payload)
    key, value = encode_kip_record(payload) if proposed else encode_record(payload)
    for part in (key, value):
        if part is not None and len(part) > BYTES_MOST:
            raise TooLarge(too_many(len(part)))
    number = payload.get("type")
    known = (KIP_RECORD_TYPES if proposed else RECORD_TYPES).get(number) if isinstance(number, int) else None
    readable = known is not None and not is_opaque(payload)
    return Found(
        entry=entry,
        key=key,
        value=value,
        known=known,
        value_kind=_value_kind(known) if known and readable else None,
        left_out=left_out,
    )


def bytes_of_entry(request: HttpRequest, timeline: Timeline, sequence: int) -> dict[str, Any]:
    """Key and value of the record that is entry ``sequence``, each as ``/api/inspect`` answers it."""
    found = record_at(timeline, sequence)
    topics = topic_names(timeline)
    before, searched_from = record_before(timeline, found.entry)
    return inspected_record(
        found, timeline, before, searched_from, lambda asked: answer(request, asked, guesses=False), topics
    )


def inspected_record(
    found: Found,
    timeline: Timeline,
    before: int | None,
    searched_from: int,
    inspected: Callable[[Asked], dict[str, Any]],
    topics: dict[str, str],
) -> dict[str, Any]:
    """What is shown of a record's bytes; ``inspected`` lays a part of it out."""

    def part(data: bytes | None, kind: str | None, layout: str = "") -> dict[str, Any] | None:
        if data is None:
            return None
        inspection = inspected(Asked(data=data, kind=kind, topics=topics))
        if layout:
            inspection["says"] = [*inspection["says"], {"text": layout}]
        return inspection

    number = found.entry["payload"].get("type")
    return {
        "timeline": timeline.id,
        "sequence": found.entry["sequence"],
        "type": number,
        "title": f"{found.known.message if found.known else f'record of type {number}'} of {timeline.group or timeline.title}",
        "place": place_of(found.entry),
        "before": before,
        "searched_from": searched_from,
        "key": part(found.key, "key" if found.known else None),
        "value": part(found.value, found.value_kind, found.layout),
    }


def _value_kind(known: RecordType) -> str:
    kind = kebab(known.value.name)
    return kind if known is RECORD_TYPES.get(known.number) else f"kip-{kind}"


def record_before(timeline: Timeline, entry: EntryLine) -> tuple[int | None, int]:
    """The nearest earlier entry that is a record of the same key, and the first entry that was looked at."""
    wanted = identity(entry["payload"])
    last = entry["sequence"]
    for earlier in islice(storage.entries_before(timeline, entry["sequence"]), SEARCHED_MOST):
        last = earlier["sequence"]
        if earlier["kind"] == "record" and identity(earlier["payload"]) == wanted:
            return last, last
    return None, last


def identity(payload: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a record's key is: its type and its fields, or its bytes where they could not be read."""
    if is_opaque(payload):
        return ("bytes", payload["key_bytes"])
    return (payload.get("type"), payload.get("key"))


def asked_record(body: Mapping[str, Any]) -> Asked:
    """The value of a record as one side of a comparison: ``{"timeline", "entry"}``."""
    timeline, entry = body.get("timeline"), body.get("entry")
    if not isinstance(timeline, str):
        raise BadRequest("timeline must be the id of a timeline.", field="timeline")
    if not isinstance(entry, int) or isinstance(entry, bool):
        raise BadRequest("entry must be the number of an entry.", field="entry")
    stored = storage.get(timeline)
    found = record_at(stored, entry)
    return Asked(
        data=found.value or b"",
        kind=found.value_kind,
        name=f"entry {entry}",
        topics=topic_names(stored),
        tombstone=found.value is None,
        is_record=True,
    )


def place_of(entry: EntryLine) -> str:
    """Where a record is: its offset where the timeline knows it."""
    if entry.get("partition") is not None and entry.get("offset") is not None:
        return f"__consumer_offsets-{entry['partition']}, offset {entry['offset']}"
    return f"entry {entry['sequence']}"
