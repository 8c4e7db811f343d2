"""What several APIs of the classic protocol share: who has no id or generation yet, and the bytes of members.

Bytes that members and their leader say to each other (subscriptions, assignments) are ``bytes`` in messages and base64 in
their ``body``, as everywhere that a request is shown as JSON. The coordinator looks into them only to find out which topics
a group subscribes to, and when it converts a group between the protocols.
"""

from __future__ import annotations

from typing import Final

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
"""``protocol_type`` of consumers; Kafka Connect and others have their own."""

NO_GENERATION: Final = -1
NO_MEMBER_ID: Final = ""
"""``member_id`` of a member that has none yet: the coordinator draws one."""

Offered = tuple[tuple[str, bytes], ...]
"""Protocols of a member with their metadata, the best first: names of assignors and subscriptions, for a consumer."""
