"""Releases of clients and brokers, as far as an upgrade has to do with them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from groups.releases import Release

_RELEASE: Final = re.compile(r"(\d{1,2})\.(\d{1,2})(?:\.\d{1,2})?(?:[.-][A-Za-z0-9.-]{1,20})?")


class Version(NamedTuple):
    """A release without its patch level: those change nothing here."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


STATIC_SINCE: Final = Version(2, 3)
"""``group.instance.id`` (KIP-345)"""

CONSUMER_PROTOCOL_SINCE: Final = Version(4, 0)
"""The consumer protocol is for production, on brokers and in the Java client; 3.7 and 3.8 had it as a preview."""


def version_of(text: str) -> Version:
    """``3.8``, ``3.8.1`` or ``3.8.1-cp2``; ``ValueError`` for anything else."""
    match = _RELEASE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return Version(int(match[1]), int(match[2]))


def broker_release(brokers: Version) -> Release:
    """The simulated release that brokers are played as: the newest that is not newer, else the oldest that serves what they serve."""
    serving = [
        each for each in Release if each.rules.consumer_protocol == (brokers >= CONSUMER_PROTOCOL_SINCE)
    ]
    older = [each for each in serving if version_of(each) <= brokers]
    return older[-1] if older else serving[0]
