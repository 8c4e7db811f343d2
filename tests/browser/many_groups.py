"""``python -m tests.browser.many_groups``: stores 2,000 groups of a day, of which some are in trouble and twenty lose members at once.

With ``remove`` as its argument it removes them: other tests use the same server.
"""

from __future__ import annotations

import os
import random
import sys

import django

GROUPS = 2_000
DAY_MS = 86_400_000
BEGAN = 1_700_000_000_000


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    django.setup()
    from groups.models import Timeline

    if sys.argv[1:] == ["remove"]:
        Timeline.objects.filter(pk__startswith="group-").delete()
        return
    from tests.pages.test_troubles_page import grouped, lost, storm, unassigned

    chance = random.Random(7)
    made = []
    for number in range(GROUPS):
        epochs = sorted(chance.randrange(DAY_MS) for _ in range(chance.randrange(1, 30)))
        findings = []
        if number % 40 == 0:
            at_ms = BEGAN + chance.randrange(DAY_MS - 100_000)
            findings = [storm(at_ms), unassigned(at_ms, chance.randrange(5_000, 90_000))]
        if number % 100 == 1:
            findings.append(lost(BEGAN + DAY_MS // 3 + number % 7))
            epochs.append(DAY_MS // 3)
        made.append(grouped(f"group-{number:04}", findings, epochs, span_ms=DAY_MS))
    Timeline.objects.bulk_create(made)


if __name__ == "__main__":
    main()
