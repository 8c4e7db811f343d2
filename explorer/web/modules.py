"""The modules that a page imports, all at once, so that the browser asks for none of them only after another.

They are read from the modules' own import lines: a list kept by hand would be out of date after the next change.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from django.contrib.staticfiles import finders

IMPORT = re.compile(r"^(?:import|export)\s[^;]*?from\s+'(\.[^']+)';", re.MULTILINE)


@lru_cache
def modules(entry: str) -> tuple[str, ...]:
    """Static paths of ``entry`` and of everything that it imports, in the order of discovery."""
    found: dict[str, None] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop(0)
        if path in found:
            continue
        source = finders.find(path)
        if not source:
            continue
        found[path] = None
        with open(source, encoding="utf-8") as file:  # noqa: PTH123 (what the finder gives is a plain string)
            text = file.read()
        folder = PurePosixPath(path).parent
        waiting += [_joined(folder, target) for target in IMPORT.findall(text)]
    return tuple(found)


def _joined(folder: PurePosixPath, target: str) -> str:
    parts: list[str] = list(folder.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
