"""The whole log of a cluster's groups, kept: Spark Structured Streaming copies ``__consumer_offsets`` into segments on a disk.

==============  =============================================================================================
module          what it is for
==============  =============================================================================================
``segments``    segments that are appended to, byte for byte as the broker has them, and how far they reach
``fetching``    one partition, fetched from where its segments end up to an offset
``source``      both as Spark sees them: a streaming source, and the sink that appends
``job``         the query as a process of its own, with its checkpoint
==============  =============================================================================================

Brokers compact the log, and forget most of it within days. What is copied here stays, and ``import_log`` reads it as it
reads a broker's own disk. Nothing here knows of Django. Requests go through ``groups.clusters`` alone, so that what is
sent is the list, from Spark's workers, too.
"""
