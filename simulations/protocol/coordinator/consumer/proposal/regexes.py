"""Regular expressions of subscriptions: matched by the coordinator, in the operation that needs them.

The proposal has no record of what an expression matched and no time between two resolutions: the matches are what the
metadata image gives. So a group is looked at with its expressions resolved, and nothing of it is kept.

Source: KIP-848, "Regex Subscriptions".
"""

from __future__ import annotations

from dataclasses import replace

from groups.history.state.consumer import ConsumerGroup, ResolvedRegex
from simulations.protocol.coordinator.consumer.outcome import ResolveRegexes
from simulations.protocol.coordinator.consumer.regexes import resolve
from simulations.protocol.coordinator.consumer.subscriptions import Members
from simulations.protocol.coordinator.image import Image


def resolved(group: ConsumerGroup, members: Members, image: Image) -> ConsumerGroup:
    """The group with what the members' expressions match in the image; the same object if there are none."""
    regexes = dict.fromkeys(
        member.subscribed_topic_regex for member in members.values() if member.subscribed_topic_regex
    )
    if not regexes and not group.regexes:
        return group
    found = resolve(ResolveRegexes(regexes=tuple(regexes), member_id=""), image, 0)
    return replace(
        group,
        regexes={
            regex: ResolvedRegex(topics=topics, version=found.version, timestamp_ms=0)
            for regex, topics in found.topics.items()
        },
    )
