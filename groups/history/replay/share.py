"""Replay of the share protocol's records (KIP-932): types 10 to 15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.replay import epoch_groups
from groups.history.replay.epoch_groups import (
    assignment_of,
    known_or_past,
    partitions_of,
    replays_of,
    with_current,
)
from groups.history.replay.fields import Fields, integer, text
from groups.history.replay.record_types import SHARE_STATE
from groups.history.state.consumer import STABLE
from groups.history.state.copying import replace
from groups.history.state.epochs import with_member
from groups.history.state.group import Protocol, State, seen_ids, seen_names, with_topic
from groups.history.state.share import ShareMember

UNKNOWN_TOPIC_NAME: Final = "<UNKNOWN>"
"""What the coordinator writes for the name of a topic that is not there any more."""


def _member(state: State, key: Fields, value: Fields) -> State:
    """Type 10: the member is made if it is absent (epoch 0); its epochs and its assignment stay."""
    member_id = str(key["memberId"])
    names = tuple(str(name) for name in value.get("subscribedTopicNames") or ())
    new = replace(
        state.share.members.get(member_id) or ShareMember(member_id=member_id),
        rack_id=text(value.get("rackId")),
        client_id=text(value.get("clientId")) or "",
        client_host=text(value.get("clientHost")) or "",
        subscribed_topic_names=names,
    )
    return replace(seen_names(state, names), share=with_member(state.share, new))


def _current_member(state: State, key: Fields, value: Fields) -> State:
    """Type 14: the member is made if it is absent."""
    member_id = str(key["memberId"])
    state, old = known_or_past(state, state.share.members, ShareMember, member_id)
    epoch = integer(value["memberEpoch"])
    new = replace(
        old,
        epoch=epoch,
        previous_epoch=integer(value.get("previousMemberEpoch", old.epoch)),
        current_recorded=True,
        state=integer(value.get("state", STABLE)),
        assigned=assignment_of(value.get("assignedPartitions"), epoch),
    )
    return with_current(seen_ids(state, new.assigned), old, new)


def _share_state(state: State, _key: Fields, value: Fields) -> State:
    """Type 15: how far the share state of each topic is; it also contains names, which no other share record does."""
    initializing, initialized = value.get("initializingTopics") or (), value.get("initializedTopics") or ()
    deleting = value.get("deletingTopics") or ()
    state = _named(state, (*initializing, *initialized, *deleting))
    new = replace(
        state.share,
        initializing=partitions_of(initializing, "topicId"),
        initialized=partitions_of(initialized, "topicId"),
        deleting=tuple(str(topic["topicId"]) for topic in deleting),
    )
    return replace(seen_ids(seen_ids(state, new.initializing), new.initialized), share=new)


def _named(state: State, topics: Iterable[Fields]) -> State:
    for topic in topics:
        name, topic_id = topic.get("topicName"), str(topic["topicId"])
        if name and name != UNKNOWN_TOPIC_NAME and state.topic_id(str(name)) != topic_id:
            state = with_topic(state, str(name), topic_id=topic_id)
    return state


def _share_state_gone(state: State, _key: Fields) -> State:
    return replace(state, share=replace(state.share, initializing={}, initialized={}, deleting=()))


REPLAYS: Final = replays_of(
    Protocol.SHARE,
    {
        10: _member,
        11: epoch_groups.group_epoch,
        12: epoch_groups.target_epoch,
        13: epoch_groups.target_member,
        14: _current_member,
        15: _share_state,
    },
    {SHARE_STATE: _share_state_gone},
)
