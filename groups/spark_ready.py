"""Whether Spark's packages are there, told without importing them: ``make run`` fetches them behind the server."""

from __future__ import annotations

import importlib
from importlib import metadata
from pathlib import Path

PACKAGES = ("pyspark", "py4j", "pyarrow", "pandas", "numpy")

_whole: set[str] = set()
"""Packages that were found whole: they do not go away while the server runs."""


def missing_packages() -> list[str]:
    """The packages that are not there yet, or only in part."""
    # A package that appears while this process runs is seen only after this.
    importlib.invalidate_caches()
    return [name for name in PACKAGES if not _is_whole(name)]


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
