"""Timelines as files that are handed on: ``timeline export``. Rooms above this one add formats of theirs."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from groups.incidents.data import HandedNote, packed
from groups.incidents.pieces import Stretch
from groups.incidents.redaction import KEY_BYTES, Redactor
from groups.models import Timeline
from groups.storage.handing_on import CannotHandOn, checked, entries_of, facts_of, redactor_for
from groups.storage.writing import ID_ALPHABET, ID_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of a timeline is handed on: a stretch or all of it; under ``key`` with names hidden; ``made`` is shown as the time of its making.
    ``at``: the entry at which a page opens; ``notes``: whether it has the notes."""

    made: datetime
    stretch: Stretch | None = None
    key: bytes | None = None
    view: Literal["reader", "investigator"] = "investigator"
    at: int | None = None
    notes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A file: its bytes, and a name that contains nothing that is hidden."""

    name: str
    content: bytes


Exporter = Callable[[Timeline, Wanted], Export]
NotesOf = Callable[[Timeline, Stretch, Redactor | None], Sequence[HandedNote]]
"""The notes of a stretch, with names hidden by the redactor."""

EXPORTERS: Final[dict[str, Exporter]] = {}
"""By ``--format``."""


Comparer = Callable[[Sequence[Timeline], datetime, bytes | None, int], Export]
"""Timelines, the time of the making, the key under which names are hidden, from when on they are compared in milliseconds."""

COMPARERS: Final[dict[str, Comparer]] = {}
"""Several timelines as one file, by ``--format``."""


def fresh_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def hidden_id(key: bytes) -> str:
    """The id of a timeline whose own one is hidden: drawn from the key, so that it is the same in all that has that key."""
    digest = hmac.digest(key, b"the id of a timeline", "sha256")
    return "".join(ID_ALPHABET[byte % len(ID_ALPHABET)] for byte in digest[:ID_LENGTH])


def data(timeline: Timeline, wanted: Wanted, notes_of: NotesOf = lambda *_: ()) -> Export:
    """Entries to be taken in elsewhere. A fold begins with the first entry, so a stretch does, too."""
    stretch = checked(timeline, wanted.stretch)
    if stretch.first != 1:
        raise CannotHandOn(
            f"Data begin with entry 1, on which everything after it rests; from entry {stretch.first} on there is --format html."
        )
    redactor = redactor_for(timeline, stretch.last, wanted.key) if wanted.key else None
    facts = facts_of(timeline, redactor, hidden_id(wanted.key) if wanted.key else "")
    notes = notes_of(timeline, stretch, redactor) if wanted.notes else ()
    content = packed(facts, entries_of(timeline, stretch.last, redactor), notes)
    return Export(name=f"timeline-{facts['id']}.jsonl.gz", content=content)


EXPORTERS["data"] = data
