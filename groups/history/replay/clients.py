"""Changes of clients, which no record contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from groups.history.state.copying import replace
from groups.history.state.group import Client, State
from groups.history.state.versions import put


class _Flags(TypedDict, total=False):
    """Fields of ``Client`` that faults and answers set."""

    paused: bool
    cut: tuple[str, ...]
    fenced: str | None
    clock_ms: int
    computing: bool
    rejoined: str | None


def with_client(state: State, member_id: str, what: _Flags) -> State:
    clients = state.clients or {}
    client = replace(clients.get(member_id) or Client(), **what)
    return replace(state, clients=put(clients, member_id, client))


def put_all(clients: Mapping[str, Client], some: Mapping[str, Client]) -> Mapping[str, Client]:
    for member_id, client in some.items():
        clients = put(clients, member_id, client)
    return clients
