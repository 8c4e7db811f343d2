"""Regular expressions of subscriptions: matched by the coordinator, in the operation that needs them.

The proposal has no record of what an expression matched and no time between two resolutions: the matches are what the
metadata image gives. So a group is looked at with its expressions resolved, and nothing of it is kept.

Source: KIP-848, "Regex Subscriptions"; RE2 is the engine in Kafka as here.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import re2

from groups.history.consumer_state import ConsumerGroup, ResolvedRegex
from simulations.coordinator.image import Image
from simulations.coordinator.subscriptions import Members

RESOLUTIONS_KEPT: Final = 256
"""Of expressions over lists of names, each a tuple of its matches: a run has few of both."""


def problem(regex: str) -> str | None:
    """Why an expression is refused; None if it compiles. The empty one stands for none."""
    if not regex:
        return None
    try:
        _compiled(regex)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        return detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return None


def resolved(group: ConsumerGroup, members: Members, image: Image) -> ConsumerGroup:
    """The group with what the members' expressions match in the image; the same object if there are none."""
    regexes = dict.fromkeys(
        member.subscribed_topic_regex for member in members.values() if member.subscribed_topic_regex
    )
    if not regexes and not group.regexes:
        return group
    names = tuple(image.topics)
    return replace(
        group,
        regexes={
            regex: ResolvedRegex(topics=_matches(regex, names), version=0, timestamp_ms=0)
            for regex in regexes
        },
    )


@lru_cache(maxsize=RESOLUTIONS_KEPT)
def _matches(regex: str, names: tuple[str, ...]) -> tuple[str, ...]:
    pattern = _compiled(regex)
    return tuple(sorted(name for name in names if pattern.fullmatch(name)))


@lru_cache(maxsize=RESOLUTIONS_KEPT)
def _compiled(regex: str) -> re2._Regexp:
    options = re2.Options()
    # What is wrong is told to the client, not to this process's standard error.
    options.log_errors = False
    return re2.compile(regex, options)
