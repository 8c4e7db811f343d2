"""What can be wrong with a connection to a cluster, each with one plain sentence.

A fault is recognised by what was seen on the socket, since brokers explain little: a wrong port, a missing login and a
missing client certificate all look like a connection that was closed.
"""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """The stable identifier of a cause; the sentence is in the error."""

    SETTINGS = "settings"
    NAME_UNKNOWN = "name_unknown"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    WEB_SERVER = "web_server"
    NOT_KAFKA = "not_kafka"
    TLS_EXPECTED = "tls_expected"
    TLS_NOT_SPOKEN = "tls_not_spoken"
    TLS_FAILED = "tls_failed"
    CONTROLLER = "controller"
    LOGIN_WANTED = "login_wanted"
    LOGIN_NOT_TAKEN = "login_not_taken"
    MECHANISM = "mechanism"
    CA_UNKNOWN = "ca_unknown"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_HOST = "certificate_host"
    CLIENT_CERTIFICATE_WANTED = "client_certificate_wanted"
    CLIENT_CERTIFICATE_REFUSED = "client_certificate_refused"
    KEY_MISMATCH = "key_mismatch"
    LOGIN_REFUSED = "login_refused"
    TOKEN_REFUSED = "token_refused"  # noqa: S105 - no password, a cause
    TOKEN_EXPIRED = "token_expired"  # noqa: S105
    BROKER_UNVERIFIED = "broker_unverified"
    VERSION = "version"
    CLOSED = "closed"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    RIGHTS = "rights"


TRANSIENT = frozenset(
    {
        Fault.REFUSED,
        Fault.UNREACHABLE,
        Fault.SILENT,
        Fault.CLOSED,
        Fault.NAME_UNKNOWN,
    }
)
"""What may pass by itself while a broker starts, moves or is reached again; the others need somebody."""


class ClusterError(Exception):
    """A cluster could not be asked. ``str(error)`` is the sentence for the user; ``seen`` is what the socket showed."""

    def __init__(self, fault: Fault, sentence: str, *, seen: str = "") -> None:
        super().__init__(sentence)
        self.fault = fault
        self.seen = seen

    @property
    def may_pass(self) -> bool:
        """Whether trying again later can help."""
        return self.fault in TRANSIENT
