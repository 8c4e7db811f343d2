"""A scenario with another release of its brokers than it names."""

from __future__ import annotations

from dataclasses import replace

from groups.releases import Release
from simulations.world.scenario.values import Scenario


class NotServed(ValueError):
    """The scenario has members that brokers of this release do not serve; the message names one."""


def with_release(scenario: Scenario, release: Release) -> Scenario:
    """The scenario whose brokers all run ``release`` at first; what its script rolls stays, as does one that begins with it."""
    if release is scenario.settings.release:
        return scenario
    modern = [member.name for member in scenario.members.values() if member.classic is None]
    if modern and not release.rules.consumer_protocol:
        raise NotServed(
            f"{modern[0]} is a member of the consumer protocol, which brokers {release} do not serve"
        )
    level = min(scenario.settings.group_version, release.group_version_max)
    settings = replace(scenario.settings, release=release, other_releases=(), group_version=level)
    return replace(scenario, settings=settings)
