"""What is deleted once it is older than it is kept: runs, imports with their timelines, and uploaded files."""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from explorer.accounts import audit
from explorer.accounts.sessions import remove_ended
from explorer.pages.imports.receiving import COMING
from explorer.sharing.models import Link
from groups import storage
from groups.imports import lifecycle
from groups.models import Import, Timeline

log = logging.getLogger(__name__)

RUNS_AT_ONCE: Final = 50
IMPORTS_AT_ONCE: Final = 10
"""As many are deleted in one pass: it is short, and the next one goes on."""

ORPHAN_S: Final = 24 * 3600
"""An upload's folder is moved to its place before its import's row is stored; a day later there is a row, or none will come."""


def forget() -> None:
    """Delete what is older than the settings keep it, but for what has notes. Any number of processes may do so at once."""
    runs = [] if not settings.RUNS_KEEP_DAYS else _runs(_before(settings.RUNS_KEEP_DAYS))
    if runs:
        log.info("%d runs are older than RUNS_KEEP_DAYS and are deleted.", storage.delete_all(runs))
    if settings.IMPORTS_KEEP_DAYS:
        for import_id in _imports(_before(settings.IMPORTS_KEEP_DAYS)):
            with contextlib.suppress(lifecycle.NoSuchImport):
                lifecycle.delete(import_id)
                log.info("Import %s is older than IMPORTS_KEEP_DAYS and is deleted.", import_id)
    _forget_uploads(_before(settings.UPLOADS_KEEP_DAYS))
    remove_ended()
    audit.forget()


def _runs(before: datetime) -> list[str]:
    ended = Timeline.objects.filter(source=Timeline.Source.SIMULATION, created__lt=before)
    found = ended.filter(notes=None).exclude(status=Timeline.Status.RUNNING)
    found = found.exclude(Exists(_open_links("pk"))).order_by("created")
    return list(found.values_list("pk", flat=True)[:RUNS_AT_ONCE])


def _imports(before: datetime) -> list[str]:
    shown = Import.timelines.through.objects.filter(import_id=OuterRef("pk"))
    kept = shown.filter(Exists(_open_links("timeline_id")) | Q(timeline__notes__isnull=False))
    found = Import.objects.filter(finished__lt=before).exclude(Exists(kept))
    return list(found.order_by("finished").values_list("pk", flat=True)[:IMPORTS_AT_ONCE])


def _open_links(timeline: str) -> QuerySet[Link]:
    return Link.objects.filter(
        timeline_id=OuterRef(timeline), withdrawn__isnull=True, until__gt=timezone.now()
    )


def _forget_uploads(before: datetime) -> None:
    """Remove the folders of uploads whose import ended so long ago, or is not there."""
    with contextlib.suppress(FileNotFoundError):
        for folder in lifecycle.uploads().iterdir():
            if folder.name.startswith(COMING):
                continue
            found = Import.objects.filter(pk=folder.name).first()
            if found is None:
                is_over = time.time() - folder.stat().st_mtime > ORPHAN_S
            else:
                is_over = found.finished is not None and found.finished < before
            if is_over:
                shutil.rmtree(folder, ignore_errors=True)


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
