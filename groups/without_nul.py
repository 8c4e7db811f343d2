"""The character U+0000 on its way to PostgreSQL, which keeps it in no text: the sign for it is stored instead.

Kafka takes it in the names of groups, clients and members. Without this one such name would keep everything from being stored
that is stored together with it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

SIGN: Final = "\N{SYMBOL FOR NULL}"

_IN_JSON: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""U+0000 as JSON writes it: behind an even number of backslashes, which are backslashes themselves."""


def without_nul(text: str) -> str:
    return text.replace("\0", SIGN) if "\0" in text else text


def json_without_nul(data: bytes) -> bytes:
    r"""JSON in which strings have the sign instead of ``\u0000``."""
    return _IN_JSON.sub(rb"\1" + SIGN.encode(), data) if rb"\u0000" in data else data


def watch_connections() -> None:
    """Have each connection to a PostgreSQL that is opened from now on do so."""
    connection_created.connect(_prepare, dispatch_uid="without_nul")


def _prepare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor != "postgresql":
        return
    from psycopg.types.json import Jsonb, JsonbBinaryDumper, JsonbDumper
    from psycopg.types.string import StrBinaryDumper, StrDumperUnknown

    adapters = connection.connection.adapters
    # The last one of a type is its default, as in psycopg's own order.
    for of_text, of_json in ((StrBinaryDumper, JsonbBinaryDumper), (StrDumperUnknown, JsonbDumper)):
        adapters.register_dumper(str, _of_text(of_text))
        adapters.register_dumper(Jsonb, _of_json(of_json))


# One class for all connections: psycopg keeps each class that was ever registered, and each request has a connection.
@cache
def _of_text(base: Any) -> type:
    class WithoutNul(base):  # type: ignore[misc]
        def dump(self, obj: str) -> Any:
            return super().dump(without_nul(obj))

    return WithoutNul


@cache
def _of_json(base: Any) -> type:
    class WithoutNul(base):  # type: ignore[misc]
        def dump(self, obj: Any) -> Any:
            return json_without_nul(bytes(super().dump(obj)))

    return WithoutNul
