"""Whether Spark's packages are there, without importing them: ``make run`` fetches them behind the server."""

from __future__ import annotations

import importlib
from importlib import metadata
from pathlib import Path

from groups.places import NAME, is_clone

PACKAGES = ("pyspark", "py4j", "pyarrow", "pandas")

_whole: set[str] = set()
"""Packages that were found whole: they do not go away while the server runs."""


def missing_packages() -> list[str]:
    """The packages that are not there yet, or only in part."""
    # A package that appears while this process runs is seen only after this.
    importlib.invalidate_caches()
    return [name for name in PACKAGES if not _is_whole(name)]


def how_to_install(missing: list[str]) -> str:
    """One line for somebody whose Spark packages are missing and do not come by themselves."""
    command = "make install" if is_clone() else f"pip install '{NAME}[pipeline]'"
    return f"Spark's packages are not installed ({', '.join(missing)}): run `{command}`."


def install_spark() -> str:
    """A page's message if Spark is missing and does not come by itself; else empty."""
    missing = missing_packages()
    return how_to_install(missing) if missing and not come_by_themselves() else ""


def come_by_themselves() -> bool:
    """Whether something fetches missing packages behind the server: ``make run`` does, an installer does not."""
    return is_clone()


def _is_whole(name: str) -> bool:
    if name in _whole:
        return True
    try:
        files = metadata.distribution(name).files or []
    except metadata.PackageNotFoundError:
        return False
    # An installer writes the list of files before the last of them.
    if not files or not all(Path(str(file.locate())).exists() for file in files if file.suffix != ".pyc"):
        return False
    _whole.add(name)
    return True
