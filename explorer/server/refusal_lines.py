"""Log lines of requests that were refused: one line each, without a traceback, which only a mistake of ours is worth."""

from __future__ import annotations

import logging
from typing import Final

from groups.one_line import one_line

UNEXPECTED: Final = 500
"""The status of what nobody foresaw: its traceback is needed."""


class WithoutExpectedTracebacks(logging.Filter):
    """A handler's filter: Django adds a traceback to the line of each refusal that an exception has led to."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and getattr(record, "status_code", UNEXPECTED) != UNEXPECTED:
            message, reason = record.getMessage(), one_line(error)
            record.msg = message if reason in message else f"{message}: {reason}"
            record.args = record.exc_info = record.exc_text = None
        return True
