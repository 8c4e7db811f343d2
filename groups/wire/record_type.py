"""What a record type is."""

from __future__ import annotations

from dataclasses import dataclass

from groups.wire.codecs.schema import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """One type of record: the number that its key begins with, and the schemas of key and value."""

    number: int
    name: str
    key: Message
    value: Message

    @property
    def group_field(self) -> str:
        """The field of the key that names the group: the first."""
        return self.key.body.fields[0].name

    @property
    def message(self) -> str:
        """The record's name in Kafka's schemas, without ``Key`` or ``Value``: ``ConsumerGroupMetadata``."""
        return self.value.name.removesuffix("Value")
