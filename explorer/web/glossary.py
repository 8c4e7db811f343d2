"""The words of the glossary, for pages: read from the documentation's own page, so that each has one meaning."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from groups.places import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "glossary.md"
"""It is packed with the program where that is installed."""


@cache
def terms() -> dict[str, str]:
    """The meaning of each word, in the page's order; of words that share a row each has the row's meaning.

    Markup is taken off: a tooltip shows plain text.
    """
    found: dict[str, str] = {}
    for row in re.findall(r"^\| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        words, *_, meaning = (plain(cell) for cell in row.split(" | "))
        if set(words) <= {"-", "|"} or meaning in HEADS:
            continue
        for word in words.split(", "):
            found.setdefault(
                word.lower(), meaning[:1].upper() + meaning[1:] + ("" if meaning[-1] in ".)" else ".")
            )
    return found


HEADS: Final = ("what it is", "meaning")
"""Heads of the page's tables."""


def plain(cell: str) -> str:
    """A cell without Markdown: links keep their text, code its letters.

    >>> plain("the `uniform` one, see [Assignors](a.md)")
    'the uniform one, see Assignors'
    """
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", cell).replace("`", "").strip()
