"""Rooms, and the tests that are their own: a fault has to be noticed by these, not by whatever uses the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TESTS: Final = "tests/simulations/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """``folder`` holds the code; ``tests`` are files of ``tests/simulations``, the quickest first."""

    folder: str
    tests: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        return [f"{TESTS}test_{name}.py" for name in self.tests]


ROOMS: Final = {
    "coordinator": Room(
        folder="simulations/protocol/coordinator",
        tests=(
            "coordinator",
            "reconciliation",
            "regexes",
            "offsets",
            "static_members",
            "heartbeat_refusals",
            "topics",
            "loading",
            "group_config",
            "describing",
            "described_order",
            "steady",
            "short_ways",
            "kip_coordinator",
            "kip_assigning",
            "kip_client_mode",
            "kip_expressions",
            "differences",
            "released_tables",
            "released_basic",
            "unresolved_regex",
            "conformance",
        ),
    ),
    "clients": Room(
        folder="simulations/protocol/client/consumer",
        tests=("clients", "clients_released", "kip_computing_consumer", "client_side", "clients_random"),
    ),
    "conformance": Room(
        folder="simulations/proof/conformance",
        tests=("conformance_excuses", "conformance", "conformance_leaves"),
    ),
    "checking": Room(
        folder="simulations/invariants",
        tests=("checking_beyond", "checking_clients", "checking", "found", "invariants", "mutations"),
    ),
    "exploration": Room(folder="simulations/proof/exploration", tests=("exploration", "three_members")),
    "assignors": Room(
        folder="simulations/protocol/assignors",
        tests=(
            "assignors",
            "java_orders",
            "claims",
            "kafka_answers",
            "classic_assignors",
            "validation",
            "measures",
            "explanation",
            "client_side",
            "assign",
        ),
    ),
}
