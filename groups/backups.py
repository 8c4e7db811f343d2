"""A backup: the database at one moment and the files of the store that it names, in a folder. Made while servers run.

The database is read first (SQLite's own copy, or one PostgreSQL transaction), then the store's files, which never change. The file
``backup.json`` is written last, with the digest of each file: a folder without it is no backup.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg import IsolationLevel, sql

from groups import database
from groups.command_line import usage
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.one_line import one_line
from groups.packs.files import RIGHTS, Files, MissingFile, open_files
from groups.places import VERSION

MANIFEST: Final = "backup.json"
FORMAT: Final = 1
SQLITE_FILE: Final = "database.sqlite3"
PIECE_BYTES: Final = 4 * 1024**2
"""Bytes of a file that are in memory at once."""


def back_up(folder: Path) -> dict[str, Any]:
    """Make a backup in ``folder``, which is new or empty; its manifest. On a failure nothing of it is left."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "store").mkdir(mode=0o700)
        if len(list(folder.iterdir())) > 1:
            (folder / "store").rmdir()
            raise FileExistsError
    except FileExistsError:
        raise usage(
            f"{folder} is not an empty folder: another backup is there, or is being made. Name a new one."
        ) from None
    except OSError as error:
        raise usage(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        tables = _copy_sqlite(folder) if connection.vendor == "sqlite" else _copy_postgresql(folder)
        _copy_store(open_files(settings.STORE_URL), folder, tables.pop("packs"))
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "engine": connection.vendor,
            **tables,
            "files": {name: _digest(folder / name) for name in _names(folder)},
        }
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, (OSError, MissingFile, sqlite3.Error)):
            raise usage(f"No backup was made: {one_line(error)}.") from error
        raise
    return manifest


def restore(folder: Path) -> dict[str, Any]:
    """Put a backup into an empty database and store, and bring it up to this version; its manifest."""
    manifest = _checked(folder)
    with database.prepared_alone():
        if connection.introspection.table_names():
            raise usage(
                "The database is not empty, and a backup is not merged: set REBALANCE_VAR or DATABASE_URL to a new one."
            )
        try:
            _restore_store(folder, open_files(settings.STORE_URL, RIGHTS[settings.FILE_RIGHTS]))
            if manifest["engine"] == "sqlite":
                _restore_sqlite(folder)
            else:
                _restore_postgresql(folder, manifest)
        except (OSError, MissingFile, sqlite3.Error) as error:
            raise usage(f"The backup was not restored: {one_line(error)}.") from error
        database.prepare(change_servers=True)
    return manifest


