"""The child process that opens one chunk: ``{"store", "chunk", "to"}`` in, ``{"type": "done"}`` out.

It writes the opened chunk to the file ``to``, whole or not at all. The server, which never folds, reads it from there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groups.child_side import Message, answer_question
from groups.packs.files import MissingFile, open_files
from groups.packs.opening import open_chunk


def answer(question: Mapping[str, Any]) -> Iterator[Message]:
    target = Path(question["to"])
    try:
        opened = open_chunk(open_files(question["store"]), question["chunk"])
    except MissingFile as error:
        yield {"type": "missing", "message": str(error)}
    else:
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        fresh.write_bytes(opened.pack())
        fresh.chmod(0o600)
        fresh.replace(target)
        yield {"type": "done"}


if __name__ == "__main__":
    sys.exit(answer_question(answer))
