"""The values that a replay assumes, each with another one that it could have: what a search varies to find what an answer depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from groups.history.words import duration
from simulations.fork.values import Assumption, Document, Mark
from simulations.remedies.catalog import REFUSED_AGAIN_MS, of_members, session_ms, with_session
from simulations.remedies.lines import absences, at_of, moved, split, verb_of, with_script
from simulations.remedies.values import Assumed, Incident
from simulations.world.scenario import Verb

LONG_CALLBACK_MS: Final = 2_000
"""A callback that commits and closes files, against one that does nothing."""

ENDS: Final = {Verb.KILL: "killed", Verb.LEAVE: "close() is called"}


def assumptions_of(
    document: Document, rows: Sequence[Assumption], *, of_records: bool = False
) -> list[Assumed]:
    """``rows``: where the values of the replay come from. ``of_records``: a leave is where a log removes a member."""
    early_ms = session_ms(document) if of_records else 0
    return [*_of_absences(document, early_ms), *_of_members(document, rows)]


def _of_absences(document: Document, early_ms: int) -> Iterator[Assumed]:
    script = split(document["script"])
    every = list(absences(script))
    away_ms = [
        at_of(script[absence.up]) - at_of(script[absence.down])
        for absence in every
        if absence.up is not None and absence.up != absence.down
    ]
    if away_ms:
        value = " to ".join(dict.fromkeys((duration(min(away_ms)), duration(max(away_ms)))))
        for times, words in ((3, "three times as long"), (1 / 3, "a third of it")):
            yield Assumed(
                name="how long a member is away",
                value=value,
                other=words,
                change=partial(away_longer, times=times),
            )
    ends = [verb_of(script[absence.down]) for absence in every]
    for verb, other in ((Verb.KILL, Verb.LEAVE), (Verb.LEAVE, Verb.KILL)):
        if verb in ends:
            yield Assumed(
                name="how a member's process ends",
                value=ENDS[verb],
                other=ENDS[other],
                change=partial(
                    ending_otherwise, verb=verb, other=other, early_ms=early_ms if other == Verb.KILL else 0
                ),
            )
    lost = {
        absence.member
        for absence in every
        if absence.up is None and verb_of(script[absence.down]) == Verb.KILL
    }
    if lost:
        yield Assumed(
            name="whether a killed process is started again",
            value="no",
            other=f"after {duration(REFUSED_AGAIN_MS)}",
            change=lambda doc: {
                **doc,
                "members": {
                    name: {**member, "restart_after_ms": REFUSED_AGAIN_MS} if name in lost else member
                    for name, member in doc["members"].items()
                },
            },
        )


def _of_members(document: Document, rows: Sequence[Assumption]) -> Iterator[Assumed]:
    assumed = {row["key"]: row for row in rows if row["mark"] == Mark.ASSUMED}
    now_ms = session_ms(document)
    if "session_timeout_ms" in assumed:
        other_ms = 10_000 if now_ms > 10_000 else 45_000
        yield Assumed(
            name="session.timeout.ms",
            value=duration(now_ms),
            other=duration(other_ms),
            change=lambda doc: with_session(doc, other_ms),
        )
    callbacks = [member.get("callback_ms", 20) for member in document["members"].values()]
    if max(callbacks) < LONG_CALLBACK_MS:
        yield Assumed(
            name="time in a rebalance callback",
            value=duration(max(callbacks)),
            other=duration(LONG_CALLBACK_MS),
            change=lambda doc: of_members(doc, lambda _member: {"callback_ms": LONG_CALLBACK_MS}),
        )


def as_killed(incident: Incident) -> Incident:
    """A log's incident whose members were killed a session timeout before the log removes them."""
    change = partial(
        ending_otherwise, verb=Verb.LEAVE, other=Verb.KILL, early_ms=session_ms(incident.document)
    )
    rows = [
        row | {"reason": "killed: with close() the replay misses the recording"}
        if row["key"] == "later"
        else row
        for row in incident.assumptions
    ]
    return replace(incident, document=change(incident.document), assumptions=tuple(rows))


def away_longer(document: Document, times: float) -> Document:
    script = split(document["script"])
    for absence in absences(list(script)):
        if absence.up is not None and absence.up != absence.down:
            down_ms = at_of(script[absence.down])
            script[absence.up] = moved(
                script[absence.up], down_ms + round((at_of(script[absence.up]) - down_ms) * times)
            )
    return with_script(document, script)


def ending_otherwise(document: Document, verb: Verb, other: Verb, early_ms: int) -> Document:
    """``early_ms``: a member that a log removes was killed a session timeout before."""
    script = split(document["script"])
    for absence in absences(list(script)):
        line = script[absence.down]
        if verb_of(line) != verb:
            continue
        script[absence.down] = moved({"at": line["at"], str(other): absence.member}, at_of(line) - early_ms)
    return with_script(document, script)
