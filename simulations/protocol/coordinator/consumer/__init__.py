"""Groups of the consumer protocol: as Kafka's releases have it (``released``), as KIP-848 describes it (``proposal``),
and what both share.
"""
