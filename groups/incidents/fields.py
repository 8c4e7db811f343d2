"""What each field of an entry holds that could name somebody: the redaction's table.

A text whose field is not in the tables is taken for one that may name anybody: nothing passes because it was forgotten. Field
names are those of Kafka's JSON forms (``groups.wire``) and of ``groups.history.entries``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

TEXT: Final = "text"
"""The kind of what no table knows."""

KINDS: Final = (
    "group", "topic", "connector", "client", "member", "instance", "host", "rack", "expression", "topic id", "assignor",
    "commit metadata", "broker", "file", "note", "reason", TEXT,
)  # fmt: skip
"""In the order in which a preview shows them."""

FIELDS: Final[Mapping[str, str]] = {
    "group": "group", "groupId": "group", "groups": "group", "groupIds": "group",
    "topic": "topic", "topicName": "topic", "topics": "topic", "subscribedTopicNames": "topic",
    "sourceTopics": "topic", "repartitionSinkTopics": "topic", "partitions": "topic",
    "topicId": "topic id", "topicIds": "topic id", "id": "topic id", "subscribedTopicIds": "topic id",
    "memberId": "member", "member": "member", "members": "member", "leader": "member", "leaderId": "member",
    "to": "member", "peer": "member", "waiter": "member", "actor": "member", "memberIds": "member",
    "instanceId": "instance", "groupInstanceId": "instance", "clientId": "client", "client": "client",
    "clientHost": "host", "host": "host", "rackId": "rack", "rack": "rack", "racks": "rack",
    "subscribedTopicRegex": "expression", "regularExpression": "expression", "sourceTopicRegex": "expression",
    "regex": "expression", "regexes": "expression",
    "serverAssignor": "assignor", "assignor": "assignor", "assignorName": "assignor", "protocol": "assignor",
    "protocolName": "assignor",
    "metadata": "commit metadata", "committedMetadata": "commit metadata", "coordinator": "broker",
    "source": "file", "file": "file", "reason": "reason", "says": "note",
}  # fmt: skip

NAMES_WITHIN: Final[Mapping[str, str]] = {
    "topics": "topic", "stateChangelogTopics": "topic", "repartitionSourceTopics": "topic",
    "supportedProtocols": "assignor", "protocols": "assignor",
}  # fmt: skip
"""What ``name`` is, by the field that it is within."""

BLOBS_WITHIN: Final = frozenset({"supportedProtocols", "protocols"})
"""Fields within which ``metadata`` is a member's subscription in bytes, and no commit's text."""

SUBSCRIPTIONS: Final = frozenset({"subscription"})
ASSIGNMENTS: Final = frozenset({"assignment"})
BYTES: Final = frozenset({"key_bytes", "value_bytes", "raw_key", "metadataBytes", "userData"})
"""Bytes in base64: those of the classic protocol are read and written again, all others are left out."""

HASHES: Final = frozenset({"metadataHash"})
"""Numbers made of names, by which a guessed name could be confirmed."""

MAPS: Final = frozenset({"topics", "partitions", "regexes", "members", "groups"})
"""Fields that may hold an object whose keys are names and no fields."""

SETTINGS: Final = frozenset({"settings", "config"})
"""Fields with Kafka's configuration: its keys are Kafka's own words."""

OWN_WORDS: Final = frozenset(
    {"api", "callback", "phase", "timer", "event", "fault", "note", "invariant", "way", "operation"}
)
"""Fields that hold words of this program or of Kafka's schemas, never of a user."""

CLIENT_REASON: Final = re.compile(
    r"cached metadata has changed|subscription has changed|need to revoke partitions and re-join"
    r"|received assignment does not match the current subscription|group is already rebalancing"
    r"|offset commit failed since group is already rebalancing|rebalance enforced by user|not provided"
    r"|rebalance failed due to (Kafka|Disconnect|Timeout|Wakeup|UnknownMemberId|IllegalGeneration|RebalanceInProgress|MemberIdRequired"
    r"|CoordinatorNotAvailable|NotCoordinator|CoordinatorLoadInProgress|FencedInstanceId)Exception"
    r"|encountered [A-Z_]{1,48} from [A-Z_]{1,48} response"
    r"|the consumer is being closed|consumer poll timeout has expired\.|the consumer unsubscribed from all topics"
    r"|consumer pro-actively leaving the group"
)
"""Reasons that Kafka's own clients give (KIP-800). The exceptions are Kafka's, since a team's own may name the team."""

MEMBER_REASON: Final = re.compile(r"(?P<text>need to re-join with the given member-id: )(?P<member>.+)")

OWN_WORD: Final = re.compile(r"[A-Za-z_]{1,48}")
RELEASES: Final = frozenset({"release", "before"})
"""Fields of broker notes with the number of one of Kafka's releases, by which entries are folded."""
RELEASE: Final = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}", re.ASCII)
FIELD_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]{0,60}")
CONFIG_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._]{0,100}")

KNOWN_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "assignor": frozenset({"range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "streams", "simple",
                           "default", "compatible", "sessioned"}),
    "file": frozenset({"scenario", "metadata log"}),
    "member": frozenset({"coordinator"}),
    TEXT: frozenset({"consumer", "connect", "share", "streams", "classic"}),
}  # fmt: skip
"""Words that name nobody, by kind: Kafka's assignors and protocols (those of Kafka Connect, too), and this program's own sources."""
