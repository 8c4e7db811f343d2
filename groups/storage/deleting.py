"""Removes timelines, and gives the disk back what only they needed."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from groups.logstore.files import open_files
from groups.models import Timeline
from groups.storage import opened
from groups.storage.errors import NoSuchTimeline


def delete(timeline_id: str) -> None:
    """Remove a timeline with all that belongs to it; a writer that is still at it loses its lease."""
    if not delete_all([timeline_id]):
        raise NoSuchTimeline(timeline_id)


def delete_all(timeline_ids: Iterable[str]) -> int:
    """Remove these timelines; how many there were. Files go once their rows are gone for good."""
    found = list(Timeline.objects.filter(pk__in=list(timeline_ids)).values_list("pk", "folder"))
    with transaction.atomic():
        Timeline.objects.filter(pk__in=[pk for pk, _ in found]).delete()
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
    needed: set[str] = set()
    for packs in Timeline.objects.filter(folder=folder).values_list("packs", flat=True):
        needed.update(packs)
    files = open_files(settings.STORE_URL)
    for name in files.names(folder):
        if name not in needed:
            files.remove(name)
