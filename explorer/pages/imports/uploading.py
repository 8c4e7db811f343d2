"""Uploaded files become an import: kept under their own folder's names, since the names contain the partitions."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction

from explorer.pages.imports.receiving import KeptFile
from explorer.web.endpoint import BadRequest, check_room
from groups import storage
from groups.imports import lifecycle
from groups.imports.client_settings import BadSetting, settings_of
from groups.imports.tasks import run_import
from groups.imports.topic_copy import SCHEME
from groups.models import Import
from groups.packs.files import let_group_read
from groups.pipeline.topics.naming import BadTopicsFile, read_topics_file
from groups.texts.end_offsets import BadEndOffsets, read_end_offsets
from groups.watching import registry

IMPORTS_WAITING_MOST = 10
"""Imports that may wait or run at once: each takes a core and a gigabyte for as long as it lasts."""

TOPICS_BYTES_MOST = 4 * 1024 * 1024
"""A JSON file of topic names: a cluster of 50,000 topics fits."""

LOOSE_FILES = "upload"
"""The folder of files that came without one."""

NAME_BYTES_MOST = 240
"""Bytes of a file's name: file systems take 255, which are 85 letters of Chinese."""

PATH_LENGTH_MOST = 4_096
"""Characters of a path that is imported: Linux takes no longer ones."""

DEPTH_MOST = 2
"""Of a file's path its own name and its folder's are kept: Kafka's segments lie no deeper."""


def start_sample(name: str | None = None) -> Import:
    """Queues the import of a bundled recorded log, the first one if no name is given."""
    samples = lifecycle.samples()
    chosen = next((sample for sample in samples if name in (None, sample["name"])), None)
    if chosen is None:
        names = ", ".join(sample["name"] for sample in samples) or "none"
        raise BadRequest(f"There is no sample {name!r}. There are: {names}.", status=404)
    lead = next((known["group"] for known in chosen.get("groups", ())), "")
    return _queue(
        title=str(chosen["title"]),
        paths=chosen["paths"],
        named=True,
        settings=chosen.get("settings"),
        lead=lead,
    )


def start_topic(cluster_id: str) -> Import:
    """Queues the import of the offsets topic of a cluster that is added."""
    try:
        cluster = registry.get(cluster_id)
    except registry.NoSuchCluster as error:
        raise BadRequest(str(error), status=404, field="cluster") from error
    return _queue(
        title=f"Topic of {cluster.name}", paths=[f"{SCHEME}{cluster.pk}"], master=settings.SPARK_MASTER
    )


def start_path(path: str) -> Import:
    """Queues the import of what is under one of the places that the operator allows (``IMPORT_PREFIXES``)."""
    # What is no name of a file is none of a place: a control character, or one path too long for any store.
    is_name = path.isprintable() and len(path) <= PATH_LENGTH_MOST
    if not is_name or not any(_is_under(path, prefix) for prefix in settings.IMPORT_PREFIXES):
        allowed = ", ".join(settings.IMPORT_PREFIXES) or "none"
        raise BadRequest(
            f"{path[:200]!r} is under none of the places that this server may import from (IMPORT_PREFIXES): {allowed}.",
            field="path",
        )
    title = PurePosixPath(path).name or path
    try:
        return _queue(title=title, paths=[path], master=settings.SPARK_MASTER)
    except lifecycle.BadPath as error:
        raise BadRequest(str(error), field="path") from error


def _is_under(path: str, prefix: str) -> bool:
    """Whether a path is a place or within it. Folders are compared as they are on the disk, behind all links.

    >>> _is_under("s3://logs/a/b", "s3://logs/a"), _is_under("s3://logs/ab", "s3://logs/a"), _is_under("s3://logs/a/../b", "s3://logs/a")
    (True, False, False)
    """
    if "://" not in prefix:
        return "://" not in path and _real(path).is_relative_to(_real(prefix))
    rest = path.removeprefix(prefix.rstrip("/"))
    # A query would choose another server, and an escape another folder.
    plain = not re.search(r"[?&#%\\]", rest) and ".." not in rest.split("/")
    return plain and rest != path and rest[:1] in ("", "/")


def _real(path: str) -> Path:
    """As ``Path.resolve``, which a loop of links makes fail."""
    return Path(os.path.realpath(path))


