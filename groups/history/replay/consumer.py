"""Replay of the consumer protocol's records: types 3 to 8 and 16; what other protocols write alike is in ``epochs``."""

from __future__ import annotations

from typing import Final

from groups.history.replay import epoch_groups
from groups.history.replay.epoch_groups import assignment_of, known_or_past, replays_of, with_current
from groups.history.replay.fields import Fields, integer, text
from groups.history.state.consumer import NO_NOTE, STABLE, AssignorNote, ConsumerMember, ResolvedRegex
from groups.history.state.copying import replace
from groups.history.state.epochs import with_member
from groups.history.state.group import (
    Protocol,
    Semantics,
    State,
    seen_ids,
    seen_names,
    with_counted,
    with_topic,
)
from groups.history.state.versions import drop, put
from groups.releases import Release

_KAFKA: Final = Semantics.KAFKA


def _partition_metadata(state: State, _key: Fields, value: Fields) -> State:
    """Type 4: only remembered, and a source of topic names and counts (releases before 4.1, and KIP-848)."""
    for topic in value.get("topics") or ():
        topic_id, partitions = str(topic["topicId"]), integer(topic["numPartitions"])
        if topic.get("topicName"):
            state = with_topic(state, str(topic["topicName"]), topic_id=topic_id, partitions=partitions)
        elif topic_id in state.names:
            state = with_topic(state, state.names[topic_id], topic_id=topic_id, partitions=partitions)
        else:
            state = with_counted(state, topic_id, partitions)
    counts = {str(topic["topicId"]): integer(topic["numPartitions"]) for topic in value.get("topics") or ()}
    group = replace(state.consumer, has_partition_metadata=True, partition_counts=counts)
    return replace(state, consumer=group)


def _member(state: State, key: Fields, value: Fields) -> State:
    """Type 5: the member is made if it is absent (epoch 0); its epochs and its assignment stay."""
    member_id = str(key["memberId"])
    old = state.consumer.members.get(member_id) or ConsumerMember(member_id=member_id)
    names = tuple(str(name) for name in value.get("subscribedTopicNames") or ())
    new = replace(
        old,
        instance_id=text(value.get("instanceId")),
        rack_id=text(value.get("rackId")),
        client_id=text(value.get("clientId")) or "",
        client_host=text(value.get("clientHost")) or "",
        subscribed_topic_names=names,
        subscribed_topic_regex=text(value.get("subscribedTopicRegex")),
        rebalance_timeout_ms=integer(value.get("rebalanceTimeoutMs", -1)),
        server_assignor=text(value.get("serverAssignor")),
        classic=value.get("classicMemberMetadata"),
        client_assignors=tuple(value.get("assignors") or ()),
    )
    group = state.consumer
    if old.instance_id not in (None, new.instance_id) and state.release.rules.instance_follows_member:
        group = replace(group, instances=drop(group.instances, old.instance_id))
    return replace(seen_names(state, names), consumer=with_member(group, new))


def served_by(state: State, release: Release) -> State:
    """The state at a coordinator of this release: it builds the table of instances by its own rules."""
    if release is state.release:
        return state
    group = state.consumer
    if release.rules.instance_follows_member and group.instances:
        members = group.members.values()
        instances = {each.instance_id: each.member_id for each in members if each.instance_id is not None}
        group = replace(group, instances=instances)
    return replace(state, release=release, consumer=group)


def _target_member(state: State, key: Fields, value: Fields) -> State:
    """Type 7, with what a client-side assignor sent with the partitions, where KIP-848's record has it."""
    state = epoch_groups.target_member(state, key, value)
    member_id, note, notes = str(key["memberId"]), _note(value), state.consumer.target_notes
    if note == notes.get(member_id, NO_NOTE):
        return state
    # No note is no entry: the compacted log has only the last record, in which there is none.
    after = drop(notes, member_id) if note == NO_NOTE else put(notes, member_id, note)
    return replace(state, consumer=replace(state.consumer, target_notes=after))


def _note(value: Fields) -> AssignorNote:
    if "metadataBytes" not in value:
        return NO_NOTE
    return AssignorNote(
        error=integer(value.get("error", 0)),
        version=integer(value.get("metadataVersion", 0)),
        data=text(value.get("metadataBytes")) or "",
    )


def _current_member(state: State, key: Fields, value: Fields) -> State:
    """Type 8: the member is made if it is absent; partition epochs follow it."""
    member_id = str(key["memberId"])
    state, old = known_or_past(state, state.consumer.members, ConsumerMember, member_id)
    epoch = integer(value["memberEpoch"])
    code = value.get("state", STABLE if state.semantics is _KAFKA else None)
    new = replace(
        old,
        epoch=epoch,
        previous_epoch=integer(value.get("previousMemberEpoch", old.epoch)),
        current_recorded=True,
        state=None if code is None else integer(code),
        assigned=assignment_of(value.get("assignedPartitions"), epoch),
        pending_revocation=assignment_of(value.get("partitionsPendingRevocation"), epoch),
        note=_note(value),
    )
    seen = state.seen_topic_ids.keys()
    if not (new.assigned.keys() <= seen and new.pending_revocation.keys() <= seen):
        state = seen_ids(seen_ids(state, new.assigned), new.pending_revocation)
    return with_current(state, old, new)


def _regex(state: State, key: Fields, value: Fields) -> State:
    """Type 16."""
    topics = tuple(str(name) for name in value.get("topics") or ())
    resolved = ResolvedRegex(
        topics=topics,
        version=integer(value.get("version", 0)),
        timestamp_ms=integer(value.get("timestamp", 0)),
    )
    group = state.consumer
    return replace(
        seen_names(state, topics),
        consumer=replace(group, regexes={**group.regexes, str(key["regularExpression"]): resolved}),
    )


def noted_regexes(state: State, noted: Fields) -> State:
    """What expressions match from here on, where no record contains it (``kip``); ``None``: no member has it."""
    regexes = dict(state.consumer.regexes)
    for regex, topics in noted.items():
        if topics is None:
            regexes.pop(str(regex), None)
        else:
            names = tuple(str(name) for name in topics)
            state = seen_names(state, names)
            regexes[str(regex)] = ResolvedRegex(topics=names, version=0, timestamp_ms=0)
    return replace(state, consumer=replace(state.consumer, regexes=regexes))


def _partition_metadata_gone(state: State, _key: Fields) -> State:
    return replace(state, consumer=replace(state.consumer, has_partition_metadata=False, partition_counts={}))


def _regex_gone(state: State, key: Fields) -> State:
    regexes = drop(state.consumer.regexes, str(key["regularExpression"]))
    return replace(state, consumer=replace(state.consumer, regexes=regexes))


REPLAYS: Final = replays_of(
    Protocol.CONSUMER,
    {
        3: epoch_groups.group_epoch,
        4: _partition_metadata,
        5: _member,
        6: epoch_groups.target_epoch,
        7: _target_member,
        8: _current_member,
        16: _regex,
    },
    {4: _partition_metadata_gone, 16: _regex_gone},
)
