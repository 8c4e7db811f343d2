"""One round after the other: which groups there are, what they are like, how far they lag.

* Every round lists the groups; the listing of 2,000 is 89 kB, that of the unstable ones 17 bytes.
* Groups that rebalance, or did a moment ago, are described in every round; all of them in every full round.
* Answers that are byte for byte those of before are not decoded.
* Rounds come as fast as the cluster answers them easily: a round takes a tenth of the time at most.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.clusters.brokers import GROUPS_A_REQUEST, Brokers, Listed, Listing, batched, described
from groups.clusters.faults import ClusterError
from groups.clusters.offsets import LogOffsets, committed_of, log_offsets, session_timeouts, topic_facts
from groups.history.lag.partition import lag_now
from groups.history.lag.recent import RecentEnds
from groups.history.lag.recent_skew import Owners, RecentSkew
from groups.history.lag.samples import NO_ANSWER
from groups.history.lag.skew import SkewKind
from groups.history.polls.description import (
    UNSTABLE,
    DescribedGroup,
    GroupDescription,
    GroupKind,
    Undescribed,
    with_names,
)
from groups.watching.group_row import LagFacts

EVERY_LEAST_S: Final = 0.5
EVERY_MOST_S: Final = 30.0
SHARE: Final = 10
"""A full round is followed by a pause of so many times its length."""

CHECK_EVERY_S: Final = 2.0
"""The shortest period of full rounds while the log is followed."""

FAST_S: Final = 0.25
"""How long after a round the next one looks at the groups that rebalance."""

LAG_EVERY_S: Final = 5.0
STARTS_EVERY_S: Final = 60.0
"""Logs lose their beginning when retention looks at them, every five minutes by default."""

BROKERS_EVERY_S: Final = 30.0
TOPICS_EVERY_S: Final = 30.0
SETTINGS_EVERY_S: Final = 60.0
"""The session timeouts of groups are asked for so often, and as soon as there is a group without one."""

GROUPS_MOST: Final = 5_000
"""Groups that are described; what a cluster has beyond that is counted and said."""


Place = tuple[str, int, int]
"""Topic, partition and committed offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """What groups have committed, by name, and where their partitions' logs end and start, by topic and partition.

    Negative ends and starts are reasons (``groups.history.lag.samples``). ``starts`` is empty in most rounds. ``made_again``: topics
    that have another id than in the round before.
    """

    committed_ms: int
    committed: Mapping[str, Sequence[Place]]
    ends_ms: int
    ends: Mapping[str, Mapping[int, int]]
    starts: Mapping[str, Mapping[int, int]]
    made_again: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round saw. ``answers`` has only what may have changed: an answer that is the same is left out."""

    at_ms: int
    took_ms: int
    full: bool
    listing: Listing
    answers: Mapping[str, DescribedGroup | ClusterError]
    asked: frozenset[str]
    """Groups that were described, with an answer of before, too."""

    lag: Mapping[str, LagFacts] | None
    """Null in a round that did not ask for positions."""

    partitions: Mapping[str, int]
    left_out: int = 0
    settings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By group its session timeout, by the setting's name, as far as it is known."""

    positions: Positions | None = None


