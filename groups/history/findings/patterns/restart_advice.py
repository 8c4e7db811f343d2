"""What helps where processes end and start again: it depends on the protocol and on how they end.

Each line names settings; a simulated run of each shows what they change (``tests/simulations/test_advice.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from groups.history.evidence.lives import Going
from groups.history.findings.facts import Facts
from groups.history.findings.removed import guessed

CONSUMER_CRASH: Final = (
    "consumer protocol, processes that end without a leave: a shorter group.consumer.session.timeout.ms ends the wait for a dead one; "
    "group.instance.id does not help, as a static member that crashed is refused (UNRELEASED_INSTANCE_ID) until its session ends"
)
CONSUMER_LEAVE: Final = "consumer protocol, processes that close: with group.instance.id a restart within the session costs no rebalance"
CLASSIC_CRASH: Final = "classic protocol, processes that end without a leave: with group.instance.id a restart within session.timeout.ms costs no rebalance"
CLASSIC_LEAVE: Final = "classic protocol, processes that close: with group.instance.id a restart within session.timeout.ms costs no rebalance"

ADVICE: Final = {
    (False, True): CONSUMER_CRASH,
    (False, False): CONSUMER_LEAVE,
    (True, True): CLASSIC_CRASH,
    (True, False): CLASSIC_LEAVE,
}
"""By whether the group is classic, and whether the process vanished without a leave."""

VANISHED: Final = frozenset({"session_expired", "stopped"})


def restart_advice(facts: Facts, goings: Iterable[Going]) -> Sequence[str]:
    """The lines that fit these removals; nothing of static members, which have what it names, and of unknown ends."""
    advice: dict[str, None] = {}
    for going in goings:
        vanished = _vanished(facts, going)
        if vanished is not None and not facts.cast.is_static(going.member):
            advice[ADVICE[going.classic, vanished]] = None
    return list(advice)


def _vanished(facts: Facts, going: Going) -> bool | None:
    """Whether a process ended without a leave; ``None`` where the log does not show how it ended."""
    guess = guessed(facts, going) if going.why is None else None
    how = going.why if guess is None else guess.looks_like
    if how == "left":
        return False
    returned_before = going.back_ms is not None and going.back_ms < going.at_ms
    return True if going.killed_ms is not None or how in VANISHED or returned_before else None
