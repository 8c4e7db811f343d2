"""The four SASL mechanisms, as exchanges of bytes: each is a generator that yields what is sent and is given the answer.

Sources: RFC 4616 (PLAIN), RFC 5802 and RFC 7677 (SCRAM), RFC 7628 (OAUTHBEARER); KIP-43, KIP-84, KIP-255.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Generator
from typing import Final

from groups.clusters.faults import ClusterError, Fault

Exchange = Generator[bytes, bytes, None]

PLAIN, SCRAM_256, SCRAM_512, OAUTHBEARER = "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"
MECHANISMS: Final = (PLAIN, SCRAM_256, SCRAM_512, OAUTHBEARER)

ITERATIONS_MOST: Final = 1_000_000
"""Kafka's default is 4,096, and 16,384 at most by its own rule; a server that asks for more only burns our processor."""

_DIGESTS: Final[dict[str, Callable[..., hashlib._Hash]]] = {
    SCRAM_256: hashlib.sha256,
    SCRAM_512: hashlib.sha512,
}


def plain(user: str, password: str) -> Exchange:
    yield b"\0" + user.encode() + b"\0" + password.encode()


def scram(mechanism: str, user: str, password: str, nonce: str) -> Exchange:
    """``nonce``: at least 18 random bytes as printable text. The broker proves that it knows the password, too."""
    digest = _DIGESTS[mechanism]
    name = digest().name
    bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    first = (yield b"n,," + bare.encode()).decode("utf-8", "replace")
    fields = _fields(first)
    try:
        salt, iterations = base64.b64decode(fields["s"], validate=True), int(fields["i"])
        both = fields["r"]
    except (KeyError, ValueError, binascii.Error):
        raise _unverified("its SCRAM answer cannot be read") from None
    if not both.startswith(nonce) or len(both) == len(nonce):
        raise _unverified("it did not add to the nonce")
    if not 1 <= iterations <= ITERATIONS_MOST:
        raise _unverified(f"it asks for {iterations} iterations")
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    final = f"c=biws,r={both}"
    message = f"{bare},{first},{final}".encode()
    key = hmac.digest(salted, b"Client Key", name)
    signature = hmac.digest(digest(key).digest(), message, name)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
    last = _fields((yield f"{final},p={proof}".encode()).decode("utf-8", "replace"))
    expected = hmac.digest(hmac.digest(salted, b"Server Key", name), message, name)
    if not hmac.compare_digest(last.get("v", "").encode(), base64.b64encode(expected)):
        raise _unverified("it does not prove that it knows the password")


def oauthbearer(token: str) -> Exchange:
    """A broker that refuses gives its reason in an answer without an error; one byte more then fetches the error."""
    answer = yield b"n,,\x01auth=Bearer " + token.encode() + b"\x01\x01"
    if answer:
        yield b"\x01"


def token_expiry_s(token: str) -> float | None:
    """When a JSON web token ends (seconds since 1970); null for what is no such token or does not say so."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"])
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None


def _fields(message: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in message.split(",") if "=" in part)


def _unverified(why: str) -> ClusterError:
    return ClusterError(
        Fault.BROKER_UNVERIFIED,
        f"This may not be the broker that it says it is: {why}. Nothing more was sent.",
    )
