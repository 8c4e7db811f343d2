"""What a record type is, and the two keys that most of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.schema import Field, Message, Primitive, Struct, fields

GROUP_KEY: Final = fields(Field("groupId", Primitive.STRING))
MEMBER_KEY: Final = fields(Field("groupId", Primitive.STRING), Field("memberId", Primitive.STRING))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """One kind of record: the number that its key begins with, and what stands behind it."""

    number: int
    name: str
    key: Message
    value: Message
    group_field: str
    """The field of the key that names the group."""

    @property
    def message(self) -> str:
        """What Kafka's schemas call the record, without ``Key`` or ``Value``: ``ConsumerGroupMetadata``."""
        return self.value.name.removesuffix("Value")


def record_type(number: int, name: str, key: Struct, value: Message) -> RecordType:
    """A record type from its value's message; the key has no versions, and its first field names the group."""
    key_message = Message(value.name.removesuffix("Value") + "Key", key)
    return RecordType(number=number, name=name, key=key_message, value=value, group_field=key.fields[0].name)
