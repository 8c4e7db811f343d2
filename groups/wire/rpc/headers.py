"""What is before the fields of a request or a response, and whole ones with their headers.

A request states itself what it is: its header begins with the API key and the version. A response has no more than the
request's correlation id, so that a reader of one must know what was asked.

On the wire each begins with an int32, the bytes that follow. Before a request that length may be there or not, since
some tools copy it and some do not. A response is read without it: a correlation id may well look like a length.

===============  ====================================================================================
request header   0, without client id (ControlledShutdown 0 alone); 1; 2, with tagged fields, for
                 flexible requests
response header  0; 1, with tagged fields, for flexible responses, but for those to ApiVersions, whose
                 client does not know yet what the broker speaks (KIP-511)
===============  ====================================================================================

Source: ``RequestHeader.json``, ``ResponseHeader.json`` and ``ApiMessageType`` of Kafka's clients module; KIP-482.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Field, Message, Primitive, fields
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import (
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.rpc.apis import API_VERSIONS, APIS, Api

REQUEST_HEADER: Final = Message(
    "RequestHeader",
    fields(
        Field("requestApiKey", Primitive.INT16),
        Field("requestApiVersion", Primitive.INT16),
        Field("correlationId", Primitive.INT32),
        Field("clientId", Primitive.PLAIN_STRING, since=1, nullable_since=1),
    ),
    newest=2,
    flexible_since=2,
)

RESPONSE_HEADER: Final = Message(
    "ResponseHeader", fields(Field("correlationId", Primitive.INT32)), newest=1, flexible_since=1
)

_LENGTH: Final = struct.Struct(">i")
_KEY_AND_VERSION: Final = struct.Struct(">hh")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFrame:
    """What the first bytes of a request say: ``at`` is where its header begins, behind the length if there is one."""

    at: int
    api: Api
    version: int
    header_version: int
    missing: int = 0
    """How many bytes of the request the length reports that are not here: it was cut off."""


def request_header_version(api: Api, version: int) -> int:
    """Which ``REQUEST_HEADER`` is before this request."""
    return 2 if api.request.form(version).flexible else 1


def response_header_version(api: Api, version: int) -> int:
    """Which ``RESPONSE_HEADER`` is before this response."""
    return 1 if api.response.form(version).flexible and api.key != API_VERSIONS else 0


def request_frame(data: bytes, apis: Mapping[int, Api] = APIS) -> RequestFrame:
    """What kind of request this is; ``RecordError`` for one that is none of ``apis``."""
    # A key and a version would never read as that length by chance: they are a request to produce, or to be followed
    # by half a megabyte.
    has_length = len(data) >= _LENGTH.size and _LENGTH.unpack_from(data)[0] == len(data) - _LENGTH.size
    at = _LENGTH.size if has_length else 0
    if not has_length and (cut := _cut_off(data, apis)) is not None:
        return cut
    if len(data) < at + _KEY_AND_VERSION.size:
        raise TruncatedError(
            "an API key and a version", needed=_KEY_AND_VERSION.size, left=len(data) - at, offset=at
        )
    key, version = _KEY_AND_VERSION.unpack_from(data, at)
    api = apis.get(key)
    if api is None:
        raise UnknownVersionError(f"requests of API key {key} are not known here", offset=at)
    if not api.request.knows(version):
        raise UnknownVersionError(
            f"{api.name} has no version {version} here; known are {api.request.oldest} to {api.request.newest}",
            offset=at + 2,
        )
    return RequestFrame(at=at, api=api, version=version, header_version=request_header_version(api, version))


def _cut_off(data: bytes, apis: Mapping[int, Api]) -> RequestFrame | None:
    """A request of which less is here than the length in front states; ``None`` for what may begin with its key."""
    size = _LENGTH.size + _KEY_AND_VERSION.size
    if len(data) < size or _KEY_AND_VERSION.unpack_from(data)[0] in apis:
        return None
    missing = _LENGTH.unpack_from(data)[0] - (len(data) - _LENGTH.size)
    key, version = _KEY_AND_VERSION.unpack_from(data, _LENGTH.size)
    api = apis.get(key)
    if missing <= 0 or api is None or not api.request.knows(version):
        return None
    header_version = request_header_version(api, version)
    return RequestFrame(
        at=_LENGTH.size, api=api, version=version, header_version=header_version, missing=missing
    )


def decode_request(data: bytes, apis: Mapping[int, Api] = APIS) -> Fields:
    """``{"header": {"requestApiKey", …}, "body": {…}}``, both in Kafka's JSON form; ``RecordError`` if damaged."""
    frame = request_frame(data, apis)
    if frame.missing:
        left = len(data) - frame.at
        raise TruncatedError("a request", needed=left + frame.missing, left=left, offset=frame.at)
    return _decode(data, frame.at, (REQUEST_HEADER, frame.header_version), (frame.api.request, frame.version))


def encode_request(value: Mapping[str, Value], apis: Mapping[int, Api] = APIS) -> bytes:
    """The inverse of ``decode_request``, without the length; the header states which API and version it is."""
    header = value.get("header")
    key, version = (
        (header.get("requestApiKey"), header.get("requestApiVersion"))
        if isinstance(header, dict)
        else (None, None)
    )
    api = apis.get(key) if isinstance(key, int) else None
    if api is None or not isinstance(version, int) or not api.request.knows(version):
        raise UnencodableError(f"API key {key!r:.60}, version {version!r:.60} is no request known here")
    return _encode(value, (REQUEST_HEADER, request_header_version(api, version)), (api.request, version))


def decode_response(data: bytes, api: Api, version: int) -> Fields:
    """``{"header": {"correlationId"}, "body": {…}}`` of the response to a request of that API and version."""
    header = (RESPONSE_HEADER, response_header_version(api, version))
    return _decode(data, 0, header, (api.response, version))


def encode_response(value: Mapping[str, Value], api: Api, version: int) -> bytes:
    """The inverse of ``decode_response``, without the length."""
    header = (RESPONSE_HEADER, response_header_version(api, version))
    return _encode(value, header, (api.response, version))


_Part = tuple[Message, int]


def _decode(data: bytes, at: int, header: _Part, body: _Part) -> Fields:
    out: Fields = {}
    for name, (message, version) in (("header", header), ("body", body)):
        try:
            out[name], at = codec(message, version).read(data, at)
        except RecordError as error:
            error.inside(name)
            raise
    if at != len(data):
        raise MalformedError(f"the fields end here, the bytes go on for {len(data) - at} more", offset=at)
    return out


def _encode(value: Mapping[str, Value], header: _Part, body: _Part) -> bytes:
    out = bytearray()
    for name, (message, version) in (("header", header), ("body", body)):
        try:
            codec(message, version).write(out, value.get(name))
        except RecordError as error:
            error.inside(name)
            raise
    return bytes(out)
