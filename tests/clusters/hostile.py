"""A broker on loopback that answers as it likes: ApiVersions as told, everything else with given bytes."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping

from groups.clusters.allowed import ALLOWED, API_VERSIONS
from groups.wire.rpc import encode_response

Answering = Callable[[int], bytes]
"""The answer's body, given the API's version."""

METADATA, NEWEST_METADATA = 3, 13


def many_brokers(count: int) -> Answering:
    """Metadata with so many brokers, eleven bytes each, and nothing else."""

    def body(version: int) -> bytes:
        assert version == NEWEST_METADATA
        broker = struct.pack(">i", 1) + b"\x01" + struct.pack(">i", 9092) + b"\x00\x00"
        return struct.pack(">i", 0) + varint(count + 1) + broker * count

    return body


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@contextlib.contextmanager
def hostile_broker(answers: Mapping[int, Answering], *, advertises: bool = False) -> Iterator[str]:
    """The address of a broker that has ApiVersions and the APIs of ``answers``; with ``advertises`` its metadata names it alone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        if advertises:
            port = struct.pack(">i", listening.getsockname()[1])
            itself = struct.pack(">i", 1) + b"\x0a127.0.0.1" + port + b"\x00\x00"
            # No throttling, one broker, no cluster id, controller 1, no topics, no error, no tags.
            alone = b"\0\0\0\0" + b"\x02" + itself + b"\0" + struct.pack(">i", 1) + b"\x01" + b"\0\0" + b"\0"
            answers = {**answers, METADATA: lambda version: alone}
        threading.Thread(target=_serve, args=(listening, answers), daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def _serve(listening: socket.socket, answers: Mapping[int, Answering]) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_connection, args=(client, answers), daemon=True).start()


def _connection(client: socket.socket, answers: Mapping[int, Answering]) -> None:
    with contextlib.suppress(OSError, struct.error), client:
        while head := client.recv(4, socket.MSG_WAITALL):
            request = client.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
            key, version, number = struct.unpack_from(">hhi", request)
            if key == API_VERSIONS:
                rows = [(key, 0, ALLOWED[key].newest) for key in (API_VERSIONS, *answers)]
                answer = encode_response(
                    {
                        "header": {"correlationId": number},
                        "body": {
                            "errorCode": 0,
                            "apiKeys": [
                                dict(zip(("apiKey", "minVersion", "maxVersion"), row, strict=True))
                                for row in rows
                            ],
                            "throttleTimeMs": 0,
                        },
                    },
                    ALLOWED[key].api,
                    version,
                )
            else:
                # A flexible response header: the number, and no tags.
                answer = struct.pack(">i", number) + b"\x00" + answers[key](version)
            client.sendall(struct.pack(">i", len(answer)) + answer)
