"""How a cluster is reached: Kafka's own client properties, read into one value.

What users have already is the file that their other clients take (``--command-config``), so names and meanings are
Kafka's: ``bootstrap.servers``, ``security.protocol``, ``sasl.mechanism``, ``sasl.jaas.config``, ``ssl.truststore.location``.
Stores are PEM, PKCS12 or JKS, recognised by their content.

Settings come from two places that are trusted differently. The server's own (environment, file, command line) may name
files and a command; a page may not (``by_hand``), or anyone who may add a cluster could read the server's disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from groups.clusters.faults import ClusterError, Fault
from groups.clusters.sasl import MECHANISMS, OAUTHBEARER

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
PROTOCOLS: Final = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)

DEFAULT_PORT: Final = 9092

CLIENT_ID: Final = "rebalance-explorer"

TIMEOUT_MS: Final = 10_000
"""A broker under load keeps an answer for a second or two; one that is gone should be reported while somebody waits."""

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

SERVERS_MOST: Final = 100
"""Bootstrap servers: one that answers is enough."""

PROPERTIES_BYTES_MOST: Final = 256 * 1024
"""A chain of certificates and a key are some kilobytes."""

TOKEN_FILE: Final = "rebalance.oauthbearer.token.file"  # noqa: S105 - names of properties, no secrets
TOKEN_COMMAND: Final = "rebalance.oauthbearer.token.command"  # noqa: S105
"""Our own two names: a token comes from a file that something else renews, or from a command that prints it."""

TOKEN_URL: Final = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105
CLIENT_ID_OF_TOKEN: Final = "sasl.oauthbearer.client.credentials.client.id"  # noqa: S105
CLIENT_SECRET: Final = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105
TOKEN_SCOPE: Final = "sasl.oauthbearer.scope"  # noqa: S105
"""Kafka's names for a token from an authorization server (KIP-768; the last three KIP-1139, before it in the JAAS line)."""

FOLLOW: Final = "rebalance.follow"
"""Our own, too: whether ``__consumer_offsets`` is followed; where it is not set, if the rights allow it."""

ON_THIS_MACHINE: Final = frozenset(
    {"ssl.truststore.location", "ssl.keystore.location", TOKEN_FILE, TOKEN_COMMAND, TOKEN_URL}
)
"""What reads the server's disk, starts a program, or has the server ask any address by HTTP: never taken from a page."""

KNOWN: Final = ON_THIS_MACHINE | {
    "bootstrap.servers",
    "client.id",
    "request.timeout.ms",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    CLIENT_ID_OF_TOKEN,
    CLIENT_SECRET,
    TOKEN_SCOPE,
    "ssl.truststore.type",
    "ssl.truststore.password",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    FOLLOW,
}

SECRET: Final = frozenset(
    {
        "sasl.jaas.config",
        "sasl.password",
        CLIENT_SECRET,
        "ssl.truststore.password",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.key.password",
    }
)
"""Never shown, never logged."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM texts. Without ``ca`` the machine's own authorities are believed."""

    ca: str | None = None
    chain: str | None = None
    key: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEndpoint:
    """Where an authorization server gives tokens for a client's own credentials."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sasl:
    mechanism: str
    user: str = ""
    password: str = field(default="", repr=False)
    token_file: str | None = None
    token_command: str | None = None
    token_endpoint: TokenEndpoint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """Everything that is needed to reach a cluster; ``repr`` has no secret."""

    servers: tuple[Address, ...]
    tls: Tls | None = None
    sasl: Sasl | None = None
    client_id: str = CLIENT_ID
    timeout_ms: int = TIMEOUT_MS
    """How long one step (connect, handshake, an answer) may take."""

    follow: bool | None = None
    """Whether the log is followed; null: where the rights allow it."""


def settings_of(properties: Mapping[str, str], *, by_hand: bool = False) -> ClusterSettings:
    """The settings in Kafka's client properties. ``ClusterError`` names the wrong property and what is wrong with it.

    ``by_hand``: they come from a page or the API, so nothing of this machine may be named.
    """
    for name in properties:
        if by_hand and name in ON_THIS_MACHINE:
            raise _wrong(
                f"{name} names something that the server reads or asks, which only the server's own settings may do. "
                "Certificates and keys are pasted as PEM text instead (ssl.truststore.certificates, "
                "ssl.keystore.certificate.chain, ssl.keystore.key)."
            )
    protocol = properties.get("security.protocol", PLAINTEXT).strip().upper()
    if protocol not in PROTOCOLS:
        raise _wrong(f"security.protocol={protocol} is not known: use {', '.join(PROTOCOLS)}.")
    return ClusterSettings(
        servers=servers_of(properties.get("bootstrap.servers", "")),
        tls=_tls(properties) if protocol in (SSL, SASL_SSL) else None,
        sasl=_sasl(properties) if protocol in (SASL_PLAINTEXT, SASL_SSL) else None,
        client_id=properties.get("client.id", "").strip() or CLIENT_ID,
        timeout_ms=_timeout(properties.get("request.timeout.ms")),
        follow=_follow(properties.get(FOLLOW)),
    )


def unknown_names(properties: Iterable[str]) -> list[str]:
    """Properties that nothing here reads: reported, since a misspelt one would be passed over in silence."""
    return sorted(set(properties) - KNOWN)


def servers_of(text: str) -> tuple[Address, ...]:
    """``host:port,[::1]:9092``; the port is Kafka's 9092 if none is given."""
    addresses = tuple(_address(part.strip()) for part in text.split(",") if part.strip())
    if not addresses:
        raise _wrong(
            "bootstrap.servers is missing: name one broker or several, such as kafka-1.example:9092."
        )
    if len(addresses) > SERVERS_MOST:
        raise _wrong(f"bootstrap.servers has {len(addresses)} addresses; {SERVERS_MOST} at most are taken.")
    return addresses


