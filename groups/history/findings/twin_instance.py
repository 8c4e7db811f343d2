"""Twin instance: two processes with one ``group.instance.id``, which take its place from each other.

Needs: records of static members. Claims: "looks like", where an instance changed hands several times within minutes, or went to
another client id or host while its holder still committed. Cannot know: a twin that the consumer protocol refuses
(UNRELEASED_INSTANCE_ID): a refusal leaves no record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.incidents import Incident
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import several, spans
from groups.history.words import lasting

TIMES_LEAST: Final = 3
WITHIN_MS: Final = 5 * 60_000
"""An instance that is restarted is taken over once; three times within minutes is a quarrel, or a crash loop of two hosts."""


def found_twins(facts: Facts) -> Iterator[Finding]:
    """``twin_instance``: each instance; ``steps`` are where it changed hands."""
    lanes: dict[str, list[Incident]] = {}
    for one in facts.troubles.kept["replaced"]:
        lanes.setdefault(facts.cast.lane(one["new"]), []).append(one)
    for lane, changes in lanes.items():
        times = [one["at_ms"] for one in changes]
        sequences = [one["sequence"] for one in changes]
        often = any(
            times[at + TIMES_LEAST - 1] - times[at] <= WITHIN_MS for at in range(len(times) - TIMES_LEAST + 1)
        )
        other = any(one.get("other_process") and one.get("active") for one in changes)
        if not (often or other):
            continue
        name = facts.process(lane)
        length = times[-1] - times[0]
        how_often = f"{several(len(times))}{lasting(length, ' in ')}" if len(times) > 1 else "once"
        yield finding(
            "twin_instance",
            f"{name} was taken over {how_often}. Looks like two processes with one group.instance.id",
            spans(sequences),
            certain=False,
            name=name,
            lane=lane,
            count=len(changes),
            from_ms=times[0],
            to_ms=times[-1],
            steps=spans(sequences),
        )


FINDER: Final = Declared(
    place=80,
    find=found_twins,
    rows=(Row(kinds=("twin_instance",), incident=True),),
)
