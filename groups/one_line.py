"""Text for a sentence or a line of a log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SECRET: Final = re.compile(
    r"://[^@?/]*:[^@?]*@|[?&][^=&]*(key|secret|token|password|sig|credential)[^=&]*=", re.IGNORECASE
)
"""In the address of a bucket: a password, or an option that is one."""


def one_line(error: BaseException) -> str:
    """The text without a full stop. A database's has several lines."""
    return " ".join(str(error).split()).rstrip(".")


def kept_lines(lines: Iterable[str]) -> list[str]:
    """A child's last lines as they are stored: without credentials, and without U+0000, which PostgreSQL keeps in no text."""
    return [without_credentials(line).replace("\0", "␀") for line in lines]


def without_credentials(path: str) -> str:
    """The path; the address of a bucket without its key, its secret and its options.

    >>> without_credentials("s3://key:secret@bucket/logs?account_key=x"), without_credentials("a@b/c?d")
    ('s3://…@bucket/logs?…', 'a@b/c?d')
    >>> without_credentials("s3://key:se/cret@bucket/logs"), without_credentials("s3://bucket/a@b")
    ('s3://…@bucket/logs', 's3://bucket/a@b')
    """
    if "://" not in path:
        return path
    place, options, _ = re.sub(r"(?<=://)[^@?/:]*(:[^@?]*)?@", "…@", path).partition("?")
    return f"{place}?…" if options else place
