"""One partition of ``__consumer_offsets``, from where its segments end up to an offset: what one of Spark's tasks reads.

A task has a loop and a connection of its own. It waits for a leader that moves or restarts, for a while, and asks by leader
epoch, so that a log which was truncated meanwhile is noticed and never mixed with the old one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from groups.archiving.segments import ArchiveError, Piece, Position, batches_in, position_of
from groups.clusters.allowed import OFFSETS_TOPIC
from groups.clusters.brokers import Brokers
from groups.clusters.checking import read_command
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.fetching import (
    NONE,
    OFFSET_OUT_OF_RANGE,
    TOPIC_AUTHORIZATION_FAILED,
    Fetched,
    FetchSession,
    From,
    NotReadable,
    bounds_of,
    replicas_of,
)
from groups.clusters.offsets import ends, topic_facts
from groups.clusters.settings import ClusterSettings
from groups.history.following.topics import TopicFacts

PATIENCE_S: Final = 60.0
"""How long a partition may give nothing that was promised: a leader is elected, or a broker restarts, within that."""

RETRY_S: Final = 0.5


async def look(settings: ClusterSettings) -> tuple[str, dict[int, int], dict[str, TopicFacts]]:
    """The cluster's id, the end of each partition of the log as far as a leader reports it, and the topics by name.

    ``ClusterError`` where the cluster cannot be asked, or the log may not be read.
    """
    brokers = Brokers(settings)
    try:
        await brokers.refresh()
        partitions = await _replicas(brokers)
        known_ends = await ends(brokers, {OFFSETS_TOPIC: sorted(partitions)}) if partitions else {}
        facts = await topic_facts(brokers)
    finally:
        await brokers.close()
    return brokers.cluster_id or "", {number: end for (_, number), end in sorted(known_ends.items())}, facts


def pieces(settings: ClusterSettings, folder: Path, partition: int, end: int) -> Iterator[Piece]:
    """What the segments of a partition lack up to ``end``, fetch by fetch."""
    position = position_of(folder, partition) or Position()
    reading = _Reading(settings, partition, end, position)
    with asyncio.Runner() as runner:
        try:
            while (piece := runner.run(reading.piece())) is not None:
                yield piece
        finally:
            runner.run(reading.close())


class _Reading:
    def __init__(self, settings: ClusterSettings, partition: int, end: int, position: Position) -> None:
        self.partition = partition
        self.end = end
        self.next, self.epoch = position.next, position.epoch
        self._brokers = Brokers(settings)
        self._session: FetchSession | None = None
        self._until_s = time.monotonic() + PATIENCE_S

    async def close(self) -> None:
        await self._brokers.close()

    async def piece(self) -> Piece | None:
        """The next one; null when the end is reached."""
        while self.next < self.end:
            try:
                piece = await self._asked()
            except ClusterError as error:
                if not error.may_pass or time.monotonic() >= self._until_s:
                    raise
                piece, self._session = None, None
            if piece is not None:
                self.next, self._until_s = piece.next, time.monotonic() + PATIENCE_S
                return piece
            await asyncio.sleep(RETRY_S)
        return None

    async def _asked(self) -> Piece | None:
        """One fetch; null where nothing came of it and it may be asked again."""
        if self._session is None:
            self._session = await self._leader()
        for fetched in await self._session.fetch({self.partition: From(self.next, self.epoch)}):
            if fetched.partition == self.partition:
                return await self._read(self._session, fetched)
        self._is_late()
        return None

    async def _leader(self) -> FetchSession:
        await self._brokers.refresh()
        leader = (await _replicas(self._brokers)).get(self.partition, -1)
        if leader not in self._brokers.brokers:
            raise ClusterError(Fault.SILENT, f"{OFFSETS_TOPIC}-{self.partition} has no leader now.")
        return FetchSession(await self._brokers.connection(leader))

    async def _read(self, session: FetchSession, fetched: Fetched) -> Piece | None:
        if fetched.error == TOPIC_AUTHORIZATION_FAILED:
            raise lacks_read(self._brokers.settings)
        if fetched.diverging is not None:
            raise self._truncated(fetched.diverging.end)
        if fetched.error == OFFSET_OUT_OF_RANGE:
            first, end = await bounds_of(session.connection, self.partition)
            if self.next > end:
                raise self._truncated(end)
            if self.next < first:
                return Piece(self.next, first, b"")
            self._is_late()
            return None
        if fetched.error != NONE:
            self._session = None
            self._is_late()
            return None
        whole = list(batches_in(fetched.data))
        if not whole:
            self._is_late()
            return None
        self.epoch = whole[-1].leader_epoch
        return Piece(self.next, max(self.next, whole[-1].next_offset), fetched.data[: whole[-1].end])

    def _is_late(self) -> None:
        """``ClusterError`` where nothing came for too long."""
        if time.monotonic() >= self._until_s:
            raise ClusterError(
                Fault.SILENT,
                f"{OFFSETS_TOPIC}-{self.partition} gives nothing from offset {self.next:,} on, and was to end at {self.end:,}.",
            )

    def _truncated(self, end: int) -> ArchiveError:
        return ArchiveError(
            f"{OFFSETS_TOPIC}-{self.partition} was truncated at offset {end:,} (an unclean election), and the archive has it "
            f"up to {self.next:,}: give another folder for the log as it is now."
        )


def lacks_read(settings: ClusterSettings) -> ClusterError:
    return ClusterError(
        Fault.RIGHTS, f"The right READ on the topic {OFFSETS_TOPIC} is missing: {read_command(settings)}"
    )


async def _replicas(brokers: Brokers) -> dict[int, int]:
    """The leader of each partition of the log (-1: none now)."""
    try:
        return {number: each.leader for number, each in (await replicas_of(brokers)).items()}
    except NotReadable:
        raise lacks_read(brokers.settings) from None
