"""The formats of KIP-848 as it was written, where the released Kafka has others or none.

The proposal let clients compute assignments; that was never built. Its heartbeat carries client-side assignors, the
flag that asks a member to compute, and partitions that are pending; two APIs take the group to that member and its
result back; and its records, under the same numbers, have other fields. Nothing in the bytes distinguishes the two families
apart, so these are only read where they are asked for by name: ``decode_kip_record``, ``KIP_APIS``.

Where the text contradicts itself or leaves something open:

===========================  =================================================================================
matter                       here
===========================  =================================================================================
``MetadataVersion``          int16, as nearly everywhere; int32 in the request to install and in the description
``MemberId`` when described  a string as everywhere; a uuid in that one place
``AuthorizedOperations``     in every version; "3+" of a message that has version 0 alone
API keys                     68 to beat and 69 to describe, as released (the text: none, and 71); ``PREPARE`` and
                             ``INSTALL`` far beyond Kafka's own
error codes                  the released numbers; ``INVALID_ASSIGNMENT``, which has none, far beyond them
records 6 to 8               target epoch, target of a member, current assignment; older text keeps the whole
                             target in one record, and settings of groups in another
===========================  =================================================================================
"""

from groups.wire.kip.apis import (
    INSTALL_ASSIGNMENT,
    INVALID_ASSIGNMENT,
    KIP_APIS,
    PREPARE_ASSIGNMENT,
    KipApi,
    kip_error_name,
)
from groups.wire.kip.records import (
    KIP_RECORD_TYPES,
    as_proposed,
    decode_kip_record,
    encode_kip_record,
)
