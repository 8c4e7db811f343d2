"""The one socket: requests of the list go out, bounded frames come in.

Nothing else in this program opens a connection to a broker or writes to one (a test reads the sources), and a
request is made of its fields in here, so that what is not on the list cannot be sent.

No length prefix is believed. A TLS alert reads as a length of 350 MB and a web server's ``HTTP`` as 1.2 GB, so the first
bytes are looked at, and every frame is bounded.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from groups.clusters.allowed import Body, ask
from groups.clusters.bounds import answer_bytes_most
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import Address
from groups.clusters.tls import refused_certificate, unverified_context

FIRST_ANSWER_BYTES_MOST: Final = 1024 * 1024
"""Versions and the mechanisms of a login are hundreds of bytes; a larger first answer is none of Kafka's."""

_LENGTH: Final = struct.Struct(">i")
_TLS_ALERT: Final = b"\x15\x03"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A frame as it came: with its response header, without its length."""

    key: int
    version: int
    data: bytes


Sent = Callable[[int, int], None]
"""Called for each request with its API key and version."""


class Channel:
    """One connection, one request at a time. Made by ``open_channel``."""

    def __init__(
        self,
        address: Address,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        *,
        client_id: str,
        timeout_s: float,
        sent: Sent = lambda key, version: None,
    ) -> None:
        self.address = address
        self.answers = 0
        self.is_logged_in = False
        self._reader, self.__writer = streams
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._sent = sent
        self._number = 0
        self._turn = asyncio.Lock()

    def certificate(self) -> bytes | None:
        """The broker's certificate (DER); null without TLS."""
        spoken = self.__writer.get_extra_info("ssl_object")
        return spoken.getpeercert(binary_form=True) if spoken is not None else None

    @property
    def is_open(self) -> bool:
        return not self.__writer.is_closing()

    def logged_in(self) -> None:
        """What answers now is a broker: its answers may be long."""
        self.is_logged_in = True

    async def request(self, key: int, version: int, body: Body, *, timeout_s: float | None = None) -> Answer:
        """The answer to one request of the list. ``ClusterError`` where none came; the channel is closed then."""
        async with self._turn:
            self._number += 1
            asked = ask(key, version, body, correlation_id=self._number, client_id=self._client_id)
            try:
                async with asyncio.timeout(timeout_s or self._timeout_s):
                    self.__writer.write(_LENGTH.pack(len(asked.data)) + asked.data)
                    self._sent(key, version)
                    await self.__writer.drain()
                    data = await self._frame(
                        answer_bytes_most(key) if self.is_logged_in else FIRST_ANSWER_BYTES_MOST
                    )
            except BaseException as error:
                # An answer that comes later would be taken for that to the next request.
                self.abort()
                if isinstance(error, ClusterError):
                    raise
                if isinstance(error, Exception):
                    raise self._fault(error, asked.api.name) from error
                raise
            if len(data) < _LENGTH.size or _LENGTH.unpack_from(data)[0] != self._number:
                self.abort()
                raise ClusterError(
                    Fault.NOT_KAFKA,
                    f"{self.address} answers with something that is not Kafka's.",
                    seen=data[:16].hex(),
                )
            self.answers += 1
            return Answer(key=key, version=version, data=data)

    async def _frame(self, most: int) -> bytes:
        head = await self._reader.readexactly(_LENGTH.size)
        if not self.answers:
            _look_at_first_bytes(head, self.address)
        (length,) = _LENGTH.unpack(head)
        if not 0 <= length <= most:
            raise ClusterError(
                Fault.TOO_LARGE if self.answers else Fault.NOT_KAFKA,
                f"{self.address} announces an answer of {length:,} bytes; {most:,} at most are taken."
                if self.answers
                else f"{self.address} answers with something that is not Kafka's.",
                seen=head.hex(),
            )
        return await self._reader.readexactly(length)

    def _fault(self, error: Exception, asked: str) -> ClusterError:
        match error:
            case TimeoutError():
                return ClusterError(
                    Fault.SILENT,
                    f"{self.address} accepts connections but does not answer.",
                    seen=f"no answer to {asked} within {self._timeout_s:g} s",
                )
            case asyncio.IncompleteReadError(partial=partial) if partial and not self.answers:
                return _first_bytes_fault(partial, self.address)
            case ssl.SSLError():
                return _alert(error, self.address)
        return ClusterError(
            Fault.CLOSED, f"{self.address} closed the connection.", seen=f"closed at {asked}: {_text(error)}"
        )

    def abort(self) -> None:
        self.__writer.transport.abort()

    async def close(self) -> None:
        self.abort()


