"""A channel that is logged in and knows which versions its broker speaks."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from groups.clusters import sasl
from groups.clusters.allowed import (
    ALLOWED,
    API_VERSIONS,
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_CLUSTER,
    METADATA,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    Body,
)
from groups.clusters.bounds import bounded
from groups.clusters.channel import Answer, Channel, Sent, open_channel
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import Address, ClusterSettings, Sasl
from groups.clusters.tls import context_of, ends_soon, wrong_time_of_client
from groups.clusters.tokens import token_of
from groups.wire.errors import RecordError
from groups.wire.rpc import decode_response, error_name

UNSUPPORTED_VERSION: Final = 35
UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE = 33, 34

VERSION: Final = "1"
"""Sent as the software's version; a broker counts clients by it."""

OLDEST_RELEASE: Final = "0.11"
"""The oldest release of Kafka that has every request of the list that its groups need (Metadata 4, Fetch 4, OffsetFetch 2)."""

NEWER_REQUESTS: Final = {
    DESCRIBE_CLUSTER: "2.8",
    CONSUMER_GROUP_DESCRIBE: "4.0",
    SHARE_GROUP_DESCRIBE: "4.1",
    STREAMS_GROUP_DESCRIBE: "4.1",
}
"""The first release that answers them in the version that is sent, without an unstable version being turned on."""

RENEW_AT: Final = 0.85
"""Which part of a login's life passes before it is renewed (KIP-368); clients take 0.85 to 0.95."""

Step = Callable[[str], Awaitable[None]]


class Connection:
    """One broker, asked in the newest version that both sides have. Made by ``connect``."""

    def __init__(self, channel: Channel, settings: ClusterSettings) -> None:
        self.channel = channel
        self.settings = settings
        self.versions: dict[int, tuple[int, int]] = {}
        self._renew_s: float | None = None
        self._logging_in = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return self.channel.is_open

    def version(self, key: int) -> int | None:
        """The version in which an API is asked; null where this broker does not have it."""
        known = self.versions.get(key)
        return ALLOWED[key].version(*known) if known is not None else None

    async def ask(self, key: int, body: Body, *, timeout_s: float | None = None) -> dict[str, Any]:
        """The answer's fields, in Kafka's JSON form. ``ClusterError`` if there is none that can be read."""
        return decoded(await self.raw(key, body, timeout_s=timeout_s))

    async def raw(self, key: int, body: Body, *, timeout_s: float | None = None) -> Answer:
        """The answer as bytes: to be compared before it is decoded."""
        if (version := self.version(key)) is None:
            raise self.lacks(key)
        if self._renew_s is not None and time.monotonic() >= self._renew_s:
            async with self._logging_in:
                if time.monotonic() >= self._renew_s:
                    await self.log_in()
        return await self.channel.request(key, version, body, timeout_s=timeout_s)

    def lacks(self, key: int) -> ClusterError:
        name = ALLOWED[key].api.name
        return ClusterError(
            Fault.VERSION,
            f"{self.channel.address} does not know {name} in a version that is spoken here: its Kafka is older than "
            f"{NEWER_REQUESTS.get(key, OLDEST_RELEASE)}, or its protocol is off.",
        )

    async def learn_versions(self) -> None:
        """Ask which versions the broker has. One that is older answers in the form of version 0, with an error."""
        body = {"clientSoftwareName": "rebalance-explorer", "clientSoftwareVersion": VERSION}
        answer = await self.channel.request(API_VERSIONS, ALLOWED[API_VERSIONS].newest, body)
        if answer.data[4:6] == UNSUPPORTED_VERSION.to_bytes(2, "big"):
            answer = await self.channel.request(API_VERSIONS, 0, {})
        response = decoded(answer)
        self.versions = {row["apiKey"]: (row["minVersion"], row["maxVersion"]) for row in response["apiKeys"]}
        if METADATA not in self.versions:
            raise ClusterError(
                Fault.CONTROLLER,
                f"{self.channel.address} is a controller's port: give a broker's.",
                seen="no Metadata",
            )

    async def log_in(self) -> None:
        """Authenticate; a second time if the connection is logged in already."""
        login = self.settings.sasl
        if login is None:
            self.channel.logged_in()
            return
        token = await token_of(self.settings) if login.mechanism == sasl.OAUTHBEARER else ""
        shaken = decoded(await self.channel.request(SASL_HANDSHAKE, 1, {"mechanism": login.mechanism}))
        if shaken["errorCode"] == ILLEGAL_SASL_STATE:
            raise ClusterError(
                Fault.LOGIN_NOT_TAKEN,
                f"{self.channel.address} takes no login: use security.protocol="
                f"{'SSL' if self.settings.tls else 'PLAINTEXT'}.",
                seen="ILLEGAL_SASL_STATE",
            )
        if shaken["errorCode"]:
            offered = ", ".join(shaken["mechanisms"]) or "none"
            raise ClusterError(
                Fault.MECHANISM,
                f"The broker does not take {login.mechanism}; it offers {offered}.",
                seen=error_name(shaken["errorCode"]) or str(shaken["errorCode"]),
            )
        began = time.monotonic()
        lifetime_ms = await self._exchange(_exchange_of(login, token), login, token)
        self._renew_s = began + lifetime_ms / 1000 * RENEW_AT if lifetime_ms else None
        self.channel.logged_in()

    async def _exchange(self, exchange: sasl.Exchange, login: Sasl, token: str) -> int:
        """Runs a mechanism to its end; the login's life in milliseconds, 0 where it has none."""
        version = self.version(SASL_AUTHENTICATE)
        if version is None:
            raise self.lacks(SASL_AUTHENTICATE)
        lifetime_ms = 0
        data = next(exchange)
        while True:
            body = {"authBytes": base64.b64encode(data).decode()}
            response = decoded(await self.channel.request(SASL_AUTHENTICATE, version, body))
            if response["errorCode"]:
                raise self._refused(login, token, response["errorMessage"] or "")
            lifetime_ms = int(response.get("sessionLifetimeMs", 0))
            try:
                data = exchange.send(base64.b64decode(response["authBytes"]))
            except StopIteration:
                return lifetime_ms

    def _refused(self, login: Sasl, token: str, said: str) -> ClusterError:
        if login.mechanism != sasl.OAUTHBEARER:
            return ClusterError(
                Fault.LOGIN_REFUSED,
                f"User or password is wrong: the broker refused {login.user} ({login.mechanism}).",
                seen=said,
            )
        ended = sasl.token_expiry_s(token)
        if ended is not None and ended < time.time():
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ended))
            return ClusterError(Fault.TOKEN_EXPIRED, f"The token expired at {when} UTC.", seen=said)
        return ClusterError(Fault.TOKEN_REFUSED, "The token was refused.", seen=said)

    async def close(self) -> None:
        await self.channel.close()


