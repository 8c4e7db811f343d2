"""What a board's panels show that otherwise a server computes: the figure of epochs, Kafka's metrics, the bytes of records.

All of it is made of the incident's own pieces. Where names are hidden these are folded from redacted entries, and there are no bytes at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from explorer.figures.epochs import collect, figure
from explorer.pages.inspector.answering import Asked, answer_to
from explorer.pages.inspector.records import Found, TooLarge, found_of, identity, inspected_record
from explorer.pages.inspector.topics import topic_names
from groups.incidents.measured import measured
from groups.incidents.pieces import Piece
from groups.models import Timeline
from groups.storage.handing_on import Incident
from groups.wire.errors import RecordError

RECORDS_MOST: Final = 1_000
"""Records of one incident that have their bytes in its file, the first ones: a second of laying out, a tenth of a megabyte."""

RECORD_BYTES_MOST: Final = 4 * 1024
"""Of one of them: a larger one is for the inspector."""


def panels_of(timeline: Timeline, incident: Incident) -> dict[str, Any]:
    """The parts of a page's data by name."""
    parts: dict[str, Any] = {
        "epochs": figure(collect((piece.frame, piece.changes) for piece in incident.pieces)),
    }
    if (metrics := measured(incident.pieces)) is not None:
        parts["metrics"] = metrics
    if incident.redactor is None:
        parts |= dict(_bytes(timeline, incident))
    return parts


def _bytes(timeline: Timeline, incident: Incident) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each piece, the bytes of its records by their sequence, as the API reports them."""
    topics = topic_names(timeline)
    before: dict[str, int] = {}
    left = RECORDS_MOST
    for piece in incident.pieces:
        panels: dict[str, Any] = {}
        for found in _records(timeline, piece):
            if not left:
                break
            left -= 1
            sequence = found.entry["sequence"]
            same = repr(identity(found.entry["payload"]))
            earlier = before.get(same)
            from_ = incident.stretch.first if earlier is None else earlier
            panels[str(sequence)] = inspected_record(found, timeline, earlier, from_, _inspected, topics)
            before[same] = sequence
        yield f"bytes-{piece.first}", panels


def _records(timeline: Timeline, piece: Piece) -> Iterator[Found]:
    for entry in piece.entries:
        if entry["kind"] != "record":
            continue
        try:
            found = found_of(entry, timeline.semantics)
        except (RecordError, TooLarge):
            continue
        if all(len(part or b"") <= RECORD_BYTES_MOST for part in (found.key, found.value)):
            yield found


def _inspected(asked: Asked) -> dict[str, Any]:
    return answer_to(asked, guesses=False)
