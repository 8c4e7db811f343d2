"""A connection to the broker that waits for one answer at most."""

from __future__ import annotations

import socket
import struct
import time

from groups.wire.rpc import APIS, decode_response, encode_request

from .transcript import Sent

ANSWER_LIMIT_S = 90

BY_NAME = {api.name: api for api in APIS.values()}


class Line:
    """A connection with one request on it at most."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), ANSWER_LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent: Sent | None = None
        self._data = b""

    def send(self, sent: Sent) -> None:
        header = {
            "requestApiKey": BY_NAME[sent.api].key,
            "requestApiVersion": sent.version,
            "correlationId": sent.ticket,
            "clientId": sent.client,
        }
        message = encode_request({"header": header, "body": sent.body})
        self.sent = sent
        self.socket.sendall(struct.pack(">i", len(message)) + message)

    def read(self) -> bool:
        """Takes what has come; whether the answer is complete, which is then noted."""
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the broker closed the connection")
        self._data += piece
        if len(self._data) < 4 or len(self._data) < 4 + struct.unpack(">i", self._data[:4])[0]:
            return False
        assert self.sent is not None
        body = decode_response(self._data[4:], BY_NAME[self.sent.api], self.sent.version)["body"]
        self._data = b""
        self.sent.answer = {name: value for name, value in body.items() if name != "throttleTimeMs"}
        self.sent.done_ms = now_ms()
        self.sent = None
        return True


def now_ms() -> int:
    return time.time_ns() // 1_000_000
