"""The last warnings and errors of this process, for its status page: the log itself is wherever standard error goes."""

from __future__ import annotations

import logging
from collections import deque
from typing import Final, TypedDict

from explorer.sharing.logs import without_tokens
from groups.terminal import terminal_text

LINES_MOST: Final = 20
"""As many as somebody reads on a page; what came before is in the log."""

LETTERS_MOST: Final = 300
"""Of one line: a message can carry a whole request."""


class LogLine(TypedDict):
    """One line of the log. ``at_ms`` is in Unix milliseconds."""

    at_ms: int
    level: str
    logger: str
    message: str
    """Its first line, without tokens, and the kind of the exception that it reports."""


class LastLines(logging.Handler):
    """Keeps the last warnings and errors in memory."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: deque[LogLine] = deque(maxlen=LINES_MOST)
        kept[:] = [self]

    def emit(self, record: logging.LogRecord) -> None:
        message = terminal_text(without_tokens(record.getMessage()).partition("\n")[0])
        if record.exc_info and record.exc_info[0] is not None:
            message = f"{message} ({record.exc_info[0].__name__})"
        self._lines.append(
            {
                "at_ms": int(record.created * 1000),
                "level": record.levelname,
                "logger": record.name,
                "message": message[:LETTERS_MOST],
            }
        )

    def lines(self) -> list[LogLine]:
        """The newest first."""
        return list(self._lines)[::-1]


kept: Final[list[LastLines]] = []
"""The handler of this process: logging makes it from the settings, and a page reads it."""


def last_lines() -> list[LogLine]:
    return kept[0].lines() if kept else []
