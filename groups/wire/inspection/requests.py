"""Requests and responses with what is before their fields: a length, a header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import RecordError, UnencodableError, UnknownVersionError
from groups.wire.inspection.framing import Framed
from groups.wire.inspection.layouts import INT16, INT32, Listing
from groups.wire.inspection.nodes import Node, Problem
from groups.wire.inspection.walk import MOST_TRIED_BYTES, Stopped, Walk
from groups.wire.rpc import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    Api,
    encode_request,
    encode_response,
    request_frame,
    response_header_version,
)


@dataclass(frozen=True)
class Request(Framed):
    """A request as it is on a connection, with or without the length in front."""

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = "Request"
        try:
            frame = request_frame(walk.data)
        except UnknownVersionError as error:
            raise _unknown(walk, listing.fields, error) from None
        if frame.at:
            _length(walk, listing.fields, len(walk.data) - frame.at + frame.missing)
        listing.version = frame.version
        at = _part(walk, listing.fields, "header", (REQUEST_HEADER, frame.header_version), frame.at)
        listing.read = _part(walk, listing.fields, "body", (frame.api.request, frame.version), at)
        if frame.missing:
            listing.fault = Problem(
                sentence=f"the fields end here, the length tells of {frame.missing} more",
                offset=len(walk.data),
                path="length",
            )

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        written = encode_request({name: part for name, part in value.items() if name != "length"})
        return (INT32.pack(len(written)) if "length" in value else b"") + written


@dataclass(frozen=True)
class Response(Framed):
    """The answer of one API; its header is there if the bytes can be read to the last one with it."""

    api: Api

    @cached_property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.api.response.versions)

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = self.api.response.name
        listing.version, has_header = self.fitting(walk.data, version)
        codec(self.api.response, listing.version)
        if not has_header:
            listing.read = walk.message(self.api.response, listing.version, 0, listing.fields)
            return
        at = _part(walk, listing.fields, "header", (RESPONSE_HEADER, self.header(listing.version)), 0)
        listing.read = _part(walk, listing.fields, "body", (self.api.response, listing.version), at)

    def fitting(self, data: bytes, version: int | None) -> tuple[int, bool]:
        """The version, the newest if several fit, and whether there is a header; what comes farthest if none fits."""
        tries = (version,) if version is not None else self.versions[::-1]
        farthest, best = -1, (tries[0], False)
        for tried in tries if len(data) <= MOST_TRIED_BYTES else tries[:1]:
            for has_header in (False, True):
                try:
                    at = codec(RESPONSE_HEADER, self.header(tried)).read(data, 0)[1] if has_header else 0
                    end = codec(self.api.response, tried).read(data, at)[1]
                except RecordError as error:
                    end = error.offset or 0
                else:
                    if end == len(data):
                        return tried, has_header
                if end > farthest:
                    farthest, best = end, (tried, has_header)
        return best

    def header(self, version: int) -> int:
        return response_header_version(self.api, version)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        used, has_header = self.fitting(data, version)
        if not has_header:
            body, end = codec(self.api.response, used).read(data, 0)
            return used, body, end
        header, at = codec(RESPONSE_HEADER, self.header(used)).read(data, 0)
        body, end = codec(self.api.response, used).read(data, at)
        return used, {"header": header, "body": body}, end

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        used = self.versions[-1] if version is None else version
        if used not in self.versions:
            raise UnencodableError(f"{self.api.name} has no version {used!r:.60} here")
        if value.keys() == {"header", "body"}:
            return encode_response(value, self.api, used)
        out = bytearray()
        codec(self.api.response, used).write(out, dict(value))
        return bytes(out)


def _length(walk: Walk, into: list[Node], length: int) -> None:
    node = walk.node(into, "length", "int32", 0, message="Request")
    node.value, node.length = length, INT32.size


def _unknown(walk: Walk, into: list[Node], error: UnknownVersionError) -> Stopped:
    """The key or the version that is not known, as the field of the header that it is."""
    wrong = error.offset or 0
    at = wrong if wrong in (0, INT32.size) else wrong - INT16.size
    if at:
        _length(walk, into, len(walk.data) - at)
    header = walk.node(into, "header", "struct", at, fields=[], is_message=True)
    header.length = len(walk.data) - at
    assert header.fields is not None
    for name, place in (("requestApiKey", at), ("requestApiVersion", at + INT16.size)):
        node = walk.node(header.fields, name, "int16", place, message=REQUEST_HEADER.name)
        node.value, node.length = INT16.unpack_from(walk.data, place)[0], INT16.size
        if place == wrong:
            return walk.refuse(header.fields, node, error)
    raise AssertionError("a fault elsewhere than in the key and the version")


def _part(walk: Walk, into: list[Node], name: str, part: tuple[Message, int], at: int) -> int:
    node = walk.node(into, name, "struct", at, fields=[], is_message=True)
    assert node.fields is not None
    try:
        end = walk.message(*part, at, node.fields)
    except Stopped:
        node.length = len(walk.data) - at
        raise
    except UnknownVersionError as error:
        raise walk.fail(node, error) from None
    node.length = end - at
    return end
