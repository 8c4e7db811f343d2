"""Requests and responses of the group coordinator: what clients and brokers say to each other.

``APIS`` has the APIs by key; ``api.request`` and ``api.response`` are ``Message``s for every version that ever was,
to be used with ``groups.wire.codecs.codec``. Whole requests and responses, with their headers, are read by
``decode_request`` and ``decode_response``. A request reports itself what it is: ``request_frame``.

================  ======================================================================
module            what it is for
================  ======================================================================
``apis``          the APIs, and the message of each, made when it is first asked for
``declarations``  kio's declarations, read as ``Message``s
``merging``       one declaration for all versions out of one for each
``older``         the versions that kio does not have
``headers``       headers of requests and responses, and whole ones with them
``preparing``     all messages made bit by bit, before somebody waits for them
``error_codes``   what the numbers in ``errorCode`` mean
================  ======================================================================
"""

from groups.wire.rpc.apis import APIS, Api, Direction, api_message
from groups.wire.rpc.error_codes import error_name
from groups.wire.rpc.headers import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    RequestFrame,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_frame,
    request_header_version,
    response_header_version,
)
from groups.wire.rpc.preparing import prepare
