"""What a run begins with: topics with ids, and the records of a group that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from groups.history.entries import NotedTopic, TopicsNote
from groups.history.state.consumer import STABLE, UNRELEASED_PARTITIONS, UNREVOKED_PARTITIONS, ConsumerMember
from groups.history.state.group import Semantics
from groups.releases import EARLIER, Release
from groups.wire.codecs.uuids import uuid_to_base64
from simulations.protocol.coordinator.consumer import records, regexes
from simulations.protocol.coordinator.consumer.outcome import Record, ResolveRegexes
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.messages.groups import CommittedOffset, Partitions
from simulations.world.scenario import Scenario, ScenarioTopic, Start, StartMember


def first_image(topics: Mapping[str, ScenarioTopic], seed: int) -> Image:
    """The scenario's topics; ids that it does not give are drawn from the seed, one for each topic in order."""
    random = Random(f"topic ids of {seed}")
    drawn: dict[str, ImageTopic] = {}
    for name, topic in topics.items():
        topic_id = draw_topic_id(random)
        drawn[name] = ImageTopic(
            name=name,
            topic_id=topic.topic_id or topic_id,
            partitions=topic.partitions,
            racks=racks_of(topic.racks, topic.partitions),
        )
    return Image(topics=drawn)


def racks_of(racks: Mapping[int, tuple[str, ...]], partitions: int) -> tuple[tuple[str, ...], ...]:
    """For each partition the racks of its replicas; empty if no rack is given at all."""
    return tuple(racks.get(partition, ()) for partition in range(partitions)) if racks else ()


def draw_topic_id(random: Random) -> str:
    """A random UUID (version 4) in Kafka's text form; never one that begins with a dash, as in Kafka."""
    while True:
        bits = random.getrandbits(128) & ~(0xF << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62
        text = uuid_to_base64(bits.to_bytes(16, "big"))
        if not text.startswith("-"):
            return text


def topics_note(image: Image, names: tuple[str, ...], rates: Mapping[str, int]) -> TopicsNote:
    """What the topics are called, how many partitions they have, and what is written to each, from here on.

    ``None`` for one that is gone. ``rates``: of those that have one.
    """
    noted: dict[str, NotedTopic | None] = {}
    for name in names:
        topic = image.topics.get(name)
        noted[name] = None if topic is None else {"id": topic.topic_id, "partitions": topic.partitions}
        if topic is not None and name in rates:
            noted[name] = {"id": topic.topic_id, "partitions": topic.partitions, "rate": rates[name]}
    return {"note": "topics", "topics": noted, "source": "scenario"}


def first_note(
    image: Image, names: tuple[str, ...], rates: Mapping[str, int], semantics: Semantics, release: Release
) -> TopicsNote:
    """The note that a run begins with: its topics, and the release of its coordinator."""
    note = topics_note(image, names, rates)
    if semantics is Semantics.KAFKA and release is not EARLIER:
        note["release"] = str(release)
    return note


def by_id(image: Image, owned: Partitions) -> dict[str, tuple[int, ...]]:
    return {image.topics[name].topic_id: numbers for name, numbers in owned.items()}


def start_records(scenario: Scenario, start: Start, image: Image, semantics: Semantics) -> list[Record]:
    """The records that a compacted log of the state would hold, in the order in which they can be replayed."""
    group_id = scenario.group
    members = {member.name: _member(scenario, start, member, image) for member in start.members}
    expressions = tuple(dict.fromkeys(m.subscribed_topic_regex for m in members.values()))
    task = ResolveRegexes(regexes=tuple(each for each in expressions if each), member_id="")
    resolution = regexes.resolve(task, image, scenario.start_ms)
    resolved = resolution.topics
    names = sorted(
        {name for member in members.values() for name in member.subscribed_topic_names}.union(
            *resolved.values()
        )
    )
    kafka = semantics is Semantics.KAFKA
    written = [records.member_metadata(group_id, member) for member in members.values()]
    if not kafka:
        # The proposal's record of a member contains the group's epoch too.
        written = [records.with_fields(each, {"groupEpoch": start.group_epoch}) for each in written]
    if kafka:
        written += [
            records.regex(group_id, expression, topics, resolution.version, resolution.timestamp_ms)
            for expression, topics in resolved.items()
        ]
    written.append(
        records.group_epoch(group_id, start.group_epoch, image.metadata_hash(names) if kafka else 0)
    )
    written += [
        records.target_member(group_id, member.name, by_id(image, member.target)) for member in start.members
    ]
    # Without a timestamp the last target counts as long ago.
    written.append(records.target_epoch(group_id, start.assignment_epoch, 0))
    written += [
        records.current_assignment(group_id, member, with_epochs=kafka) for member in members.values()
    ]
    return written + committed_records(scenario, start.offsets, image)


def committed_records(
    scenario: Scenario, offsets: Mapping[str, Mapping[int, int]], image: Image
) -> list[Record]:
    """The records of committed offsets, by topic and partition."""
    return [
        records.offset_commit(
            scenario.group,
            CommittedOffset(
                topic=name, topic_id=image.topics[name].topic_id, partition=partition, offset=offset
            ),
            scenario.start_ms,
        )
        for name, some in offsets.items()
        for partition, offset in some.items()
    ]


def _member(scenario: Scenario, start: Start, started: StartMember, image: Image) -> ConsumerMember:
    member = scenario.members[started.name]
    waits = started.epoch == start.assignment_epoch and started.owned != started.target
    state = UNREVOKED_PARTITIONS if started.revoking else UNRELEASED_PARTITIONS if waits else STABLE
    previous_epoch = started.epoch if started.previous_epoch is None else started.previous_epoch
    return ConsumerMember(
        member_id=member.name,
        epoch=started.epoch,
        previous_epoch=previous_epoch,
        state=state,
        assigned={
            topic_id: dict.fromkeys(numbers, started.epoch)
            for topic_id, numbers in by_id(image, started.owned).items()
        },
        pending_revocation={
            topic_id: dict.fromkeys(numbers, started.epoch)
            for topic_id, numbers in by_id(image, started.revoking).items()
        },
        subscribed_topic_names=member.subscribe,
        subscribed_topic_regex=member.expression(member.regex) or "",
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        client_id=member.client_id,
        client_host=member.client_host,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
    )
