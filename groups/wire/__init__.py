"""Bytes and values: what a broker's disk holds, read and written without Kafka.

Pure: bytes in, values out, and back. Nothing here opens a file, knows a clock, or knows what a group is doing.

===========================  =================================================================================
module                       what it is for
===========================  =================================================================================
``records``                  the group coordinator's records: ``decode_record``, ``encode_record``; one payload a
                             record, in Kafka's JSON form, ready for an entry of a timeline
``batches``                  a whole segment or checkpoint: ``read_batches`` yields its batches and its problems;
                             ``write_segment`` writes one, of ``coordinator_batch``es
``record_batch``             one batch of magic 2, its records and headers; CRC, timestamps, transactions
``compression``              the five compressions, in Kafka's framings, bounded
``control``                  control records: ``COMMIT`` and ``ABORT`` markers
``embedded``                 the classic protocol's subscription and assignment blobs
``older_clients``            what a client of old reads of such a blob, and what follows if it leads the group
``user_data``                what the sticky assignors keep in user data, and what they believe of a member
``streams_user_data``        what Kafka Streams keeps there: tasks, and which host has which partitions
``metadata_log``             topics and partitions out of ``__cluster_metadata``
``metadata_hash``            the hash that proves topic names and partition counts
``uuids``                    topic ids as Kafka writes them in text
``schema``                   what a schema is: fields, versions, tags; data only
``coordinator_schema``       the coordinator's keys and values, all versions
``inspection``               any of these bytes listed field by field: offsets, meanings, guesses, edits, differences
``rpc``                      requests and responses of the coordinator's APIs in all versions, and their headers
``kip``                      what KIP-848 has otherwise than the released Kafka: records, requests, responses
``codec``                    compiles a schema for one version (``struct_readers``, ``struct_writers``)
``fused_readers``            the same readers once more as one function each, twice as fast or more
``primitives``               varints, strings, bytes, ids
``java_strings``             strings as Java writes and orders them
``errors``                   one class tree; each error one sentence with its byte offset
===========================  =================================================================================

A new record type, RPC or blob is a declaration in the manner of ``coordinator_schema``, nothing more.
"""