log = logging.getLogger(__name__)

_warned: set[str] = set()
"""Warnings of certificates that this process has logged: each once."""


async def connect(
    address: Address,
    settings: ClusterSettings,
    *,
    sent: Sent = lambda key, version: None,
    step: Callable[[str], None] = lambda name: None,
) -> Connection:
    """A connection to one broker, logged in. ``step`` hears ``connect``, ``versions`` and ``login`` as each is done."""
    context = context_of(settings.tls) if settings.tls is not None else None
    timeout_s = settings.timeout_ms / 1000
    channel = await open_channel(
        address, context, client_id=settings.client_id, timeout_s=timeout_s, sent=sent
    )
    connection = Connection(channel, settings)
    if (text := ends_soon(settings.tls, channel.certificate())) and text not in _warned:
        _warned.add(text)
        log.warning("Cluster at %s: %s", address, text)
    try:
        step("connect")
        await connection.learn_versions()
        step("versions")
        await connection.log_in()
        if settings.sasl is None:
            await _is_anybody_taken(connection)
        step("login")
    except ClusterError as error:
        await connection.close()
        wrong = wrong_time_of_client(settings.tls)
        if error.fault is Fault.CLIENT_CERTIFICATE_REFUSED and wrong is not None:
            raise ClusterError(
                Fault.CLIENT_CERTIFICATE_REFUSED,
                f"{address} refused the client certificate, {wrong}.",
                seen=error.seen,
            ) from error
        raise
    except BaseException:
        await connection.close()
        raise
    return connection


async def _is_anybody_taken(connection: Connection) -> None:
    """A port that wants a login answers which versions it has, and closes at the next request."""
    body = {"topics": [], "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
    body["includeClusterAuthorizedOperations"] = False
    try:
        await connection.ask(METADATA, body)
    except ClusterError as error:
        if error.fault is Fault.CLOSED:
            raise ClusterError(
                Fault.LOGIN_WANTED,
                f"{connection.channel.address} wants a login first: use security.protocol="
                f"{'SASL_SSL' if connection.settings.tls else 'SASL_PLAINTEXT'}.",
                seen=error.seen,
            ) from error
        raise


def _exchange_of(login: Sasl, token: str) -> sasl.Exchange:
    match login.mechanism:
        case sasl.PLAIN:
            return sasl.plain(login.user, login.password)
        case sasl.OAUTHBEARER:
            return sasl.oauthbearer(token)
    nonce = base64.b64encode(os.urandom(18)).decode()
    return sasl.scram(login.mechanism, login.user, login.password, nonce)


def decoded(answer: Answer) -> dict[str, Any]:
    """The fields of an answer; ``ClusterError`` for bytes that are none."""
    api = bounded(answer.key)
    try:
        body: dict[str, Any] = decode_response(answer.data, api, answer.version)["body"]
    except RecordError as error:
        raise ClusterError(
            Fault.UNREADABLE,
            f"The broker's answer to {api.name} cannot be read: {error}.",
            seen=answer.data[:32].hex(),
        ) from error
    except MemoryError:
        pass
    else:
        return body
    # Not before here is what was read of it free again, and with it the memory for this sentence.
    raise ClusterError(
        Fault.TOO_LARGE,
        f"The broker's answer to {api.name} ({len(answer.data):,} bytes) takes more memory to read than this process may have.",
    )
