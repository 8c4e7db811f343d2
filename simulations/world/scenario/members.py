"""Reads ``members``: the consumers that may run, each with its client's configuration."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from functools import partial
from typing import Final

from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.client.consumer import ConsumerClient
from simulations.world.scenario.classic_members import (
    CLASSIC,
    CLASSIC_KEYS,
    CONSUMER,
    Classic,
    read_classic,
    read_protocol,
)
from simulations.world.scenario.client_assignors import Streams, read_client_assignors, read_streams
from simulations.world.scenario.config import MILLISECONDS_MAX
from simulations.world.scenario.errors import nearest
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.topics import check_name, compiles, read_name, read_regex, read_topic_names
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
    "assignor_calls",
    "streams",
)
MEMBER_KEYS: Final = (*COMMON_KEYS, "assignor", "assignors", "client", "fetch_offsets")
"""Of a member of the consumer protocol."""


def read_members(
    node: Node, topics: Collection[str], protocol: str = CONSUMER, classic: Classic | None = None
) -> dict[str, Member]:
    """Member by name; at least one. ``topics`` are all that there may be at some time.

    ``protocol`` is that of members that have none, ``classic`` what those of the classic protocol begin from.
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
    check_name(name, node, "a member")
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
        subscribe=keys.read("subscribe", lambda node: read_topic_names(node, topics), ()),
        regex=keys.read("regex", read_regex, None),
        client_id=keys.text("client_id", name.lower()),
        client_host=keys.text("client_host", f"/10.0.{number >> 8}.{number & 255}"),
        instance_id=read_name(keys["instance_id"], "an instance") if "instance_id" in keys else None,
        rack_id=keys.text("rack_id", None),
        assignors=(
            read_client_assignors(keys["assignors"]) if "assignors" in keys and not is_classic else ()
        ),
        classic=(
            read_classic(keys, classic, static="instance_id" in keys, node=node) if is_classic else None
        ),
        streams=keys.read("streams", read_streams, Streams()),
        assignor=keys.read("assignor", _read_assignor, None),
        client=keys.read("client", partial(_read_client, is_classic=is_classic), ConsumerClient.JAVA_4_3),
        fetch_offsets=keys.yes("fetch_offsets"),
        assignor_calls=keys.yes("assignor_calls"),
        rebalance_timeout_ms=keys.integer("rebalance_timeout_ms", 1, MILLISECONDS_MAX, 300_000),
        callback_ms=keys.integer("callback_ms", 0, MILLISECONDS_MAX, 20),
        restart_after_ms=keys.integer("restart_after_ms", 1, MILLISECONDS_MAX, None),
        auto_commit=keys.yes("auto_commit"),
        auto_commit_interval_ms=keys.integer("auto_commit_interval_ms", 1, MILLISECONDS_MAX, 5_000),
    )


def _read_client(node: Node, *, is_classic: bool) -> str:
    """The client that the member is when it speaks the consumer protocol, which a classic one may come to."""
    if not is_classic:
        return node.choice(tuple(ConsumerClient), "client of the consumer protocol")
    named = node.text()
    return named if named == ConsumerClient.LIBRDKAFKA else ConsumerClient.JAVA_4_3


def _read_assignor(node: Node) -> str:
    """The server assignor that a member asks for: any name, but one that looks like a slip of the pen."""
    name = node.text()
    if name not in SERVER_ASSIGNORS and get_close_matches(name, SERVER_ASSIGNORS, n=1):
        raise node.wrong(f"unknown assignor {name}; {nearest(name, SERVER_ASSIGNORS)}")
    return name
