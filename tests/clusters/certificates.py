"""Certificates of a test: an authority, a server in three states, clients of it and of another one."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
EXPIRED_ON = NOW - 30 * DAY
BEGINS_ON = NOW + 30 * DAY


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key, PEM."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()


def authority(name: str) -> Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - 400 * DAY)
        .not_valid_after(NOW + 400 * DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(*(number in (5, 6) for number in range(9))),  # keyCertSign and cRLSign
            critical=True,
        )
    )
    return Issued(built.sign(key, hashes.SHA256()), key)


def issued(
    by: Issued,
    name: str,
    *,
    names: tuple[str, ...] = (),
    expired: bool = False,
    early: bool = False,
    client: bool = False,
    days: int = 100,
) -> Issued:
    """A certificate that ``by`` signed; ``early`` is one that is not valid yet."""
    key = ec.generate_private_key(ec.SECP256R1())
    usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
    built = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(by.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(BEGINS_ON if early else NOW - 100 * DAY)
        .not_valid_after(EXPIRED_ON if expired else NOW + days * DAY)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(by.key.public_key()), critical=False
        )
    )
    if names:
        told = [
            x509.IPAddress(ipaddress.ip_address(each)) if each[0].isdigit() else x509.DNSName(each)
            for each in names
        ]
        built = built.add_extension(x509.SubjectAlternativeName(told), critical=False)
    return Issued(built.sign(by.key, hashes.SHA256()), key)


@dataclass(frozen=True, slots=True)
class Certificates:
    """All that a secure broker and its clients need."""

    ca: Issued
    other_ca: Issued
    server: Issued
    expired_server: Issued
    other_server: Issued
    watcher: Issued
    expired_watcher: Issued
    early_watcher: Issued
    stranger: Issued

    @classmethod
    def make(cls) -> Certificates:
        ca, other = authority("Test CA"), authority("Another CA")
        here = ("localhost", "127.0.0.1")
        return cls(
            ca=ca,
            other_ca=other,
            server=issued(ca, "localhost", names=here),
            expired_server=issued(ca, "localhost", names=here, expired=True),
            other_server=issued(ca, "other.example", names=("other.example",)),
            watcher=issued(ca, "watcher", client=True),
            expired_watcher=issued(ca, "watcher", expired=True, client=True),
            early_watcher=issued(ca, "watcher", early=True, client=True),
            stranger=issued(other, "stranger", client=True),
        )

    def keystores(self, folder: Path) -> dict[str, Path]:
        """Files as a broker takes them: the key and the chain in one."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for name, each in (
            ("server", self.server),
            ("expired", self.expired_server),
            ("other", self.other_server),
        ):
            files[name] = folder / f"{name}.pem"
            files[name].write_text(each.key_pem + each.pem + self.ca.pem)
        files["ca"] = folder / "ca.pem"
        files["ca"].write_text(self.ca.pem)
        return files
