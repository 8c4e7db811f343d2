"""The TLS context of a connection, and the facts of a certificate of itself."""

from __future__ import annotations

import os
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509

from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import Address, Tls

SELF_SIGNED_IN_CHAIN, SELF_SIGNED, NO_ISSUER, NO_FIRST = 19, 18, 20, 21
EXPIRED, NOT_YET_VALID, HOST_MISMATCH, IP_MISMATCH = 10, 9, 62, 64
"""OpenSSL's verify codes (x509_vfy.h)."""

_UNKNOWN_CA: Final = frozenset({SELF_SIGNED_IN_CHAIN, SELF_SIGNED, NO_ISSUER, NO_FIRST})


def context_of(tls: Tls) -> ssl.SSLContext:
    """A context that verifies the broker; ``ClusterError`` where the PEM texts do not fit together."""
    context = ssl.create_default_context()
    try:
        if tls.ca is not None:
            context = ssl.create_default_context(cadata=tls.ca)
    except ssl.SSLError:
        raise ClusterError(
            Fault.SETTINGS, "The CA's certificate cannot be read: it must be PEM, whole, and not a key."
        ) from None
    if (tls.chain is None) != (tls.key is None):
        lacks = "key" if tls.key is None else "certificate"
        raise ClusterError(
            Fault.SETTINGS, f"The client's {lacks} is missing: a certificate and its key go together."
        )
    if tls.chain is not None and tls.key is not None:
        _load(context, tls.chain, tls.key, tls.key_password)
    return context


def _load(context: ssl.SSLContext, chain: str, key: str, password: str | None) -> None:
    """Python loads a key from a file alone: one that only its owner can read, for as long as that takes."""
    descriptor, path = tempfile.mkstemp(prefix="rebalance-explorer-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{key}\n{chain}\n")
        # A function, so that OpenSSL never asks at a terminal.
        context.load_cert_chain(path, password=lambda: password or "")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ClusterError(
                Fault.KEY_MISMATCH, "The client's key and certificate do not belong together."
            ) from None
        raise ClusterError(
            Fault.SETTINGS,
            "The client's key cannot be read: it must be PEM (PKCS#8), and its password the right one.",
            seen=str(error),
        ) from None
    finally:
        Path(path).unlink()


def refused_certificate(
    error: ssl.SSLCertVerificationError, address: Address, der: bytes | None
) -> ClusterError:
    """What is wrong with the broker's certificate; ``der`` is that certificate, where it could be had."""
    seen = f"{error.verify_message} (verify code {error.verify_code})"
    certificate = _read(der)
    if error.verify_code in (EXPIRED, NOT_YET_VALID):
        when = ""
        if certificate is not None:
            expired = error.verify_code == EXPIRED
            moment = certificate.not_valid_after_utc if expired else certificate.not_valid_before_utc
            when = f" on {_day(moment)}" if expired else f": it is valid from {_day(moment)} on"
        verb = "expired" if error.verify_code == EXPIRED else "is not valid yet"
        todo = "It has to be renewed on the broker, or this machine's clock is wrong."
        problem = f"The broker's certificate {verb}{when}. {todo}"
        return ClusterError(Fault.CERTIFICATE_EXPIRED, problem, seen=seen)
    if error.verify_code in (HOST_MISMATCH, IP_MISMATCH):
        names = _names(certificate)
        whose = f"is for {', '.join(names)}, not" if names else "is not for"
        return ClusterError(
            Fault.CERTIFICATE_HOST,
            f"The broker's certificate {whose} {address.host}. Use a name that it has in bootstrap.servers.",
            seen=seen,
        )
    if error.verify_code in _UNKNOWN_CA:
        issuer = f" ({certificate.issuer.rfc4514_string()})" if certificate is not None else ""
        return ClusterError(
            Fault.CA_UNKNOWN,
            f"The broker's certificate was signed by a CA that you did not give{issuer}. "
            "Give its certificate as PEM (ssl.truststore.certificates).",
            seen=seen,
        )
    return ClusterError(
        Fault.TLS_FAILED, f"The broker's certificate is not accepted: {error.verify_message}.", seen=seen
    )


def unverified_context() -> ssl.SSLContext:
    """Accepts any certificate: to look at one that was refused. Nothing is sent over a connection of it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def wrong_time_of_client(tls: Tls | None) -> str | None:
    """What the dates of our own certificate have against it, and what to do: brokers do not distinguish it from one of another CA."""
    if tls is None or tls.chain is None:
        return None
    try:
        certificate = x509.load_pem_x509_certificate(tls.chain.encode())
    except ValueError:
        return None
    now, begins, ends = datetime.now(UTC), certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if ends < now:
        return f"which expired on {_day(ends)}: give a renewed one (ssl.keystore.*)"
    if begins > now:
        return f"which is valid from {_day(begins)} on only: give one that is valid now, or set this machine's clock right"
    return None


ENDS_SOON: Final = timedelta(days=14)


def ends_soon(tls: Tls | None, broker: bytes | None) -> str:
    """Which certificates of a connection end within two weeks, in a sentence each; ``broker`` is the broker's (DER)."""
    certificates = {"The broker's": _read(broker)}
    if tls is not None and tls.chain is not None:
        certificates["The client's"] = x509.load_pem_x509_certificate(tls.chain.encode())
    return " ".join(
        f"{whose} certificate ends on {_day(found.not_valid_after_utc)}: renew it before."
        for whose, found in certificates.items()
        if found is not None and found.not_valid_after_utc - datetime.now(UTC) < ENDS_SOON
    )


def _read(der: bytes | None) -> x509.Certificate | None:
    try:
        return x509.load_der_x509_certificate(der) if der else None
    except ValueError:
        return None


def _names(certificate: x509.Certificate | None) -> list[str]:
    """The names that a certificate is for, the first few."""
    if certificate is None:
        return []
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return [str(name.value) for name in found][:5]


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
