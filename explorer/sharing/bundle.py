"""A page's modules as one script, and its styles as one sheet: what a page needs that may ask for nothing.

A page that is opened from a ``file:`` address cannot import modules: to a browser each file is an origin of its own. So every module
becomes a function that is called once, in the order in which they need each other, and its exports an object. Our modules are
written by hand in one manner, and only what is found in them is understood: named imports and exports at a line's beginning, ``export … from``
and ``import()`` of a literal. Anything else is an error here, and not in somebody's browser.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from django.contrib.staticfiles import finders

from explorer.web.comments import MODULE_COMMENTS, STYLE_COMMENTS, without_comments
from explorer.web.modules import joined_path

LEFT_OUT: Final = frozenset({"js/figures/lag-panel.js", "js/forks/panel.js", "js/sharing/dialog.js"})
"""Modules that are imported later, by a page that has a server."""

IMPORT: Final = re.compile(r"^import\s*\{([^}]*)\}\s*from\s+'(\.[^']+)';[ \t]*\n", re.MULTILINE)
EXPORT_FROM: Final = re.compile(r"^export\s*\{([^}]*)\}\s*from\s+'(\.[^']+)';[ \t]*\n", re.MULTILINE)
EXPORT: Final = re.compile(
    r"^export\s+(?=(?:async\s+)?(?:function\*?|class|const|let)\s+(\w+))", re.MULTILINE
)
LATER: Final = re.compile(r"\bimport\('(\.[^']+)'\)")
INDENT: Final = re.compile(r"^[ \t]+(?=[^\s*])", re.MULTILINE)
LEFT_OVER: Final = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


class Part(NamedTuple):
    """A module: what it imports, by the path of the other one, and its text as the inside of a function."""

    needs: tuple[str, ...]
    text: str


class CannotBundle(RuntimeError):
    """A module is written in a way that is not understood here."""


@lru_cache
def script(entry: str) -> str:
    """The script of a page, from the module that begins it; nothing in it ends a script element."""
    order: dict[str, str] = {}
    _gather(entry, order, [])
    numbers = {path: number for number, path in enumerate(order)}
    lines = ["'use strict';"]
    for path, text in order.items():
        body = _linked(path, text, numbers)
        if path == entry:
            lines.append(f"(async () => {{\n{body}\n}})();")
        else:
            lines.append(f"const $m{numbers[path]} = (() => {{\n{body}\n}})();")
    return "\n".join(lines).replace("</script", "<\\/script").replace("<!--", "<\\!--")


@lru_cache
def styles(*paths: str) -> str:
    """Sheets of styles as one."""
    text = "\n".join(_read(path) for path in paths)
    return without_comments(text, STYLE_COMMENTS).replace("</style", "<\\/style")


def _gather(path: str, order: dict[str, str], within: list[str]) -> None:
    """Modules in the order in which they can be called, each after all that it needs."""
    if path in order:
        return
    if path in within:
        raise CannotBundle(
            f"{' → '.join([*within, path])}: modules that need each other cannot be one script"
        )
    text = _read(path)
    folder = Path(path).parent
    targets = [match[-1] for pattern in (IMPORT, EXPORT_FROM) for match in pattern.findall(text)]
    targets += [
        target for target in LATER.findall(_bare(text)) if joined_path(folder, target) not in LEFT_OUT
    ]
    for target in targets:
        _gather(joined_path(folder, target), order, [*within, path])
    order[path] = text


def _linked(path: str, text: str, numbers: dict[str, int]) -> str:
    """The inside of a module's function: other modules are objects, and it returns its own exports."""
    folder = Path(path).parent
    exports: dict[str, str] = {}

    def module(target: str) -> str:
        return f"$m{numbers[joined_path(folder, target)]}"

    def later(match: re.Match[str]) -> str:
        if joined_path(folder, match[1]) in LEFT_OUT:
            return "Promise.reject(new Error('This needs a server.'))"
        return f"Promise.resolve({module(match[1])})"

    def imported(match: re.Match[str]) -> str:
        names = ", ".join(name.strip().replace(" as ", ": ") for name in match[1].split(",") if name.strip())
        return f"const {{ {names} }} = {module(match[2])};\n"

    def passed_on(match: re.Match[str]) -> str:
        for name in filter(None, map(str.strip, match[1].split(","))):
            inner, _, outer = name.partition(" as ")
            exports[outer or inner] = f"{module(match[2])}.{inner}"
        return ""

    def exported(match: re.Match[str]) -> str:
        exports[match[1]] = match[1]
        return ""

    bare = _bare(text)
    bare = EXPORT.sub(exported, EXPORT_FROM.sub(passed_on, IMPORT.sub(imported, bare)))
    bare = LATER.sub(later, bare)
    if wrong := LEFT_OVER.search(bare):
        raise CannotBundle(
            f"{path}: {wrong[0].strip()!r} is a kind of import or export that no other module has"
        )
    known = ", ".join(name if name == inner else f"{name}: {inner}" for name, inner in exports.items())
    return f"{bare}return {{ {known} }};" if exports else bare


def _bare(text: str) -> str:
    """Without comments and indentation: a third of our modules."""
    return INDENT.sub("", without_comments(text, MODULE_COMMENTS))


def _read(path: str) -> str:
    found = finders.find(path)
    if not found:
        raise CannotBundle(f"{path} is not among the static files")
    return Path(str(found)).read_text(encoding="utf-8")
