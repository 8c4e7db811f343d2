"""Groups of the consumer protocol: as Kafka's releases have it (``released``), as KIP-848 reports it (``proposal``),
and what both share next to them.
"""