@dataclass(slots=True)
class Puller:
    """The memory of rounds: answers to compare with, what was unstable, when what is due."""

    cluster: Brokers
    groups: Sequence[str] | None = None
    """These alone; null for all."""

    every_s: float | None = None
    """A fixed period for full rounds; null for one that follows the cluster's answers."""

    checks: bool = False
    """Whether the log is followed: full rounds then come more slowly."""

    stirred: Callable[[], Collection[str]] = tuple
    """Groups that changed as far as another source shows: they are described in the next round."""

    _answers: dict[tuple[int, GroupKind, tuple[str, ...]], bytes] = field(default_factory=dict)
    _unstable: set[str] = field(default_factory=set)
    _known: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """State, and whether it is rebalancing, of each group as it was last described."""

    _reads: dict[str, frozenset[str]] = field(default_factory=dict)
    """The topics of each group's assignment, as it was last described."""

    _owners: dict[str, Owners] = field(default_factory=dict)
    """The client that has each partition, by group."""

    _partitions: dict[str, int] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """Topics by id."""

    _settings: dict[str, dict[str, int]] = field(default_factory=dict)
    _asked_settings: set[str] = field(default_factory=set)
    _next_settings_s: float = 0.0
    _next_full_s: float = 0.0
    _next_lag_s: float = 0.0
    _next_starts_s: float = 0.0
    _topic_ids: dict[str, str] = field(default_factory=dict)
    """Of the topics whose ends were asked for."""

    _recent: RecentEnds = field(default_factory=RecentEnds)
    _skew: RecentSkew = field(default_factory=RecentSkew)
    _starts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Where logs began when that was last asked for."""

    _next_brokers_s: float = 0.0
    _next_topics_s: float = 0.0
    _took_s: float = 0.0
    _is_first: bool = True

    @property
    def period_s(self) -> float:
        """How long a full round is followed by the next one."""
        if self.every_s is not None:
            return self.every_s
        least_s = CHECK_EVERY_S if self.checks else EVERY_LEAST_S
        return min(max(least_s, self._took_s * SHARE), EVERY_MOST_S)

    async def round(self) -> Round:
        """Looks once. ``ClusterError`` where no broker answers at all."""
        begun_s = time.monotonic()
        at_ms = _now_ms()
        if begun_s >= self._next_brokers_s or not self.cluster.brokers:
            await self.cluster.refresh()
            self._next_brokers_s = begun_s + BROKERS_EVERY_S
        full = begun_s >= self._next_full_s
        listing = await self.cluster.list_groups()
        if listing.silent and len(listing.silent) == len(self.cluster.brokers):
            # Addresses may have changed: ask again who there is.
            self._next_brokers_s = 0.0
            raise next(iter(listing.silent.values()))
        rows = [row for row in listing.groups.values() if self.groups is None or row.group in self.groups]
        left_out = max(0, len(rows) - GROUPS_MOST)
        rows = rows[:GROUPS_MOST]
        if begun_s >= self._next_topics_s:
            self._next_topics_s = begun_s + TOPICS_EVERY_S
            await self._count_partitions()
        await self._ask_settings(rows, begun_s)
        stirred = self.stirred()
        due = rows if full else [row for row in rows if row.group in stirred or self._is_due(row)]
        known = await self._described(due)
        self._unstable = {row.group for row in rows if row.state in UNSTABLE} | {
            name for name, (_, is_rebalancing) in self._known.items() if is_rebalancing
        }
        positions = None
        if begun_s >= self._next_lag_s:
            self._next_lag_s = begun_s + LAG_EVERY_S
            positions = await self._ask_positions(rows, begun_s)
        took_s = time.monotonic() - begun_s
        if full:
            # The first one opens connections and loads declarations: it has nothing of those to come.
            self._took_s, self._is_first = (0.0 if self._is_first else took_s), False
            self._next_full_s = time.monotonic() + self.period_s
        return Round(
            at_ms=at_ms,
            took_ms=round(took_s * 1000),
            full=full,
            listing=listing,
            answers=known,
            asked=frozenset(row.group for row in due),
            lag=None if positions is None else self._lag(positions),
            partitions=dict(self._partitions),
            settings=dict(self._settings),
            left_out=left_out,
            positions=positions,
        )

    async def pause(self) -> None:
        """Until the next round is due: soon while something rebalances, else with the next full one."""
        until_full_s = max(0.0, self._next_full_s - time.monotonic())
        fast_s = FAST_S if self._unstable and not self.checks else EVERY_LEAST_S
        await asyncio.sleep(min(fast_s, until_full_s))

    def _is_due(self, row: Listed) -> bool:
        """Whether a group is described between full rounds."""
        if row.group in self._unstable or row.state in UNSTABLE:
            return True
        known = self._known.get(row.group)
        return known is None or known[0] != row.state

    async def _described(self, rows: Sequence[Listed]) -> dict[str, DescribedGroup | ClusterError]:
        found: dict[str, DescribedGroup | ClusterError] = {}
        batches = list(batched(rows))

        async def one(node: int, kind: GroupKind, groups: Sequence[str]) -> None:
            place = (node, kind, tuple(groups))
            try:
                answer = await self.cluster.describe_raw(node, kind, groups)
                # Behind the correlation id, which counts requests.
                if self._answers.get(place) == answer.data[4:]:
                    return
                answers = described(kind, answer)
            except ClusterError as error:
                found.update(dict.fromkeys(groups, error))
                # The same answer as before is news then: the groups can be seen again.
                self._answers.pop(place, None)
                return
            self._answers[place] = answer.data[4:]
            wanted = frozenset(groups)
            for known in answers:
                if known.group not in wanted:
                    # An answer about what was not asked for is passed over.
                    continue
                each = with_names(known, self._names) if isinstance(known, GroupDescription) else known
                found[each.group] = each
                if isinstance(each, GroupDescription):
                    self._known[each.group] = (each.state, each.is_rebalancing)
                    reads = frozenset(topic for member in each.members for topic in member.assignment)
                    if reads - self._partitions.keys() - self._reads.get(each.group, frozenset()):
                        # It may have been made a moment ago: its partitions are counted in the next round.
                        self._next_topics_s = 0.0
                        # The same answer is read again then: a topic that has an id alone has a name by then.
                        self._answers.pop(place, None)
                    self._reads[each.group] = reads
                    self._owners[each.group] = {
                        (topic, partition): member.client_id or member.member_id
                        for member in each.members
                        for topic, partitions in member.assignment.items()
                        for partition in partitions
                    }
                elif isinstance(each, Undescribed):
                    self._known.pop(each.group, None)
                    self._reads.pop(each.group, None)
                    self._owners.pop(each.group, None)

        await asyncio.gather(*(one(*batch) for batch in batches))
        # Batches change with the groups; an answer that nobody will ask for again is only in the way.
        if len(self._answers) > 4 * max(1, len(batches)) + 64:
            keep = {(node, kind, tuple(groups)) for node, kind, groups in batches}
            self._answers = {place: data for place, data in self._answers.items() if place in keep}
        return found

    async def _count_partitions(self) -> None:
        try:
            known = await topic_facts(self.cluster)
        except ClusterError:
            return
        self._partitions = {name: facts.partitions or 0 for name, facts in known.items()}
        self._names = {facts.topic_id: name for name, facts in known.items() if facts.topic_id is not None}

    async def _ask_settings(self, rows: Sequence[Listed], begun_s: float) -> None:
        kinds = {row.group: row.kind for row in rows if row.kind is not None}
        due = begun_s >= self._next_settings_s
        if not due and kinds.keys() <= self._asked_settings:
            return
        self._next_settings_s = begun_s + SETTINGS_EVERY_S if due else self._next_settings_s
        wanted = kinds if due else {name: kinds[name] for name in kinds.keys() - self._asked_settings}
        known = {} if due else self._settings
        self._settings = known | await session_timeouts(self.cluster, wanted)
        self._asked_settings = set(kinds)

    async def _ask_positions(self, rows: Sequence[Listed], begun_s: float) -> Positions:
        """Committed offsets first, then the ends of their partitions: an end is never behind a commit of the same look."""
        by_node: dict[int, list[str]] = {}
        for row in rows:
            if row.kind is not GroupKind.SHARE:
                by_node.setdefault(row.broker, []).append(row.group)
        has: dict[str, list[Place]] = {}
        wanted: dict[str, set[int]] = {}
        committed_ms = _now_ms()
        for node, groups in by_node.items():
            for first in range(0, len(groups), GROUPS_A_REQUEST):
                try:
                    committed = await committed_of(
                        self.cluster, node, groups[first : first + GROUPS_A_REQUEST]
                    )
                except ClusterError:
                    continue
                for name, each in committed.items():
                    if isinstance(each, Undescribed):
                        continue
                    # A cluster has millions of these: three values of each are kept, for as long as a round.
                    has[name] = [(one.topic, one.partition, one.offset) for one in each]
                    for topic, partition, _ in has[name]:
                        wanted.setdefault(topic, set()).add(partition)
        with_starts = begun_s >= self._next_starts_s
        ends_ms = _now_ms()
        try:
            logs = await log_offsets(self.cluster, wanted, with_starts=with_starts)
        except ClusterError:
            logs = LogOffsets(ends={}, starts={}, topic_ids={})
        if logs.starts:
            self._next_starts_s = begun_s + STARTS_EVERY_S
        made_again = {
            topic
            for topic, topic_id in logs.topic_ids.items()
            if self._topic_ids.get(topic, topic_id) != topic_id
        }
        self._topic_ids |= logs.topic_ids
        return Positions(
            committed_ms=committed_ms,
            committed=has,
            ends_ms=ends_ms,
            ends=logs.ends,
            starts=logs.starts,
            made_again=frozenset(made_again),
        )

    def _lag(self, positions: Positions) -> dict[str, LagFacts]:
        """The lag of each group over all its committed partitions."""
        self._recent.add(positions.ends_ms, positions.ends, positions.made_again)
        # The start of an older log of the same name would count records as deleted that never were in the new one.
        self._starts = positions.starts or {
            topic: starts for topic, starts in self._starts.items() if topic not in positions.made_again
        }
        if self._skew.is_due(positions.ends_ms):
            self._skew.keep(positions.committed)
            for name, places in positions.committed.items():
                self._skew.look(name, places, positions.ends, self._owners.get(name, {}))
        return {name: self._lag_of(name, places, positions) for name, places in positions.committed.items()}

    def _lag_of(self, group: str, places: Sequence[Place], positions: Positions) -> LagFacts:
        # Offsets of a topic that may not be seen are silently missing from the answer.
        is_whole = self._reads.get(group, frozenset()) <= self._partitions.keys()
        records = lag_now(
            (offset, positions.ends.get(topic, {}).get(partition, NO_ANSWER)) for topic, partition, offset in places
        )  # fmt: skip
        lost, most = 0, (0, "")
        for topic, partition, offset in places:
            start = self._starts.get(topic, {}).get(partition, NO_ANSWER)
            if 0 <= offset < start:
                lost += start - offset
                most = max(most, (start - offset, f"{topic}-{partition}"))
        if not is_whole:
            records = None
        age = self._recent.oldest(places, positions.ends_ms) if records else None
        skew = self._skew.of(group)
        return {
            "lag": records,
            "lag_ms": age.ms if age is not None else 0 if records == 0 else None,
            "lag_is_least": age is not None and age.is_least,
            "lost_records": lost,
            "lost_partition": most[1] or None,
            "skew": skew.kind.value if skew else None,
            "skew_of": (
                skew.member if skew.kind is SkewKind.SLOW_MEMBER else "{}-{}".format(*skew.partitions[0])
            )
            if skew
            else None,
        }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
