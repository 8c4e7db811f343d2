"""The child process that watches one cluster for a server: ``{"cluster": id, "owner": name}`` in.

Out come its announcements, ``{"type": "announce", "group", "message"}``, which the parent passes on to its sockets. It
ends with its lease, with its standard input, and with its parent. What a hostile cluster answers can fill no more than this
process.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any

import orjson

from groups.address_space import bound_memory


def main() -> None:
    bound_memory()
    question = orjson.loads(sys.stdin.buffer.readline())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    from groups.jobs import announce
    from groups.watching import registry
    from groups.watching.job import Watching

    writing = threading.Lock()

    def say(group: str, message: dict[str, Any]) -> None:
        with writing:
            sys.stdout.buffer.write(
                orjson.dumps({"type": "announce", "group": group, "message": message}) + b"\n"
            )
            sys.stdout.buffer.flush()

    announce.pass_on(say)
    ended = threading.Event()

    def wait_for_the_end() -> None:
        # Without the buffer: its lock would be held when the child ends by itself, and Python ends with SIGABRT over that.
        while os.read(sys.stdin.fileno(), 4096):
            pass
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    try:
        cluster = registry.get(question["cluster"])
    except registry.NoSuchCluster:
        return  # deleted meanwhile
    asyncio.run(Watching(cluster, question["owner"], stopped=ended.is_set).run())


if __name__ == "__main__":
    main()
