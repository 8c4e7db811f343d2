"""Where the program is, and where it keeps what it keeps: next to a clone, or in the user's own data folder.

A clone keeps everything in ``var/``, so that deleting the folder deletes all of it. An installed program is in a
folder that belongs to its installer and is replaced with every release; what a user imported is not to go with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
"""The folder of ``explorer``, ``groups`` and ``simulations``: the clone, or ``rebalance_explorer`` where it is installed."""

NAME: Final = "rebalance-explorer"

VERSION: Final = "0.2.0"
"""The product's. ``pyproject.toml`` has the same; a test compares."""


def is_clone(root: Path = ROOT) -> bool:
    """Whether the program runs from its repository, not from an installed package."""
    return (root / "pyproject.toml").is_file() and (root / "manage.py").is_file()


def data_folder(
    root: Path = ROOT, *, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """Where the program keeps its database, its secrets and what is imported.

    ``REBALANCE_VAR`` first; then ``var`` of a clone; then the folder that the system gives to programs of a user
    (XDG base directories on Linux, Application Support on macOS, ``LOCALAPPDATA`` on Windows). It is not made here.
    """
    if named := environment.get("REBALANCE_VAR"):
        return Path(named).expanduser().absolute()
    if is_clone(root):
        return root / "var"
    home = Path(environment.get("HOME") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Application Support" / NAME
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME
    given = Path(environment.get("XDG_DATA_HOME") or "")
    # The specification demands that a relative path is ignored.
    return (given if given.is_absolute() else home / ".local" / "share") / NAME


def python_path() -> str:
    """``PYTHONPATH`` of a child process: this program's root first, so that it may be started from any folder."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
