"""``python -m tests.storage.older.opening``: opens all that is stored under ``REBALANCE_VAR``, as a newer server does.

Prints a line of JSON for each timeline: how many entries it has, at how many of them the stored frame was compared with the fold's,
and at which it differs.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import orjson

APART: Final = 40
"""Of a long timeline every so many moments are compared: a chunk is opened once, whichever of its moments is read."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from groups import storage
    from groups.history.entries import Entry
    from groups.history.frames.frame import frame
    from groups.history.replay.fold import replay
    from groups.history.state.group import Semantics, initial_state

    for timeline_id in list(storage.stale().values_list("pk", flat=True)):
        storage.refold(timeline_id, owner="opening")
    for timeline in storage.listing():
        state = initial_state(timeline.group, Semantics(timeline.semantics or "kafka"))
        every = 1 if timeline.last < 200 else APART
        compared, differs = 0, []
        for entry in storage.every_entry(timeline):
            state = replay(state, Entry.from_json(entry))
            at = entry["sequence"]
            if at % every == 0 or at == timeline.last:
                compared += 1
                if storage.frame_at(timeline, at) != frame(state):
                    differs.append(at)
        told = {
            "group": timeline.group,
            "source": timeline.source,
            "last": timeline.last,
            "ends": state.at_ms,
            "summary_ends": storage.summary(timeline)["last_ms"],
            "chunks": sum(
                storage.chunk_text(timeline, chunk.first) is not None for chunk in storage.chunks(timeline)
            ),
            "compared": compared,
            "differs": differs,
        }
        sys.stdout.write(orjson.dumps(told).decode() + "\n")
    stale = storage.stale().count()
    sys.stdout.write(orjson.dumps({"stale": stale}).decode() + "\n")


if __name__ == "__main__":
    main()
