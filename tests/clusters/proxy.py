"""A recording proxy on loopback: every request that passes towards the broker is kept, byte for byte."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Proxy:
    """``requests`` are whole frames without their length, in the order in which they came, of all connections."""

    port: int
    to: int
    requests: list[bytes] = field(default_factory=list)
    broken: list[bytes] = field(default_factory=list)
    """What came and is no whole frame: there must be none."""

    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _connection(self, client: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self.to)) as broker,
        ):
            threading.Thread(target=_pump, args=(broker, client), daemon=True).start()
            self._record(client, broker)

    def _record(self, client: socket.socket, broker: socket.socket) -> None:
        kept = b""
        while data := client.recv(65_536):
            kept += data
            while len(kept) >= 4 and len(kept) >= 4 + (length := struct.unpack(">I", kept[:4])[0]):
                with self._lock:
                    # Kept before it is handed on: what the broker did, the record has.
                    self.requests.append(kept[4 : 4 + length])
                kept = kept[4 + length :]
            broker.sendall(data)
        if kept:
            self.broken.append(kept)


def _pump(source: socket.socket, to: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def recording(port: int, to: int) -> Iterator[Proxy]:
    """A proxy on ``port`` in front of ``to``, both on loopback."""
    made = Proxy(port, to)
    with socket.create_server(("127.0.0.1", port)) as listening:
        threading.Thread(target=made._serve, args=(listening,), daemon=True).start()
        yield made
