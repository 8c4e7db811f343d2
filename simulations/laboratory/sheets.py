"""Everything that the laboratory answers about a case, as one JSON document: what the page draws and the API answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.laboratory.assignor_answers import Answer, answers, counts_of
from simulations.laboratory.cases import NOBODY, Case, Event
from simulations.laboratory.documents import to_json
from simulations.laboratory.links import query_of
from simulations.laboratory.playing import why_not
from simulations.laboratory.presets import racks_in, sizes_in, subscriptions_in
from simulations.laboratory.sentences import line_of, title_of, verdict
from simulations.laboratory.shapes import AnswerSheet, ScorecardRow, Sheet
from simulations.laboratory.steps import steps_of
from simulations.protocol.assignors.faults import FAULTS
from simulations.protocol.assignors.measures import Measures


@dataclass(frozen=True, slots=True)
class Figure:
    """``title`` is what is counted; ``best`` picks the best of several."""

    key: str
    label: str
    title: str
    of: Callable[[Measures], int | None]
    best: Callable[[Sequence[int]], int] = min


FIGURES: Final = (
    Figure("moved", "Moved", "partitions that change owner", lambda found: found.moved),
    Figure("revoked", "Revoked", "claims that the answer does not confirm", lambda found: found.revoked),
    Figure(
        "interrupted",
        "Members interrupted",
        "they stop reading at least one partition",
        lambda found: found.interrupted,
    ),
    Figure(
        "paused",
        "Partitions paused",
        "not read for a while, also those that come back",
        lambda found: found.paused,
    ),
    Figure("spread", "Most − fewest", "partitions of a member", lambda found: found.most - found.least),
    Figure(
        "local",
        "Read in the same rack",
        "a replica stands in the member's rack",
        lambda found: found.local,
        max,
    ),
    Figure(
        "rebalances", "Rebalances needed", "until everybody has what is meant", lambda found: found.rebalances
    ),
)


def scorecard(answered: Sequence[Answer]) -> list[ScorecardRow]:
    """``best`` are the boards with the best value, none where all are equal; a value is null where there is none."""
    rows: list[ScorecardRow] = []
    for figure in FIGURES:
        values = [None if each.measures is None else figure.of(each.measures) for each in answered]
        known = [value for value in values if value is not None]
        best = figure.best(known) if len(set(known)) > 1 else None
        rows.append(
            {
                "key": figure.key,
                "label": figure.label,
                "title": figure.title,
                "values": values,
                "best": [place for place, value in enumerate(values) if best is not None and value == best],
            }
        )
    return rows


def sheet(case: Case) -> Sheet:
    """The answers with figures, steps and sentences; docs/reference/api.md describes each part.

    ``CaseError`` if the case does not fit into a link.
    """
    answered = answers(case, explain=True)
    leaving = set(case.leaving)
    there = len(case.members)
    return {
        "query": query_of(case),
        "title": title_of(case),
        "says": verdict(case, answered),
        "case": to_json(case),
        "axes": {
            "sizes": sizes_in(case),
            "subscriptions": subscriptions_in(case),
            "racks": racks_in(case),
            "before": case.before,
            "event": case.event,
        },
        "members": [
            {
                "name": name,
                "rack": member.rack,
                "topics": list(member.topics),
                "joins": place >= there,
                "leaves": place in leaving,
            }
            for place, (member, name) in enumerate(zip(case.everybody, case.names, strict=True))
        ],
        "topics": [
            {"name": name, "partitions": size, "added": size - topic.partitions}
            for topic, name, size in zip(case.topics, case.topic_names, case.sizes, strict=True)
        ],
        "answers": [_answer(case, answer) for answer in answered],
        "scorecard": scorecard(answered),
    }


def _answer(case: Case, answer: Answer) -> AnswerSheet:
    board = answer.board
    found = answer.measures
    whole = found is not None
    return {
        "protocol": board.protocol,
        "assignor": board.assignor,
        "rebalance": str(board.rebalance),
        "before": list(answer.before),
        "after": list(answer.after),
        "sent": None if answer.sent is None else list(answer.sent),
        "counts": {
            "before": counts_of(case, answer.before),
            "after": counts_of(case, answer.after) if whole else [],
        },
        "measures": None if found is None else {**found.to_json(), "assigned": found.placed},
        "faults": [{"name": fault, "says": FAULTS.get(fault, fault)} for fault in answer.faults],
        "error": answer.error,
        "says": line_of(case, answer),
        "changed": changed_members(case, answer) if whole else [],
        "steps": steps_of(case, answer),
        "play": why_not(case, answer),
    }


def changed_members(case: Case, answer: Answer) -> list[int]:
    """The places of those who lose or gain something, or come or go."""
    pairs = zip(answer.before, answer.after, strict=True)
    touched = {place for pair in pairs if pair[0] != pair[1] for place in pair if place != NOBODY}
    if case.event is not Event.FULL:
        touched.update(case.leaving, range(len(case.members), len(case.everybody)))
    return sorted(touched)
