"""Draws what happens to brokers next to a script that is drawn already: rolls, and the level of ``group.version``.

Its chances are its own, so the script is what it is without. Only what the controller accepts is drawn: brokers go down one by
one, a level is raised when all of them support it, and a broker of an older release comes when the level is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from groups.releases import GROUP_VERSION, NEWEST, Release
from simulations.proof.fuzzing.documents import Line
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.script import Drawn
from simulations.world.scenario import Verb
from simulations.world.scenario.brokers import ALL_BROKERS, BROKERS, apart_after_ms
from simulations.world.scenario.order import LEADS_TO, RUNNING

DOWN_MS: Final = (1, 40, 300, 1_000)
"""How long a broker that is rolled is down."""

LOADING_MS: Final = (0, 0, 50, 700)
"""Until a new coordinator has read the log."""

GAPS_MS: Final = (1, 30, 400, 1_500, 4_000)
"""Between a step that is over and the next one."""

SOON_MS: Final = (0, 1, 100, 700, 3_000)
"""From when the feature is raised until somebody starts again who was refused."""

STEPS_MOST: Final = 5

OLDER_SHARE: Final = {Groups.CLASSIC: 0.5, Groups.MIXED: 0.15, Groups.CONSUMER: 0.05}
"""Of rolls where the level is 0, those to an older release: it forgets a consumer group, and little is asked from then on."""

OFF_SHARE: Final = {Groups.CLASSIC: 0.5, Groups.MIXED: 0.25, Groups.CONSUMER: 0.1}
"""Of runs, those that begin with the consumer protocol off; half of them with brokers that do not know it."""

SERVED_SHARE: Final = 0.8
"""Of runs, those whose brokers serve the consumer protocol at the end."""

RESTART_SHARE: Final = 0.7
"""Of members that run when the feature is raised, those that start again."""


@dataclass(slots=True, kw_only=True)
class _Brokers:
    """What brokers run at ``now_ms``, and what was done to them so far."""

    random: Random
    kind: Groups
    script: Sequence[Line]
    """What is drawn already."""
    level: int
    newest: Release
    """What those run that serve the consumer protocol."""
    releases: dict[str, Release]
    now_ms: int = 0
    over_ms: int = 0
    """When the last step is over."""
    lines: list[Line] = field(default_factory=list)

    def write(self, verb: Verb, who: object, **more: object) -> None:
        self.lines.append({"at": f"{self.now_ms}ms", str(verb): who, **more})

    @property
    def all_serve(self) -> bool:
        return all(release.rules.consumer_protocol for release in self.releases.values())


def with_brokers(
    random: Random, drawn: Drawn, kind: Groups, newest: Release = NEWEST
) -> tuple[Drawn, Release, int]:
    """The script with brokers' steps in it; the release of all brokers and the level of ``group.version`` at first."""
    release, level = newest, 1
    if random.random() < OFF_SHARE[kind]:
        level = 0
        release = random.choice((Release.V3_9, newest))
    brokers = _Brokers(
        random=random,
        kind=kind,
        script=drawn.script,
        level=level,
        newest=newest,
        releases=dict.fromkeys(BROKERS, release),
        now_ms=random.randint(0, drawn.last_ms),
    )
    for _ in range(random.randint(1, STEPS_MOST)):
        _step(brokers)
        brokers.now_ms += random.choice(GAPS_MS)
    brokers.now_ms = max(brokers.now_ms, drawn.last_ms)
    if random.random() < SERVED_SHARE:
        _serve(brokers)
    script = sorted([*drawn.script, *brokers.lines], key=at_of)
    return Drawn(script, max(drawn.last_ms, brokers.now_ms), drawn.changes), release, level


def at_of(line: Line) -> int:
    """When a drawn line is played, in milliseconds."""
    return int(str(line["at"]).removesuffix("ms"))


def _step(brokers: _Brokers) -> None:
    able: list[Callable[[_Brokers], None]] = [_roll, _roll]
    if brokers.level:
        able += [_lower, _lower]
    elif brokers.all_serve:
        able += [_raise, _raise, _raise]
    brokers.random.choice(able)(brokers)


def _roll(brokers: _Brokers) -> None:
    """One broker, or all; some to another release, where the level allows it."""
    random = brokers.random
    named = [random.choice(BROKERS)] if random.random() < 0.5 else list(BROKERS)
    release = None
    if not brokers.all_serve and random.random() < 0.6:
        release = brokers.newest
    elif not brokers.level and random.random() < OLDER_SHARE[brokers.kind]:
        release = Release.V3_9
    _rolls(brokers, named, release)


def _rolls(brokers: _Brokers, named: list[str], release: Release | None) -> None:
    random = brokers.random
    down_ms = random.choice(DOWN_MS)
    more: Line = {"for": f"{down_ms}ms", "loading": f"{random.choice(LOADING_MS)}ms"}
    if release is not None:
        more["release"] = str(release)
        brokers.releases |= dict.fromkeys(named, release)
    brokers.write(Verb.ROLL, ALL_BROKERS if len(named) == len(BROKERS) else named[0], **more)
    brokers.now_ms += len(named) * apart_after_ms(down_ms)


def _lower(brokers: _Brokers) -> None:
    brokers.write(Verb.DOWNGRADE_FEATURE, {GROUP_VERSION: 0})
    brokers.level = 0


def _raise(brokers: _Brokers) -> None:
    """Clients that were refused have ended: some start again, as who operates them would do."""
    brokers.write(Verb.UPGRADE_FEATURE, {GROUP_VERSION: 1})
    brokers.level = 1
    brokers.now_ms += brokers.random.choice(SOON_MS)
    for name in _running(brokers.script, brokers.now_ms):
        if brokers.random.random() < RESTART_SHARE:
            brokers.write(Verb.RESTART, name)


def _serve(brokers: _Brokers) -> None:
    """The consumer protocol is served from here on, and who ended starts again."""
    old = [name for name in BROKERS if not brokers.releases[name].rules.consumer_protocol]
    for name in old:
        _rolls(brokers, [name], brokers.newest)
    if not brokers.level:
        _raise(brokers)


def _running(script: Iterable[Line], at_ms: int) -> list[str]:
    """Members whose process runs, for all that the script did to it by then."""
    states: dict[str, str] = {}
    for line in script:
        if at_of(line) <= at_ms:
            _, verb, *_ = line
            if verb in LEADS_TO:
                states[str(line[verb])] = LEADS_TO[Verb(verb)]
    return [name for name, state in states.items() if state == RUNNING]
