"""Why an import failed, in one sentence: never an exception's name, never Java's pages."""

from __future__ import annotations

import errno
import re
from typing import Final

from groups.packs.files import MissingFile

_SENTENCES: Final = (
    (
        r"No space left on device|ENOSPC|Disk quota exceeded",
        "the disk is full: free some room, then import again",
    ),
    (
        r"OutOfMemoryError|MemoryError|Cannot allocate memory|MEMORY_LIMIT",
        "there was too little memory: import fewer files at once, or allow more (REBALANCE_WORKER_MEMORY, and REBALANCE_SPARK_MEMORY of Spark's Java)",
    ),
    (
        r"Python worker exited unexpectedly|ExecutorLostFailure|Lost executor|worker crashed|SIGKILL",
        "one of Spark's workers ended unexpectedly, and again when its part was tried anew, as they do that need more memory than they may "
        "have (REBALANCE_WORKER_MEMORY)",
    ),
    (
        r"^a worker ended with code|was ended by SIG",
        "one of its processes ended unexpectedly, as those do that need more memory than they may have (REBALANCE_WORKER_MEMORY)",
    ),
    (r"Could not (connect|parse Master)|All masters are unresponsive", "Spark's master cannot be reached"),
    (
        r"Permission denied|Read-only file system",
        "the store cannot be written to: its folder's rights forbid it",
    ),
    (r"FileNotFoundError|No such file or directory", "a file was removed while it was read"),
    (
        r"Connection refused|Py4JNetworkError|Answer from Java side is empty",
        "Spark's Java process ended unexpectedly",
    ),
)
"""What Spark's and Python's own words are, and the sentence for it; the first one that fits."""


def why(error: BaseException, work: str) -> str:
    """The sentence for an error that nobody expected."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"The {work} failed: {_SENTENCES[0][1]}."
    said = str(error)
    if isinstance(error, MissingFile):
        return f"The {work} failed. {error}."
    if (away := re.search(r"StoreAway: (The store cannot be [^\n]+)", said)) is not None:
        return f"The {work} failed. {away[1]}."
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, said) or re.search(pattern, type(error).__name__):
            return f"The {work} failed: {sentence}."
    return f"The {work} failed for a reason that it does not know; the server's log has more."
