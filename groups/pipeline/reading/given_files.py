"""Files that were given to an import: named themselves, or found in folders among Kafka's other files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

FILES_MOST = 100_000
"""Files of one import: a broker's whole disk has fewer; a mistaken ``/`` has more."""

COMPANIONS = (".index", ".timeindex", ".txnindex", ".snapshot", ".deleted", ".cleaned", ".swap")

COMPANION_NAMES = {
    "leader-epoch-checkpoint",
    "partition.metadata",
    "quorum-state",
    "quorum-state.lock",
    "manifest.json",
}
"""Files that Kafka keeps with its segments: in a folder they are skipped without a message."""


def given_files(paths: Sequence[str]) -> Iterator[tuple[Path | str, str, bool]]:
    """Each file (or, in its place, the reason why there is none), how to show it, and whether it was named itself."""
    seen: set[str] = set()
    count = 0
    for given in paths:
        path = Path(given)
        if not path.exists():
            yield "no such file or folder", given.encode(errors="replace").decode(), True
            continue
        if not path.is_dir():
            found: list[tuple[Path, bool]] = [(path, True)]
        else:
            found = [(file, False) for file in _walk(path)]
            if not found:
                yield "the folder holds no file that could be a segment", given, True
        for file, named in found:
            real = os.path.realpath(file)
            if real in seen:
                continue
            seen.add(real)
            if not _is_text(str(file)):
                yield "its name is no UTF-8, so that no report can show it: rename it", _shown(file), named
                continue
            count += 1
            if count > FILES_MOST:
                yield (
                    f"more than {FILES_MOST} files; name the folders of the offsets topic alone",
                    given,
                    True,
                )
                return
            yield file, _shown(file), named


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not is_companion(name):
                yield Path(parent) / name


def is_companion(name: str) -> bool:
    """Whether a file is one that Kafka, a desktop or a reader keeps next to segments, by its name."""
    return name.startswith(".") or name in COMPANION_NAMES or name.endswith((*COMPANIONS, ".md"))


def _shown(file: Path) -> str:
    """The file with its folder, which is how Kafka's segments are distinguished."""
    shown = f"{file.parent.name}/{file.name}" if file.parent.name else file.name
    return shown.encode(errors="replace").decode()


def _is_text(path: str) -> bool:
    """Whether the path can be written as UTF-8; names on a disk are bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
