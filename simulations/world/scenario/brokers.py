"""The brokers of a scenario: what they run, which level of ``group.version`` is finalized, and what a script does to both.

``brokers: '3.9'`` is what all of them run at first, ``brokers: {broker-1: '3.9', broker-2: 4.4}`` what each does. ``roll`` stops one after the other and starts it with another release;
``upgrade_feature`` and ``downgrade_feature`` are ``kafka-features.sh upgrade`` and ``downgrade``. What the controller refuses is
refused here: a level that some broker does not support, and a broker that does not support the level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groups.releases import GROUP_VERSION, NEWEST, Release, UnknownRelease, release_of
from simulations.protocol.coordinator.settings import Settings
from simulations.world.scenario.actions import Action, Verb
from simulations.world.scenario.nodes import Node

BROKERS: Final = ("broker-1", "broker-2", "broker-3")
"""As many as ``offsets.topic.replication.factor``: each can be the coordinator; the first is it at the beginning."""

ALL_BROKERS: Final = "brokers"
"""What ``roll`` names to roll every broker, in order."""

OF_BROKERS: Final = (Verb.ROLL, Verb.UPGRADE_FEATURE, Verb.DOWNGRADE_FEATURE)
"""What a script does to brokers, and to what they have in common."""

DOWN_MS: Final = 5_000
"""How long a broker that is rolled is down by default."""


def read_release(node: Node) -> Release:
    """A release as YAML may have it: its name, or a number that is an alias, ``4.3``."""
    try:
        return release_of(node.text())
    except UnknownRelease as error:
        raise node.wrong(str(error)) from None


def read_brokers(node: Node | None, config: Node | None, settings: Settings) -> Settings:
    """The settings with what brokers run; where one knows no ``group.version`` all begin with level 0."""
    if node is None:
        return replace(settings, release=NEWEST)
    release, *others = _releases(node)
    oldest = min((release, *others), key=lambda each: each.group_version_max)
    settings = replace(
        settings,
        release=release,
        other_releases=tuple(
            (name, other) for name, other in zip(BROKERS[1:], others, strict=True) if other is not release
        ),
    )
    names_version = config is not None and "group_version" in config.mapping()
    if not names_version:
        return replace(settings, group_version=oldest.group_version_max)
    if settings.group_version > oldest.group_version_max:
        raise node.wrong(
            f"brokers {oldest} support {GROUP_VERSION} 0 to {oldest.group_version_max}, "
            f"and config says group_version {settings.group_version}"
        )
    return settings


def _releases(node: Node) -> list[Release]:
    """Of each broker, in order: one release for all, or a mapping; who is not in it runs that of the first."""
    if node.kind != "a mapping":
        return [read_release(node)] * len(BROKERS)
    by_name = {name: read_release(each) for name, each in node.mapping(BROKERS).items()}
    if BROKERS[0] not in by_name:
        raise node.wrong(f"expected the release of {BROKERS[0]}, the coordinator at first")
    return [by_name.get(name, by_name[BROKERS[0]]) for name in BROKERS]


def read_level(node: Node, most: int) -> int:
    """``{group.version: 1}``: the one feature that groups have to do with."""
    found = node.mapping((GROUP_VERSION,))
    if GROUP_VERSION not in found:
        raise node.wrong(f"expected a feature and its level, such as {{{GROUP_VERSION}: 1}}")
    return found[GROUP_VERSION].integer(0, most, f"the feature {GROUP_VERSION}")


def rolled(node: Node) -> list[str]:
    """Whom ``roll`` names, in the order in which they are rolled."""
    if node.kind != "a list":
        name = node.choice((ALL_BROKERS, *BROKERS), "broker")
        return list(BROKERS) if name == ALL_BROKERS else [name]
    names: list[str] = []
    for item in node.items():
        name = item.choice(BROKERS, "broker")
        if name in names:
            raise item.wrong(f"{name} stands twice")
        names.append(name)
    if not names:
        raise node.wrong(f"roll names a broker, a list of them, or {ALL_BROKERS}")
    return names


def apart_after_ms(down_ms: int | None) -> int:
    """From when a broker stops until the next one does: it has been back for as long as it was down."""
    return 2 * (down_ms or 0)


class BrokerOrder:
    """What brokers run, and the level of the feature, at the time of the line that is looked at."""

    def __init__(self, settings: Settings) -> None:
        self._level = settings.group_version
        self._releases = dict.fromkeys(BROKERS, settings.release) | dict(settings.other_releases)
        self._back: dict[str, tuple[int, Release]] = {}
        """Brokers that are down: when each is back, and with which release. To the controller they are what they were."""

    def check(self, action: Action, line: Node, when: str) -> None:
        for name, (back_ms, release) in list(self._back.items()):
            if back_ms <= action.at_ms:
                self._releases[name] = release
                del self._back[name]
        if action.verb is Verb.ROLL:
            self._roll(action, line, when)
        else:
            self._feature(action, line, when)

    def _roll(self, action: Action, line: Node, when: str) -> None:
        down = next(iter(self._back), None)
        if down is not None:
            raise line.wrong(f"roll {action.who}: {down} is still down {when}; brokers are rolled one by one")
        release = action.release or self._releases[action.who]
        if release.group_version_max < self._level:
            raise line.wrong(
                f"roll {action.who}: a broker {release} does not register while {GROUP_VERSION} is {self._level}; "
                "downgrade_feature comes first"
            )
        assert action.length_ms is not None
        self._back[action.who] = action.at_ms + action.length_ms, release

    def _feature(self, action: Action, line: Node, when: str) -> None:
        level, up = action.level, action.verb is Verb.UPGRADE_FEATURE
        if level == self._level or (level > self._level) != up:
            way = "above" if up else "below"
            raise line.wrong(
                f"{action.verb}: {GROUP_VERSION} is {self._level} {when}; expected a level {way} that"
            )
        old = [
            f"{name} ({release})"
            for name, release in self._releases.items()
            if release.group_version_max < level
        ]
        if old:
            raise line.wrong(
                f"{action.verb}: {', '.join(old)} {'does' if len(old) == 1 else 'do'} not support "
                f"{GROUP_VERSION} {level} {when}; roll comes first"
            )
        if self._back and level > 0:
            raise line.wrong(f"{action.verb}: {next(iter(self._back))} is still down {when}")
        self._level = level
