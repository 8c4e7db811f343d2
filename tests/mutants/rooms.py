"""Rooms, and the tests that are their own: a fault has to be noticed by these, not by whatever uses the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """``folder`` holds the code; ``tests`` are files of ``tests/<within>``, or of the folder that they name."""

    folder: str
    tests: tuple[str, ...]
    within: str = "simulations"

    @property
    def paths(self) -> list[str]:
        places = [name if "/" in name else f"{self.within}/{name}" for name in self.tests]
        return ["tests/{}/test_{}.py".format(*place.rsplit("/", 1)) for place in places]


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
            "classic_start",
            "classic_studies",
            "classic_recorded",
            "migration",
            "world_failover",
            "incidents",
        ),
    ),
    "clients": Room(
        folder="simulations/protocol/client",
        tests=(
            "clients",
            "clients_released",
            "released_clients",
            "kip_computing_consumer",
            "client_side",
            "clients_random",
            "classic_client",
            "classic_start",
            "classic_studies",
            "classic_recorded",
            "migration",
            "case_studies",
            "verbs",
        ),
    ),
    "conformance": Room(
        folder="simulations/proof/conformance",
        tests=("conformance_excuses", "conformance", "conformance_leaves"),
    ),
    "checking": Room(
        folder="simulations/invariants",
        tests=(
            "checking_beyond",
            "checking_clients",
            "checking_words",
            "checking",
            "found",
            "invariants",
            "mutations",
            "classic_checking",
            "classic_mutations",
        ),
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
            "custom_assignors",
            "validation",
            "measures",
            "explanation",
            "client_side",
            "assign",
        ),
    ),
    "history": Room(
        folder="groups/history",
        within="history",
        tests=(
            "truth",
            "replay",
            "changes",
            "units",
            "causes",
            "classic_group",
            "patterns",
            "silence",
            "why",
            "troubles",
            "problems",
            "hardships",
            "words",
            "versions",
            "metrics",
            "share_group",
            "streams_group",
            "proposal_basic_case",
            "released_basic_case",
            "recorder",
            "indexing",
            "digests",
            "digest_rests",
            "fence_loop",
            "finders",
            "following",
            "polls",
            "shapes",
            "unknown",
            "unread",
            "copying",
            "broken_logs",
            "any_log",
        ),
    ),
    "storage": Room(
        folder="groups/storage",
        within="storage",
        tests=(
            "edges",
            "one_writer",
            "announced",
            "places",
            "handing_on",
            "sharing/handed_on",
            "reading",
            "plain_text",
            "stored_digests",
            "stored_logs",
            "timeline_command",
        ),
    ),
    "wire": Room(
        folder="groups/wire",
        within="wire",
        tests=(
            "bounds",
            "codec",
            "records",
            "tags",
            "user_data",
            "streams_user_data",
            "kip",
            "older_clients",
            "embedded",
            "batches",
            "hostile_batches",
            "fused_readers",
            "request_log",
            "rpc",
            "inspection",
            "inspection_edits",
            "inspection_framing",
            "inspection_meanings",
            "inspection_words",
            "recorded",
            "decode_command",
            "kafka_made",
            "kafka_made_cases",
            "kafka_made_rpcs",
        ),
    ),
}
