"""Log lines as JSON, one object a line (``LOG_FORMAT=json``)."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from explorer.server import requests
from explorer.sharing.logs import without_tokens


class JsonLines(logging.Formatter):
    """``time``, ``level``, ``logger``, ``message``; ``traceback`` of an error; ``request``, ``timeline`` and ``user`` of a request."""

    def format(self, record: logging.LogRecord) -> str:
        noted = requests.current.get()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_tokens(record.getMessage()),
        }
        if record.exc_info:
            line["traceback"] = without_tokens(self.formatException(record.exc_info))
        return json.dumps(line | (noted.facts() if noted else {}))