HOST_LENGTH_MOST: Final = 253
"""RFC 1035. Messages name the host as often as it fails."""

_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:/\[\]]+))(?::(\d{1,5}))?")


def _address(text: str) -> Address:
    found = _ADDRESS.fullmatch(text)
    if "://" in text:
        listener = text.split("://", 1)[1]
        raise _wrong(f"{text[:200]!r} has a scheme; write the host and the port alone: {listener[:200]}.")
    port = int(found[3]) if found and found[3] else DEFAULT_PORT
    if found is None or not 1 <= port <= 65535:
        raise _wrong(f"{text[:200]!r} is no address: write host:port, such as kafka-1.example:9092.")
    host = found[1] or found[2]
    if len(host) > HOST_LENGTH_MOST:
        raise _wrong(
            f"{host[:20]}… has {len(host)} characters; a host's name has {HOST_LENGTH_MOST} at most."
        )
    return Address(host, port)


def _timeout(text: str | None) -> int:
    if text is None:
        return TIMEOUT_MS
    if not re.fullmatch(r"[0-9]{3,6}", text.strip()) or not 100 <= int(text) <= 120_000:
        raise _wrong(f"request.timeout.ms={text!r:.40} must be a whole number from 100 to 120000.")
    return int(text)


def _follow(text: str | None) -> bool | None:
    if text is None:
        return None
    if (word := text.strip().lower()) not in ("true", "false"):
        raise _wrong(
            f"{FOLLOW}={text!r:.40} must be true or false; leave it out to follow where the rights allow it."
        )
    return word == "true"


def _tls(properties: Mapping[str, str]) -> Tls:
    if properties.get("ssl.endpoint.identification.algorithm", "https").strip().lower() != "https":
        raise _wrong(
            "ssl.endpoint.identification.algorithm is switched off, which believes any broker: leave it out. If the "
            "certificate is for another name, use that name in bootstrap.servers."
        )
    return Tls(
        ca=_pem(properties, "ssl.truststore", "ssl.truststore.certificates", "CERTIFICATE"),
        chain=_pem(properties, "ssl.keystore", "ssl.keystore.certificate.chain", "CERTIFICATE"),
        key=_pem(properties, "ssl.keystore", "ssl.keystore.key", "PRIVATE KEY"),
        key_password=properties.get("ssl.key.password") or None,
    )


