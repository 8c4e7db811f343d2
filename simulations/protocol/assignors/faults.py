"""Kafka's own faults, which the assignors repeat: an answer is to be Kafka's answer, and names where it is not sound.

Each was seen with the released classes. An answer names those that it shows; an assignor that throws as Kafka does
names the one in its ``AssignorError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIRST_WITHOUT_TOPICS: Final = "first-member-without-topics"
GIVEN_BACK_UNSUBSCRIBED: Final = "given-back-to-unsubscribed"
PREVIOUS_OWNER_SET_ASIDE: Final = "previous-owner-set-aside"
BEYOND_COUNT: Final = "owned-beyond-partition-count"
TARGET_OVERLAPS: Final = "target-overlaps"

FAULTS: Final[Mapping[str, str]] = {
    FIRST_WITHOUT_TOPICS: (
        "sticky and cooperative-sticky: the members that come first subscribe to nothing, so all subscriptions are "
        "taken to be equal and a member gets partitions that it does not subscribe to"
    ),
    GIVEN_BACK_UNSUBSCRIBED: (
        "sticky and cooperative-sticky: a partition goes back to the member that owned it a generation ago, though "
        "that member does not subscribe to the topic any more"
    ),
    PREVIOUS_OWNER_SET_ASIDE: (
        "sticky and cooperative-sticky: a partition's owner of a generation ago cannot take part in the balancing, "
        "and is asked how much it holds all the same: NullPointerException"
    ),
    BEYOND_COUNT: (
        "a member owns partitions beyond the topic's count (the topic was made anew, smaller), so partitions behind "
        "them in the order are taken for free and given twice, or there are more of them than places"
    ),
    TARGET_OVERLAPS: (
        "uniform: the current target gives one partition twice, or partitions beyond the topic's count, so "
        "partitions are left over or given twice"
    ),
}
"""Name → what happens, in a sentence."""
