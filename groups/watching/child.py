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

from groups.address_space import bound_memory
from groups.child_side import Lines, end_with_parent, question


def main() -> None:
    bound_memory()
    asked, lines = question(), Lines(sys.stdout.buffer)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    from groups.jobs import announce
    from groups.watching import registry
    from groups.watching.job import Watching

    announce.pass_on(
        lambda group, message: lines.say({"type": "announce", "group": group, "message": message})
    )
    ended = threading.Event()
    end_with_parent(ended.set)
    try:
        cluster = registry.get(asked["cluster"])
    except registry.NoSuchCluster:
        return  # deleted meanwhile
    asyncio.run(Watching(cluster, asked["owner"], stopped=ended.is_set).run())


if __name__ == "__main__":
    main()
