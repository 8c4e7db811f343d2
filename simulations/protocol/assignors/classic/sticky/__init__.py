"""``sticky`` and what it shares with ``cooperative-sticky``: as even as can be, and members keep what they had.

Members say what they own, and since which generation. Of two that claim a partition the later generation wins; if it is
the same one, neither does. Members of one subscription are then served by quota (``constrained``), members of different
ones by moving partitions from large to small until nothing gets better (``general``).

Members are taken in the order of a Java ``HashMap`` by id wherever Kafka does so itself, whatever order is given.

Kafka: ``AbstractStickyAssignor``, ``StickyAssignor`` (KIP-54, KIP-341, KIP-429, KIP-792).
"""

from simulations.protocol.assignors.classic.sticky.assignor import (
    AbstractStickyAssignor,
    Plan,
    StickyAssignor,
)
