"""``python -m tests.browser.seed``: stores a log without topic names in the server's database; prints its id."""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    django.setup()
    from groups import storage
    from tests.stories import OTHER_TOPIC_ID, Story

    timeline = storage.create_timeline(title="Orders", source="import", group="orders")
    writer = storage.open_writer(timeline.id, "the test")
    for batch in Story().joins("A", [0, 1]).joins("B", [2], OTHER_TOPIC_ID).leaves("A").batches(1):
        writer.append(batch)
    writer.finish("complete")
    sys.stdout.write(timeline.id)


if __name__ == "__main__":
    main()
