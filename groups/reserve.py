"""Room on the disk that is kept back, so that a full disk can be emptied with the program itself.

To delete is to write: SQLite puts a transaction next to its file before it is taken over, so on a disk without a free byte
it can remove nothing. A file next to the database therefore holds some room. What makes room or ends work (a deletion,
a cancellation, a task that ends with its error) and finds the disk full is tried again with a part of it given back.

A server's database (PostgreSQL) keeps room of its own, or does not: nothing here touches it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from django.db import DatabaseError, connection

RESERVE_BYTES: Final = 32 * 1024**2
"""What SQLite writes to delete is 4 % of large entries, which are the most of a timeline (measured): enough for 800 MB."""

SLICE_LEAST_BYTES: Final = 1024**2
"""The last part is given back whole: less than this is worth no try of its own."""

LEFT_FREE_BYTES: Final = 8 * 1024**2
"""The reserve does not take the last room of a disk itself. SQLite takes its journal over each 4 MiB; with room for that,
what is new goes where something was deleted, though the disk is as full as before."""

FULL_ERRNOS: Final = (errno.ENOSPC, errno.EDQUOT)

FULL_SQLITE: Final = frozenset({"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE"})
"""The second: there was no room for the index of what is not taken over yet, which even a reader needs."""

FULL_MESSAGES: Final = ("disk is full", "No space left")
"""Words of a full disk's error from a database that gives no code: PostgreSQL's."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def is_full(error: BaseException) -> bool:
    """Whether an exception means that a disk has no room left."""
    if isinstance(error, OSError):
        return error.errno in FULL_ERRNOS
    cause = error.__cause__ or error
    if getattr(cause, "sqlite_errorname", "") in FULL_SQLITE:
        return True
    return isinstance(error, DatabaseError) and any(known in str(error) for known in FULL_MESSAGES)


@dataclass(frozen=True, slots=True)
class Reserve:
    """A file of ``most`` bytes that stand for nothing. Any number of processes may fill it and give it back."""

    path: Path
    most: int = RESERVE_BYTES

    @property
    def held(self) -> int:
        """Bytes that can be given back."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def fill(self) -> int:
        """Take back what was given, as far as the disk has room; how many bytes are held then."""
        held = self.held
        try:
            room = shutil.disk_usage(self.path.parent).free - LEFT_FREE_BYTES
            wanted = min(self.most, held + max(room, 0))
            if wanted > held:
                self._take(held, wanted)
        except OSError:
            # Others were quicker: what could not be taken whole is not held, though the file may say so.
            self._cut(held)
        return self.held

    def give_back(self) -> bool:
        """Give half of it to the next writer, the last part whole; false if there was nothing left."""
        held = self.held
        if not held:
            return False
        half = held // 2
        self._cut(half if half >= SLICE_LEAST_BYTES else 0)
        return True

    def _take(self, held: int, wanted: int) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file, held, wanted - held)
            else:
                # Bytes that cannot be made smaller, for file systems that would.
                os.lseek(file, held, os.SEEK_SET)
                while (left := wanted - os.lseek(file, 0, os.SEEK_CUR)) > 0:
                    os.write(file, os.urandom(min(left, SLICE_LEAST_BYTES)))
        finally:
            os.close(file)

    def _cut(self, size: int) -> None:
        with contextlib.suppress(OSError):
            if size:
                os.truncate(self.path, size)
            else:
                self.path.unlink(missing_ok=True)


def of_database() -> Reserve | None:
    """The reserve of the database in use; none of a server's, and none of one in memory."""
    if connection.vendor != "sqlite":
        return None
    name = str(connection.settings_dict["NAME"])
    return None if name.startswith("file:") or name == ":memory:" else Reserve(Path(f"{name}.reserve"))


def fill() -> None:
    """Have the reserve whole again, if the disk has room for it."""
    if reserve := of_database():
        reserve.fill()


def makes_room(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Work that is done on a full disk, too: tried again as long as that is what fails it and something can be given back.

    It must be whole in itself: one transaction, or steps that may be done twice. Within a transaction of somebody else it
    is tried once, since what failed there cannot be taken back alone.
    """

    @functools.wraps(work)
    def done(*args: Given.args, **named: Given.kwargs) -> Result:
        reserve = None if connection.in_atomic_block else of_database()
        given = False
        while True:
            try:
                result = work(*args, **named)
                break
            except (DatabaseError, OSError) as error:
                if reserve is None or not is_full(error) or not reserve.give_back():
                    raise
                given = True
        if given and reserve is not None:
            _give_back_journal()
            reserve.fill()
        return result

    return done


def _give_back_journal() -> None:
    """Have SQLite take over what it wrote next to its file, and cut that to nothing."""
    with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextlib.contextmanager
def held_open() -> Iterator[None]:
    """Keep the reserve, and the database readable, as long as this lasts.

    The last connection that closes takes the journal and its index away, and the next connection makes them again: on a full
    disk nothing could even be read. One connection that is idle keeps both.
    """
    reserve = of_database()
    if reserve is None:
        yield
        return
    reserve.fill()
    with contextlib.closing(_idle(reserve)):
        yield


def _idle(reserve: Reserve) -> sqlite3.Connection:
    idle = sqlite3.connect(connection.settings_dict["NAME"], check_same_thread=False)
    while True:
        try:
            idle.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except sqlite3.OperationalError as error:
            if is_full(error) and reserve.give_back():
                continue
            idle.close()
            raise
        return idle
