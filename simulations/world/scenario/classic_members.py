"""Reads what a consumer of the classic protocol is set to: its assignors, its timeouts, its release."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from simulations.protocol.assignors.classic.custom import STREAM
from simulations.protocol.assignors.classic.strategies import (
    COOPERATIVE,
    DEFAULT_STRATEGIES,
    STRATEGIES,
    SUPPORTS,
    rebalance_protocol,
)
from simulations.protocol.client.classic.releases import (
    CLIENTS,
    LIBRDKAFKA,
    LIBRDKAFKA_ASSIGNORS,
    NEWEST,
    row_for,
)
from simulations.world.scenario.client_assignors import read_client_assignors
from simulations.world.scenario.nodes import Keys, Node

CONSUMER: Final = "consumer"
CLASSIC: Final = "classic"
PROTOCOLS: Final = (CONSUMER, CLASSIC)
"""``group.protocol``, of a group's members or of one."""

MILLISECONDS_MAX: Final = 2_147_483_647
"""Kafka's durations are 32 bits wide in requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classic:
    """``assignors`` is ``partition.assignment.strategy``; ``client`` the release, of ``releases.RELEASES``.

    ``upgrade_from``: Streams' setting of that name, which keeps its client eager for as long as it is.
    ``revoke_commits``: the application commits in ``on_partitions_revoked``. Defaults are those of Kafka's client.
    """

    assignors: tuple[str, ...] = DEFAULT_STRATEGIES
    client: str = NEWEST.name
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    metadata_max_age_ms: int = 300_000
    upgrade_from: bool = False
    revoke_commits: bool = False


CLASSIC_KEYS: Final = tuple(field.name for field in fields(Classic))
"""Settings that only a member of the classic protocol has."""

_RELEASE: Final = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}(\.[0-9]{1,2})?")


def read_protocol(keys: Keys, usual: str) -> str:
    return keys["protocol"].choice(PROTOCOLS, "protocol") if "protocol" in keys else usual


def _read_release(node: Node) -> str:
    """The row of the table that holds for a release: '2.8' is as '2.5'."""
    named = node.text()
    row = row_for(tuple(map(int, named.split(".")))) if _RELEASE.fullmatch(named) else None
    return row or node.choice(tuple(CLIENTS), "client")


def read_classic(keys: Keys, before: Classic, *, static: bool, node: Node) -> Classic:
    """The settings in ``keys``, on top of those from ``before``; refused where no client would start."""
    client = before
    if "client" in keys:
        client = replace(client, client=_read_release(keys["client"]))
        if "assignors" not in keys:
            known = tuple(name for name in client.assignors if _knows(client.client, name))
            if client.client == LIBRDKAFKA.name and not _one_protocol(known):
                known = LIBRDKAFKA_ASSIGNORS[:2]
            client = replace(client, assignors=known or ("range",))
    if "assignors" in keys:
        client = replace(client, assignors=_assignors(keys["assignors"], client.client))
    client = replace(
        client,
        session_timeout_ms=keys.integer("session_timeout_ms", 1, MILLISECONDS_MAX, client.session_timeout_ms),
        heartbeat_interval_ms=keys.integer(
            "heartbeat_interval_ms", 1, MILLISECONDS_MAX, client.heartbeat_interval_ms
        ),
        metadata_max_age_ms=keys.integer(
            "metadata_max_age_ms", 1, MILLISECONDS_MAX, client.metadata_max_age_ms
        ),
        upgrade_from=keys.yes("upgrade_from", usual=client.upgrade_from),
        revoke_commits=keys.yes("revoke_commits", usual=client.revoke_commits),
    )
    if client.heartbeat_interval_ms >= client.session_timeout_ms:
        raise node.wrong(
            f"heartbeat_interval_ms ({client.heartbeat_interval_ms}) must be below "
            f"session_timeout_ms ({client.session_timeout_ms})"
        )
    if static and not CLIENTS[client.client].static:
        raise node.wrong(f"a client {client.client} knows no instance_id; that begins with 2.3")
    return client


def _knows(client: str, name: str) -> bool:
    """Streams had its assignor before it was cooperative; the others came with that."""
    if client == LIBRDKAFKA.name:
        return name in LIBRDKAFKA_ASSIGNORS
    return CLIENTS[client].cooperative or COOPERATIVE not in SUPPORTS[name] or name == STREAM


def _one_protocol(names: Collection[str]) -> bool:
    """Whether they rebalance alike: librdkafka ends at its start where they do not."""
    return len({COOPERATIVE in SUPPORTS[name] for name in names}) == 1


def _assignors(node: Node, client: str) -> tuple[str, ...]:
    chosen = node.choices(tuple(STRATEGIES), "assignor")
    check_assignors(node, dict(zip(chosen, node.items(), strict=True)), client)
    return chosen


def check_assignors(node: Node, chosen: Mapping[str, Node], client: str) -> None:
    """Refuses assignors, each by its place in the document, with which no client of this release starts."""
    for name, item in chosen.items():
        if not _knows(client, name):
            if client == LIBRDKAFKA.name:
                raise item.wrong(f"librdkafka does not know {name}: it has {', '.join(LIBRDKAFKA_ASSIGNORS)}")
            raise item.wrong(f"a client {client} does not know {name}; that begins with 2.4")
    if not chosen:
        raise node.wrong("a member lists at least one assignor")
    if client == LIBRDKAFKA.name and not _one_protocol(chosen):
        raise node.wrong(
            f"librdkafka ends at its start with {', '.join(chosen)}: one of them rebalances cooperatively, another eagerly"
        )
    if rebalance_protocol(tuple(chosen)) is None:
        raise node.wrong(
            f"no rebalance protocol is supported by all of {', '.join(chosen)}: no client starts so"
        )


CHANGE_KEYS: Final = ("protocol", *CLASSIC_KEYS)
"""What ``bounce`` may change of a member (``with``)."""


def read_changes(node: Node, classic: Classic | None, *, static: bool) -> dict[str, object]:
    """What a bounce changes of a member whose settings are ``classic``; ``protocol`` is next to the fields."""
    keys = node.mapping(CHANGE_KEYS)
    if not keys:
        raise node.wrong(f"with names what the new process is started with: {', '.join(CHANGE_KEYS)}")
    protocol = read_protocol(keys, CONSUMER if classic is None else CLASSIC)
    classic_keys = {key for key in keys if key in CLASSIC_KEYS}
    if protocol == CONSUMER:
        # Client-side ones are meant where the protocol is named next to them.
        if wrong := classic_keys - ({"assignors"} if "protocol" in keys else set()):
            raise keys[min(wrong)].wrong(f"{min(wrong)} is for members of the classic protocol")
        if "assignors" in keys:
            return {"protocol": protocol, "assignors": read_client_assignors(keys["assignors"])}
        return {"protocol": protocol}
    before = classic or Classic()
    after = read_classic(keys, before, static=static, node=node)
    changed: dict[str, object] = {
        key: getattr(after, key)
        for key in CLASSIC_KEYS
        if key in classic_keys or getattr(after, key) != getattr(before, key)
    }
    return {"protocol": protocol, **changed}
