"""The group coordinator's records, as Kafka declares them: keys, and values in all of their versions.

A record's key is an int16 (the record type) and the key's fields; its value is an int16 (the value's version) and
the value's fields. The schemas are in ``groups.wire.generated``:

===============  ===========================================================
module           types
===============  ===========================================================
``classic``      0 to 2: offsets of every kind of group, classic groups
``consumer``     3 to 8 and 16: groups of the consumer protocol (KIP-848)
``share``        10 to 15: share groups (KIP-932); the state of a share partition is in ``__share_group_state``
``streams``      17 and 19 to 23: groups of Kafka Streams' own protocol (KIP-1071); 18 was never used
===============  ===========================================================

* Offsets with key version 0 are those of the first brokers that kept offsets in a topic. Today's only read them.
* ``ConsumerGroupPartitionMetadata`` has a value from 4.0 alone: brokers from 4.1 on write only tombstones of it.
* ``classicMemberMetadata`` is that of a classic member in a consumer group (online migration). Kafka's default is not
  null but an empty one, so that a broker writes the null of every other member.
* ``assignmentEpochs`` are parallel to the partitions (KIP-1251). Older brokers wrote none, which reads as an empty list.
* ``copartitionGroups`` are places in the three lists before them, of topics that must have equally many partitions.
"""

from __future__ import annotations

from typing import Final

from groups.wire.generated.classic import (
    CLASSIC_RECORD_TYPES,
)
from groups.wire.generated.consumer import (
    CONSUMER_RECORD_TYPES,
)
from groups.wire.generated.share import SHARE_RECORD_TYPES
from groups.wire.generated.streams import STREAMS_RECORD_TYPES
from groups.wire.record_type import RecordType

RECORD_TYPES: Final[dict[int, RecordType]] = {
    record_type.number: record_type
    for record_type in (
        *CLASSIC_RECORD_TYPES,
        *CONSUMER_RECORD_TYPES,
        *SHARE_RECORD_TYPES,
        *STREAMS_RECORD_TYPES,
    )
}
"""By the number that the key begins with."""
