"""The metadata image: which topics there are, as the coordinator's broker knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from groups.wire.metadata_hash import group_hash, topic_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTopic:
    name: str
    topic_id: str
    partitions: int

    @property
    def hash(self) -> int:
        """The topic's share of a group's metadata hash; these brokers have no racks."""
        return topic_hash(self.topic_id, self.name, [()] * self.partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Topics by name, with what is computed from them kept at hand."""

    topics: Mapping[str, ImageTopic]
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

    def with_partitions(self, name: str, partitions: int) -> Image:
        """The image after a topic grew."""
        old = self.topics[name]
        grown = ImageTopic(name=name, topic_id=old.topic_id, partitions=partitions)
        return Image(topics={**self.topics, name: grown})

    def topic_ids(self, names: Iterable[str]) -> tuple[str, ...]:
        """Ids of those of the names that exist, in the order of the names."""
        return tuple(self.topics[name].topic_id for name in names if name in self.topics)
