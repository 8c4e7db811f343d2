"""Room that is kept back: taken as far as there is some, given back by halves, and only for what makes room."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import OperationalError, connection, transaction

from groups import reserve
from groups.reserve import LEFT_FREE_BYTES, SLICE_LEAST_BYTES, Reserve, is_full, makes_room

MIB = 1024**2
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="a server's database keeps its own room"),
]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reserve:
    """A reserve of 4 MiB in the place of the database's."""
    made = Reserve(tmp_path / "some.reserve", most=4 * MIB)
    made.fill()
    monkeypatch.setattr(reserve, "of_database", lambda: made)
    return made


def full() -> OperationalError:
    error = OperationalError("database or disk is full")
    error.__cause__ = sqlite3.OperationalError("database or disk is full")
    return error


def fails(times: int, error: Callable[[], Exception]) -> Callable[[], str]:
    left = [error() for _ in range(times)]

    def work() -> str:
        if left:
            raise left.pop()
        return "done"

    return work


def test_it_takes_real_room_that_nobody_else_may_look_into(small: Reserve) -> None:
    assert small.held == 4 * MIB
    assert small.path.stat().st_blocks * 512 >= 4 * MIB
    assert small.path.stat().st_mode & 0o077 == 0


def test_it_gives_back_half_of_it_each_time_and_the_last_part_whole(small: Reserve) -> None:
    held = [small.held]
    while small.give_back():
        held.append(small.held)
    assert held == [4 * MIB, 2 * MIB, SLICE_LEAST_BYTES, 0]
    assert not small.path.exists()


def test_it_takes_no_more_than_the_disk_has_and_leaves_some_of_that(
    small: Reserve, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.give_back()
    for free, then in [
        (0, 2 * MIB),
        (LEFT_FREE_BYTES, 2 * MIB),
        (LEFT_FREE_BYTES + MIB, 3 * MIB),
        (99 * MIB, 4 * MIB),
    ]:
        usage = type("usage", (), {"free": free})
        monkeypatch.setattr(reserve.shutil, "disk_usage", lambda path, usage=usage: usage)
        assert small.fill() == then


def test_what_could_not_be_taken_whole_is_not_held(small: Reserve, monkeypatch: pytest.MonkeyPatch) -> None:
    small.give_back()

    def taken_by_another(file: int, offset: int, length: int) -> None:
        reserve.os.ftruncate(file, offset + length)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(reserve.os, "posix_fallocate", taken_by_another, raising=False)
    assert small.fill() == 2 * MIB


def test_without_the_systems_own_way_to_take_room_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(reserve.os, "posix_fallocate", raising=False)
    made = Reserve(tmp_path / "written", most=3 * MIB + 5)
    assert made.fill() == 3 * MIB + 5
    assert made.path.stat().st_blocks * 512 >= 3 * MIB


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [full, lambda: OSError(errno.ENOSPC, "No space left on device")])
def test_what_makes_room_is_done_with_a_part_of_it_and_it_is_whole_again(
    small: Reserve, error: Callable[[], Exception]
) -> None:
    assert makes_room(fails(2, error))() == "done"
    assert small.held == 4 * MIB


@pytest.mark.django_db(transaction=True)
def test_what_fails_still_when_all_was_given_back_fails(small: Reserve) -> None:
    with pytest.raises(OperationalError, match="disk is full"):
        makes_room(fails(9, full))()
    assert small.held == 0


@pytest.mark.django_db(transaction=True)
def test_other_trouble_of_a_database_costs_no_reserve(small: Reserve) -> None:
    with pytest.raises(OperationalError, match="locked"):
        makes_room(fails(1, lambda: OperationalError("database is locked")))()
    assert small.held == 4 * MIB


@pytest.mark.django_db(transaction=True)
def test_a_part_of_somebodys_transaction_is_not_tried_alone(small: Reserve) -> None:
    with pytest.raises(OperationalError, match="full"), transaction.atomic():
        makes_room(fails(1, full))()
    assert small.held == 4 * MIB


def test_no_room_for_the_index_of_a_journal_is_a_full_disk() -> None:
    """A reader finds no more than "disk I/O error", which may be a broken disk as well: the code tells."""

    class OfSqlite(sqlite3.OperationalError):
        sqlite_errorname = "SQLITE_IOERR_SHMSIZE"

    class Broken(sqlite3.OperationalError):
        sqlite_errorname = "SQLITE_IOERR_READ"

    told = OperationalError("disk I/O error")
    told.__cause__ = OfSqlite("disk I/O error")
    assert is_full(told)
    told.__cause__ = Broken("disk I/O error")
    assert not is_full(told)


@pytest.mark.django_db(transaction=True)
def test_the_reserve_stands_beside_the_database_and_a_server_in_memory_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = reserve.of_database()
    assert found is not None
    assert str(found.path) == f"{connection.settings_dict['NAME']}.reserve"
    monkeypatch.setitem(connection.settings_dict, "NAME", "file:memorydb_default?mode=memory&cache=shared")
    assert reserve.of_database() is None
