"""The child process that watches clusters for a server: ``{"clusters": [id, …], "owner": name}`` in.

Out come its announcements, ``{"type": "announce", "group", "message"}``, which the parent passes on to its sockets, and
``{"type": "alone", "cluster"}`` for one that is too large to be watched next to others: it is let go, and gets a process of its own.
It ends with its last lease, with its standard input, and with its parent. What a hostile cluster answers can fill no more than this
process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from groups.address_space import bound_memory, memory_bytes
from groups.child_side import Lines, end_with_parent, question

SHARED_GROUPS_MOST: Final = 1_000
"""Groups of a cluster that is watched next to others."""

SHARED_BYTES_MOST: Final = 400 * 1024**2
"""Memory of a process that watches several clusters."""


def main() -> None:
    bound_memory()
    asked, lines = question(), Lines(sys.stdout.buffer)
    owner = asked["owner"]
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
    watched: dict[str, Watching] = {}
    alone: set[str] = set()

    def is_stopped(pk: str) -> bool:
        if (
            large := too_large({pk: each.cluster.seen for pk, each in watched.items()}, memory_bytes())
        ) is not None:
            alone.add(large)
            del watched[large]
            lines.say({"type": "alone", "cluster": large})
        return ended.is_set() or pk in alone

    async def watch(pk: str, watching: Watching) -> None:
        try:
            await watching.run()
        finally:
            watched.pop(pk, None)

    async def watch_all() -> None:
        await asyncio.gather(*(watch(pk, each) for pk, each in list(watched.items())))

    for pk in asked["clusters"]:
        # One that was deleted meanwhile is none.
        with contextlib.suppress(registry.NoSuchCluster):
            watched[pk] = Watching(registry.get(pk), owner, stopped=partial(is_stopped, pk))
    asyncio.run(watch_all())


def too_large(seen: Mapping[str, Mapping[str, Any]], bytes_used: int) -> str | None:
    """Which of several clusters of one process is to be let go: the largest, where it has too many groups or all take too much memory."""
    if len(seen) < 2:
        return None
    sizes = {pk: facts.get("groups") or 0 for pk, facts in seen.items()}
    largest = max(sizes, key=lambda pk: sizes[pk])
    return largest if sizes[largest] > SHARED_GROUPS_MOST or bytes_used > SHARED_BYTES_MOST else None


if __name__ == "__main__":
    main()
