"""Log lines without the tokens of share links, which would let their reader in, and without what a terminal would obey."""

from __future__ import annotations

import logging
import re
from typing import Final

from explorer.sharing.tokens import SHAPE
from groups.terminal import terminal_text

TOKEN: Final = re.compile(rf"(?<![A-Za-z0-9_-]){SHAPE}(?![A-Za-z0-9_-])")


class WithoutTokens(logging.Formatter):
    """Writes a line, and a traceback below it, with each token as ``…`` and its last letters."""

    def format(self, record: logging.LogRecord) -> str:
        return terminal_text(without_tokens(super().format(record)))


def without_tokens(text: str) -> str:
    """The text with each token of a link as ``…`` and its last letters."""
    return TOKEN.sub(lambda found: f"…{found[0][-4:]}", text)
