"""What a rebalance cost, against logs whose records were written, read and committed one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.lag.cost import CATCH_UP_MS_MOST, Cost, cost_of
from groups.history.lag.course import BEFORE_MS, Amount, Course, Rebalance, Stretch, Tenure
from groups.history.lag.partition import Commit, NotKnown, PartitionEnds
from groups.history.lag.range import cost_of_range

pytestmark = pytest.mark.once

TICK_MS = 1_000
TICKS = 40
PLACE = ("orders", 0)


@dataclass
class World:
    """One partition over ``TICKS`` seconds, in each of which records are written, read, and perhaps committed."""

    written: list[int]
    """Records of each tick."""
    owners: list[str | None]
    """Of each tick; the rebalances begin where it changes."""
    dead: list[bool]
    """Whether the owner of the tick reads no more; no commit of it follows."""
    period: int
    """An owner commits each so many ticks, from its first one on."""
    also: frozenset[int] = frozenset()
    """Ticks in which a rebalance begins that may leave the partition alone."""
    within: frozenset[int] = frozenset()
    """Ticks in which the partition moves within a rebalance."""
    first: int = 0
    """Owners until this tick commit nothing; from 1 on, nothing was committed before."""

    def __post_init__(self) -> None:
        end = position = committed = since = 0
        self.commits = [] if self.first else [Commit(0, 0)]
        self.ends, self.twice = [], dict.fromkeys(range(TICKS), 0)
        for tick in range(TICKS):
            if tick and self.owners[tick] != self.owners[tick - 1]:
                if self.owners[tick] is not None:
                    self.twice[tick] = position - committed
                    position = committed
                since = tick
            # Looks are taken before the tick's records are written.
            self.ends.append(end)
            end += self.written[tick]
            if self.owners[tick] is not None and not self.dead[tick]:
                position = end
                if (tick - since) % self.period == self.period - 1 and tick >= self.first:
                    committed = position
                    self.commits.append(Commit(tick * TICK_MS + TICK_MS // 2, committed))

    @property
    def looks(self) -> list[int]:
        return [tick * TICK_MS for tick in range(TICKS)]

    def course(self) -> Course:
        ends = PartitionEnds(self.looks, self.ends, self.commits)
        tenures = [
            Tenure(tick * TICK_MS, self.owners[tick])
            for tick in range(TICKS)
            if not tick or self.owners[tick] != self.owners[tick - 1]
        ]
        return Course(tenures, self.silences(), ends, [ends.lag(at_ms) for at_ms in self.looks])

    def unread(self, move: int, until: int) -> range:
        """Ticks around a move in which nobody reads although there is something to read, to the next move at most."""
        reads = [owner is not None and not dead for owner, dead in zip(self.owners, self.dead, strict=True)]
        begun = next((tick for tick in range(move, until) if reads[tick]), until)
        read = max((tick + 1 for tick in range(move) if reads[tick]), default=0)
        return range(next((tick for tick in range(read, begun) if self.written[tick]), begun), begun)

    def silences(self) -> list[Stretch]:
        """From the tick in which an owner stopped: the evidence of commits would begin at its last one."""
        found, begin = [], None
        for tick in range(TICKS + 1):
            is_dead = tick < TICKS and self.dead[tick]
            if is_dead and begin is None:
                begin = tick
            elif not is_dead and begin is not None:
                found.append(Stretch(begin * TICK_MS, tick * TICK_MS))
                begin = None
        return found

    def rebalances(self) -> list[Rebalance]:
        begins = [
            tick
            for tick in range(1, TICKS - 1)
            if (
                self.owners[tick] != self.owners[tick - 1]
                and self.owners[tick - 1] is not None
                and tick not in self.within
            )
            or tick in self.also
        ]
        return [
            Rebalance(tick, number, tick * TICK_MS, until * TICK_MS)
            for number, (tick, until) in enumerate(pairwise([*begins, TICKS - 1]))
        ]

    def costs(self) -> list[tuple[Rebalance, Cost]]:
        found: list[tuple[Rebalance, Cost]] = []
        course = {PLACE: self.course()}
        for one in self.rebalances():
            found.append((one, cost_of(one, course, self.looks, found[-1][1] if found else None)))
        return found


@st.composite
def worlds(draw: st.DrawFn, *, late_most: int = 0) -> World:
    """``late_most``: owners begin to read so many ticks late, rebalances of other partitions follow each other, one has several moves,
    and it may be long until the first commit."""
    owners: list[str | None] = []
    dead: list[bool] = []
    names = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 3)
    while len(owners) < TICKS:
        length, killed, free = (
            draw(st.integers(6, 20)),
            draw(st.sampled_from([0, 0, 5])),
            draw(st.integers(0, 6)),
        )
        owners += [next(names)] * (length + killed) + [None] * free
        late = min(draw(st.integers(0, late_most)), length) if dead else 0
        dead += [True] * late + [False] * (length - late) + [True] * killed + [False] * free
    rates = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    return World(
        [rates[tick * len(rates) // 7 % len(rates)] for tick in range(TICKS)],
        owners[:TICKS],
        dead[:TICKS],
        draw(st.integers(1, 4)),
        frozenset(draw(st.sets(st.integers(1, TICKS - 2), max_size=late_most))),
        frozenset(range(*sorted(draw(st.tuples(st.integers(1, TICKS), st.integers(1, TICKS))))))
        if late_most
        else frozenset(),
        draw(st.sampled_from([0, 0, 1, 9, 30])) if late_most else 0,
    )


@given(worlds())
def test_each_second_without_a_reader_counts_for_one_rebalance_with_the_records_that_were_written_in_it(
    world: World,
) -> None:
    for rebalance, cost in world.costs():
        begin, end = rebalance.at_ms // TICK_MS, rebalance.until_ms // TICK_MS
        free = [tick for tick in range(begin, end) if world.owners[tick] is None]
        # Its owner was silent until the rebalance took the partition from it.
        silent = []
        tick = begin - 1
        while tick >= 0 and world.dead[tick]:
            silent.append(tick)
            tick -= 1
        assert cost.unassigned_ms == len(free) * TICK_MS
        assert cost.unread_ms == len(free + silent) * TICK_MS
        assert cost.since_ms == (min([begin, *silent])) * TICK_MS
        assert cost.waited == sum(world.written[tick] for tick in free + silent)


@given(worlds(late_most=12))
def test_nobody_read_for_no_longer_than_the_commits_and_end_offsets_around_a_move_leave_room_for(
    world: World,
) -> None:
    """Of a log in which no silence was found."""
    course = {PLACE: replace(world.course(), silent=())}
    takes = [tick for tick in range(1, TICKS) if world.owners[tick] != world.owners[tick - 1]]
    for rebalance in world.rebalances():
        begin, end = rebalance.at_ms // TICK_MS, rebalance.until_ms // TICK_MS
        before = [tick for tick in takes if tick < begin][-1:]
        moves = [tick for tick in takes if begin <= tick < end]
        true = set()
        for move, until in pairwise([*before, *moves, end]):
            true |= {tick for tick in world.unread(move, until) if move >= begin or tick >= begin}
        unread = cost_of(rebalance, course, world.looks).unread_most
        if unread.most is None:
            assert (unread.why, world.commits) == (NotKnown.NO_COMMIT, [])
        else:
            assert len(true) * TICK_MS <= unread.most


@given(worlds(late_most=12), st.integers(0, TICKS - 1), st.integers(0, TICKS - 1))
def test_in_no_range_was_a_partition_unread_for_longer_than_the_bound(
    world: World, one: int, other: int
) -> None:
    """Whatever moves and rebalances it cuts; of a log in which no silence was found."""
    rebalances = world.rebalances()
    begin, end = sorted((one, other))
    takes = [tick for tick in range(1, TICKS - 1) if world.owners[tick] != world.owners[tick - 1]]
    unread = set()
    for move, until in pairwise([*takes, TICKS - 1]):
        if rebalances and move >= rebalances[0].at_ms // TICK_MS:
            unread |= {*world.unread(move, until)} & {*range(begin, end)}
    between = Stretch(begin * TICK_MS, end * TICK_MS)
    course = {PLACE: replace(world.course(), silent=())}
    found = cost_of_range(rebalances, course, world.looks, between).unread_most
    if found.most is None:
        assert (found.why, world.commits) == (NotKnown.NO_COMMIT, [])
    else:
        assert len(unread) * TICK_MS <= found.most <= between.to_ms - between.from_ms


def test_an_owner_that_begins_late_may_be_unread_in_each_rebalance_until_its_first_commit() -> None:
    commits = [Commit(tick * TICK_MS, 10 * tick) for tick in (*range(10), *range(25, TICKS))]
    late = Course((Tenure(0, "A"), Tenure(10_000, "B")), (), PartitionEnds(LOOKS, ENDS, commits))
    times = [10_000, 12_000, 30_000, 39_000]
    costs = [
        cost_of(Rebalance(at, at, at_ms, until_ms), {PLACE: late}, LOOKS).unread_most
        for at, (at_ms, until_ms) in enumerate(pairwise(times))
    ]
    assert costs == [Amount(2_000, 3_000), Amount(12_000, 13_000), Amount(0, 0)]


@given(st.integers(0, 12), st.integers(1, 4), st.integers(1, 9))
def test_a_slow_start_counts_within_one_commit_interval_and_never_too_long(
    late: int, period: int, rate: int
) -> None:
    owners: list[str | None] = [*"A" * 20, *"B" * 20]
    dead = [False] * 20 + [True] * late + [False] * (20 - late)
    world = World([rate] * TICKS, owners, dead, period)
    # Nobody found that it was silent: it had committed nothing yet.
    [(_, cost)] = [(one, cost_of(one, {PLACE: replace(world.course(), silent=())}, world.looks)) for one in world.rebalances()]  # fmt: skip
    assert late - period <= cost.unread_ms / TICK_MS <= late
    # An owner before it that committed twice, or less, has no rhythm to go by.
    assert cost.unread_ms == 0 or len([one for one in world.commits if one.at_ms < 20 * TICK_MS]) > 2


def test_a_log_that_was_cut_after_the_last_commit_bounds_nothing() -> None:
    cut = [1000 if tick < 11 else 900 + 10 * (tick - 11) for tick in range(TICKS)]
    known = PartitionEnds(LOOKS, cut, [Commit(10_000, 1000), Commit(31_000, 1100)])
    moved = Course((Tenure(0, "A"), Tenure(11_000, "B")), (), known)
    unread = cost_of(Rebalance(7, 3, 11_000, 39_000), {PLACE: moved}, LOOKS).unread_most
    assert unread == Amount(0, None, NotKnown.MADE_AGAIN)


def test_a_commit_that_goes_on_proves_that_a_slow_new_owner_reads() -> None:
    commits = [Commit(tick * TICK_MS, 10 * tick) for tick in (*range(20), *range(27, TICKS))]
    slow = Course(OWNERS, (), PartitionEnds(LOOKS, ENDS, commits))
    # All was committed at second 19: the next record is not older. The next commit is that of second 27.
    assert cost_of(MOVE, {PLACE: slow}, LOOKS).unread_most == Amount(6_000, 8_000)
    behind = [one._replace(offset=max(0, one.offset - 100)) for one in commits if one.offset is not None]
    late = Course(OWNERS, (), PartitionEnds(LOOKS, ENDS, behind))
    # 10 s behind, the last read was after the commit of second 17.
    assert cost_of(MOVE, {PLACE: late}, LOOKS).unread_most == Amount(6_000, 10_000)
    never = Course(OWNERS, (), PartitionEnds(LOOKS, ENDS, []))
    assert cost_of(MOVE, {PLACE: never}, LOOKS).unread_most == Amount(6_000, None, NotKnown.NO_COMMIT)
    alone = Course(OWNERS, (), PartitionEnds([], [], commits))
    assert cost_of(MOVE, {PLACE: alone}, LOOKS).unread_most == Amount(6_000, None, NotKnown.NO_ROUND)
    idle = PartitionEnds(LOOKS, [min(end, 190) for end in ENDS], commits[:20])
    assert cost_of(MOVE, {PLACE: Course(OWNERS, (), idle)}, LOOKS).unread_most == Amount(6_000, 6_000)


@given(st.one_of(worlds(), worlds(late_most=12)))
def test_records_read_twice_are_within_the_bounds_that_commits_give(world: World) -> None:
    for rebalance, cost in world.costs():
        begin, end = rebalance.at_ms // TICK_MS, rebalance.until_ms // TICK_MS
        took = [
            tick for tick in range(begin, end) if world.owners[tick] not in (None, world.owners[tick - 1])
        ]
        true = sum(world.twice[tick] for tick in took)
        assert cost.twice.least <= true
        # The looks are a tick apart: what was written in the last one is not in an end offset yet.
        assert world.first if cost.twice.most is None else true <= cost.twice.most + 9 * len(took)


@given(worlds())
def test_a_group_has_caught_up_at_the_first_look_that_finds_no_more_lag_than_in_the_minute_before(
    world: World,
) -> None:
    lags = world.course().lags
    usual: int | None = None
    before: int | None = 0
    for _, cost in world.costs():
        since, settled = cost.since_ms // TICK_MS, cost.settled_ms // TICK_MS
        if usual is None or (before is not None and before <= cost.since_ms):
            usual = max(
                lags[tick].records or 0
                for tick in range(max(0, since - BEFORE_MS // TICK_MS), since + 1)
                if lags[tick].records is not None
            )
        allowed_s = cost.places[PLACE].usual
        assert allowed_s is not None
        found = None
        for tick in range(settled, TICKS):
            records, seconds = lags[tick].records, lags[tick].seconds
            is_soon = None not in (seconds, allowed_s.seconds) and seconds <= allowed_s.seconds  # type: ignore[operator]
            if records is not None and (records <= usual or is_soon):
                found = tick * TICK_MS
                break
        assert cost.caught_up_ms == found
        assert cost.caught_up_why is (None if found is not None else NotKnown.NOT_YET)
        before = found


ENDS = [10 * tick for tick in range(TICKS)]
LOOKS = [tick * TICK_MS for tick in range(TICKS)]
MOVE = Rebalance(7, 3, 20_000, 39_000)
OWNERS = (Tenure(0, "A"), Tenure(20_000, None), Tenure(26_000, "B"))


def course(*commits: Commit, ends: list[int] | None = None) -> Course:
    known = PartitionEnds(LOOKS if ends is None or ends else [], ENDS if ends is None else ends, commits)
    return Course(OWNERS, (), known, [known.lag(at_ms) for at_ms in LOOKS])


def test_without_end_offsets_the_seconds_are_known_and_the_records_are_not() -> None:
    without = Course(OWNERS)
    cost = cost_of(MOVE, {PLACE: without}, [])
    assert (cost.unassigned_ms, cost.unread_ms, cost.moved) == (6_000, 6_000, 1)
    assert (cost.waited, cost.waited_why) == (None, NotKnown.NO_ROUND)
    assert (cost.caught_up_ms, cost.caught_up_why) == (None, NotKnown.NO_LAG_BEFORE)
    assert cost.twice == Amount(0, None, NotKnown.NO_ROUND)


def test_a_topic_that_was_made_again_meanwhile_costs_no_made_up_records() -> None:
    again = [end if tick < 23 else end - 225 for tick, end in enumerate(ENDS)]
    cost = cost_of(MOVE, {PLACE: course(Commit(19_000, 180), ends=again)}, LOOKS)
    assert (cost.waited, cost.waited_why) == (None, NotKnown.MADE_AGAIN)


def test_a_new_owner_that_begins_below_the_last_commit_reads_at_least_the_difference_twice() -> None:
    cost = cost_of(MOVE, {PLACE: course(Commit(19_000, 180), Commit(30_000, 150))}, LOOKS)
    assert cost.twice == Amount(30, 30)


def test_a_partition_that_was_never_committed_has_no_bound_of_what_was_read_twice() -> None:
    cost = cost_of(MOVE, {PLACE: course()}, LOOKS)
    assert cost.twice == Amount(0, None, NotKnown.NO_COMMIT)
    assert cost.waited == 60


def test_a_rebalance_that_touched_no_partition_costs_nothing_and_has_caught_up_as_it_began() -> None:
    quiet = Course((Tenure(0, "A"),))
    cost = cost_of(MOVE, {PLACE: quiet}, [])
    assert (cost.unread_ms, cost.waited, cost.twice, cost.caught_up_ms) == (0, 0, Amount(0, 0), 20_000)


def test_an_eager_rebalance_lets_as_many_records_wait_as_the_lag_grew_beyond_the_usual() -> None:
    commits = [Commit(tick * TICK_MS, 10 * tick) for tick in range(TICKS) if not 20 <= tick < 26]
    known = PartitionEnds(LOOKS, ENDS, commits)
    stopped = Course((Tenure(0, "A"),), (), known, [known.lag(at_ms) for at_ms in LOOKS])
    cost = cost_of(MOVE._replace(stops_all=True), {PLACE: stopped}, LOOKS)
    # The last commit before was that of second 19, and the next one is that of second 26.
    assert cost.waited == 60 == ENDS[25] - 10 * 19
    assert cost.caught_up_ms == 26_000


def test_an_eager_rebalance_that_waited_for_a_dead_member_counts_from_its_last_commit_on() -> None:
    commits = [Commit(tick * TICK_MS, 10 * tick) for tick in (*range(15), *range(22, TICKS))]
    known = PartitionEnds(LOOKS, ENDS, commits)
    owners = (Tenure(0, "A"), Tenure(20_000, "B"))
    dead = Course(owners, (), known, [known.lag(at_ms) for at_ms in LOOKS])
    cost = cost_of(MOVE._replace(stops_all=True), {PLACE: dead}, LOOKS)
    # B goes on at 22 s, so it began at 21 s at the latest.
    assert (cost.since_ms, cost.unread_ms, cost.waited) == (14_000, 7_000, 70)
    assert (cost.moved, cost.caught_up_ms) == (1, 22_000)
    nothing = [min(end, 140) for end in ENDS]
    idle = Course(owners, (), PartitionEnds(LOOKS, nothing, commits[:15]))
    assert cost_of(MOVE._replace(stops_all=True), {PLACE: idle}, []).unread_ms == 0


def test_of_a_dead_member_that_no_log_calls_silent_the_time_from_its_last_commit_counts() -> None:
    """Polls show its removal alone: without this the lag of its last minute would be the usual one, and caught up at once."""
    commits = [Commit(tick * TICK_MS, 10 * tick) for tick in (*range(15), *range(22, TICKS))]
    known = PartitionEnds(LOOKS, ENDS, commits)
    dead = Course((Tenure(0, "A"), Tenure(20_000, "B")), (), known, [known.lag(at_ms) for at_ms in LOOKS])
    cost = cost_of(MOVE, {PLACE: dead}, LOOKS)
    assert (cost.since_ms, cost.unread_ms, cost.waited, cost.caught_up_ms) == (14_000, 7_000, 70, 22_000)
    seen_with_it = replace(
        dead, ends=PartitionEnds(LOOKS, ENDS, [*commits[:15], Commit(20_000, 141), *commits[15:]])
    )
    assert cost_of(MOVE, {PLACE: seen_with_it}, LOOKS).since_ms == 14_000
    other = cost_of(MOVE, {PLACE: replace(dead, tenures=(Tenure(0, "A"),))}, LOOKS)
    assert (other.unread_ms, other.waited) == (0, 0)


def test_who_has_not_caught_up_within_an_hour_is_said_not_to_have() -> None:
    looks = [*LOOKS, 26_000 + CATCH_UP_MS_MOST, 27_000 + CATCH_UP_MS_MOST]
    ends = [*ENDS, 400, 400]
    commits = [*(Commit(tick * TICK_MS, 10 * tick) for tick in range(20)), Commit(looks[-1], 400)]
    known = PartitionEnds(looks, ends, commits)
    late = Course(OWNERS, (), known, [known.lag(at_ms) for at_ms in looks])
    cost = cost_of(MOVE, {PLACE: late}, looks)
    assert (cost.caught_up_ms, cost.caught_up_why) == (None, NotKnown.NOT_YET)


@given(
    st.lists(
        st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=12, max_size=12), min_size=1, max_size=3
    ),
    st.sets(st.integers(0, 11), max_size=4),
    st.integers(0, 11),
    st.integers(0, 11),
)
def test_a_range_costs_what_each_of_its_seconds_did(
    owners: list[list[str | None]], begins: set[int], begin: int, length: int
) -> None:
    """By hand: every second of every partition, whatever rebalances the range cuts."""
    between = Stretch(begin * TICK_MS, min(begin + length, 12) * TICK_MS)
    courses = {
        ("orders", number): Course(tenures=[Tenure(tick * TICK_MS, one) for tick, one in enumerate(some)])
        for number, some in enumerate(owners)
    }
    starts = sorted(begins)
    rebalances = [
        Rebalance(at, at, tick * TICK_MS, (starts[at + 1] if at + 1 < len(starts) else 12) * TICK_MS)
        for at, tick in enumerate(starts)
    ]
    cost = cost_of_range(rebalances, courses, [], between)
    ticks = range(begin, min(begin + length, 12))
    assert cost.unassigned_ms == TICK_MS * sum(some[tick] is None for some in owners for tick in ticks)
    assert cost.unread_ms == cost.unassigned_ms
    lost = {
        one
        for some in owners
        for tick, (one, other) in enumerate(pairwise(some), 1)
        if one is not None and other != one and between.from_ms <= tick * TICK_MS <= between.to_ms
    }
    assert cost.interrupted == sorted(lost)
    assert cost.rebalances == sum(between.from_ms <= tick * TICK_MS <= between.to_ms for tick in starts)


def test_a_range_over_all_costs_what_its_rebalances_cost_together() -> None:
    courses = {
        PLACE: Course(tenures=[Tenure(0, "a"), Tenure(5_000, None), Tenure(7_000, "b"), Tenure(9_000, "a")])
    }
    rebalances = [Rebalance(1, 1, 4_000, 8_000), Rebalance(2, 2, 8_000, 12_000, is_last=True)]
    whole = cost_of_range(rebalances, courses, [], Stretch(0, 12_000))
    each = [cost_of(one, courses, []) for one in rebalances]
    assert (
        (whole.moved, whole.unassigned_ms)
        == (2, 2_000)
        == (
            sum(one.moved for one in each),
            sum(one.unassigned_ms for one in each),
        )
    )
    assert (whole.interrupted, whole.twice.why) == (["a", "b"], NotKnown.NO_ROUND)
