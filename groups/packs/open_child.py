"""The child process that opens one chunk: ``{"store", "chunk", "to"}`` in, ``{"type": "done"}`` out.

It writes the opened chunk to the file ``to``, whole or not at all. The server, which never folds, reads it from there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orjson

from groups.packs.files import MissingFile, open_files
from groups.packs.opening import open_chunk


def main() -> None:
    question = orjson.loads(sys.stdin.buffer.readline())
    target = Path(question["to"])
    try:
        opened = open_chunk(open_files(question["store"]), question["chunk"])
    except MissingFile as error:
        answer = {"type": "missing", "message": str(error)}
    else:
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        fresh.write_bytes(opened.pack())
        fresh.chmod(0o600)
        fresh.replace(target)
        answer = {"type": "done"}
    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")


if __name__ == "__main__":
    main()
