"""Removes timelines, and gives the disk back what only they needed."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.db import transaction

from groups.jobs.leases import from_now
from groups.models import Timeline
from groups.packs.files import StoreAway, open_files
from groups.reserve import makes_room
from groups.storage import opened
from groups.storage.errors import NoSuchTimeline

log = logging.getLogger(__name__)

ROWS_AT_ONCE: Final = 500
"""A database takes some thousands of values in one query; an import of many groups has more timelines."""


def delete(timeline_id: str) -> None:
    """Remove a timeline with all that belongs to it; a writer that is still at it loses its lease."""
    if not delete_all([timeline_id]):
        raise NoSuchTimeline(timeline_id)


@makes_room
def delete_all(timeline_ids: Iterable[str]) -> int:
    """Remove these timelines; how many there were. Files go once their rows are gone for good."""
    wanted = list(timeline_ids)
    found: list[tuple[str, str]] = []
    with transaction.atomic():
        for at in range(0, len(wanted), ROWS_AT_ONCE):
            some = Timeline.objects.filter(pk__in=wanted[at : at + ROWS_AT_ONCE])
            found += some.values_list("pk", "folder")
            some.delete()
        transaction.on_commit(lambda: _clear(found))
    return len(found)


def _clear(gone: list[tuple[str, str]]) -> None:
    for pk, _ in gone:
        opened.forget(pk)
    for folder in {folder for _, folder in gone if folder}:
        collect(folder)


def collect(folder: str) -> None:
    """Remove the packs of a folder that no timeline needs, and what was left half written there.

    Only for a folder whose import has ended: while it runs, its packs are not named by any row yet.
    """
    if Timeline.objects.filter(folder=folder, lease_until__gt=from_now()).exists():
        # Somebody folds one of its timelines again, into a pack that no row names yet; who does clears up afterwards.
        return
    needed: set[str] = set()
    for packs in Timeline.objects.filter(folder=folder).values_list("packs", flat=True):
        needed.update(packs)
    try:
        files = open_files(settings.STORE_URL)
        for name in files.names(folder):
            if name not in needed:
                files.remove(name)
    except StoreAway as error:
        log.warning("What is not needed any more of the store's folder %s stays there. %s.", folder, error)
