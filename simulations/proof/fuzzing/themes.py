"""What classic groups stumble over, as a few lines that are drawn together: lines drawn one by one seldom meet so.

Each theme is a piece of a script in which one thing happens in the middle of another: a leader dies between join and sync,
a coordinator fails over while members join, a static member is replaced while its predecessor waits for an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simulations.world.scenario import Verb

if TYPE_CHECKING:
    from simulations.proof.fuzzing.script import DrawnScript

SOON_MS: Final = (1, 2, 4, 8, 15, 30)
"""Until the next line: a message's way or two, so that it falls between a request and its answer."""

PHASE_MS: Final = (60, 300, 900)
"""Within a join or sync phase."""

BEYOND_MS: Final = (2_200, 4_500)
"""Longer than the shorter rebalance timeouts, or than most."""


Theme = Callable[["DrawnScript"], None]


def _one(script: DrawnScript, verb: Verb, among: Callable[[str], bool] = lambda _: True) -> str | None:
    """A member, drawn, with whom this can be done."""
    able = [name for name in script.able(verb) if among(name)]
    return script.random.choice(able) if able else None


def _does(script: DrawnScript, verb: Verb, among: Callable[[str], bool] = lambda _: True) -> str | None:
    who = _one(script, verb, among)
    if who is not None:
        script.act(verb, who)
    return who


def _waits(script: DrawnScript, lengths_ms: tuple[int, ...]) -> None:
    script.now_ms += script.random.choice(lengths_ms)


def _rebalances(script: DrawnScript) -> None:
    """Sets a rebalance going, in one of the usual ways."""
    verb = script.random.choice((Verb.ENFORCE_REBALANCE, Verb.RESTART, Verb.JOIN, Verb.SUBSCRIBE))
    if _does(script, verb) is None:
        _does(script, Verb.RESTART)


def dies_before_it_assigns(script: DrawnScript) -> None:
    """Somebody, who may lead, dies or does not move between join and sync; the others wait for the assignment."""
    _rebalances(script)
    _waits(script, (*SOON_MS, *PHASE_MS))
    who = _does(script, script.random.choice((Verb.KILL, Verb.PAUSE, Verb.LEAVE)))
    _waits(script, PHASE_MS)
    _does(script, Verb.RESTART, lambda name: name != who and script.is_static(name))
    _waits(script, BEYOND_MS)


def never_joins(script: DrawnScript) -> None:
    """An id is drawn, and nobody joins with it; others do meanwhile."""
    _rebalances(script)
    if (who := _does(script, Verb.JOIN)) is not None:
        _waits(script, SOON_MS)
        if who in script.able(Verb.KILL):
            script.act(Verb.KILL, who)
    _waits(script, PHASE_MS)


def fails_over_while_joining(script: DrawnScript) -> None:
    """The coordinator goes in the middle of a join or sync phase."""
    _rebalances(script)
    _waits(script, (*SOON_MS, *PHASE_MS))
    script.fails_over()
    _waits(script, PHASE_MS)


def straggles(script: DrawnScript) -> None:
    """A member does not move through a whole rebalance, and then goes on with what it knew, and commits."""
    who = _does(script, Verb.PAUSE, script.is_static) or _does(script, Verb.PAUSE)
    _waits(script, SOON_MS)
    _rebalances(script)
    _waits(script, BEYOND_MS)
    if who is not None and who in script.able(Verb.RESUME):
        script.act(Verb.RESUME, who)
        script.act(Verb.COMMIT, who)
    _waits(script, SOON_MS)


def is_replaced(script: DrawnScript) -> None:
    """A static member comes back once or twice, also while it waits in a join or sync phase."""
    if script.random.random() < 0.5:
        _rebalances(script)
        _waits(script, (*SOON_MS, *PHASE_MS))
    who = _does(script, Verb.RESTART, script.is_static)
    if who is not None and script.random.random() < 0.5:
        _waits(script, (*SOON_MS, *PHASE_MS))
        script.act(Verb.RESTART, who)
    _waits(script, PHASE_MS)


def there_and_back(script: DrawnScript) -> None:
    """A bounce or two in the middle of a rebalance: in a mixed group an upgrade, and often the way back."""
    if script.random.random() < 0.7:
        _rebalances(script)
        _waits(script, (*SOON_MS, *PHASE_MS))
    who = _does(script, Verb.BOUNCE, script.is_classic)
    _waits(script, (*PHASE_MS, *BEYOND_MS))
    if who is not None and who in script.able(Verb.BOUNCE):
        script.act(Verb.BOUNCE, who)
    _waits(script, PHASE_MS)


def come_one_by_one(script: DrawnScript) -> None:
    """New members, each before the last join phase is over."""
    for _ in range(script.random.randint(2, 4)):
        _does(script, Verb.JOIN)
        _waits(script, (100, 250, 250, 800))


THEMES: Final[tuple[Theme, ...]] = (
    dies_before_it_assigns,
    never_joins,
    fails_over_while_joining,
    straggles,
    is_replaced,
    there_and_back,
    come_one_by_one,
)

ROUGH: Final = frozenset({dies_before_it_assigns, never_joins, fails_over_while_joining, straggles})
"""Themes in which processes or brokers fail: not of a calm script."""
