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
    """The member with each field that the request tells; client id and host are always taken over."""
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


def preferred_assignor(group: Members, members: Members, configured: tuple[str, ...]) -> str:
    """The server assignor that most members ask for; the first configured one if nobody asks.

    ``group`` is the group as replayed, ``members`` with the update applied. Of two that are asked for equally often
    the first in Kafka's counting map is taken: a copy of the group's own, in which the updated member's vote was
    withdrawn and then cast again. So one that nobody else asks for comes to the front.
    """
    votes = Counter(m.server_assignor for m in members.values() if m.server_assignor is not None)
    if not votes:
        return configured[0]
    others = Counter(
        member.server_assignor
        for member_id, member in group.items()
        if member.server_assignor is not None and members.get(member_id) is member
    )
    counting = HashOrder.map_copy(string_hash, TimelineOrder(string_hash, others))
    for name in votes:
        counting.compute(name)
    return max(counting, key=lambda name: votes[name])


def described_assignor(members: Members, configured: tuple[str, ...]) -> str:
    """The same as a described group tells it, from the group's own table."""
    votes = Counter(m.server_assignor for m in members.values() if m.server_assignor is not None)
    return max(TimelineOrder(string_hash, votes), key=lambda name: votes[name]) if votes else configured[0]


def subscribed_names(context: Context) -> frozenset[str]:
    """Names that the group as replayed subscribes to: by members, and by each expression that was resolved."""
    resolved = (name for regex in context.group.regexes.values() for name in regex.topics)
    return frozenset((*context.counts.by_name, *resolved))


def names_after(context: Context, old: ConsumerMember, new: ConsumerMember) -> frozenset[str]:
    """The group's names with a member's update in place, which no record tells yet."""
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
