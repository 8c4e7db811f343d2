"""Reads ``members``: the consumers that may run, each with its client's configuration."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.world.scenario.classic import (
    CLASSIC,
    CLASSIC_KEYS,
    CONSUMER,
    Classic,
    read_classic,
    read_protocol,
)
from simulations.world.scenario.client_assignors import Streams, read_client_assignors, read_streams
from simulations.world.scenario.config import read_milliseconds
from simulations.world.scenario.errors import nearest
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.topics import NAME, compiles, read_name, read_regex
from simulations.world.scenario.values import MEMBERS_MAX, Member

COMMON_KEYS: Final = (
    "protocol",
    "subscribe",
    "regex",
    "client_id",
    "client_host",
    "instance_id",
    "rack_id",
    "rebalance_timeout_ms",
    "callback_ms",
    "restart_after_ms",
    "auto_commit",
    "auto_commit_interval_ms",
    "streams",
)
MEMBER_KEYS: Final = (*COMMON_KEYS, "assignor", "assignors", "fetch_offsets")
"""Of a member of the consumer protocol."""


def read_members(
    node: Node, topics: Collection[str], protocol: str = CONSUMER, classic: Classic | None = None
) -> dict[str, Member]:
    """Member by name; at least one. ``topics`` are all that there may be at some time.

    ``protocol`` is that of members that tell none, ``classic`` what those of the classic protocol begin from.
    """
    found = node.mapping()
    if not found:
        raise node.wrong("a scenario needs at least one member")
    if len(found) > MEMBERS_MAX:
        raise node.wrong(f"at most {MEMBERS_MAX} members, these are {len(found)}")
    return {
        name: _member(name, number, part, topics, protocol, classic or Classic())
        for number, (name, part) in enumerate(found.items(), start=1)
    }


def _member(
    name: str, number: int, node: Node, topics: Collection[str], protocol: str, classic: Classic
) -> Member:
    if not NAME.fullmatch(name):
        raise node.wrong(f"a member is named with letters, digits, '.', '_' and '-', not {name!r}")
    is_classic = read_protocol(node.mapping(), protocol) == CLASSIC
    keys = node.mapping((*COMMON_KEYS, *CLASSIC_KEYS) if is_classic else MEMBER_KEYS)
    if "subscribe" not in keys and "regex" not in keys:
        raise node.wrong("a member needs subscribe, a list of topics, or regex")
    if "subscribe" in keys and "regex" in keys:
        raise node.wrong("a consumer has subscribe or regex, not both")
    if "assignor" in keys and "assignors" in keys:
        raise keys["assignors"].wrong("a member asks for a server assignor or brings its own, not both")
    if is_classic and "regex" in keys:
        compiles(keys["regex"])
    return Member(
        name=name,
        subscribe=(
            tuple(item.choice(tuple(topics), "topic") for item in keys["subscribe"].items())
            if "subscribe" in keys
            else ()
        ),
        regex=read_regex(keys["regex"]) if "regex" in keys else None,
        client_id=keys["client_id"].text() if "client_id" in keys else name.lower(),
        client_host=(
            keys["client_host"].text() if "client_host" in keys else f"/10.0.{number >> 8}.{number & 255}"
        ),
        instance_id=read_name(keys["instance_id"], "an instance") if "instance_id" in keys else None,
        rack_id=keys["rack_id"].text() if "rack_id" in keys else None,
        assignors=(
            read_client_assignors(keys["assignors"]) if "assignors" in keys and not is_classic else ()
        ),
        classic=(
            read_classic(keys, classic, static="instance_id" in keys, node=node) if is_classic else None
        ),
        streams=read_streams(keys["streams"]) if "streams" in keys else Streams(),
        assignor=_read_assignor(keys["assignor"]) if "assignor" in keys else None,
        fetch_offsets=keys["fetch_offsets"].yes() if "fetch_offsets" in keys else False,
        rebalance_timeout_ms=read_milliseconds(keys, "rebalance_timeout_ms", 1, 300_000),
        callback_ms=read_milliseconds(keys, "callback_ms", 0, 20),
        restart_after_ms=(
            read_milliseconds(keys, "restart_after_ms", 1, 0) if "restart_after_ms" in keys else None
        ),
        auto_commit=keys["auto_commit"].yes() if "auto_commit" in keys else False,
        auto_commit_interval_ms=read_milliseconds(keys, "auto_commit_interval_ms", 1, 5_000),
    )


def _read_assignor(node: Node) -> str:
    """The server assignor that a member asks for: any name, but one that looks like a slip of the pen."""
    name = node.text()
    if name not in SERVER_ASSIGNORS and get_close_matches(name, SERVER_ASSIGNORS, n=1):
        raise node.wrong(f"unknown assignor {name}; {nearest(name, SERVER_ASSIGNORS)}")
    return name
