"""Loopback is reached by every account of the machine: what Spark listens at answers to its own session alone."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pytest

from groups.places import python_path
from tests.serving import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.once]

LOOPBACK: Final = {
    "0100007F",
    "0000000000000000FFFF00000100007F",
    "00000000000000000000000001000000",
}
"""127.0.0.1, the same within IPv6, and ::1, as the kernel writes them."""

PATIENCE_S: Final = 30.0

RPC_REQUEST, RPC_FAILURE = 3, 5
"""Types of Spark's messages: org.apache.spark.network.protocol.Message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    ports: dict[str, int]
    listening: list[tuple[str, int]]
    command: list[str]
    accumulators_token: str


@contextlib.contextmanager
def spark(*changed: str) -> Iterator[Told]:
    """A session in a process of its own, as imports have it; ``changed`` settings in the place of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.pipeline.listening", *changed],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": python_path()},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told: Any = orjson.loads(process.stdout.readline())
        yield Told(
            ports=told["ports"],
            listening=[(address, port) for address, port in told["listening"]],
            command=told["command"],
            accumulators_token=told["accumulators_token"],
        )
    finally:
        process.stdin.close()
        process.wait(PATIENCE_S)
        process.stdout.close()


@pytest.fixture(scope="module")
def session(spark_can_start: None) -> Iterator[Told]:
    with spark() as told:
        yield told


def asked(port: int, body: bytes) -> tuple[int, str]:
    """Type and text of what Spark answers to a remote call of somebody without its secret."""
    head = struct.pack(">bqi", RPC_REQUEST, 1, len(body))
    message = struct.pack(">q", 8 + len(head) + len(body)) + head + body
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(message)
        told = received(connection)
    return told[8], told[9:].decode(errors="replace")


def received(connection: socket.socket) -> bytes:
    """One message of Spark's: its length, which counts itself, in eight bytes."""
    held = b""
    while len(held) < 8 or len(held) < struct.unpack(">q", held[:8])[0]:
        piece = connection.recv(65536)
        if not piece:
            break
        held += piece
    return held


def open_blocks() -> bytes:
    """Ask for a cached block: org.apache.spark.network.shuffle.protocol.OpenBlocks."""
    texts = [b"app", b"driver"]
    return (
        b"\0"
        + b"".join(struct.pack(">i", len(text)) + text for text in texts)
        + struct.pack(">i", 1)
        + struct.pack(">i", 7)
        + b"rdd_0_0"
    )


def to_the_gateway(port: int) -> bytes:
    """A call of a static method of Java's, without the token: what is answered before the connection ends."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(b"c\nz:java.lang.System\nlineSeparator\ne\n")
        # It may have ended the connection by now.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(4096)
    return b""


def test_nothing_listens_beyond_loopback_and_nothing_that_is_not_known_here(session: Told) -> None:
    assert {address for address, _ in session.listening} <= LOOPBACK
    assert sorted(port for _, port in session.listening) == sorted(session.ports.values())


@pytest.mark.parametrize("port", ["driver", "blocks"])
def test_a_call_without_the_sessions_secret_is_refused_before_it_is_read(session: Told, port: str) -> None:
    """The driver reads a call by Java's deserialising, which runs whatever is in it."""
    kind, told = asked(session.ports[port], open_blocks())
    assert kind == RPC_FAILURE
    assert "Expected SaslMessage" in told


def test_without_authentication_anybody_would_be_answered(spark_can_start: None) -> None:
    """That the probe above can fail."""
    with spark("spark.authenticate=false") as told:
        assert "rdd_0_0" in asked(told.ports["blocks"], open_blocks())[1]
        assert "Sasl" not in asked(told.ports["driver"], open_blocks())[1]


def test_the_gateway_of_java_runs_nothing_without_its_token(session: Told) -> None:
    told = to_the_gateway(session.ports["gateway"])
    assert told == b"" or told.startswith(b"!x")


def test_a_worker_of_pythons_takes_no_work_without_its_token(session: Told) -> None:
    """Work is code: org.apache.spark.security.SocketAuthHelper sends the token first, in a length and so many bytes."""
    with socket.create_connection(("127.0.0.1", session.ports["workers"]), PATIENCE_S) as connection:
        connection.sendall(struct.pack(">i", 5) + b"wrong" + struct.pack(">i", 0) * 64)
        told = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(64):
                told += piece
    # Its process id comes first.
    assert told[4:] in (b"", struct.pack(">i", 3) + b"err")


def test_accumulators_have_a_token(session: Told) -> None:
    """Java holds the one connection that they take, so that nobody else is even read."""
    assert len(session.accumulators_token) >= 32


def test_the_secret_is_nowhere_on_the_command_line_which_every_account_can_read(session: Told) -> None:
    told = " ".join(session.command)
    assert "spark.authenticate=true" in told
    assert "secret" not in told.lower()
