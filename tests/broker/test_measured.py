"""Statistics over windows of time are those of Kafka's own classes, event by event."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from random import Random

import pytest

from groups.history.metrics.sampled import Sampled

from .jars import HOME, class_path
from .java import java

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("released_jars")]

HOUR_MS = 3_600_000


def drawn(random: Random) -> tuple[list[tuple[int, int]], int]:
    """Events with times and values, and a moment after the last; gaps from none to some minutes."""
    at_ms, events = random.randint(0, 100_000), []
    for _ in range(random.randint(1, 40)):
        at_ms += random.choice((0, 1, 500, 5_000, 29_999, 30_000, 31_000, 59_999, 60_000, 200_000))
        events.append((at_ms, random.randint(0, 900)))
    return events, at_ms + random.choice((0, 1, 999, 29_999, 30_000, 45_000, 60_000, 90_000, 400_000))


def said_by_kafka(cases: list[tuple[list[tuple[int, int]], int]]) -> list[list[float]]:
    lines = [" ".join(f"{at}:{value}" for at, value in events) + f" | {now}" for events, now in cases]
    run = subprocess.run(
        [*java(class_path(Path(__file__).parent / "measured", HOME / "measured")), "Measured"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [[float(word) for word in line.split()] for line in run.stdout.splitlines()]


def test_averages_maxima_and_rates_are_those_of_kafkas_own_classes() -> None:
    random = Random(848)
    cases = [drawn(random) for _ in range(400)]
    for (events, now_ms), theirs in zip(cases, said_by_kafka(cases), strict=True):
        stat = Sampled()
        for at_ms, value in events:
            stat.record(value, at_ms)
        ours = [
            stat.average(now_ms),
            stat.greatest(now_ms),
            stat.count_rate(now_ms),
            (stat.average(now_ms) or 0) * stat.count_rate(now_ms),
            stat.count_rate(now_ms, HOUR_MS),
        ]
        for mine, kafkas in zip(ours, theirs, strict=True):
            assert math.isclose(math.nan if mine is None else mine, kafkas, rel_tol=1e-9) or (
                mine is None and math.isnan(kafkas)
            ), (events, now_ms, ours, theirs)
