"""What a broker's disk holds: segments of record batches, their compression and control records, and what
``__cluster_metadata`` contains of topics."""
