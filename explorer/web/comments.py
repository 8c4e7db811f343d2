"""Comments in our own modules and styles, which a browser need not get: a third of the modules' bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MODULE_COMMENTS: Final = (
    re.compile(r"^[ \t]*/\*\*?(?:[^*]|\*(?!/))*\*/[ \t]*\n", re.MULTILINE),
    re.compile(r"/\*\* .*? \*/ ?"),
    re.compile(r"^[ \t]*//.*\n", re.MULTILINE),
)
"""In the order in which they are removed: blocks on lines of their own, types within a line, lines."""

STYLE_COMMENTS: Final = (re.compile(r"/\*(?:[^*]|\*(?!/))*\*/"),)


def without_comments(text: str, comments: Iterable[re.Pattern[str]]) -> str:
    for comment in comments:
        text = comment.sub("", text)
    return text
