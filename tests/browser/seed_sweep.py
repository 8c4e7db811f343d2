"""Puts a sweep into the served database and prints its id: ``whole``, or ``begun`` and still running.

It is answered in this process; what Spark does is proven elsewhere.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta

import django


def main(how: str) -> None:
    from django.utils import timezone

    from simulations.jobs import sweep_runs
    from simulations.models import Sweep
    from simulations.sweeps.answering import rows_of
    from simulations.sweeps.asked import axes_of

    shapes = ["6x3x21", "20x5x200", "12x3x30-skewed-racks"]
    axes = axes_of({"shapes": shapes, "events": ["stable", "join", "leave"], "seeds": 8})
    sweep = sweep_runs.create(axes)
    blocks = list(axes.blocks())
    for block in blocks if how == "whole" else blocks[:30]:
        rows = list(rows_of(axes, block, time.perf_counter))
        sweep_runs.store(sweep, [{"cell": block.cell, "first": block.first, "rows": rows}])
    status = Sweep.Status.COMPLETE if how == "whole" else Sweep.Status.RUNNING
    # Nobody runs it, and nobody shall find it lost while the test looks at it.
    lease = timezone.now() + timedelta(hours=1)
    Sweep.objects.filter(pk=sweep.id).update(status=status, stage="", cores=2, lease_until=lease)
    sys.stdout.write(sweep.id)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    django.setup()
    main(sys.argv[1])
