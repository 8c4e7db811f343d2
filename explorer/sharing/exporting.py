"""``timeline export --format html``, and the board's button: one file that plays offline."""

from __future__ import annotations

from explorer.sharing.page import page_of, shown
from groups.exporting import Export, Wanted, hidden_id
from groups.models import Timeline
from groups.storage.handing_on import CannotHandOn, incident

FILE_BYTES_MOST = 24 * 1024 * 1024
"""Bytes of one file: what mail and tickets take, and a browser opens in seconds."""


def html(timeline: Timeline, wanted: Wanted) -> Export:
    found = incident(timeline, wanted.stretch, key=wanted.key)
    facts = shown(timeline, found, hidden_id(wanted.key) if wanted.key else "")
    content = page_of(
        timeline, facts, found, view=wanted.view, made=wanted.made, at=wanted.at, notes=wanted.notes
    )
    if len(content) > FILE_BYTES_MOST:
        raise CannotHandOn(
            f"The file would have {len(content) / 1e6:.0f} MB, more than {FILE_BYTES_MOST // 1024**2} MB: name a shorter stretch."
        )
    return Export(name=f"incident-{facts.id}.html", content=content)
