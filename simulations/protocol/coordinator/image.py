"""The metadata image: which topics there are, as the coordinator's broker knows them.

Kafka: ``CoordinatorMetadataImage`` and ``CoordinatorMetadataDelta``; the hash is that of ``Utils.computeGroupHash``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from groups.wire.metadata_hash import group_hash, topic_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTopic:
    """``racks`` are, for each partition, those of the brokers that have its replicas; empty where none is known."""

    name: str
    topic_id: str
    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()

    def racks_of(self, partition: int) -> tuple[str, ...]:
        """Sorted; a rack that holds two replicas is there twice."""
        return tuple(sorted(self.racks[partition])) if partition < len(self.racks) else ()

    @property
    def hash(self) -> int:
        """The topic's share of a group's metadata hash."""
        return topic_hash(self.topic_id, self.name, [self.racks_of(p) for p in range(self.partitions)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Topics by name, with what is computed from them kept at hand.

    ``version`` is the offset of the metadata log up to which the image is made; a later image has a greater one.
    """

    topics: Mapping[str, ImageTopic]
    version: int = 0
    by_id: Mapping[str, ImageTopic] = field(init=False, compare=False, repr=False)
    _hashes: dict[str, int] = field(init=False, compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {topic.topic_id: topic for topic in self.topics.values()})

    def metadata_hash(self, names: Iterable[str]) -> int:
        """The hash of those of the names that exist; 0 if none does (``Utils.computeGroupHash``)."""
        hashes: dict[str, int] = {}
        for name in names:
            topic = self.topics.get(name)
            if topic is not None:
                if name not in self._hashes:
                    self._hashes[name] = topic.hash
                hashes[name] = self._hashes[name]
        return group_hash(hashes)

    def with_topic(self, topic: ImageTopic, version: int | None = None) -> Image:
        """The image after a topic was created, changed, or made again under another id."""
        return self._next({**self.topics, topic.name: topic}, version)

    def without_topic(self, name: str, version: int | None = None) -> Image:
        """The image after a topic was deleted."""
        return self._next({other: topic for other, topic in self.topics.items() if other != name}, version)

    def with_partitions(self, name: str, partitions: int, version: int | None = None) -> Image:
        """The image after a topic grew; the new partitions' racks are unknown."""
        return self.with_topic(replace(self.topics[name], partitions=partitions), version)

    def created_since(self, older: Image) -> tuple[ImageTopic, ...]:
        """Topics that the older image does not have under this id."""
        return tuple(topic for topic_id, topic in self.by_id.items() if topic_id not in older.by_id)

    def deleted_since(self, older: Image) -> tuple[ImageTopic, ...]:
        """Topics of the older image whose id is gone, also those whose name lives on under another."""
        return older.created_since(self)

    def topic_ids(self, names: Iterable[str]) -> tuple[str, ...]:
        """Ids of those of the names that exist, in the order of the names."""
        return tuple(self.topics[name].topic_id for name in names if name in self.topics)

    def _next(self, topics: Mapping[str, ImageTopic], version: int | None) -> Image:
        image = Image(topics=topics, version=self.version + 1 if version is None else version)
        unchanged = {
            name: known for name, known in self._hashes.items() if topics.get(name) is self.topics[name]
        }
        image._hashes.update(unchanged)
        return image
