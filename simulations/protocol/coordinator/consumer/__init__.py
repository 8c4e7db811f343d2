"""Groups of the consumer protocol: as released in Kafka 4.3.1 (``released``), as KIP-848 tells it (``proposal``),
and what both share beside them.
"""
