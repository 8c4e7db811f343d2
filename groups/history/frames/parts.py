"""The parts of frames that are not members of a group with epochs: classic members, topics, clients, timers, a topology."""

from __future__ import annotations

from collections.abc import Iterable

from groups.history.frames.shapes import (
    BarrierFrame,
    ClientFrame,
    CoordinatorFrame,
    MemberFrame,
    TimerFrame,
    TopicFrame,
    TopologyFrame,
)
from groups.history.state.classic_group import Barrier, ClassicMember
from groups.history.state.group import Client, Coordinator, State, Timers
from groups.history.state.streams import InternalTopic, Topology


def classic_member_part(_member_id: str, member: ClassicMember) -> MemberFrame:
    readable = "assignment" not in member.unreadable
    part: MemberFrame = {
        "protocol": "classic",
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "subscribed": list(member.subscribed),
        "assigned": {name: sorted(partitions) for name, partitions in member.assigned.items() if partitions}
        if readable
        else None,
        "session_timeout_ms": member.session_timeout_ms,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
    }
    if member.unreadable:
        part["unreadable"] = dict(member.unreadable)
    if member.worker is not None:
        part["worker"] = {
            "url": member.worker.url,
            "config_offset": member.worker.config_offset,
            "connectors": list(member.worker.connectors),
            "delay_ms": member.worker.delay_ms,
            "failed": member.worker.failed,
        }
    return part


def barrier_part(barrier: Barrier) -> BarrierFrame:
    return {
        "told": list(barrier.told),
        "joined": list(barrier.joined),
        "synced": list(barrier.synced),
        "until_ms": barrier.until_ms,
        "reasons": dict(barrier.reasons),
        "leader": barrier.leader,
    }


def topics_part(state: State) -> dict[str, TopicFrame]:
    """What topics are called: those that were reported, those that records name, those that have an id alone."""
    topics: dict[str, TopicFrame] = {
        name: {"id": topic.topic_id, "partitions": topic.partitions} for name, topic in state.topics.items()
    }
    for name in state.seen_topic_names:
        topics.setdefault(name, {"id": None, "partitions": None})
    for topic_id in state.seen_topic_ids:
        if topic_id not in state.names:
            topics[topic_id] = {"id": topic_id, "partitions": state.partitions_by_id.get(topic_id)}
            if topic_id in state.former:
                topics[topic_id]["was"] = state.former[topic_id]
    return dict(sorted(topics.items()))


def topology_part(topology: Topology | None) -> TopologyFrame | None:
    """What a streams application does: each subtopology with the topics that it reads, writes and keeps."""
    if topology is None:
        return None
    return {
        "epoch": topology.epoch,
        "subtopologies": {
            subtopology: {
                "source_topics": _strings(known.get("sourceTopics")),
                "source_topic_regex": _strings(known.get("sourceTopicRegex")),
                "repartition_source_topics": _internal(known.get("repartitionSourceTopics")),
                "repartition_sink_topics": _strings(known.get("repartitionSinkTopics")),
                "state_changelog_topics": _internal(known.get("stateChangelogTopics")),
            }
            for subtopology, known in topology.subtopologies.items()
        },
    }


def _strings(names: Iterable[str] | None) -> list[str]:
    return [str(name) for name in names or ()]


def _internal(topics: Iterable[InternalTopic] | None) -> list[str]:
    return [str(topic["name"]) for topic in topics or ()]


def client_part(_member_id: str, client: Client) -> ClientFrame:
    new: ClientFrame = {
        "owned": {name: list(partitions) for name, partitions in client.owned.items()},
        "calling": client.calling,
        "revoking": {name: list(partitions) for name, partitions in client.revoking.items()},
        "heartbeat_ms": client.heartbeat_ms,
    }
    if client.cut:
        new["cut"] = list(client.cut)
    for name in ("killed", "paused", "fenced", "clock_ms", "computing"):
        if value := getattr(client, name):
            new[name] = value
    return new


def coordinator_part(coordinator: Coordinator) -> CoordinatorFrame:
    return {
        "name": coordinator.name,
        "epoch": coordinator.epoch,
        "loading_until_ms": coordinator.loading_until_ms,
        "cut": list(coordinator.cut),
    }


def timer_part(_member_id: str, timers: Timers) -> TimerFrame:
    return {"session": timers.session, "rebalance": timers.rebalance}
