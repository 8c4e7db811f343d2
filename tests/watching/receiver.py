"""A webhook's receiver on loopback that answers as it is told to, and keeps what it was sent."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass(slots=True)
class Receiver:
    """``answers`` are given one a connection, the last one for ever; an empty one closes, ``None`` says nothing."""

    port: int
    answers: list[bytes | None] = field(default_factory=lambda: [OK])
    requests: list[bytes] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", path: str = "/hook", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@contextlib.contextmanager
def receiver(*answers: bytes | None, certificate: Path | None = None) -> Iterator[Receiver]:
    """``certificate``: a file with certificate and key, PEM; then it speaks TLS."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = Receiver(listening.getsockname()[1])
        if answers:
            made.answers = list(answers)
        thread = threading.Thread(target=_serve, args=(listening, made, ended, certificate))
        thread.start()
        try:
            yield made
        finally:
            ended.set()
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", made.port), 5).close()
            thread.join(10)


def _serve(
    listening: socket.socket, made: Receiver, ended: threading.Event, certificate: Path | None
) -> None:
    context = None
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
    while not ended.is_set():
        plain, _ = listening.accept()
        if ended.is_set():
            plain.close()
            return
        with contextlib.suppress(OSError), plain:
            plain.settimeout(10)
            taken = context.wrap_socket(plain, server_side=True) if context else plain
            with taken:
                _answer(taken, made, ended)


def _answer(taken: socket.socket, made: Receiver, ended: threading.Event) -> None:
    request = b""
    while b"\r\n\r\n" not in request:
        if not (more := taken.recv(65_536)):
            return
        request += more
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(int(row[15:]) for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += taken.recv(65_536)
    made.requests.append(head + b"\r\n\r\n" + body)
    answer = made.answers.pop(0) if len(made.answers) > 1 else made.answers[0]
    if answer is None:
        ended.wait(10)
    else:
        taken.sendall(answer)
