"""The messages of all APIs, made bit by bit: for programs that have time before the first request comes.

What costs is kio: hundreds of generated classes are imported, about a second of one core for all. A bit is one
version of one API, or the codecs of one message; none takes longer than some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Iterator

from groups.wire.codecs.codec import codec
from groups.wire.rpc.apis import APIS, Direction, api_message
from groups.wire.rpc.declarations import declared_versions, load


def prepare() -> Iterator[None]:
    """Makes a bit at each step; when it has ended, nothing of ``APIS`` is left to be made."""
    for api in APIS.values():
        for version in declared_versions(api.key):
            yield
            for direction in Direction:
                load(api.key, version, direction)
        for direction in Direction:
            yield
            message = api_message(api.key, direction)
            for version in message.versions:
                codec(message, version)
