"""A broker's release, whose rules are simulated."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from groups.releases.table import Rules, rules_of, version_of

GROUP_VERSION: Final = "group.version"
"""The feature that is raised and lowered (``kafka-features.sh``): at 0 no broker serves the consumer protocol."""

_NEWEST_CLASSIC_TYPE: Final = 2
"""Types 0 to 2 are of offsets and of classic groups; a broker without the consumer protocol knows those alone."""


class UnknownRelease(ValueError):
    """A release that is not simulated; the message lists those that are."""


class Release(StrEnum):
    """``3.9`` means all that know KIP-915 and not the consumer protocol (3.3.3, 3.4.1, 3.5 to 3.9)."""

    rules: Rules

    V3_9 = "3.9"
    V4_3_0 = "4.3.0"
    V4_3_1 = "4.3.1"
    V4_4_0 = "4.4.0"

    def __new__(cls, value: str) -> Release:
        member = str.__new__(cls, value)
        member._value_ = value
        member.rules = rules_of(value)
        return member

    @property
    def group_version_max(self) -> int:
        """The newest level of the feature ``group.version`` that it supports."""
        return int(self.rules.consumer_protocol)

    def by(self, rules: Rules) -> Release:
        """This release with other rules, for a question about a rule alone; its name stays."""
        other = str.__new__(Release, self.value)
        other._name_, other._value_, other.rules = self.name, self.value, rules
        return other

    def knows(self, record_type: int) -> bool:
        """Whether it replays records of this type when it loads the log; others it skips."""
        return self.rules.consumer_protocol or record_type <= _NEWEST_CLASSIC_TYPE


EARLIER: Final = Release.V4_3_1
"""Of everything that was made before releases were values, and of what names none and cannot show one."""

NEWEST: Final = max(Release, key=version_of)

ALIASES: Final = {
    each.rpartition(".")[0]: each for each in sorted(Release, key=version_of) if each.count(".") == 2
}
"""What scenarios call a release, apart from its name: that of its newest patch that is simulated."""


def release_of(name: str) -> Release:
    """The release of this name or alias; ``UnknownRelease`` for any other."""
    if name in ALIASES:
        return ALIASES[name]
    try:
        return Release(name)
    except ValueError:
        raise UnknownRelease(
            f"{name} is not a release that is simulated: there are {', '.join(Release)}"
        ) from None
