"""Following a cluster's ``__consumer_offsets``: one fetch session for each broker that leads some of its partitions.

What is fetched is stored before more of the same partition is asked for. The leader of a partition is learned from the
metadata; while nobody does, a replica in sync is read, which serves fetches as well.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypedDict

from asgiref.sync import sync_to_async

from groups.clusters.allowed import OFFSETS_TOPIC
from groups.clusters.brokers import Brokers
from groups.clusters.checking import read_command
from groups.clusters.connection import Connection
from groups.clusters.faults import ClusterError
from groups.clusters.fetching import (
    NONE,
    OFFSET_OUT_OF_RANGE,
    TOPIC_AUTHORIZATION_FAILED,
    Fetched,
    FetchSession,
    From,
    NotReadable,
    Replicas,
    bounds_of,
    is_readable,
    replicas_of,
)
from groups.clusters.offsets import topic_facts
from groups.history.following.partition import PartitionLog, Position
from groups.history.following.topics import TopicFacts, mentioned
from groups.watching.group_row import GroupRow
from groups.watching.log_storing import LogStore, Taken

SAMPLES_KEPT: Final = 16
"""A clock that is set back is noticed after so many batches."""

SHOWN_FROM_MS: Final = 1_000
"""A smaller skew changes no reading of a board, and lies within the way of a record on a busy machine."""


@dataclass(slots=True)
class Skew:
    """The skew of one broker's clock."""

    _samples: deque[int] = field(default_factory=lambda: deque(maxlen=SAMPLES_KEPT))

    def take(self, written_ms: int, received_ms: int) -> None:
        self._samples.append(written_ms - received_ms)

    @property
    def ms(self) -> int | None:
        """How far it is ahead; null while nothing was measured."""
        return max(self._samples, default=None)


def shown(skews: dict[int, int]) -> dict[str, int]:
    """Those that are worth a word, by partition."""
    return {str(partition): ms for partition, ms in sorted(skews.items()) if abs(ms) >= SHOWN_FROM_MS}


log = logging.getLogger(__name__)

PLACES_EVERY_S: Final = 30.0
"""Leaders are learned again so often where nothing goes wrong."""

RETRY_LEAST_S: Final = 0.2
RETRY_MOST_S: Final = 5.0
"""Between two looks for the leaders of what nobody serves."""

TOPICS_LEAST_S: Final = 1.0
"""The cluster's topics are asked for at most so often, however many new ones records speak of."""

TOPICS_EVERY_S: Final = 30.0

TRANSACTIONS_EVERY_S: Final = 1.0
"""Open transactions of the partitions of one broker are looked through so often."""

FAILED_FOR_S: Final = 2.0
"""How long another replica is preferred to a broker that failed."""

IDLE_S: Final = 0.1
"""How long a broker's task waits where all of its partitions are being stored."""


class FollowFacts(TypedDict):
    """How a cluster is watched. ``behind``: records up to the ends of the partitions; ``at_end``: all that is there was read.
    ``skews_ms``: by partition how far its broker's clock is ahead of the watcher's, where that is worth a word.

    ``why``, ``command``: where it is polled.
    """

    mode: str
    partitions: int
    behind: int
    at_end: bool
    skews_ms: dict[str, int]
    records: int
    entries: int
    checked: int
    different: int
    left_out: int
    why: str | None
    command: str | None


POLLED: Final[FollowFacts] = {
    "mode": "polling",
    "partitions": 0,
    "behind": 0,
    "at_end": False,
    "skews_ms": {},
    "records": 0,
    "entries": 0,
    "checked": 0,
    "different": 0,
    "left_out": 0,
    "why": None,
    "command": None,
}


def polled_facts(why: str, command: str | None = None) -> FollowFacts:
    return {**POLLED, "why": why, "command": command}


def missing_right(brokers: Brokers) -> tuple[str, str]:
    """The sentence, and the line of ``kafka-acls`` that grants it."""
    return f"The right READ on the topic {OFFSETS_TOPIC} is missing.", read_command(brokers.settings)


class CannotFollow(Exception):
    """The log cannot be followed; the sentence contains why. ``command`` would grant what is missing.

    ``comes``: it will be there as soon as a group meets.
    """

    def __init__(self, why: str, command: str | None = None, *, comes: bool = False) -> None:
        super().__init__(why)
        self.command = command
        self.comes = comes


async def ask_whether(brokers: Brokers) -> dict[int, Replicas]:
    """Where the partitions are; ``CannotFollow`` contains why it cannot be read."""
    lacks = CannotFollow(*missing_right(brokers))
    try:
        found = await replicas_of(brokers)
        if not found:
            text = (
                f"The cluster has no topic {OFFSETS_TOPIC}: Kafka makes it when the first group meets, and a broker that "
                "keeps its groups elsewhere has none."
            )
            raise CannotFollow(text, comes=True)
        if not await is_readable(brokers, found):
            raise lacks
    except NotReadable:
        raise lacks from None
    return found


@dataclass(slots=True)
class Place:
    """What is known of one partition apart from its log."""

    replicas: Replicas
    node: int | None = None
    end: int | None = None
    """Its high watermark, as the last answer said it."""

    busy: bool = False