def _checked(folder: Path) -> dict[str, Any]:
    """The manifest of a backup that is whole, and that this program and database can take."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        engine, fold, files = manifest["engine"], manifest["fold_version"], manifest["files"]
        newer = manifest["format"] > FORMAT or fold > FOLD_VERSION
        unknown = set(map(tuple, manifest["migrations"])) - _own_migrations()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise usage(
            f"{folder} is no backup: it has no {MANIFEST} that can be read, which is written last."
        ) from error
    if newer or unknown:
        raise usage(
            f"The backup was made by a newer version, {manifest['version']}: update this installation ({VERSION})."
        )
    if engine != connection.vendor:
        raise usage(
            f"The backup is of {engine}, and DATABASE_URL is {connection.vendor}: they must be the same."
        )
    for name, digest in files.items():
        if not (folder / name).is_file() or _digest(folder / name) != digest:
            raise usage(f"The backup is damaged: {name} is missing or was changed after it was made.")
    return manifest


def _own_migrations() -> set[tuple[str, str]]:
    return set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def _copy_sqlite(folder: Path) -> dict[str, Any]:
    target = folder / SQLITE_FILE
    name = settings.DATABASES["default"]["NAME"]
    with closing(sqlite3.connect(name)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        target.chmod(0o600)
        rows = {
            "migrations": copy.execute("SELECT app, name FROM django_migrations").fetchall(),
            "fold": copy.execute(f"SELECT max(fold_version) FROM {_TIMELINES}").fetchone(),  # noqa: S608
            "packs": copy.execute(f"SELECT packs FROM {_TIMELINES}").fetchall(),  # noqa: S608
        }
    return _facts(rows["migrations"], rows["fold"], (json.loads(one) for (one,) in rows["packs"]))


_TIMELINES: Final = Timeline._meta.db_table


def _restore_sqlite(folder: Path) -> None:
    connection.close()
    name = settings.DATABASES["default"]["NAME"]
    with closing(sqlite3.connect(folder / SQLITE_FILE)) as source, closing(sqlite3.connect(name)) as copy:
        source.backup(copy)


def _copy_postgresql(folder: Path) -> dict[str, Any]:
    """Each table as PostgreSQL's COPY writes it, all of one snapshot."""
    (folder / "tables").mkdir(mode=0o700)
    columns: dict[str, list[str]] = {}
    with closing(connection.get_new_connection(connection.get_connection_params())) as own:
        own.autocommit = False
        own.isolation_level = IsolationLevel.REPEATABLE_READ
        with own.cursor() as cursor:
            for table in connection.introspection.django_table_names(only_existing=True):
                cursor.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(table)))
                columns[table] = [column.name for column in cursor.description]
                with (
                    (folder / "tables" / table).open("wb") as out,
                    cursor.copy(
                        sql.SQL("COPY {} ({}) TO STDOUT").format(
                            sql.Identifier(table), _listed(columns[table])
                        )
                    ) as rows,
                ):
                    for piece in rows:
                        out.write(piece)
            timelines = sql.Identifier(_TIMELINES)
            cursor.execute("SELECT app, name FROM django_migrations")
            migrations = cursor.fetchall()
            cursor.execute(sql.SQL("SELECT max(fold_version) FROM {}").format(timelines))
            fold = cursor.fetchone()
            cursor.execute(sql.SQL("SELECT packs FROM {}").format(timelines))
            packs = [one if isinstance(one, list) else json.loads(one) for (one,) in cursor.fetchall()]
    return _facts(migrations, fold, packs) | {"columns": columns}


def _restore_postgresql(folder: Path, manifest: dict[str, Any]) -> None:
    """Tables as that version had them, then the rows."""
    for app in {app for app, _ in manifest["migrations"]}:
        last = max(name for of, name in manifest["migrations"] if of == app)
        call_command("migrate", app, last, interactive=False, verbosity=0)
    tables = manifest["columns"]
    with transaction.atomic():
        connection.ensure_connection()
        with connection.connection.cursor() as cursor:
            cursor.execute(sql.SQL("TRUNCATE {} CASCADE").format(_listed(tables)))
            for table, columns in tables.items():
                copy = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _listed(columns))
                with cursor.copy(copy) as rows, (folder / "tables" / table).open("rb") as source:
                    while piece := source.read(PIECE_BYTES):
                        rows.write(piece)
    with connection.cursor() as plain:
        for line in connection.ops.sequence_reset_sql(no_style(), list(apps.get_models())):
            plain.execute(line)


def _listed(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _facts(migrations: Any, fold: Any, packs: Iterable[list[str]]) -> dict[str, Any]:
    ours = {app for app, _ in _own_migrations()}
    return {
        "migrations": sorted([app, name] for app, name in migrations if app in ours),
        "fold_version": fold[0] or 0,
        "packs": sorted({name for some in packs for name in some}),
    }


def _copy_store(files: Files, folder: Path, packs: Iterable[str]) -> None:
    for name in packs:
        target = folder / "store" / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.open("wb") as out:
            for piece in _pieces(files, name):
                out.write(piece)


def _pieces(files: Files, name: str) -> Iterator[bytes]:
    size = files.size(name)
    for at in range(0, size, PIECE_BYTES):
        yield files.read(name, at, min(PIECE_BYTES, size - at))


def _restore_store(folder: Path, files: Files) -> None:
    for name in _names(folder / "store"):
        with _written(files, name) as out, (folder / "store" / name).open("rb") as source:
            while piece := source.read(PIECE_BYTES):
                out.write(piece)


@contextmanager
def _written(files: Files, name: str) -> Iterator[Any]:
    """A file of the store that appears under its name when the block has ended."""
    writing = files.begin(name.rpartition("/")[0])
    try:
        yield writing
    except BaseException:
        writing.drop()
        raise
    writing.keep(name)


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _digest(file: Path) -> str:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
