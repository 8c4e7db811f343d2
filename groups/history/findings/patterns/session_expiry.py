"""Session expiry: a member that vanished without a leave, and was removed when its session ran out.

Needs: the coordinator's log (timers), or commits, from whose end one session timeout before the removal it is inferred (``removed``).
Claims: who, when, how long its session was, whether it came back. A static member that had left for now is ``limbo`` or
``static_churn``; of a process in a ``crash_loop`` that is what explains its sessions. A client that ended as a broker refused it (UNSUPPORTED_VERSION) is no such member: its session does run out, and
``refused`` and ``feature`` contain why. Cannot know: whether the process crashed, froze, or was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.lives import Going
from groups.history.findings.crash_loop import crashing
from groups.history.findings.facts import Facts, Timeout
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import COMMITS, RECORDS, TIMERS, Pattern, Severity
from groups.history.findings.patterns.restart_advice import VANISHED, restart_advice
from groups.history.findings.removed import guessed
from groups.history.findings.repeated import several, spans
from groups.history.story.events import UNSUPPORTED_VERSION
from groups.history.words import duration, listed

PATTERN: Final = Pattern(
    kind="session_expiry",
    title="Session expiry",
    severity=Severity.WARNING,
    rank=150,
    sources=((RECORDS, TIMERS), (RECORDS, COMMITS)),
    look_for="a member is removed without a leave, one session timeout after its last heartbeat",
    causes=(
        "a crash, or kill -9",
        "a network that is down",
        "a pause: garbage collection, a machine that is moved",
    ),
    look_at=(
        "session.timeout.ms",
        "group.consumer.session.timeout.ms",
        "the exit and the pauses of the process",
    ),
    classic=("session.timeout.ms",),
    consumer=("group.consumer.session.timeout.ms",),
)


def found_expired(facts: Facts) -> Iterator[Finding]:
    """``session_expiry``: all of a log as one, with each process once."""
    ended = {
        one["member"]: one["sequence"]
        for one in reversed(facts.troubles.kept["refused"])
        if one["code"] == UNSUPPORTED_VERSION
    }
    looping = crashing(facts)
    goings_here = [going for going in facts.lives.goings if not going.away and going.lane not in looping]
    sure = [
        going
        for going in goings_here
        if going.why == "session_expired" and ended.get(going.member, going.sequence) >= going.sequence
    ]
    guesses = [going for going in goings_here if going.why is None]
    looks = [
        going
        for going in guesses
        if (guess := guessed(facts, going)) is not None and guess.looks_like in VANISHED
    ]
    for goings, certain in ((sure, True), (looks, False)):
        if not goings:
            continue
        names = list(dict.fromkeys(facts.process(going.lane) for going in goings))
        lengths = {_timeout(facts, going) for going in goings}
        length = lengths.pop() if len(lengths) == 1 else None
        assumed = ", assumed" if length is not None and length.source == "assumed" else ""
        timeout = f", session timeout {duration(length.length_ms)}{assumed}" if length is not None else ""
        often = f" {several(len(goings))}" if len(goings) > len(names) else ""
        steps = spans(going.sequence for going in goings)
        yield PATTERN.found(
            f"{listed(names)}{often}{timeout}",
            steps,
            needs=[RECORDS, TIMERS if certain else COMMITS],
            certain=certain,
            advice=restart_advice(facts, goings),
            names=names,
            count=len(goings),
            from_ms=goings[0].at_ms,
            to_ms=goings[-1].at_ms,
            steps=steps,
        )


def _timeout(facts: Facts, going: Going) -> Timeout | None:
    if going.expired_ms is not None:
        return Timeout(going.expired_ms, "record")
    timeout = facts.session_timeout(going)
    if going.why is not None:
        return None if timeout.source == "assumed" else timeout
    guess = guessed(facts, going)
    return timeout if guess is not None and guess.looks_like == "session_expired" else None


FINDER: Final = PATTERN.finder(320, found_expired)
