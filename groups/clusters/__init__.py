"""Access to a live cluster: read-only, over a connection of our own.

No library reports epochs or names the cause of a failed connection, so requests are made from ``groups.wire.rpc`` and
sent over one asyncio socket per broker. Whatever is sent passes one place (``allowed`` and ``channel``).

================  ==========================================================================================
module            what it is for
================  ==========================================================================================
``settings``      how a cluster is reached: Kafka's own client properties
``allowed``       the list of requests that may be sent, with their versions and fields
``channel``       the one socket: bytes out (of that list alone), frames in, bounded
``sasl``          the four mechanisms, as exchanges of bytes
``tls``           the TLS context, and the facts of a certificate
``faults``        what can be wrong with a connection, each in a plain sentence
``connection``    a channel that is logged in, and knows the broker's versions
``brokers``       brokers, routing, back-off, and the questions about groups
``fetching``      ``__consumer_offsets`` by raw Fetch: where its partitions are, sessions, truncation
``offsets``       committed offsets, ends of partitions, lag, settings of groups
``tables``        what Kafka's own command-line tool prints of a group
``named``         clusters that the server's own environment names
``checking``      the steps by which a connection is tested, and the rights that are missing
================  ==========================================================================================

Nothing here knows of Django: commands, tasks and child processes use it alike.
"""
