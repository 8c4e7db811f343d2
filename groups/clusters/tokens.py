"""The token of an OAUTHBEARER login: from a file, from a command, or from an authorization server's token endpoint.

Sources: RFC 6749 section 4.4 (client credentials); KIP-768 and ``HttpJwtRetriever`` (Kafka's client).
"""

from __future__ import annotations

import asyncio
import base64
import json
import shlex
import ssl
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode

from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import ClusterSettings, TokenEndpoint

TOKEN_BYTES_MOST: Final = 64 * 1024

COMMAND_S: Final = 30.0
"""A command that prints a token asks somebody over the network; longer means that it waits for a person."""


async def token_of(settings: ClusterSettings) -> str:
    """The token as it is now: read, printed or asked for at each login."""
    login = settings.sasl
    assert login is not None
    if login.token_file is not None:
        try:
            token = Path(login.token_file).read_text()[: TOKEN_BYTES_MOST + 1]
        except (OSError, UnicodeDecodeError) as error:
            raise ClusterError(
                Fault.SETTINGS, f"The token file {login.token_file} cannot be read: {error}."
            ) from None
    elif login.token_endpoint is not None:
        ca = settings.tls.ca if settings.tls else None
        # In a thread, since the library's requests wait.
        token = await asyncio.to_thread(_asked_for, login.token_endpoint, ca, settings.timeout_ms / 1000)
    else:
        token = await _printed(login.token_command or "")
    token = token.strip()
    if not token or len(token) > TOKEN_BYTES_MOST or not token.isprintable():
        raise ClusterError(
            Fault.SETTINGS,
            "There is no token: the file, the command or the endpoint must give one, and nothing else.",
        )
    return token


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the client's secret along, to wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _asked_for(endpoint: TokenEndpoint, ca: str | None, timeout_s: float) -> str:
    """``access_token`` of the endpoint's answer. The cluster's CA is trusted for it, besides the machine's own."""
    context = ssl.create_default_context()
    if ca is not None:
        context.load_verify_locations(cadata=ca)
    # No proxy of the environment: Kafka's client uses none either.
    opener = urllib.request.build_opener(
        _NoRedirects, urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({})
    )
    secret = base64.b64encode(f"{endpoint.client_id}:{endpoint.client_secret}".encode()).decode()
    wanted = {"grant_type": "client_credentials"} | ({"scope": endpoint.scope} if endpoint.scope else {})
    request = urllib.request.Request(  # noqa: S310 - the settings take https, and http to this machine
        endpoint.url,
        data=urlencode(wanted).encode(),
        headers={"Accept": "application/json", "Authorization": f"Basic {secret}"},
    )
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            said = json.loads(answer.read(2 * TOKEN_BYTES_MOST))
        return str(said["access_token"])
    except HTTPError as error:
        with error:
            why = _reason(error.read(TOKEN_BYTES_MOST))
        raise ClusterError(
            Fault.TOKEN_REFUSED, f"The token endpoint {endpoint.url} answers {error.code}{why}."
        ) from None
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ClusterError(
            Fault.SETTINGS,
            f"The token endpoint {endpoint.url} answers without an access_token: is it the address that ends in /token?",
        ) from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ClusterError(
            Fault.UNREACHABLE,
            f"The token endpoint {endpoint.url} does not answer: {reason}.",
            seen=str(error),
        ) from None


def _reason(body: bytes) -> str:
    """What an error's answer gives as its reason (RFC 6749 section 5.2)."""
    try:
        said = json.loads(body)
        return f": {str(said.get('error_description') or said['error'])[:200]}"
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return ""


async def _printed(command: str) -> str:
    """What a command of the server's own settings prints; it is started as it is, by no shell."""
    try:
        process = await asyncio.create_subprocess_exec(
            *shlex.split(command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except (OSError, ValueError) as error:
        raise ClusterError(Fault.SETTINGS, f"The token's command cannot be started: {error}.") from None
    try:
        async with asyncio.timeout(COMMAND_S):
            out, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise ClusterError(
            Fault.SETTINGS, f"The token's command did not end within {COMMAND_S:g} s."
        ) from None
    if process.returncode:
        words = said.decode("utf-8", "replace").strip().splitlines()
        why = f": {words[-1][:200]}" if words else ""
        raise ClusterError(Fault.SETTINGS, f"The token's command ended with code {process.returncode}{why}.")
    return out.decode("utf-8", "replace")
