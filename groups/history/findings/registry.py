"""All finders: the files of this room, and of ``patterns``, that declare a ``FINDER``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Final

from groups.history.findings.declaring import Declared, Row

ROOMS: Final = (__name__.rpartition(".")[0], f"{__name__.rpartition('.')[0]}.patterns")


@cache
def finders() -> tuple[Declared, ...]:
    """In the order in which their findings stand."""
    found: list[Declared] = []
    for room in ROOMS:
        for module in pkgutil.iter_modules(importlib.import_module(room).__path__):
            declared = getattr(importlib.import_module(f"{room}.{module.name}"), "FINDER", None)
            if isinstance(declared, Declared):
                found.append(declared)
    return tuple(sorted(found, key=lambda one: one.place))


def rows() -> tuple[Row, ...]:
    """What is written of all findings, in the order of their finders."""
    return tuple(row for declared in finders() for row in declared.rows)


def incident_kinds() -> frozenset[str]:
    """Kinds that a quiet log does not contain."""
    return frozenset(kind for row in rows() if row.incident for kind in row.kinds)
