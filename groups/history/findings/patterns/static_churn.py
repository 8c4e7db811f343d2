"""Static churn: static members that rebalance the group after all: restarts that outlast the session, or two processes with one id.

Needs: records; requests show a second process that is refused (UNRELEASED_INSTANCE_ID). Claims: who was removed and came back
under the same ``group.instance.id``, which instance changed hands again and again, who was refused how often.
A restart in time is no churn. Cannot know: which of two processes was meant to have the id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.incidents import member_of
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import RECORDS, REQUESTS, Pattern, Severity
from groups.history.findings.repeated import several, spans
from groups.history.findings.twin_instance import found_twins
from groups.history.words import listed, was_or_were

CLASSIC: Final = (
    "session.timeout.ms against the time of a restart",
    "which process is fenced (FENCED_INSTANCE_ID): a second one of the same id takes over from the first",
)
CONSUMER: Final = (
    "group.consumer.session.timeout.ms against the time of a restart",
    "which process is refused (UNRELEASED_INSTANCE_ID): the second one of the same id, until the first has left or its session has expired",
)

PATTERN: Final = Pattern(
    kind="static_churn",
    title="Static churn",
    severity=Severity.WARNING,
    rank=110,
    sources=((RECORDS, REQUESTS), (RECORDS,)),
    look_for="an instance is removed and comes back under its group.instance.id, or changes hands again and again, or is refused again and again",
    causes=(
        "a restart that takes longer than the session timeout",
        "two processes with one group.instance.id",
    ),
    look_at=(
        *CLASSIC,
        *CONSUMER,
        "group.instance.id: one for each process",
        "the supervisor that starts a second process",
    ),
    classic=CLASSIC,
    consumer=CONSUMER,
)

UNRELEASED_CODE: Final = 111
UNRELEASED: Final = "UNRELEASED_INSTANCE_ID"

REFUSED_LEAST: Final = 3
"""A process that is started a little early is refused once or twice."""


def found_churn(facts: Facts) -> Iterator[Finding]:
    """``static_churn``: all of a log as one."""
    late = [
        going
        for going in facts.lives.goings
        if facts.cast.is_static(going.member)
        and going.back_ms is not None
        and not going.back_same_id
        and going.why not in ("left", "rebalance_timeout")
    ]
    twins = list(found_twins(facts))
    refused = [one for one in facts.troubles.kept["refused"] if one["code"] == UNRELEASED_CODE]
    text, steps, needs = list[str](), list[int](), [RECORDS]
    if late:
        names = list(dict.fromkeys(facts.process(going.lane) for going in late))
        text.append(
            f"{listed(names)} came back after {'its session' if len(names) == 1 else 'their sessions'} had expired"
        )
        steps += [going.sequence for going in late]
    for twin in twins:
        text.append(f"{twin['name']} changed hands {several(twin['count'])}")
        steps += twin["steps"]
    if len(refused) >= REFUSED_LEAST or (refused and text):
        names = list(dict.fromkeys(facts.name(member_of(one)) for one in refused))
        text.append(f"{listed(names)} {was_or_were(names)} refused {several(len(refused))} ({UNRELEASED})")
        steps += [one["sequence"] for one in refused]
        needs.append(REQUESTS)
    if not text:
        return
    times = [going.at_ms for going in late] + [one["from_ms"] for one in twins if one["from_ms"] is not None]
    times += [one["at_ms"] for one in refused]
    yield PATTERN.found(
        "; ".join(text),
        steps,
        needs=needs,
        certain=bool(late) or REQUESTS in needs,
        names=list(
            dict.fromkeys([facts.process(going.lane) for going in late] + [str(one["name"]) for one in twins])
        ),
        count=len(late) + len(twins) + len(refused),
        from_ms=min(times),
        to_ms=max(times),
        steps=spans(steps),
    )


FINDER: Final = PATTERN.finder(360, found_churn)
