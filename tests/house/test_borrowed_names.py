"""Names of other packages that they do not promise are still there, and the versions that have them are bound.

The lock does not bind an installation by pip, so ``pyproject.toml`` binds these packages to a minor version.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from django.contrib.staticfiles.storage import HashedFilesMixin
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.server import ServerProtocol
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from tests.house import ROOT


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers nothing."""


def connection(kind: type[Any]) -> Any:
    return kind(config=uvicorn.Config(answer), server_state=ServerState(), app_state={})


BORROWED: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "uvicorn's HTTP protocol": (
        lambda: connection(HttpToolsProtocol),
        {
            *("connection_made", "connection_lost", "data_received", "on_message_begin", "on_header"),
            *(
                "on_headers_complete",
                "on_body",
                "handle_websocket_upgrade",
                "pause_writing",
                "resume_writing",
            ),
            *("cycle", "loop", "transport"),
        },
    ),
    "uvicorn's WebSocket protocol": (
        lambda: connection(WebSocketsSansIOProtocol),
        {
            *("close_sent", "config", "conn", "disconnected", "handshake_complete", "logger", "loop"),
            *("ping_interval", "ping_timer", "send", "send_keepalive_ping", "start_keepalive", "transport"),
            "writable",
        },
    ),
    "uvicorn's server": (lambda: uvicorn.Server(uvicorn.Config(answer)), {"startup", "started"}),
    "websockets' protocol": (ServerProtocol, {"extensions", "state"}),
    "whitenoise's middleware": (lambda: WhiteNoiseMiddleware, {"add_file_to_dictionary", "serve"}),
    "whitenoise's file": (lambda: StaticFile, {"get_response"}),
    "Django's hashed storage": (HashedFilesMixin, {"_patterns", "url_converter"}),
}
"""What is subclassed or reached into, and the names that the product relies on."""

BOUND = ("django", "uvicorn", "whitenoise")


@pytest.mark.parametrize("owner", BORROWED)
async def test_a_name_that_is_relied_on_is_there(owner: str) -> None:
    """In a running loop, which uvicorn's protocols ask for as they are made."""
    make, names = BORROWED[owner]
    made = make()
    assert sorted(name for name in names if not hasattr(made, name)) == []


@pytest.mark.parametrize("package", BOUND)
def test_a_package_with_such_names_is_bound_to_a_minor_version(package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    [asked] = [each for each in project["project"]["dependencies"] if re.match(rf"{package}\b", each)]
    bounds = re.search(r">=(\d+)\.(\d+)(?:\.\d+)?,<(\d+)\.(\d+)$", asked)
    assert bounds is not None, asked
    lowest, least, highest, beyond = map(int, bounds.groups())
    assert (highest, beyond) == (lowest, least + 1)
