"""A cluster that is asked about its groups: brokers, routing, back-off.

Who coordinates a group is known from the listing: a broker lists the groups that it coordinates. While a coordinator
moves, a row is missing for seconds without an error; so a group that is not listed is not said to be gone, unless
every broker answered that it has no such group.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from groups.clusters.allowed import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_CLUSTER,
    DESCRIBE_GROUPS,
    LIST_GROUPS,
    METADATA,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
)
from groups.clusters.channel import Answer, Sent
from groups.clusters.connection import UNSUPPORTED_VERSION, Connection, connect, decoded
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import Address, ClusterSettings
from groups.history.polls import described_groups
from groups.history.polls.description import (
    GROUP_ID_NOT_FOUND,
    MOVING,
    DescribedGroup,
    GroupKind,
    Undescribed,
)

BACKOFF_LEAST_S: Final = 0.25
BACKOFF_MOST_S: Final = 10.0
"""A broker that is gone is asked again after a quarter of a second, then twice as late each time, jittered."""

GROUPS_A_REQUEST: Final = 200
"""Half a megabyte and some tens of milliseconds of the broker, with 20 members each (measured)."""

DESCRIBES: Final[Mapping[GroupKind, tuple[int, Callable[[Any], list[DescribedGroup]], str]]] = {
    GroupKind.CONSUMER: (CONSUMER_GROUP_DESCRIBE, described_groups.consumer_groups, "groupIds"),
    GroupKind.CLASSIC: (DESCRIBE_GROUPS, described_groups.classic_groups, "groups"),
    GroupKind.SHARE: (SHARE_GROUP_DESCRIBE, described_groups.share_groups, "groupIds"),
    GroupKind.STREAMS: (STREAMS_GROUP_DESCRIBE, described_groups.streams_groups, "groupIds"),
}
"""A kind's request, who reads its answer (each its own shape, hence ``Any``), and the request's field of ids."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A row of the listing. ``kind`` is null where the release does not report it (before 3.8)."""

    group: str
    kind: GroupKind | None
    state: str
    protocol_type: str
    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What the brokers listed, and those that did not answer, with why: their groups are missing here."""

    groups: Mapping[str, Listed]
    silent: Mapping[int, ClusterError]


@dataclass(slots=True)
class Link:
    """What is known of one broker's connection."""

    connection: Connection | None = None
    failures: int = 0
    not_before_s: float = 0.0
    error: ClusterError | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class Brokers:
    """Brokers that are asked in parallel, over one connection each. Use ``open_cluster``."""

    def __init__(self, settings: ClusterSettings, *, sent: Sent = lambda key, version: None) -> None:
        self.settings = settings
        self.brokers: dict[int, Address] = {}
        self.cluster_id: str | None = None
        self._sent = sent
        self._links: dict[int, Link] = {}
        self._random = random.Random()

    async def refresh(self) -> None:
        """Learn the brokers, from one that is known or from a bootstrap server. ``ClusterError`` if none answers."""
        errors: list[ClusterError] = []
        for node in list(self.brokers):
            try:
                connection = await self.connection(node)
                self.learn(await brokers_of(connection))
                return
            except ClusterError as error:
                errors.append(error)
        for address in self.settings.servers:
            try:
                connection = await connect(address, self.settings, sent=self._sent)
            except ClusterError as error:
                errors.append(error)
                continue
            try:
                self.learn(await brokers_of(connection))
                return
            except ClusterError as error:
                errors.append(error)
            finally:
                await connection.close()
        # A fault that does not pass by itself is more important than one that may.
        raise next((error for error in errors if not error.may_pass), errors[-1])

    def learn(self, response: Mapping[str, Any]) -> None:
        """Take the brokers that an answer of ``brokers_of`` names."""
        rows = response["brokers"]
        self.cluster_id = response["clusterId"] or None
        found = {row["brokerId"]: Address(row["host"], row["port"]) for row in rows}
        for node in set(self._links) - set(found):
            self._drop(node)
        for node, address in found.items():
            if self.brokers.get(node) not in (None, address):
                self._drop(node)
        self.brokers = found

    def _drop(self, node: int) -> None:
        link = self._links.pop(node, None)
        if link is not None and link.connection is not None:
            link.connection.channel.abort()

    async def connection(self, node: int) -> Connection:
        """The connection to a broker; while it is being left alone, the error that it failed with."""
        link = self._links.setdefault(node, Link())
        async with link.opening:
            if link.connection is not None and link.connection.is_open:
                return link.connection
            if link.error is not None and time.monotonic() < link.not_before_s:
                raise link.error
            address = self.brokers.get(node)
            if address is None:
                raise ClusterError(Fault.UNREACHABLE, f"The cluster has no broker {node} any more.")
            try:
                link.connection = await connect(address, self.settings, sent=self._sent)
            except ClusterError as error:
                link.failures += 1
                length_s = min(BACKOFF_LEAST_S * 2 ** (link.failures - 1), BACKOFF_MOST_S)
                link.not_before_s = time.monotonic() + length_s * self._random.uniform(0.5, 1.0)
                link.error = error
                raise
            link.failures, link.error = 0, None
            return link.connection

    async def on_each(self, work: Callable[[int, Connection], Awaitable[T]]) -> dict[int, T | ClusterError]:
        """The work done with every broker at once; of one that fails its error."""

        async def one(node: int) -> T | ClusterError:
            try:
                return await work(node, await self.connection(node))
            except ClusterError as error:
                return error

        nodes = list(self.brokers)
        return dict(zip(nodes, await asyncio.gather(*map(one, nodes)), strict=True))

    async def list_groups(self, *, states: Sequence[str] = (), kinds: Sequence[GroupKind] = ()) -> Listing:
        """The groups that may be seen. Those of a broker that did not answer are missing, and so is one on the move."""
        wanted_states, wanted_kinds = {each.lower() for each in states}, set(kinds)

        async def one(node: int, connection: Connection) -> list[Listed]:
            version = connection.version(LIST_GROUPS) or 0
            body = {
                "statesFilter": list(states),
                # A filter that a broker does not know is left out, and what it lists is filtered here.
                "typesFilter": [kind.value for kind in kinds],
            }
            response = await connection.ask(LIST_GROUPS, body)
            if response["errorCode"]:
                raise ClusterError(
                    Fault.SILENT,
                    f"Broker {node} cannot list its groups yet.",
                    seen=str(response["errorCode"]),
                )
            rows = [_listed(row, node, typed=version >= 5) for row in response["groups"]]
            return [
                row
                for row in rows
                if (not wanted_states or row.state.lower() in wanted_states)
                and (not wanted_kinds or row.kind in wanted_kinds)
            ]

        found = await self.on_each(one)
        groups: dict[str, Listed] = {}
        for rows in found.values():
            for row in rows if isinstance(rows, list) else ():
                groups[row.group] = row
        return Listing(
            groups=dict(sorted(groups.items())),
            silent={node: error for node, error in found.items() if isinstance(error, ClusterError)},
        )

    async def describe_raw(self, node: int, kind: GroupKind, groups: Sequence[str]) -> Answer:
        """The answer as bytes, to be compared with the one before; ``described`` reads it."""
        key, _, name = DESCRIBES[kind]
        connection = await self.connection(node)
        if connection.version(key) is None:
            raise connection.lacks(key)
        return await connection.raw(key, {name: list(groups), "includeAuthorizedOperations": False})

    async def describe(self, rows: Iterable[Listed]) -> dict[str, DescribedGroup | ClusterError]:
        """Descriptions of listed groups, each asked from the broker that listed it, in batches."""
        batches = list(batched(rows))

        async def one(
            node: int, kind: GroupKind, groups: Sequence[str]
        ) -> list[DescribedGroup] | ClusterError:
            try:
                return described(kind, await self.describe_raw(node, kind, groups))
            except ClusterError as error:
                return error

        out: dict[str, DescribedGroup | ClusterError] = {}
        answers = await asyncio.gather(*(one(*batch) for batch in batches))
        for (_, _, groups), answer in zip(batches, answers, strict=True):
            if isinstance(answer, ClusterError):
                out |= dict.fromkeys(groups, answer)
            else:
                out |= {
                    description.group: description for description in answer if description.group in groups
                }
        return out

    async def find(self, group: str) -> DescribedGroup | ClusterError:
        """A group that is not listed, asked of every broker in every kind.

        "Not found" is said only where its coordinator said so: all the others answer that they are not.
        """

        async def one(node: int, connection: Connection) -> DescribedGroup:
            gone = Undescribed(group=group, code=GROUP_ID_NOT_FOUND)
            for kind, (key, _, _) in DESCRIBES.items():
                if connection.version(key) is None:
                    continue
                for description in described(kind, await self.describe_raw(node, kind, [group])):
                    if description.group != group:
                        continue
                    # 3.7 to 3.9 know the request of a kind that is switched off, and refuse it.
                    if not isinstance(description, Undescribed) or description.code not in (
                        GROUP_ID_NOT_FOUND,
                        UNSUPPORTED_VERSION,
                    ):
                        return description
            return gone

        answers = list((await self.on_each(one)).values())
        for each in answers:
            if not isinstance(each, ClusterError) and not (
                isinstance(each, Undescribed) and each.code in MOVING
            ):
                return each
        return next(iter(answers), ClusterError(Fault.UNREACHABLE, "The cluster has no broker."))

    async def ask_any(self, key: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of the first broker that gives one."""
        errors: list[ClusterError] = []
        for node in self.brokers:
            try:
                return await (await self.connection(node)).ask(key, body)
            except ClusterError as error:
                errors.append(error)
        raise errors[-1] if errors else ClusterError(Fault.UNREACHABLE, "The cluster has no broker.")

    async def close(self) -> None:
        for node in list(self._links):
            self._drop(node)


@asynccontextmanager
async def open_cluster(
    settings: ClusterSettings, *, sent: Sent = lambda key, version: None
) -> AsyncIterator[Brokers]:
    """A cluster whose brokers are known; all connections are closed at the end."""
    cluster = Brokers(settings, sent=sent)
    try:
        await cluster.refresh()
        yield cluster
    finally:
        await cluster.close()


def described(kind: GroupKind, answer: Answer) -> list[DescribedGroup]:
    """The descriptions in an answer of ``describe_raw``."""
    return DESCRIBES[kind][1](decoded(answer))


def batched(rows: Iterable[Listed]) -> Iterable[tuple[int, GroupKind, list[str]]]:
    """The rows by broker and kind, ``GROUPS_A_REQUEST`` at most in each."""
    by_place: dict[tuple[int, GroupKind], list[str]] = {}
    for row in rows:
        # A release that does not report the type has classic groups, and consumer groups only as a preview.
        by_place.setdefault((row.broker, row.kind or GroupKind.CLASSIC), []).append(row.group)
    for (node, kind), groups in by_place.items():
        for first in range(0, len(groups), GROUPS_A_REQUEST):
            yield node, kind, groups[first : first + GROUPS_A_REQUEST]


async def brokers_of(connection: Connection) -> dict[str, Any]:
    """The brokers. Releases before 2.8 have no DescribeCluster; their metadata lists the brokers."""
    if connection.version(DESCRIBE_CLUSTER) is not None:
        return await connection.ask(DESCRIBE_CLUSTER, {"includeClusterAuthorizedOperations": False})
    response = await connection.ask(
        METADATA,
        {
            "topics": [],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
            "includeClusterAuthorizedOperations": False,
        },
    )
    return response | {"brokers": [row | {"brokerId": row["nodeId"]} for row in response["brokers"]]}


def _listed(row: Mapping[str, Any], node: int, *, typed: bool) -> Listed:
    kind = row.get("groupType", "").lower()
    return Listed(
        group=row["groupId"],
        kind=GroupKind(kind) if typed and kind in set(GroupKind) else None,
        state=row.get("groupState", ""),
        protocol_type=row["protocolType"],
        broker=node,
    )
