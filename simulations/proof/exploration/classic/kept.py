"""Steps as they are kept: each is taken once for the states that decide it; and small changes of worlds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from groups.history.entries import Entry
from simulations.proof.exploration.classic.entries import GroupAnswer
from simulations.proof.exploration.classic.processes import Client
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.state_layout import (
    PROCESSES,
    World,
)
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Call, Effect


class Coordinated(NamedTuple):
    """A step of the coordinator as it is kept: ``after`` by its number, each answer with its ticket and its key."""

    after: int
    answers: tuple[tuple[int, GroupAnswer, Hashable], ...]
    wrong: Wrongs
    entries: tuple[Entry, ...]


class Moved(NamedTuple):
    """A step of a process as it is kept."""

    after: int
    wrong: Wrongs
    gained: int
    called: tuple[Call, ...] = ()


class Facts(NamedTuple):
    """What is asked of a process in every world: its id if it counts, and whether it knows the topics as they are."""

    counts_as: str | None
    knows_topics: bool


def refreshes(client: Client) -> list[Effect]:
    return client.refresh(NOW_MS) if isinstance(client, ClassicConsumer) else []


def with_process(world: World, slot: int, number: int) -> World:
    at = PROCESSES + slot
    return (*world[:at], number, *world[at + 1 :])


def spent_of(world: World, budget: int) -> World:
    return (*world[:budget], world[budget] - 1, *world[budget + 1 :])
