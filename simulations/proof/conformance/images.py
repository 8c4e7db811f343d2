"""The metadata log as the images that a coordinator gets one after another.

Racks are those of the replicas' brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from simulations.proof.conformance.recording import Fields, ImageChange
from simulations.protocol.coordinator.image import Image, ImageTopic

OFFSETS_TOPIC: Final = "__consumer_offsets"

NO_CHANGE: Final = -2
"""``PartitionChangeRecord`` leaves the leader as it is."""

GROUP_RESOURCE: Final = 32
"""``ConfigResource.Type.GROUP``"""

MetadataBatch = tuple[int, int, Iterable[Fields]]
"""Timestamp, last offset, and its records as ``decode_metadata_record`` gives them."""


def images_of(batches: Iterable[MetadataBatch]) -> tuple[ImageChange, ...]:
    """One change for each batch that changes a topic or a group's settings."""
    log = _Log()
    return tuple(change for at_ms, last, records in batches if (change := log.batch(at_ms, last, records)))


def image_of_names(topics: Mapping[str, tuple[str, int]]) -> tuple[ImageChange, ...]:
    """Topics that were there all the time: ``{topic id: (name, partitions)}``."""
    made = {
        name: ImageTopic(name=name, topic_id=topic_id, partitions=count)
        for topic_id, (name, count) in topics.items()
    }
    return (ImageChange(at_ms=0, version=0, image=Image(topics=made, version=0), names=tuple(made)),)


class _Log:
    def __init__(self) -> None:
        self.image = Image(topics={}, version=0)
        self.names: dict[str, str] = {}
        self.replicas: dict[str, dict[int, tuple[int, ...]]] = {}
        self.racks: dict[int, str | None] = {}

    def batch(self, at_ms: int, last: int, records: Iterable[Fields]) -> ImageChange | None:
        changed: dict[str, None] = {}
        removed: dict[str, None] = {}
        configs: dict[str, dict[str, str | None]] = {}
        elected: list[int] = []
        for record in records:
            value = record["value"]
            match record["type"]:
                case "TopicRecord":
                    if value["topicId"] not in self.names:
                        self.names[value["topicId"]] = value["name"]
                        self.replicas[value["topicId"]] = {}
                        changed[value["topicId"]] = None
                case "PartitionRecord" if value["topicId"] in self.replicas:
                    self.replicas[value["topicId"]][value["partitionId"]] = tuple(value["replicas"])
                    changed[value["topicId"]] = None
                case "PartitionChangeRecord" if value["topicId"] in self.replicas:
                    if value.get("replicas") is not None:
                        self.replicas[value["topicId"]][value["partitionId"]] = tuple(value["replicas"])
                    # Whatever changed of it, the coordinator looks at the topic's hash again.
                    changed[value["topicId"]] = None
                    leader = value.get("leader", NO_CHANGE)
                    if self.names[value["topicId"]] == OFFSETS_TOPIC and leader >= 0:
                        elected.append(value["partitionId"])
                case "RemoveTopicRecord" if value["topicId"] in self.names:
                    removed[self.names[value["topicId"]]] = None
                    del self.names[value["topicId"]], self.replicas[value["topicId"]]
                    changed.pop(value["topicId"], None)
                case "RegisterBrokerRecord":
                    self.racks[value["brokerId"]] = value["rack"]
                case "ConfigRecord" if value["resourceType"] == GROUP_RESOURCE:
                    configs.setdefault(value["resourceName"], {})[value["name"]] = value["value"]
        if not changed and not removed and not configs:
            return None
        gone = tuple(self.image.topics[name] for name in removed if name in self.image.topics)
        topics = {name: topic for name, topic in self.image.topics.items() if name not in removed}
        for topic_id in changed:
            topics[self.names[topic_id]] = self._topic(topic_id)
        self.image = Image(topics=topics, version=last)
        names = tuple(dict.fromkeys([*removed, *(self.names[topic_id] for topic_id in changed)]))
        return ImageChange(
            at_ms=at_ms,
            version=last,
            image=self.image,
            names=names,
            deleted=gone,
            configs=configs,
            elected=tuple(elected),
        )

    def _topic(self, topic_id: str) -> ImageTopic:
        replicas = self.replicas[topic_id]
        racks = tuple(
            tuple(sorted(rack for broker in replicas.get(n, ()) if (rack := self.racks.get(broker))))
            for n in range(len(replicas))
        )
        return ImageTopic(
            name=self.names[topic_id],
            topic_id=topic_id,
            partitions=len(replicas),
            racks=racks if any(racks) else (),
        )
