"""What came of all groups together, in the form that scripts rely on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypedDict

from groups.history.state.plain import Plain, to_plain
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.splitting import NotJudged, NotJudgedLine


class JudgedAnswers(TypedDict):
    equal: int
    different: int


class JudgedRecords(TypedDict):
    equal: int
    different: int
    missing: int
    extra: int


class Excused(TypedDict):
    reason: str
    count: int


class Report(TypedDict):
    """What ``conform`` prints (docs/reference/commands.md)."""

    requests: int
    responses: JudgedAnswers
    records: JudgedRecords
    groups: int
    loaded: int
    not_judged: list[NotJudgedLine]
    excused: list[Excused]
    differences: list[Plain]
    rules: dict[str, int]
    unsought: int


def report(tallies: Iterable[Score], not_judged: NotJudged) -> Report:
    """``loaded`` are records from before the requests; ``not_judged`` is what the simulator was not asked about.

    ``excused`` counts what had to be believed for the rest to be equal, by reason; ``rules`` the differences that are those of
    another release, by rule (``Difference.rules``); ``unsought`` the groups in which rules were looked for no longer.
    """
    every = list(tallies)
    differences = sorted(
        (difference for tally in every for difference in tally.differences),
        key=lambda difference: difference.at_ms,
    )
    excuses: Counter[str] = Counter()
    for tally in every:
        excuses.update(tally.excuses)
    return {
        "requests": sum(tally.requests for tally in every),
        "responses": {
            "equal": sum(tally.answers_equal for tally in every),
            "different": sum(tally.answers_different for tally in every),
        },
        "records": {
            "equal": sum(tally.equal for tally in every),
            "different": sum(tally.different for tally in every),
            "missing": sum(tally.missing for tally in every),
            "extra": sum(tally.extra for tally in every),
        },
        "groups": len(every),
        "loaded": sum(tally.loaded for tally in every),
        "not_judged": not_judged.to_json(),
        "excused": [{"reason": reason, "count": count} for reason, count in sorted(excuses.items())],
        "differences": [to_plain(difference) for difference in differences],
        "rules": dict(sorted(Counter(rule for each in differences for rule in each.rules).items())),
        "unsought": sum(tally.unsought for tally in every),
    }
