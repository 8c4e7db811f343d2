"""Removed: who is gone, and why.

Needs: records; for the reason requests or timers, which no log of records has. Without them the reason is inferred ("looks
like"), from when the member last committed, from its timeouts, and from whether it came back:

* ``session_expired``: its last commit lies one session timeout before its removal, or it had left for now (static);
* ``poll_overrun``: it lies one ``max.poll.interval.ms`` before it (a client's rebalance timeout is that interval), or it came
  back under its own member id, which a client that left by itself does as soon as it polls again;
* ``rebalance_timeout``: it had partitions to release for as long as its rebalance timeout; or the rebalance timeout of all
  members of a classic group is 0 or less, or shorter than a heartbeat interval, so that a join phase ended before it rejoined;
* ``stalled``: it was silent, and came back under the same member id: frozen, or late to poll; in a classic group also where
  its last commit fits both timeouts;
* ``stopped``: it was silent, and neither timeout fits: its process ended or froze;
* ``left``: it had committed until then, so its session was alive: it left by itself. A session whose length is assumed may be
  as short as ``SHORTEST_SESSION_MS``.

Cannot know: an exit code, a reason string; anything of a member that never committed in a rhythm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from groups.history.evidence.lives import Going
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts, Timeout
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration


class Reason(NamedTuple):
    """``was removed``, and ``its session expired`` where that is known."""

    verb: str
    when: str = ""

    def words(self, often: str = "") -> str:
        """``was removed twice when its session expired``."""
        return f"{self.verb}{often}{f' when {self.when}' if self.when else ''}"


REASONS: Final[dict[str | None, tuple[Reason, Reason]]] = {
    "left": (Reason("left"), Reason("left")),
    "session_expired": (
        Reason("was removed", "its session expired"),
        Reason("were removed", "their sessions expired"),
    ),
    "rebalance_timeout": (
        Reason("was removed", "its rebalance timeout expired"),
        Reason("were removed", "their rebalance timeouts expired"),
    ),
    None: (Reason("was removed"), Reason("were removed")),
}
"""Why members are gone, of one and of several."""

HEARTBEAT_MS: Final = 5_000
"""Kafka's default between two heartbeats: a session runs from the last one, which lies up to so long before a commit."""

SHORTEST_SESSION_MS: Final = 6_000
"""The least that a broker takes for a classic member's session (``group.min.session.timeout.ms``): where a session's length is
assumed, a member that was quiet for longer may as well have died."""

REJOIN_MS: Final = 5_000
"""A removal of the classic protocol is written when the others have rejoined, which takes them a heartbeat and a poll."""


class Guess(NamedTuple):
    """``looks_like`` is one of the module's; ``because`` its evidence, ``short`` the part of it that a verdict has room for."""

    looks_like: str
    text: str
    because: str
    short: str = ""


def found_removed(facts: Facts) -> Iterator[Finding]:
    """``removed``: who and when; ``why`` where it is known, ``looks_like`` with ``because`` where it is inferred."""
    lives = facts.lives
    for going in lives.goings:
        name = facts.process(going.member) if facts.name(going.member) else going.member
        timeout_ms = _timeout_ms(going)
        guess = guessed(facts, going) if going.why is None else None
        text = (
            f"{name} {reason_words(going.why, polled=facts.is_polled)}{timeout_words(going.why, timeout_ms)}"
        )
        if guess is not None:
            text = f"{name} was removed. Looks like {guess.text}: {guess.because}"
        silence = facts.silence_of(going)
        yield finding(
            "removed",
            text,
            [going.sequence] if silence is None else [silence.from_sequence, going.sequence],
            needs=going.needs,
            certain=guess is None,
            member=going.member,
            name=name,
            lane=going.lane,
            why=going.why,
            polled=facts.is_polled,
            looks_like=guess.looks_like if guess is not None else None,
            looks=guess.text if guess is not None else None,
            because=guess.because if guess is not None else "",
            short=f"{guess.text}{f', {guess.short}' if guess.short else ''}" if guess is not None else "",
            timeout_ms=timeout_ms,
            killed_ms=going.killed_ms,
            killed_sequence=going.killed_sequence,
            at_ms=going.at_ms,
            back_ms=going.back_ms,
            back_sequence=going.back_sequence,
            quiet_ms=going.quiet_ms,
            silent_from_ms=None if silence is None else silence.from_ms,
            silent_sequence=None if silence is None else silence.from_sequence,
            partitions=[]
            if silence is None
            else facts.partitions((s.topic, s.partition) for s in silence.stops),
            count=lives.goings_count,
            forming=lives.is_forming(going.sequence),
        )


def reason_words(why: str | None, *, several: bool = False, polled: bool = False) -> str:
    """``was removed when its session expired``; if nothing gives the reason, that is stated."""
    text = REASONS[why][several].words()
    return text if why is not None else f"{text}; {unknown_words(polled=polled)}"


def unknown_words(*, polled: bool) -> str:
    """A polled group has no log: what its coordinator describes contains no reason."""
    return "polls do not show why" if polled else "the log does not say why"


def _timeout_ms(going: Going) -> int | None:
    """The length of the timeout that removed it, if the log reports it."""
    if going.why == "session_expired":
        return going.expired_ms if going.expired_ms is not None else going.session_timeout_ms
    return going.rebalance_timeout_ms if going.why == "rebalance_timeout" else None


TIMEOUTS: Final = {"session_expired": "session timeout", "rebalance_timeout": "rebalance timeout"}


