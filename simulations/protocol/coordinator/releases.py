"""What brokers run: which releases serve the consumer protocol, and what each reads of the group's log.

A broker before 4.0 serves groups of the classic protocol alone (3.7 to 3.9 have the other one as a preview, which is off). When
it becomes the coordinator it loads offsets and classic groups, and skips records of types that it does not know: *It could be
a left over from an aborted upgrade* (KIP-915, since 3.3.3, 3.4.1 and 3.5). Releases before KIP-915 stop reading at such a record;
they are not simulated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from groups.wire.coordinator_schema import GROUP_METADATA

GROUP_VERSION: Final = "group.version"
"""The feature that is raised and lowered (``kafka-features.sh``): at 0 no broker serves the consumer protocol."""


class BrokerRelease(StrEnum):
    """``3.9`` stands for all that know KIP-915 and not the consumer protocol, ``4.3`` for all that serve it."""

    V3_9 = "3.9"
    V4_3 = "4.3"

    @property
    def serves_consumer_protocol(self) -> bool:
        """Whether it does so where the feature is 1."""
        return self is BrokerRelease.V4_3

    @property
    def group_version_max(self) -> int:
        """The newest level of ``group.version`` that it supports."""
        return int(self.serves_consumer_protocol)

    def knows(self, record_type: int) -> bool:
        """Whether it replays records of this type when it loads the log; others it skips."""
        return self.serves_consumer_protocol or record_type <= GROUP_METADATA
