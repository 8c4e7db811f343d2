"""Settings of a cluster that are wrong: each is one clear line, without a secret in it."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import struct
from dataclasses import replace
from itertools import accumulate, repeat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from groups.clusters import checking
from groups.clusters.channel import open_channel
from groups.clusters.connection import Connection, connect
from groups.clusters.faults import ClusterError
from groups.clusters.key_stores import JKS_MAGIC, BadStore, pem_of
from groups.clusters.settings import Address, settings_of
from groups.clusters.tls import context_of
from tests.clusters.certificates import authority, issued


@pytest.mark.parametrize(
    "url", ["https://[", "https://id:s3cret@login.example/token", "http://login.example", ""]
)
def test_the_address_of_a_token_is_refused_without_showing_what_is_in_it(url: str) -> None:
    asked = {
        "bootstrap.servers": "127.0.0.1:1",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.credentials.client.id": "id",
        "sasl.oauthbearer.client.credentials.client.secret": "s3cret",
    }
    with pytest.raises(ClusterError) as refused:
        settings_of(asked)
    assert "sasl.oauthbearer.token.endpoint.url" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def jks(entries: bytes, password: str) -> bytes:
    """A store with these bytes as its entries, and the digest that is right for them."""
    data = JKS_MAGIC + struct.pack(">II", 2, 1) + entries
    return data + hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + data).digest()


def key_entry(der: bytes, password: str) -> bytes:
    """A private key as ``KeyProtector`` hides it."""
    wide, salt = password.encode("utf-16-be"), bytes(20)
    chain = accumulate(
        repeat(wide, -(-len(der) // 20)), lambda a, b: hashlib.sha1(b + a).digest(), initial=salt
    )
    hidden = bytes(a ^ b for a, b in zip(der, b"".join(chain)[20:], strict=False))
    octets = salt + hidden + hashlib.sha1(wide + der).digest()
    inside = b"\x30\x00\x04\x82" + struct.pack(">H", len(octets)) + octets
    protected = b"\x30\x82" + struct.pack(">H", len(inside)) + inside
    return struct.pack(">IHQI", 1, 0, 0, len(protected)) + protected + struct.pack(">I", 0)


def test_a_store_with_wrong_lengths_or_a_key_that_is_encrypted_twice_is_one_line() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    plain, twice = (
        key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, how)
        for how in (NoEncryption(), BestAvailableEncryption(b"other"))
    )
    assert "BEGIN PRIVATE KEY" in pem_of(jks(key_entry(plain, "changeit"), "changeit"), "changeit")
    cut = struct.pack(">IHQI", 1, 0xFFFF, 0, 0xFFFFFFFF)
    for entries in (key_entry(twice, "changeit"), key_entry(b"\x30\x00", "changeit"), cut, b"", b"\0" * 99):
        with pytest.raises(BadStore) as refused:
            pem_of(jks(entries, "changeit"), "changeit")
        assert "\n" not in str(refused.value)


async def test_a_certificate_that_ends_tomorrow_is_one_line_of_the_check_and_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A port that speaks TLS and nothing else: the handshake is all that it takes."""
    ca = authority("Test CA")
    server, client, lasting = (
        issued(ca, "localhost", names=("localhost",), days=1),
        issued(ca, "watcher", client=True, days=1),
        issued(ca, "localhost", names=("localhost",), days=20),
    )
    tomorrow = f"{server.certificate.not_valid_after_utc:%Y-%m-%d}"
    for broker, says in (
        (server, f"The broker's certificate ends on {tomorrow}: renew it before. "),
        (lasting, ""),
    ):
        (tmp_path / "pem").write_text(broker.key_pem + broker.pem)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tmp_path / "pem")
        async with await asyncio.start_server(lambda *_: None, "localhost", 0, ssl=context) as speaking:
            port = speaking.sockets[0].getsockname()[1]
            address, settings = (
                Address("localhost", port),
                settings_of(
                    {
                        "bootstrap.servers": f"localhost:{port}",
                        "security.protocol": "SSL",
                        "ssl.truststore.certificates": ca.pem,
                        "ssl.keystore.certificate.chain": client.pem,
                        "ssl.keystore.key": client.key_pem,
                    },
                ),
            )
            assert settings.tls is not None
            channel = await open_channel(address, context_of(settings.tls), client_id="x", timeout_s=5)
            [step] = checking._until(["connect"], settings, address, connection=Connection(channel, settings))
            await channel.close()
            assert step.state == "warning"
            assert step.text.endswith(
                f"is believed. {says}The client's certificate ends on {tomorrow}: renew it before."
            )
            for _ in range(2):
                with pytest.raises(ClusterError):
                    await connect(address, replace(settings, timeout_ms=200))
    assert caplog.text.count(f"The broker's certificate ends on {tomorrow}") == 1
