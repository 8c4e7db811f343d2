"""Who subscribes to what, with a member's newest fields in place of the ones that records hold.

Kafka: ``ModernGroup`` and ``ConsumerGroup`` (``computeSubscribedTopicNames``, ``subscriptionType``,
``computePreferredServerAssignor``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.consumer import ConsumerGroup, ConsumerMember, ResolvedRegex
from simulations.protocol.assignors.java_orders import HashOrder, TimelineOrder, string_hash, utf16
from simulations.protocol.coordinator.consumer.counts import Counts
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.groups import UNCHANGED_TIMEOUT, Heartbeat

Members = Mapping[str, ConsumerMember]


def updated_member(old: ConsumerMember, request: Heartbeat) -> ConsumerMember:
    """The member with each field that the request reports; client id and host are always taken over."""
    return replace(
        old,
        instance_id=request.instance_id if request.instance_id is not None else old.instance_id,
        rack_id=request.rack_id if request.rack_id is not None else old.rack_id,
        server_assignor=(
            request.server_assignor if request.server_assignor is not None else old.server_assignor
        ),
        subscribed_topic_names=(
            tuple(sorted(set(request.subscribed_topic_names), key=utf16))
            if request.subscribed_topic_names is not None
            else old.subscribed_topic_names
        ),
        subscribed_topic_regex=(
            request.subscribed_topic_regex
            if request.subscribed_topic_regex is not None
            else old.subscribed_topic_regex
        ),
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms
            if request.rebalance_timeout_ms != UNCHANGED_TIMEOUT
            else old.rebalance_timeout_ms
        ),
        client_id=request.client_id,
        client_host=request.client_host,
        classic=None,
    )


def names_changed(old: ConsumerMember, new: ConsumerMember) -> bool:
    return set(old.subscribed_topic_names) != set(new.subscribed_topic_names)


def all_names(group: ConsumerGroup, members: Members) -> tuple[str, ...]:
    """Each name that some member subscribes to, once."""
    return tuple(
        dict.fromkeys(name for member in members.values() for name in group.subscribed_topics(member))
    )


def subscribed_ids(group: ConsumerGroup, member: ConsumerMember, image: Image) -> frozenset[str]:
    """Ids of the member's topics that exist."""
    return frozenset(image.topic_ids(group.subscribed_topics(member)))


def preferred_assignor(
    votes: Mapping[str, int], configured: tuple[str, ...], withdrawn: str | None, cast: str | None
) -> str:
    """The server assignor that most members ask for after one member's vote; the first configured one if nobody asks.

    ``votes`` are those of the group as replayed. Of two that are asked for equally often the first in Kafka's counting
    map is taken: a copy of the group's own, in which the member's vote is withdrawn and then cast again. So one that
    nobody else asks for comes to the front of its bucket.
    """
    counting = HashOrder.map_copy(string_hash, TimelineOrder(string_hash, votes))
    counts = dict(votes)
    if withdrawn is not None:
        counts[withdrawn] = counts.get(withdrawn, 0) - 1
        if counts[withdrawn] <= 0:
            del counts[withdrawn]
            counting.remove(withdrawn)
    if cast is not None:
        counts[cast] = counts.get(cast, 0) + 1
        counting.compute(cast)
    return max(counting, key=counts.__getitem__) if counts else configured[0]


def described_assignor(votes: Mapping[str, int], configured: tuple[str, ...]) -> str:
    """The same of the group as it is, from its own table: a described group names it."""
    return max(TimelineOrder(string_hash, votes), key=votes.__getitem__) if votes else configured[0]


def assignor_changes(context: Context, old: ConsumerMember, new: ConsumerMember) -> bool:
    """Whether a heartbeat of this member changes the preferred assignor, where the release asks for that.

    With the votes of a single assignor, or none and none, it cannot: a steady heartbeat costs a look at their number.
    """
    votes = context.counts.assignors
    if not context.settings.release.rules.assignor_change_bumps or (
        old.server_assignor == new.server_assignor and len(votes) < 2
    ):
        return False
    configured = context.settings.assignors
    after = preferred_assignor(votes, configured, old.server_assignor, new.server_assignor)
    return after != described_assignor(votes, configured)


def subscribed_names(context: Context) -> frozenset[str]:
    """Names that the group as replayed subscribes to: by members, and by each expression that was resolved."""
    resolved = (name for regex in context.group.regexes.values() for name in regex.topics)
    return frozenset((*context.counts.by_name, *resolved))


def names_after(context: Context, old: ConsumerMember, new: ConsumerMember) -> frozenset[str]:
    """The group's names with a member's update in place, which no record contains yet."""
    by_name = context.counts.changed(old, new).by_name
    gone = abandoned_regex(context, old, new)
    resolved = (
        name for regex, found in context.group.regexes.items() if regex != gone for name in found.topics
    )
    return frozenset((*by_name, *resolved))


def abandoned_regex(context: Context, old: ConsumerMember, new: ConsumerMember) -> str | None:
    """The member's old expression, if it changes it and nobody else subscribes by it."""
    regex = old.subscribed_topic_regex
    if not regex or regex == new.subscribed_topic_regex or context.counts.regexes.get(regex) != 1:
        return None
    return regex


def subscription_is_homogeneous(counts: Counts, resolved: Mapping[str, ResolvedRegex], members: int) -> bool:
    """Kafka's subscription type of a group of so many members (``ConsumerGroup.subscriptionType``)."""
    by_regex = Counter(name for found in resolved.values() for name in found.topics)
    if not counts.regexes:
        return not by_regex.keys() - counts.by_name.keys() and all(
            count == members for count in counts.by_name.values()
        )
    first = next(iter(TimelineOrder(string_hash, counts.regexes)))
    return (
        counts.regexes[first] == members
        and not counts.by_name
        and all(count == 1 for count in by_regex.values())
    )