@dataclass(slots=True)
class Follower:
    """``run`` until it is cancelled; ``CannotFollow`` where the right is withdrawn."""

    brokers: Brokers
    store: LogStore
    on_rows: Callable[[list[GroupRow]], Awaitable[None]]
    logs: dict[int, PartitionLog] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    topics: dict[str, TopicFacts] = field(default_factory=dict)
    clocks: dict[int, Skew] = field(default_factory=dict)
    """By broker, as the one that leads a partition writes the times of its records."""

    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _look: asyncio.Event = field(default_factory=asyncio.Event)
    _failed_s: dict[int, float] = field(default_factory=dict)
    _topics_s: float = float("-inf")
    _transactions_s: dict[int, float] = field(default_factory=dict)
    """By broker, when the open transactions of its partitions were looked through."""

    _error: BaseException | None = None

    async def run(self) -> None:
        positions = await sync_to_async(self.store.begin)()
        replicas = await replicas_of(self.brokers)
        for partition, each in replicas.items():
            self.places[partition] = Place(each)
            self.logs[partition] = self._log(partition, positions.get(partition))
        await self._learn_topics()
        try:
            await self._supervise()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _log(self, partition: int, position: Position | None) -> PartitionLog:
        if position is None:
            return PartitionLog(partition=partition)
        return PartitionLog.going_on(partition, position)

    def facts(self) -> FollowFacts:
        return {
            **POLLED,
            "mode": "following",
            "partitions": len(self.places),
            "behind": self.behind,
            "at_end": self.at_end,
            "skews_ms": shown(self.skews),
            "records": sum(each.read for each in self.logs.values()),
            "entries": self.store.entries,
            "left_out": len(self.store.left_out),
        }

    @property
    def behind(self) -> int:
        """Records between what was read and the ends of the partitions, as far as they are known."""
        return sum(
            max(0, place.end - self.logs[partition].next)
            for partition, place in self.places.items()
            if place.end is not None
        )

    @property
    def skews(self) -> dict[int, int]:
        """By partition how far the clock of the broker that leads it is ahead; one that was not measured is missing."""
        known = {node: clock.ms for node, clock in self.clocks.items()}
        places = {partition: known.get(place.replicas.leader) for partition, place in self.places.items()}
        return {partition: ms for partition, ms in places.items() if ms is not None}

    @property
    def at_end(self) -> bool:
        """Whether every partition was read to its end."""
        known = all(place.end is not None for place in self.places.values())
        return known and self.behind == 0 and all(each.begins is None for each in self.logs.values())

    # -- who serves what

    async def _supervise(self) -> None:
        """Places partitions with brokers, and keeps a task for each broker that has some."""
        tries = 0
        while True:
            self._assign()
            nodes = {place.node for place in self.places.values() if place.node is not None}
            for node in nodes:
                if node not in self._tasks or self._tasks[node].done():
                    self._tasks[node] = asyncio.create_task(self._serve(node))
            is_whole = all(place.node is not None for place in self.places.values()) and not self._failed_s
            tries = 0 if is_whole else tries + 1
            length_s = min(RETRY_LEAST_S * 2 ** min(tries, 10), RETRY_MOST_S) * random.uniform(0.5, 1.0)
            try:
                async with asyncio.timeout(PLACES_EVERY_S if is_whole else length_s):
                    await self._look.wait()
            except TimeoutError:
                pass
            self._look.clear()
            if self._error is not None:
                raise self._error
            try:
                await self.brokers.refresh()
                for partition, replicas in (await replicas_of(self.brokers)).items():
                    if partition in self.places:
                        self.places[partition].replicas = replicas
            except ClusterError as error:
                log.info("The leaders of %s are not told now: %s", OFFSETS_TOPIC, error)
            except NotReadable:
                raise self._lacks() from None

    def _assign(self) -> None:
        now_s = time.monotonic()
        self._failed_s = {node: at_s for node, at_s in self._failed_s.items() if now_s - at_s < FAILED_FOR_S}
        for place in self.places.values():
            leader, in_sync = place.replicas
            # A follower serves fetches as well: while the leader is gone it is the next best.
            some = [node for node in (leader, *in_sync) if node in self.brokers.brokers]
            well = [node for node in some if node not in self._failed_s]
            place.node = next(iter(well or some), None)

    async def _serve(self, node: int) -> None:
        """Fetch from one broker what is placed with it, until nothing is."""
        session: FetchSession | None = None
        while any(place.node == node for place in self.places.values()):
            try:
                connection = await self.brokers.connection(node)
                if session is None or session.connection is not connection:
                    session = FetchSession(connection)
                await self._fetch(session, node)
            except ClusterError as error:
                log.info("Broker %s does not serve %s now: %s", node, OFFSETS_TOPIC, error)
                session = None
                self._failed_s[node] = time.monotonic()
                self._look.set()
                await asyncio.sleep(RETRY_LEAST_S)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                # What was not stored must not be passed over: the whole following restarts.
                self._error = error
                self._look.set()
                return

    async def _fetch(self, session: FetchSession, node: int) -> None:
        mine = {
            partition: place
            for partition, place in self.places.items()
            if place.node == node and not place.busy
        }
        if not mine:
            await asyncio.sleep(IDLE_S)
            return
        for partition, place in mine.items():
            place.busy = True
            if partition in self.store.again and self.logs[partition].begins is None:
                self.logs[partition].begin_at(0)
                self.store.reads_again(partition)
        try:
            wanted = {
                partition: From(self.logs[partition].next, self.logs[partition].epoch) for partition in mine
            }
            # What was read is stored before anything else is asked: it must not be passed over.
            answers = await session.fetch(wanted)
            received_ms = time.time_ns() // 1_000_000
            taken = [one for each in answers if (one := self._read(each, received_ms)) is not None]
            if taken or self.store.has_due():
                await self._learn_new_topics(taken)
                rows = await sync_to_async(self.store.take)(taken, dict(self.topics))
                if rows:
                    await self.on_rows(rows)
            await self._hold(mine, node)
            for each in answers:
                await self._refused(session.connection, each)
        finally:
            for place in mine.values():
                place.busy = False

    # -- what a broker answers

    def _read(self, fetched: Fetched, received_ms: int) -> Taken | None:
        """What an answer's partition has for the store; null where there is nothing."""
        place, partition_log = self.places[fetched.partition], self.logs[fetched.partition]
        if fetched.error != NONE or fetched.diverging is not None:
            return None
        waited = place.end is not None and partition_log.begins is None and partition_log.next >= place.end
        place.end = fetched.high_watermark
        if not partition_log.is_what_it_was():
            return None
        records = list(partition_log.take(fetched.data))
        if records and waited:
            # Of what came while somebody waited for it, the newest was written just now.
            self.clocks.setdefault(place.replicas.leader, Skew()).take(records[-1].written_ms, received_ms)
        at_end = partition_log.next >= fetched.high_watermark
        return (
            Taken(partition_log, records, at_end, partition_log.position) if fetched.data or at_end else None
        )

    async def _hold(self, mine: Mapping[int, Place], node: int) -> None:
        """Note the transactions that are open in the partitions that were read to their end."""
        now_s = time.monotonic()
        if now_s - self._transactions_s.get(node, float("-inf")) < TRANSACTIONS_EVERY_S:
            return
        self._transactions_s[node] = now_s
        logs = {partition: self.logs[partition] for partition, place in mine.items() if place.end is not None}
        some = {
            partition: log.open_transactions()
            for partition, log in logs.items()
            if log.begins is None and log.next >= (mine[partition].end or 0)
        }
        if rows := await sync_to_async(self.store.hold)(some, time.time_ns() // 1_000_000):
            await self.on_rows(rows)

    async def _refused(self, connection: Connection, fetched: Fetched) -> None:
        """What is to be done where no records came."""
        if fetched.error == TOPIC_AUTHORIZATION_FAILED:
            raise self._lacks()
        if fetched.diverging is not None:
            await self._cut(fetched.partition, fetched.diverging.end)
        elif fetched.error == OFFSET_OUT_OF_RANGE:
            await self._out_of_range(connection, fetched.partition)
        elif fetched.error != NONE:
            # Another broker leads it, or will in a moment.
            self._look.set()
            await asyncio.sleep(RETRY_LEAST_S)

    async def _out_of_range(self, connection: Connection, partition: int) -> None:
        """The log begins later than what is asked for, or ends before it."""
        first, end = await bounds_of(connection, partition)
        partition_log = self.logs[partition]
        if partition_log.next > end:
            await self._cut(partition, end)
        elif partition_log.next < first:
            partition_log.skip_to(first, "the log was cut at its beginning: what stood there is gone")

    async def _cut(self, partition: int, end: int) -> None:
        """The log was truncated at ``end``: what was read beyond is not so any more, and it is read from its beginning."""
        self.logs[partition].cut(end)
        now_ms = time.time_ns() // 1_000_000
        rows = await sync_to_async(self.store.cut)(partition, end, now_ms)
        self.logs[partition].begin_at(0)
        self.store.reads_again(partition)
        if rows:
            await self.on_rows(rows)

    def _lacks(self) -> CannotFollow:
        return CannotFollow(*missing_right(self.brokers))

    # -- topics

    async def _learn_new_topics(self, some: Sequence[Taken]) -> None:
        """Ask what topics are called where records speak of one that is not known."""
        if time.monotonic() - self._topics_s < TOPICS_LEAST_S:
            return
        ids, names = mentioned(
            record for taken in some for records in taken.records for record in records.records
        )
        known = {facts.topic_id for facts in self.topics.values()}
        if ids - known or names - set(self.topics) or time.monotonic() - self._topics_s >= TOPICS_EVERY_S:
            await self._learn_topics()

    async def _learn_topics(self) -> None:
        self._topics_s = time.monotonic()
        try:
            self.topics = await topic_facts(self.brokers)
        except ClusterError as error:
            log.info("The topics are not told now: %s", error)
