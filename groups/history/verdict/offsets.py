"""Events of committed offsets: set back, deleted, held by a transaction, or written by two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.findings.kinds import ByKind, OffsetEvent, OffsetSeries
from groups.history.verdict.phrases import small
from groups.history.verdict.text import Event, Part

WENT_BACK: Final = 120_000
"""The weight of offsets that went back: records are read twice, or a lag appears that no consumer can explain."""

NAMED_MAX: Final = 3


def offsets(by_kind: ByKind) -> Iterable[Event]:
    """The first of each kind one by one; a gone-back offset weighs more than what was only deleted or set."""
    yield from _each(by_kind.get("offset_back", ()), WENT_BACK)
    for one in by_kind.get("offsets_set", ())[:NAMED_MAX]:
        yield _event(one, WENT_BACK if one["why"] in ("back", "both") else 1)
    yield from _each(by_kind.get("offsets_deleted", ()), 1)
    for aborted in by_kind.get("aborted_transactions", ())[:NAMED_MAX]:
        yield _lasting(aborted, 1)
    for lasting in (
        *by_kind.get("open_transaction", ())[:NAMED_MAX],
        *by_kind.get("two_writers", ())[:NAMED_MAX],
        *by_kind.get("unowned_commits", ()),
        *by_kind.get("passed_over", ())[:NAMED_MAX],
    ):
        yield _lasting(lasting, WENT_BACK)


def _each(found: list[OffsetEvent] | tuple[()], weight: int) -> Iterable[Event]:
    for one in found[:NAMED_MAX]:
        yield _event(one, weight)
    if len(found) > NAMED_MAX:
        steps = [one["sequences"][0] for one in found[NAMED_MAX:]]
        more = f"committed offsets {WORDS[found[0]['kind']]} {len(steps):,} more times"
        yield Event(
            found[NAMED_MAX]["at_ms"],
            steps[0],
            [Part(more, steps[0], steps)],
            weight=1,
            kind=found[0]["kind"],
        )


WORDS: Final = {"offset_back": "went back", "offsets_deleted": "were deleted"}


def _event(one: OffsetEvent, weight: int) -> Event:
    step = one["sequences"][0]
    text = one["says"][0].lower() + one["says"][1:]
    return Event(one["at_ms"], step, [Part(text, step)], weight=weight, kind=one["kind"])


def _lasting(one: OffsetSeries, weight: int) -> Event:
    """From its beginning on."""
    step = one["sequences"][0]
    # A partition's name keeps its letters.
    parts = [
        Part("from "),
        Part("", at_ms=one["from_ms"]),
        Part(" on "),
        Part(
            f"{one['says'][0].lower()}{one['says'][1:]}"
            if one["kind"] == "open_transaction"
            else small(one["says"]),
            step,
        ),
    ]
    return Event(one["from_ms"], step, parts, weight=weight + one["length_ms"], kind=one["kind"], timed=False)
