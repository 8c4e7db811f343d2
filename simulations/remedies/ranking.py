"""Spreads of measures over seeds, and what a remedy did, seed by seed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import Final

from groups.history.words import counted
from simulations.remedies.values import Measures, Outcome, Recorded, Row, Spread

SAME_SHARE: Final = 0.03
"""Seed by seed within this share of the replay is no difference: network delays alone move a run by as much."""

SAME_MS: Final = 1_000
"""And so is one partition-second."""

MISS_SHARE: Final = 0.25
MISS_MS: Final = 2_000
"""A replay misses if the recorded value is further outside the range of its seeds than this share of it and two partition-seconds."""


def spread_of(values: Sequence[int]) -> Spread:
    return {
        "least": min(values),
        "median": median_low(sorted(values)),
        "most": max(values),
        "seeds": list(values),
    }


def outcome_of(replay: Sequence[Measures], remedy: Sequence[Measures]) -> tuple[Outcome, int]:
    """What most seeds agree on, each compared with the replay of the same seed; and in how many less was not read."""
    signs = [
        _sign(before.not_read_ms, after.not_read_ms) for before, after in zip(replay, remedy, strict=True)
    ]
    fewer, more = signs.count(-1), signs.count(1)
    if 2 * fewer > len(signs):
        return Outcome.LESS, fewer
    if 2 * more > len(signs):
        return Outcome.MORE, fewer
    difference = sum(after.not_read_ms for after in remedy) - sum(before.not_read_ms for before in replay)
    if abs(difference) <= SAME_SHARE * sum(before.not_read_ms for before in replay) + SAME_MS * len(signs):
        return Outcome.NONE, fewer
    return (Outcome.LESS if difference < 0 else Outcome.MORE), fewer


def _sign(before_ms: int, after_ms: int) -> int:
    if abs(after_ms - before_ms) <= max(SAME_MS, SAME_SHARE * before_ms):
        return 0
    return 1 if after_ms > before_ms else -1


def missed(recorded: Recorded, replay: Sequence[Measures], epochs: Sequence[int]) -> str | None:
    """Why the replay is not the recorded incident, or ``None`` if it is: one sentence with both values."""
    for name, value, found in (
        ("partition-seconds not read", recorded["not_read_ms"], [each.not_read_ms for each in replay]),
        ("partition-seconds unassigned", recorded["unassigned_ms"], [each.unassigned_ms for each in replay]),
    ):
        if value is None:
            continue
        slack = MISS_MS + MISS_SHARE * value
        if not min(found) - slack <= value <= max(found) + slack:
            return (
                f"The replay does not repeat the incident: the recording has {_seconds(value)} {name}, "
                f"the {counted(len(found), 'replay')} with nothing changed {_seconds(min(found))} to {_seconds(max(found))}"
            )
    if not min(epochs) - 1 <= recorded["epochs"] <= max(epochs) + 1:
        return (
            f"The replay does not repeat the incident: the recording has {counted(recorded['epochs'], 'new epoch')}, "
            f"the {counted(len(epochs), 'replay')} with nothing changed {min(epochs):,} to {max(epochs):,}"
        )
    return None


def _seconds(length_ms: int) -> str:
    return f"{length_ms / 1000:,.1f}"


ORDER: Final = (str(Outcome.LESS), str(Outcome.NONE), str(Outcome.MORE))


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Less not read, no difference, more; in each the least first. Remedies that could not run come last."""
    return sorted(rows, key=_place)


def _place(row: Row) -> tuple[int, int, int, int]:
    if row["outcome"] is None or row["not_read_ms"] is None:
        return len(ORDER), 0, 0, 0
    interrupted, twice = row["interrupted"], row["read_twice"]
    return (
        ORDER.index(row["outcome"]),
        row["not_read_ms"]["median"],
        interrupted["median"] if interrupted else 0,
        twice["median"] if twice else 0,
    )