def timeout_words(why: str | None, timeout_ms: int | None) -> str:
    """`` (session timeout 45.0 s)``; nothing where no timeout removed it, or its length is not known."""
    known = timeout_ms is not None and why in TIMEOUTS
    return f" ({TIMEOUTS[why or '']} {duration(timeout_ms or 0)})" if known else ""


def guessed(facts: Facts, going: Going) -> Guess | None:
    """What a removal looks like that no request or timer explains; ``None``: the log does not say."""
    poll = facts.poll_interval(going)
    if going.away:
        return Guess(
            "session_expired", "its session expired", "it had left for now and did not come back in time"
        )
    revoking_ms, limit_ms = going.revoking_ms, going.rebalance_timeout_ms
    if revoking_ms is not None and limit_ms is not None and revoking_ms >= limit_ms:
        because = f"it had partitions to release for {duration(revoking_ms)} ({_length_words(poll)})"
        return Guess("rebalance_timeout", "its rebalance timeout expired", because, _length_words(poll))
    fits = _fitting(facts, going)
    if fits is not None:
        return fits
    if going.join_phase_ms is not None:
        return _not_rejoined(going.join_phase_ms)
    return _from_commits(facts, going)


def _fitting(facts: Facts, going: Going) -> Guess | None:
    """The timeouts that its last commit fits. Where both do, a classic client does not show which: it has a new id either way."""
    quiet_ms, rhythm_ms = going.quiet_ms, going.limit_ms
    if quiet_ms is None or rhythm_ms is None:
        return None
    session, poll = facts.session_timeout(going), facts.poll_interval(going)
    since = f"its last commit was {duration(quiet_ms)} earlier"
    slack_ms = rhythm_ms + (REJOIN_MS if going.classic else 0)
    expired = _least_ms(going, session.length_ms) <= quiet_ms <= session.length_ms + slack_ms
    overrun = poll.length_ms <= quiet_ms <= poll.length_ms + slack_ms
    if overrun and expired and going.classic:
        because = f"{since}, which fits both (session timeout {_length_words(session)}; poll interval {_length_words(poll)})"
        text = "its session expired or max.poll.interval.ms was exceeded"
        return Guess("stalled", text, because, f"{duration(quiet_ms)} after its last commit")
    if overrun and (going.back_same_id or not expired or quiet_ms < session.length_ms):
        because = f"{since} ({_length_words(poll)})"
        return Guess("poll_overrun", "max.poll.interval.ms exceeded", because, _length_words(poll))
    if expired:
        because = f"{since} (session timeout {_length_words(session)})"
        return Guess("session_expired", "its session expired", because, _length_words(session))
    return None


def _not_rejoined(phase_ms: int) -> Guess:
    short = f"rebalance timeout {phase_ms:,} ms"
    ends = "at once" if phase_ms <= 0 else f"after {phase_ms:,} ms, sooner than a heartbeat comes"
    because = f"the rebalance timeout of all members is at most {phase_ms:,} ms, so a join phase ends {ends}"
    return Guess("rebalance_timeout", "it had no time to rejoin", because, short)


def _from_commits(facts: Facts, going: Going) -> Guess | None:
    """Of a removal that fits no timeout."""
    quiet_ms, rhythm_ms = going.quiet_ms, going.limit_ms
    if quiet_ms is None:
        return _stalled(going)
    session = facts.session_timeout(going)
    since = f"its last commit was {duration(quiet_ms)} earlier" if quiet_ms else "it committed then"
    least_ms = _least_ms(going, session.length_ms)
    if rhythm_ms is None and quiet_ms >= min(least_ms, _least_ms(going, SHORTEST_SESSION_MS)):
        return _stalled(going)
    if rhythm_ms is not None and quiet_ms > rhythm_ms:
        if going.back_same_id:
            return _stalled(going)
        return Guess(
            "stopped",
            "its process ended or froze",
            f"{since}, which does not match a session timeout of {_length_words(session)}",
        )
    if quiet_ms < least_ms:
        if session.source == "assumed" and quiet_ms >= _least_ms(going, SHORTEST_SESSION_MS):
            return _stalled(going)
        if going.back_same_id:
            because = f"{since}, so its session was alive, and it came back under the same member id"
            return Guess("poll_overrun", "max.poll.interval.ms exceeded", because)
        return Guess("left", "it left by itself", f"{since}, so its session was alive")
    return _stalled(going)


def _least_ms(going: Going, session_ms: int) -> int:
    """How long before the end of a session the last commit lies at least: the last heartbeat came behind it or before.

    A commit of a classic member restarts its session, as a heartbeat does.
    """
    return session_ms if going.classic else session_ms - min(HEARTBEAT_MS, session_ms // 3)


def _stalled(going: Going) -> Guess | None:
    """A process that restarts has a new member id; one that was fenced, or left at ``max.poll.interval.ms``, has its own."""
    if not going.back_same_id:
        return None
    because = "it came back under the same member id"
    return Guess("stalled", "it was frozen or did not poll in time", because)


SOURCE_WORDS: Final = {
    "record": "by its own record",
    "group": "the group's setting",
    "given": "as given",
    "assumed": "assumed",
}
"""Where the length of a timeout comes from."""


def _length_words(timeout: Timeout) -> str:
    """``45.0 s, assumed``."""
    return f"{duration(timeout.length_ms)}, {SOURCE_WORDS[timeout.source]}"


FINDER: Final = Declared(
    place=30,
    find=found_removed,
    rows=(Row(kinds=("removed",), needs="records", incident=True),),
)
