"""Client properties, encrypted where they are stored (Fernet: AES-128-CBC with HMAC-SHA256)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import orjson
from django.conf import settings

from groups.clusters.faults import ClusterError, Fault

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def seal(properties: Mapping[str, str]) -> bytes:
    return _fernet().encrypt(orjson.dumps(dict(properties)))


def unseal(sealed: bytes) -> dict[str, str]:
    """``ClusterError`` where it was encrypted with another key."""
    from cryptography.fernet import InvalidToken

    try:
        found: dict[str, str] = orjson.loads(_fernet().decrypt(bytes(sealed)))
    except InvalidToken:
        raise ClusterError(
            Fault.SETTINGS,
            "The stored settings were encrypted with another key (CLUSTERS_KEY): add the cluster anew.",
        ) from None
    return found


def _fernet() -> Fernet:
    # Here, so that a command without clusters does not load it (20 MB with key stores).
    from cryptography.fernet import Fernet

    # Fernet wants 32 bytes; the secret is a text of any length from 20 letters on.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(settings.CLUSTERS_KEY.encode()).digest()))