async def open_channel(
    address: Address,
    context: ssl.SSLContext | None,
    *,
    client_id: str,
    timeout_s: float,
    sent: Sent = lambda key, version: None,
) -> Channel:
    """Connect, with a TLS handshake if ``context`` is given. ``ClusterError`` names the cause."""
    streams = await _connect(await resolve(address), address, timeout_s)
    if context is not None:
        await _start_tls(streams[1], context, address, timeout_s)
    return Channel(address, streams, client_id=client_id, timeout_s=timeout_s, sent=sent)


async def resolve(address: Address) -> list[tuple[Any, ...]]:
    """The machine's addresses of a name, the preferred one first."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )
    except (socket.gaierror, UnicodeError) as error:
        raise ClusterError(
            Fault.NAME_UNKNOWN,
            f"The name {address.host} is not known to this machine's name service.",
            seen=_text(error),
        ) from error
    return [one[4] for one in found]


async def _connect(
    found: list[tuple[Any, ...]], address: Address, timeout_s: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    errors: list[Exception] = []
    for host, port, *_ in found:
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.open_connection(host, port)
        except (OSError, TimeoutError) as error:
            errors.append(error)
    seen = "; ".join(_text(error) for error in errors)
    if any(isinstance(error, ConnectionRefusedError) for error in errors):
        raise ClusterError(Fault.REFUSED, f"Nothing listens on {address}.", seen=seen)
    if any(isinstance(error, TimeoutError) for error in errors):
        raise ClusterError(
            Fault.UNREACHABLE,
            f"{address} does not answer at all within {timeout_s:g} s: a firewall may drop what is sent there.",
            seen=seen,
        )
    raise ClusterError(Fault.UNREACHABLE, f"{address} cannot be reached from here.", seen=seen)


async def _start_tls(
    writer: asyncio.StreamWriter, context: ssl.SSLContext, address: Address, timeout_s: float
) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await writer.start_tls(context, server_hostname=address.host)
    except ssl.SSLCertVerificationError as error:
        writer.transport.abort()
        raise refused_certificate(error, address, await _certificate(address, timeout_s)) from error
    except TimeoutError as error:
        writer.transport.abort()
        raise ClusterError(
            Fault.SILENT,
            f"{address} accepts connections but does not answer.",
            seen=f"no TLS handshake within {timeout_s:g} s",
        ) from error
    except (ssl.SSLError, OSError) as error:
        writer.transport.abort()
        if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
            raise _alert(error, address) from error
        raise ClusterError(
            Fault.TLS_NOT_SPOKEN,
            f"{address} does not speak TLS: switch TLS off for this port.",
            seen=_text(error),
        ) from error


async def _certificate(address: Address, timeout_s: float) -> bytes | None:
    """The certificate of a broker that is not believed, to say what is wrong with it; no request is sent to it."""
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(
                address.host, address.port, ssl=unverified_context(), server_hostname=address.host
            )
    except (OSError, TimeoutError):
        return None
    found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return bytes(found) if found else None


def _look_at_first_bytes(head: bytes, address: Address) -> None:
    if head.startswith((b"HTTP", b"<htm", b"<!do", b"<!DO", _TLS_ALERT)):
        raise _first_bytes_fault(head, address)


def _first_bytes_fault(head: bytes, address: Address) -> ClusterError:
    if head.startswith(_TLS_ALERT):
        return ClusterError(
            Fault.TLS_EXPECTED,
            f"{address} speaks TLS: switch TLS on (security.protocol=SSL or SASL_SSL).",
            seen=head.hex(" "),
        )
    if head.startswith((b"HTTP", b"<")):
        return ClusterError(
            Fault.WEB_SERVER, f"{address} is a web server, not Kafka: give a broker's port.", seen=repr(head)
        )
    return ClusterError(
        Fault.NOT_KAFKA, f"{address} answers with something that is not Kafka's.", seen=head.hex(" ")
    )


def _alert(error: ssl.SSLError, address: Address) -> ClusterError:
    """With TLS 1.3 a broker refuses a client's certificate after the handshake: at the first read."""
    reason = error.reason or str(error)
    if "CERTIFICATE_REQUIRED" in reason or "BAD_CERTIFICATE" in reason:
        return ClusterError(
            Fault.CLIENT_CERTIFICATE_WANTED,
            f"{address} wants a client certificate: give one with its key (ssl.keystore.*).",
            seen=reason,
        )
    if "CERTIFICATE" in reason or "UNKNOWN_CA" in reason or "DECRYPT_ERROR" in reason:
        return ClusterError(
            Fault.CLIENT_CERTIFICATE_REFUSED,
            f"{address} refused the client certificate: its CA is not one that the broker believes. "
            "Give one that was signed for this cluster (ssl.keystore.*).",
            seen=reason,
        )
    return ClusterError(Fault.TLS_FAILED, f"TLS with {address} failed: {reason}.", seen=_text(error))


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