def _pem(properties: Mapping[str, str], store: str, inline: str, holds: str) -> str | None:
    """The PEM text that is in the property ``inline``, or in the file ``store``.location, whose form its content shows."""
    if text := properties.get(inline):
        if f"{holds}-----" not in text:
            raise _wrong(f"{inline} holds no PEM text: it must have a line -----BEGIN {holds}-----.")
        return text
    path = properties.get(f"{store}.location")
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            data = file.read(PROPERTIES_BYTES_MOST + 1)
    except OSError as error:
        raise _wrong(f"{store}.location={path} cannot be read: {error.strerror}.") from None
    if len(data) > PROPERTIES_BYTES_MOST:
        raise _wrong(f"{store}.location={path} has more than {PROPERTIES_BYTES_MOST:,} bytes.")
    if b"-----BEGIN " in data:
        text = data.decode("utf-8", "replace")
    else:
        # Loads ``cryptography``, which no other command needs: as few as read a store.
        from groups.clusters.key_stores import BadStore, pem_of

        try:
            text = pem_of(
                data, properties.get(f"{store}.password", ""), properties.get("ssl.key.password") or None
            )
        except BadStore as error:
            raise _wrong(f"{store}.location={path} {error} ({store}.password).") from None
    return text if f"{holds}-----" in text else None


def _sasl(properties: Mapping[str, str]) -> Sasl:
    mechanism = properties.get("sasl.mechanism", "").strip().upper()
    if mechanism not in MECHANISMS:
        said = f"sasl.mechanism={mechanism} is not known here" if mechanism else "sasl.mechanism is missing"
        raise _wrong(f"{said}: use {', '.join(MECHANISMS)}.")
    jaas = _jaas(properties.get("sasl.jaas.config", ""))
    if mechanism == OAUTHBEARER:
        file, command, url = map(properties.get, (TOKEN_FILE, TOKEN_COMMAND, TOKEN_URL))
        if sum(map(bool, (file, command, url))) != 1:
            raise _wrong(
                f"OAUTHBEARER takes its token from {TOKEN_URL}, {TOKEN_FILE} or {TOKEN_COMMAND}: set one."
            )
        return Sasl(
            mechanism=mechanism,
            token_file=file,
            token_command=command,
            token_endpoint=_token_endpoint(url, properties, jaas) if url else None,
        )
    user = properties.get("sasl.username") or jaas.get("username", "")
    password = properties.get("sasl.password") or jaas.get("password", "")
    if not user or not password:
        raise _wrong(
            f"{mechanism} needs a user and a password: set sasl.username and sasl.password, or sasl.jaas.config."
        )
    return Sasl(mechanism=mechanism, user=user, password=password)


def keeps_secret(url: str) -> bool:
    """Whether nobody on the way reads what is sent there: by TLS, or within this machine. An address with a password would be shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname and parts.username is None) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    )


def _token_endpoint(url: str, properties: Mapping[str, str], jaas: Mapping[str, str]) -> TokenEndpoint:
    if not keeps_secret(url.strip()):
        raise _wrong(
            f"{TOKEN_URL} must begin with https:// (http:// to this machine alone) and have no password in it: it is sent a secret."
        )
    client_id = properties.get(CLIENT_ID_OF_TOKEN) or jaas.get("clientId", "")
    secret = properties.get(CLIENT_SECRET) or jaas.get("clientSecret", "")
    if not client_id or not secret:
        raise _wrong(
            f"{TOKEN_URL} needs {CLIENT_ID_OF_TOKEN} and {CLIENT_SECRET}, or clientId and clientSecret in sasl.jaas.config."
        )
    scope = properties.get(TOKEN_SCOPE) or jaas.get("scope", "")
    return TokenEndpoint(url=url.strip(), client_id=client_id, client_secret=secret, scope=scope)


_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))')


def _jaas(text: str) -> dict[str, str]:
    """The options of a JAAS line: ``…ScramLoginModule required username="u" password="p";``."""
    return {
        name: re.sub(r"\\(.)", r"\1", quoted) if quoted else bare
        for name, quoted, bare in _OPTION.findall(text)
    }


def parse_properties(text: str) -> dict[str, str]:
    """A Java properties file: ``name=value`` lines, comments with ``#`` or ``!``, a backslash at a line's end goes on.

    >>> parse_properties("a=1\\n# no\\nb.c : two \\\\\\n   words\\n")
    {'a': '1', 'b.c': 'two words'}
    """
    found: dict[str, str] = {}
    pending = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = pending + raw.lstrip()
        pending = ""
        if not line or line[0] in "#!":
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
            continue
        parts = re.match(r"((?:\\.|[^=:\s\\])+)\s*[=:\s]\s*(.*)", line)
        if parts is None:
            raise _wrong(f"line {number} is no property: {line[:80]!r}. Write name=value.")
        found[_unescaped(parts[1])] = _unescaped(parts[2].strip())
    return found


_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def _wrong(sentence: str) -> ClusterError:
    return ClusterError(Fault.SETTINGS, sentence)
