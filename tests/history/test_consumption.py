"""How far records are read, by arithmetic: held to a model that goes through every record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry, Kind, Provenance, written
from groups.history.frames.consumption import consumption_part, totals
from groups.history.frames.frame import frame
from groups.history.replay.fold import replay
from groups.history.state.consumption import Sums, lag_of, position_of, sums_of
from groups.history.state.group import State, initial_state
from groups.history.state.plain import from_plain, to_plain

PARTITIONS = 3
RATE = 1_000
"""A record each millisecond, so that the model can go through them one by one."""

MEMBERS = ("A", "B", "C")


class Reads(NamedTuple):
    """After ``wait_ms`` a member has other partitions; ``commits``: it commits where it stood, first."""

    wait_ms: int
    member: str
    partitions: tuple[int, ...]
    fetches: bool
    commits: bool


steps = st.lists(
    st.builds(
        Reads,
        st.integers(0, 40),
        st.sampled_from(MEMBERS),
        st.lists(st.integers(0, PARTITIONS - 1), unique=True).map(tuple),
        st.booleans(),
        st.booleans(),
    ),
    max_size=25,
)


class Model:
    """Each record by itself, each millisecond by itself."""

    def __init__(self) -> None:
        self.ends = [0] * PARTITIONS
        self.frontier: list[int | None] = [None] * PARTITIONS
        self.readers: list[dict[str, list[object]]] = [{} for _ in range(PARTITIONS)]
        self.committed: dict[int, int] = {}
        self.twice = self.skipped = self.unread_ms = self.lag_max = 0

    def tick(self) -> None:
        for p in range(PARTITIONS):
            if self.frontier[p] is not None and not any(reader[1] for reader in self.readers[p].values()):
                self.unread_ms += 1
            self.ends[p] += 1
        self.read()

    def read(self) -> None:
        # The lag counts right before readers go on, but only of what nobody fetches: the others read at once.
        self.lag_max = max(self.lag_max, self.lag())
        for p in range(PARTITIONS):
            before = self.frontier[p]
            for reader in self.readers[p].values():
                if not reader[1]:
                    continue
                for offset in range(int(str(reader[0])), self.ends[p]):
                    assert before is not None
                    if offset < (self.frontier[p] or 0):
                        self.twice += 1
                    else:
                        self.frontier[p] = offset + 1
                reader[0] = self.ends[p]

    def lag(self) -> int:
        return sum(
            self.ends[p] - frontier
            for p, frontier in enumerate(self.frontier)
            if frontier is not None and not any(reader[1] for reader in self.readers[p].values())
        )

    def position(self, p: int, member: str) -> int | None:
        return int(str(self.readers[p][member][0])) if member in self.readers[p] else None

    def changes(self, step: Reads) -> None:
        self.lag_max = max(self.lag_max, self.lag())
        for p in range(PARTITIONS):
            readers = self.readers[p]
            if p not in step.partitions:
                readers.pop(step.member, None)
                continue
            if step.member not in readers:
                position = self.committed.get(p, self.ends[p])
                frontier = self.frontier[p]
                if frontier is not None:
                    self.skipped += max(position - frontier, 0)
                self.frontier[p] = max(position, frontier if frontier is not None else position)
                readers[step.member] = [position, step.fetches]
            readers[step.member][1] = step.fetches
        self.read()


class Log:
    """Entries, folded as they come."""

    def __init__(self) -> None:
        self.state: State = initial_state("orders")
        self.entries: list[Entry] = []

    def write(self, kind: Kind, actor: str, at_ms: int, payload: Mapping[str, object]) -> None:
        entry = written(self.state.sequence + 1, at_ms, kind, actor, Provenance.SIMULATED, payload)
        self.entries.append(entry)
        self.state = replay(self.state, entry)
        assert not self.state.anomalies

    def topics(self, at_ms: int, partitions: int = PARTITIONS) -> None:
        told = {"foo": {"id": "A" * 22, "partitions": partitions, "rate": RATE}}
        self.write(Kind.NOTE, "coordinator", at_ms, {"note": "topics", "topics": told, "source": "scenario"})

    def reads(self, at_ms: int, member: str, partitions: Sequence[int], **more: object) -> None:
        told = {"note": "reads", "partitions": {"foo": list(partitions)}, "fetches": True, **more}
        self.write(Kind.NOTE, member, at_ms, told)

    def commit(self, at_ms: int, partition: int, offset: int) -> None:
        payload = {
            "type": 1,
            "key": {"group": "orders", "topic": "foo", "partition": partition},
            "version": 3,
            "value": {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": at_ms},
        }
        self.write(Kind.RECORD, "coordinator", at_ms, payload)


def told(state: State) -> tuple[Sums, int]:
    assert state.consumption is not None
    return state.consumption.sums, state.consumption.lag_max


@given(steps)
def test_the_arithmetic_agrees_with_who_goes_through_every_record(drawn: list[Reads]) -> None:
    model, log, now_ms = Model(), Log(), 0
    log.topics(0)
    for step in drawn:
        for _ in range(step.wait_ms):
            now_ms += 1
            model.tick()
        state = log.state.consumption
        assert state is not None
        if step.commits:
            for p in range(PARTITIONS):
                position = model.position(p, step.member)
                assert position == position_of(state.topics["foo"], p, step.member, now_ms)
                if position is not None:
                    model.committed[p] = position
                    log.commit(now_ms, p, position)
        model.changes(step)
        log.reads(now_ms, step.member, step.partitions, fetches=step.fetches)
        sums, lag_max = told(log.state)
        assert sums.lag(now_ms) == model.lag()
        assert (sums.skipped, sums.unread_until(now_ms)) == (model.skipped, model.unread_ms)
        assert lag_max == model.lag_max
    # Whoever fetches beside another is counted by the next note about the partition.
    for member in MEMBERS:
        log.reads(now_ms, member, ())
        model.changes(Reads(0, member, (), False, False))
    assert told(log.state)[0].read_twice == model.twice


@given(steps)
def test_the_sums_are_those_of_the_partitions_and_a_checkpoint_carries_all_of_it(drawn: list[Reads]) -> None:
    log, now_ms = Log(), 0
    log.topics(0)
    for step in drawn:
        now_ms += step.wait_ms
        log.reads(now_ms, step.member, step.partitions, fetches=step.fetches)
    state = log.state.consumption
    assert state is not None
    parts = [sums_of(each, RATE) for each in state.topics["foo"].partitions.values()]
    assert Sums(*map(sum, zip(*parts, strict=True))) == state.sums
    assert sum(
        lag_of(each, RATE, now_ms) for each in state.topics["foo"].partitions.values()
    ) == state.sums.lag(now_ms)
    assert from_plain(State, to_plain(log.state)) == log.state
    assert frame(log.state) == frame(from_plain(State, to_plain(log.state)))


def test_where_nobody_tells_a_rate_nothing_is_known_of_it() -> None:
    log = Log()
    told_topics = {"foo": {"id": "A" * 22, "partitions": 3}}
    log.write(Kind.NOTE, "coordinator", 0, {"note": "topics", "topics": told_topics, "source": "scenario"})
    log.reads(5, "A", [0])
    assert log.state.consumption is None
    assert "consumption" not in frame(log.state)


def test_records_of_an_added_partition_that_come_before_its_first_reader_are_skipped() -> None:
    """``auto.offset.reset=latest``: nothing was committed, so that its reader begins at the end."""
    log = Log()
    log.topics(0, 1)
    log.reads(0, "A", [0])
    log.topics(1_000, 2)
    log.reads(3_500, "A", [0, 1])
    sums, lag_max = told(log.state)
    assert (sums.skipped, lag_max, sums.lag(3_500)) == (2_500, 2_500, 0)


def test_a_process_with_another_member_id_goes_on_where_it_was() -> None:
    log = Log()
    log.topics(0)
    log.reads(0, "A", [0])
    log.reads(1_000, "A~2", [0], former="A")
    log.reads(1_500, "A~2", [])
    state = log.state.consumption
    assert state is not None
    assert (state.sums.read_twice, state.sums.skipped, dict(state.members)) == (0, 0, {})
    assert state.topics["foo"].partitions[0].read == 1_500


def test_what_a_deleted_topic_cost_stays_counted_and_its_lag_is_over() -> None:
    log = Log()
    log.topics(0)
    log.reads(0, "A", [0, 1])
    log.commit(100, 0, 100)
    log.reads(400, "A", [])
    log.reads(600, "B", [0])
    before, _ = told(log.state)
    log.write(
        Kind.NOTE, "coordinator", 900, {"note": "topics", "topics": {"foo": None}, "source": "scenario"}
    )
    after, lag_max = told(log.state)
    assert before.read_twice == after.read_twice == 300
    assert after.unread_until(5_000) == 200 + 500
    assert (after.lag(5_000), lag_max) == (0, 500)


def test_a_commit_beyond_the_log_tells_of_a_log_that_was_longer() -> None:
    log = Log()
    log.topics(0)
    log.commit(0, 0, 5_000)
    log.reads(100, "A", [0])
    state = log.state.consumption
    assert state is not None
    assert position_of(state.topics["foo"], 0, "A", 200) == 5_100
    assert (state.sums.skipped, state.sums.read_twice) == (0, 0)


def test_a_reader_of_what_no_topic_has_is_nobody() -> None:
    log = Log()
    log.topics(0)
    log.reads(10, "A", [7])
    log.write(Kind.NOTE, "A", 20, {"note": "reads", "partitions": {"bar": [0]}, "fetches": True})
    assert told(log.state)[0] == Sums()


def test_what_two_read_at_once_counts_as_read_twice_before_anybody_writes_the_next_note() -> None:
    """The figures of a run are as of its end, and those two may read on until then."""
    notes: Sequence[Mapping[str, object]] = (
        {"note": "topics", "topics": {"foo": {"id": "foo-id", "partitions": 1, "rate": RATE}}},
        {"note": "reads", "partitions": {"foo": [0]}, "fetches": True},
        {"note": "reads", "partitions": {"foo": [0]}, "fetches": True},
    )
    state = initial_state("orders")
    for number, (actor, note) in enumerate(zip(("coordinator", "A", "B"), notes, strict=True), start=1):
        state = replay(state, written(number, 100 * number, Kind.NOTE, actor, Provenance.SIMULATED, note))
    assert state.consumption is not None
    told = consumption_part(state.consumption, None, None)
    assert [totals(told, at_ms)["read_twice"] for at_ms in (300, 301, 1_300)] == [0, 1, 1_000]
