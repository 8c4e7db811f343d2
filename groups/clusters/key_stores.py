"""Java's stores of certificates and keys, PKCS12 and JKS, as the PEM texts that the rest of the product reads.

A store is recognised by its content: since Java 9 ``keytool`` writes PKCS12 into files that are named ``.jks``, too.
Sources: RFC 7292 (PKCS12, read by ``cryptography``); ``sun.security.provider.JavaKeyStore`` and ``KeyProtector`` (JKS).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from io import BytesIO
from itertools import accumulate, repeat
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    pkcs12,
)

JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
KEY_ENTRY: Final = 1
DIGEST_BYTES: Final = 20


class BadStore(ValueError):
    """A store that cannot be read; the text is a clause that follows the file's name."""


def pem_of(store: bytes, password: str, key_password: str | None = None) -> str:
    """The key, if the store has one, its chain, and all other certificates. ``BadStore`` for a wrong password or damage."""
    if store.startswith(JKS_MAGIC):
        return _pem_of_jks(store, password, key_password or password)
    try:
        read = pkcs12.load_pkcs12(store, password.encode() or None)
    except ValueError as error:
        if "password" in str(error).lower():
            raise BadStore("cannot be opened: the password is wrong") from None
        raise BadStore("is neither PEM nor a PKCS12 or JKS store") from None
    except UnsupportedAlgorithm as error:
        raise BadStore(f"cannot be opened: {error}") from None
    certificates = [read.cert] if read.cert else []
    return _pem(read.key, (each.certificate for each in [*certificates, *read.additional_certs]))


def _pem_of_jks(store: bytes, password: str, key_password: str) -> str:
    data, digest = store[:-DIGEST_BYTES], store[-DIGEST_BYTES:]
    if hashlib.sha1(_wide(password) + b"Mighty Aphrodite" + data).digest() != digest:  # noqa: S324 - the format's
        raise BadStore("cannot be opened: the password is wrong, or the file is damaged")
    file = BytesIO(data[len(JKS_MAGIC) :])
    key: PrivateKeyTypes | None = None
    certificates: list[x509.Certificate] = []
    try:
        version, entries = struct.unpack(">II", file.read(8))
        for _ in range(entries):
            (tag,) = struct.unpack(">I", file.read(4))
            _sized(file, ">H")  # the alias
            file.read(8)  # the moment at which it was made
            if tag == KEY_ENTRY:
                key = _unprotected(_sized(file, ">I"), key_password)
            for _ in range(struct.unpack(">I", file.read(4))[0] if tag == KEY_ENTRY else 1):
                if version > 1:
                    _sized(file, ">H")  # the certificate's type, X.509
                certificates.append(x509.load_der_x509_certificate(_sized(file, ">I")))
    except (struct.error, ValueError, IndexError, TypeError, UnsupportedAlgorithm) as error:
        raise error if isinstance(error, BadStore) else BadStore("cannot be read: it is damaged") from None
    return _pem(key, certificates)


def _unprotected(protected: bytes, password: str) -> PrivateKeyTypes:
    """A key under ``KeyProtector`` (an ``EncryptedPrivateKeyInfo``): salt, the key XOR a chain of SHA-1 digests, a digest of both."""
    begin, _ = _content(protected, 0)
    _, behind_algorithm = _content(protected, begin)
    octets = protected[slice(*_content(protected, behind_algorithm))]
    salt, hidden, digest = octets[:DIGEST_BYTES], octets[DIGEST_BYTES:-DIGEST_BYTES], octets[-DIGEST_BYTES:]
    wide = _wide(password)
    blocks = -(-len(hidden) // DIGEST_BYTES)
    chain = accumulate(
        repeat(wide, blocks),
        lambda before, word: hashlib.sha1(word + before).digest(),  # noqa: S324
        initial=salt,
    )
    pad = b"".join(chain)[DIGEST_BYTES:]
    plain = bytes(a ^ b for a, b in zip(hidden, pad, strict=False))
    if hashlib.sha1(wide + plain).digest() != digest:  # noqa: S324
        raise BadStore("has a key that cannot be opened: its password is wrong (ssl.key.password)")
    return load_der_private_key(plain, None)


def _content(der: bytes, at: int) -> tuple[int, int]:
    """Where the content of the ASN.1 value at ``at`` begins and ends (X.690, definite lengths)."""
    length = der[at + 1]
    begin = at + 2
    if length >= 0x80:
        begin += length - 0x80
        length = int.from_bytes(der[at + 2 : begin], "big")
    return begin, begin + length


def _pem(key: PrivateKeyTypes | None, certificates: Iterable[x509.Certificate]) -> str:
    texts = [certificate.public_bytes(Encoding.PEM) for certificate in certificates]
    if key is not None:
        texts.insert(0, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return b"".join(texts).decode()


def _sized(file: BytesIO, size: str) -> bytes:
    (length,) = struct.unpack(size, file.read(struct.calcsize(size)))
    return file.read(length)


def _wide(password: str) -> bytes:
    return password.encode("utf-16-be")
