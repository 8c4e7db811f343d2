"""Group epochs and the partition counts next to them: what bumps, and what a changed image or a new coordinator does.

Source: KIP-848, "Group Epoch - Trigger a rebalance", "Records", "Group Coordinator Fail-over".
"""

from __future__ import annotations

from dataclasses import replace

from groups.history.payloads.records import TopicMetadata
from groups.history.state.consumer import ConsumerGroup, ResolvedRegex
from groups.wire.generated.consumer import CONSUMER_GROUP_PARTITION_METADATA
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record, ResolveRegexes
from simulations.protocol.coordinator.consumer.regexes import resolve
from simulations.protocol.coordinator.consumer.subscriptions import Members, all_names
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.timers import ASSIGNMENT, SESSION, TimerStart


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


def seen(context: Context) -> Context:
    """The context whose group has its regular expressions resolved; kept next to the group while the image stays."""
    group, image = context.group, context.image
    known = group.derived("resolved", image, lambda: resolved(group, group.members, image))
    return context if known is group else replace(context, state=replace(context.state, consumer=known))


def bump(context: Context, members: Members) -> tuple[Record, ...]:
    """The next group epoch, last; before it the partition counts if the members' topics have other ones."""
    group_id, epoch = context.state.group, context.group.group_epoch + 1
    bumped = records.group_epoch(group_id, epoch, 0)
    topics = _topics(context, members)
    counts = {topic["topicId"]: topic["numPartitions"] for topic in topics}
    if context.group.has_partition_metadata and counts == context.group.partition_counts:
        return (bumped,)
    written: Record = {
        "type": CONSUMER_GROUP_PARTITION_METADATA,
        "key": {"groupId": group_id},
        "version": 0,
        "value": {"epoch": epoch, "topics": topics},
    }
    return (written, bumped)


def image_changed(context: Context, names: tuple[str, ...]) -> Outcome[None]:
    """Other partitions of what is subscribed bump the group epoch at once: added, created, deleted, made again."""
    group = context.group
    if group.has_partition_metadata:
        changed = _changed(context)
    else:
        changed = bool(set(names) & set(all_names(group, group.members)))
    return bumped(context) if changed and group.members else Outcome(answer=None)


def loaded(context: Context) -> Outcome[None]:
    """A new coordinator: sessions restart, then metadata and expressions are compared, then a target is wanted.

    No rebalance timer runs: nothing shows which members had been asked to give partitions up, and the next answer asks again.
    """
    group = context.group
    sessions = tuple(session_timer(context, member_id) for member_id in group.members)
    if group.has_partition_metadata and group.members and _changed(context):
        after = bumped(context)
        return replace(after, timers=(*sessions, *after.timers))
    if group.group_epoch > group.assignment_epoch:
        return Outcome(answer=None, timers=(*sessions, assignment_timer(context)))
    return Outcome(answer=None, timers=sessions)


def assignment_timer(context: Context) -> TimerStart:
    return TimerStart(timer=ASSIGNMENT, member_id=None, length_ms=context.settings.assignor_time_ms)


def session_timer(context: Context, member_id: str) -> TimerStart:
    return TimerStart(timer=SESSION, member_id=member_id, length_ms=context.settings.session_timeout_ms)


def bumped(context: Context) -> Outcome[None]:
    """The next group epoch, and the target that it asks for."""
    return Outcome(
        answer=None, records=bump(context, context.group.members), timers=(assignment_timer(context),)
    )


def _changed(context: Context) -> bool:
    topics = _topics(context, context.group.members)
    counts = {topic["topicId"]: topic["numPartitions"] for topic in topics}
    return counts != context.group.partition_counts


def _topics(context: Context, members: Members) -> list[TopicMetadata]:
    """Of the type 4 record; racks are never in it here."""
    group = resolved(context.group, members, context.image)
    return [
        {
            "topicId": context.image.topics[name].topic_id,
            "topicName": name,
            "numPartitions": context.image.topics[name].partitions,
            "partitionMetadata": [],
        }
        for name in sorted(all_names(group, members))
        if name in context.image.topics
    ]
