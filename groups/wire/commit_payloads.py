"""The payload of an offset commit (record type 1) made of its plain values: what ``decode_record`` gives for its bytes.

Where commits are kept as columns (they are most of a log), an entry of one is made of them when somebody looks at it.
Fields and their order in each version are those of ``groups.wire.generated.classic``, and a test compares
the two, byte by byte.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.values import Value
from groups.wire.generated.classic import OFFSET_COMMIT

TOMBSTONE: Final = -1
"""The version of a commit that has no value."""

NO_LEADER_EPOCH: Final = -1
NO_EXPIRATION: Final = -1
"""The value of ``leaderEpoch`` before value version 3, and of ``expireTimestamp`` in all but version 1 (ms)."""

_EXPIRATION_VERSION: Final = 1
_LEADER_EPOCH_SINCE: Final = 3
_TOPIC_ID_SINCE: Final = 4


def commit_payload(
    *,
    group: str,
    topic: str,
    partition: int,
    version: int,
    committed: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    metadata: str = "",
    commit_ms: int = 0,
    expire_ms: int = NO_EXPIRATION,
    topic_id: str | None = None,
) -> dict[str, Value]:
    """The very dict that ``groups.wire.records.decode_record`` gives for that commit, its keys in the same order.

    ``version`` is that of the value, 0 to 4, or ``TOMBSTONE``; fields that the version does not have are left out.
    ``topic_id`` is in Kafka's base64, ``None`` where the commit has none.
    """
    key = {"group": group, "topic": topic, "partition": partition}
    if version == TOMBSTONE:
        return {"type": OFFSET_COMMIT, "key": key, "version": None, "value": None}
    value: dict[str, Value] = {"offset": committed}
    if version >= _LEADER_EPOCH_SINCE:
        value["leaderEpoch"] = leader_epoch
    value["metadata"] = metadata
    value["commitTimestamp"] = commit_ms
    if version == _EXPIRATION_VERSION:
        value["expireTimestamp"] = expire_ms
    if version >= _TOPIC_ID_SINCE and topic_id is not None:
        value["topicId"] = topic_id
    return {"type": OFFSET_COMMIT, "key": key, "version": version, "value": value}
