"""Bytes and values: what a broker's disk holds and its network carries, read and written without Kafka.

Pure: bytes in, values out, and back. Nothing here opens a file, knows a clock, or knows what a group is doing.

===============================  =============================================================================
module                           what it is for
===============================  =============================================================================
``records``                      the group coordinator's records: ``decode_record``, ``encode_record``; one payload
                                 a record, in Kafka's JSON form, ready for an entry of a timeline
``coordinator_schema``           their keys and values, all versions
``generated``                    the schemas that come from Kafka's own message files
``rpc``                          requests and responses of the coordinator's APIs in all versions, their headers
``kip``                          what KIP-848 has otherwise than the released Kafka: records, requests, responses
``embedded.consumer_protocol``   the classic protocol's subscription and assignment blobs
``embedded.older_clients``       what a client of old reads of such a blob, and what follows if it leads
``embedded.user_data``           what the sticky assignors keep in user data, what they believe of a member
``embedded.streams_user_data``   what Kafka Streams keeps there: tasks, and which host has which partitions
``logs.batches``                 a whole segment or checkpoint: ``read_batches`` yields its batches and its
                                 problems; ``write_segment`` writes one, of ``coordinator_batch``es
``logs.record_batch``            one batch of magic 2, its records and headers; CRC, timestamps, transactions
``logs.compression``             the five compressions, in Kafka's framings, bounded
``logs.control``                 control records: ``COMMIT`` and ``ABORT`` markers
``logs.metadata_log``            topics and partitions out of ``__cluster_metadata``
``group_of_key``                 the group in a key of a type that nobody here knows, or in one that is not UTF-8
``metadata_hash``                the hash that proves topic names and partition counts
``inspection``                   any of these bytes listed field by field: offsets, meanings, guesses, edits,
                                 differences
``codecs``                       the engine: schemas, and the readers and writers compiled from them
``errors``                       one class tree; each error one sentence with its byte offset
===============================  =============================================================================

A new record type, RPC or blob is a declaration in the manner of ``generated``, nothing more.
"""