def start_upload(
    files: Sequence[KeptFile],
    paths: Sequence[str],
    given: Mapping[str, Any] | None = None,
    end_offsets: KeptFile | None = None,
) -> Import:
    """Moves the files to their places and queues their import. ``paths`` are the files' names with their folders, in
    their order; ``given`` holds timeouts of the consumers, as the form's fields name them; ``end_offsets`` a file of these."""
    try:
        timeouts = settings_of(given or {})
        ends = (
            None if end_offsets is None else read_end_offsets(TextIOWrapper(end_offsets, "utf-8", "replace"))
        )
    except BadSetting as error:
        raise BadRequest(str(error)) from error
    except BadEndOffsets as error:
        raise BadRequest(f"The file of end offsets: {error}.", field="end_offsets") from error
    if not files:
        raise BadRequest("No file came with the request: send them as multipart fields called files.")
    size = sum(file.size or 0 for file in files)
    if size > settings.UPLOAD_BYTES_MOST:
        raise BadRequest(
            f"{size} bytes are more than one upload may have ({settings.UPLOAD_BYTES_MOST}); "
            "import larger logs on the server with `manage.py import_log PATH…`.",
            status=413,
        )
    import_id = storage.new_id()
    folder = lifecycle.uploads() / import_id
    topics: dict[str, Any] = {}
    kept: list[str] = []
    try:
        for number, file in enumerate(files):
            shown = printable(paths[number] if number < len(paths) else (file.name or ""))
            if (found := _topics(file, shown)) is not None:
                topics |= found
                continue
            inside = safe_path(shown, number)
            # A file is shown with its folder's name, and the import's id means nothing to a user who chose a single file.
            target = folder / inside if len(inside.parts) > 1 else folder / LOOSE_FILES / inside
            if target.exists():
                target = folder / str(number) / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            file.place.replace(target)
            kept.append(shown)
        if not kept:
            raise BadRequest("Only names of topics came with the request, and no log to import.")
        if settings.FILE_RIGHTS == "group":
            let_group_read(folder)
        return _queue(
            title=title_of(kept),
            paths=[str(folder)],
            import_id=import_id,
            topics=topics,
            folder=str(folder),
            settings=timeouts,
            end_offsets=ends,
            master=settings.SPARK_MASTER,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def repeat(import_id: str) -> bool:
    """Queues a failed import again; false where it cannot be repeated."""
    _room_for_one_more()
    with transaction.atomic():
        repeated = lifecycle.repeat(import_id)
        if repeated:
            transaction.on_commit(lambda: run_import.delay(import_id), robust=True)
    return repeated


def _room_for_one_more() -> None:
    open_status = (Import.Status.WAITING, Import.Status.RUNNING)
    waiting = Import.objects.filter(status__in=open_status).count()
    check_room(waiting, IMPORTS_WAITING_MOST, "imports")


def _queue(**facts: Any) -> Import:
    _room_for_one_more()
    with transaction.atomic():
        created = lifecycle.create(**facts)
        # Where the queue cannot be reached, the sweep queues what is stored as soon as it can: nothing is lost.
        transaction.on_commit(lambda: run_import.delay(created.id), robust=True)
    return created


def safe_path(shown: str, number: int) -> PurePosixPath:
    """The file's place within the upload's folder: its folder's name and its own, without anything that leads out.

    >>> safe_path("backup/__consumer_offsets-17/00000000000000000000.log", 0)
    PurePosixPath('__consumer_offsets-17/00000000000000000000.log')
    >>> safe_path("../../etc/passwd", 0)
    PurePosixPath('etc/passwd')
    """
    parts = [shortened(re.sub(r"[^\w.\-]", "_", part)) for part in re.split(r"[/\\]", shown)]
    parts = [part for part in parts if part.strip(".")][-DEPTH_MOST:]
    if not parts:
        parts = [f"file-{number}"]
    return PurePosixPath(*parts)


def shortened(name: str) -> str:
    """A name that fits into a file system: its beginning and its end, which shows the kind of file.

    >>> len(shortened("\N{CJK UNIFIED IDEOGRAPH-4E00}" * 84 + ".log").encode()) <= NAME_BYTES_MOST
    True
    """
    encoded = name.encode()
    if len(encoded) <= NAME_BYTES_MOST:
        return name
    half = (NAME_BYTES_MOST - 1) // 2
    return f"{encoded[:half].decode(errors='ignore')}_{encoded[-half:].decode(errors='ignore')}"


def printable(name: str) -> str:
    """A name without what no page shows and no database keeps: U+0000, and other characters that control something."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def title_of(shown: Sequence[str]) -> str:
    """What the import is called: the folder that was dropped, or its first file."""
    first = PurePosixPath(shown[0].replace("\\", "/"))
    if len(first.parts) > 1 and all(name.startswith(first.parts[0]) for name in shown):
        return first.parts[0]
    return first.name if len(shown) == 1 else f"{first.name} and {len(shown) - 1} more"


def _topics(file: KeptFile, shown: str) -> dict[str, Any] | None:
    """The names in a file of topic names; null for any other file."""
    if Path(shown).suffix.lower() != ".json" or (file.size or 0) > TOPICS_BYTES_MOST:
        return None
    try:
        content = orjson.loads(file.read())
        read_topics_file(content)
    except (orjson.JSONDecodeError, BadTopicsFile) as error:
        # The other reason already contains what the file must hold.
        right = ' It must hold {"topic id": "name"}.' if isinstance(error, orjson.JSONDecodeError) else ""
        raise BadRequest(f"{shown} is no file of topic names: {error}.{right}") from error
    return dict(content)
