"""The lag of a watched group over time, as the API and the command line give it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from io import StringIO
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.test import Client

from groups import storage
from groups.cluster_models import Cluster
from groups.history.entries import Entry, Kind, Provenance
from groups.history.passes.recorder import Recorder
from groups.models import OffsetBlock, Timeline
from groups.storage.lag_sources import NO_ENDS
from groups.watching import positions as keeping
from groups.watching import registry
from groups.watching.positions import PositionKeeper
from groups.watching.pulling import Positions
from groups.watching.storing import Store
from groups.wire.generated.classic import OFFSET_COMMIT
from tests.watching.rounds import BEGIN_MS, described, round_of

pytestmark = pytest.mark.django_db

OWNER = "test"


@pytest.fixture
def cluster() -> Cluster:
    made = registry.add("test", {"bootstrap.servers": "localhost:9092"})
    assert registry.take(made.pk, OWNER)
    return made


def positions(number: int, committed: tuple[int, int], ends: tuple[int, int]) -> Positions:
    """Those of ``orders`` at the round of this number, of one every five seconds."""
    at_ms = BEGIN_MS + 5_000 * number
    return Positions(
        committed_ms=at_ms,
        committed={"billing": [("orders", partition, offset) for partition, offset in enumerate(committed)]},
        ends_ms=at_ms,
        ends={"orders": dict(enumerate(ends))},
        starts={},
        made_again=frozenset(),
    )


def polled(cluster: Cluster) -> Timeline:
    """A group of which partition 0 is read and partition 1 stops: its first unread record is that of round 1."""
    store, keeper = Store(cluster, OWNER), PositionKeeper(cluster, OWNER)
    for number in range(5):
        group = described("billing", {"a": ((0, 1), (0, 1))}, epoch=3 + (number == 4))
        store.take(round_of(BEGIN_MS + 5_000 * number, group))
        keeper.take(positions(number, (10 * number, min(10, 10 * number)), (10 * number, 10 * number)))
    Timeline.objects.update(status=Timeline.Status.COMPLETE)
    return Timeline.objects.get()


def test_a_polled_groups_lag_is_that_of_its_rounds_in_records_and_in_seconds(cluster: Cluster) -> None:
    timeline = polled(cluster)
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["times_ms"] == [BEGIN_MS + 5_000 * number for number in range(5)]
    read, unread = answer["lines"]
    assert (read["topic"], read["partition"], read["records"]) == ("orders", 0, [0] * 5)
    assert unread["records"] == answer["total"]["records"] == [0, 0, 10, 20, 30]
    assert unread["seconds"] == answer["total"]["seconds"] == [0, 0, 5, 10, 15]
    assert answer["problem"] is None


def test_of_more_looks_than_points_the_greatest_lag_is_shown(cluster: Cluster) -> None:
    timeline = polled(cluster)
    answer = storage.lag_between(timeline, 1, timeline.last, 2)
    assert answer["total"]["records"] == [10, 30]


def commit(sequence: int, at_ms: int, offset: int) -> Entry:
    return Entry(
        sequence=sequence,
        at_ms=at_ms,
        kind=Kind.RECORD,
        actor="coordinator",
        provenance=Provenance.RECORDED,
        payload={
            "type": OFFSET_COMMIT,
            "key": {"group": "billing", "topic": "orders", "partition": 0},
            "version": 3,
            "value": {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": at_ms},
        },
        partition=7,
        offset=sequence,
    )


def followed(cluster: Cluster, skew_ms: int, rounds: Iterable[Positions]) -> Timeline:
    """A group whose commits up to 20 s are in its log, by a broker's clock that is ahead of the watcher's."""
    timeline = storage.create_timeline(
        title="billing", source=Timeline.Source.LIVE, group="billing", semantics="kafka",
        cluster_id=cluster.pk, provenance="recorded",
    )  # fmt: skip
    recorder = Recorder(group="billing")
    for sequence, after_ms in enumerate((0, 4_000, 9_000, 20_000), 1):
        recorder.add(commit(sequence, BEGIN_MS + after_ms + skew_ms, min(8, after_ms // 500)))
    batch = recorder.flush(final=True)
    assert batch is not None
    writer = storage.open_writer(timeline.pk, OWNER)
    writer.append(batch)
    writer.finish(Timeline.Status.COMPLETE)
    cluster.groups.create(group="billing", followed={"partition": 7}, timeline=timeline)
    Cluster.objects.update(seen={"follow": {"skews_ms": {"7": skew_ms}}})
    keeper = PositionKeeper(cluster, OWNER)
    for each in rounds:
        keeper.take(each)
    return storage.get(timeline.pk)


def growing(cluster: Cluster, skew_ms: int, rounds: Iterable[Positions]) -> Timeline:
    followed(cluster, skew_ms, rounds)
    Timeline.objects.update(status=Timeline.Status.RUNNING)
    return Timeline.objects.get()


@pytest.mark.parametrize("skew_ms", [0, 60_000, -60_000])
def test_a_followed_groups_lag_is_that_of_its_logs_commits_whatever_its_brokers_clock(
    cluster: Cluster, skew_ms: int
) -> None:
    timeline = followed(
        cluster, skew_ms, (positions(number, (0, 0), (10 * number, 10 * number)) for number in range(5))
    )
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["times_ms"] == [BEGIN_MS + skew_ms + 5_000 * number for number in range(5)]
    [line] = answer["lines"]
    assert line["records"] == [0, 2, 12, 22, 32]
    assert line["seconds"] == [0, 1, 6, 11, 16]


def seen_ends(number: int, committed: int) -> Positions:
    """As a real round: the end offsets, ten more each time, are asked for after the committed ones."""
    return replace(
        positions(number, (committed, 0), (10 * number, 0)), ends_ms=BEGIN_MS + 5_000 * number + 300
    )


@pytest.mark.parametrize("skew_ms", [0, 60_000, -60_000])
def test_a_followed_group_that_stops_committing_lags_more_and_more(cluster: Cluster, skew_ms: int) -> None:
    timeline = growing(cluster, skew_ms, (seen_ends(number, 8) for number in range(10)))
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["times_ms"][-1] == BEGIN_MS + 45_300 + skew_ms
    line = answer["lines"][0]
    assert line["records"][-6:] == [32, 42, 52, 62, 72, 82]
    assert line["seconds"][-6:] == [16, 21, 26, 31, 36, 41]
    # A part of it ends where it was asked to end.
    part = storage.lag_between(timeline, 1, timeline.last - 1, 400)
    assert part["times_ms"][-1] == BEGIN_MS + 5_300 + skew_ms


def test_a_followed_group_whose_commits_wait_to_be_stored_has_no_false_lag(cluster: Cluster) -> None:
    rounds = (seen_ends(number, 8 if number < 5 else 10 * number) for number in range(10))
    timeline = growing(cluster, 0, rounds)
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["lines"][0]["records"][-6:] == [32, 0, 0, 0, 0, 0]


def test_a_look_a_moment_after_the_last_stored_commit_that_missed_it_sets_nothing_back(
    cluster: Cluster,
) -> None:
    late = Positions(
        committed_ms=BEGIN_MS + 20_200,
        committed={"billing": [("orders", 0, 3)]},
        ends_ms=BEGIN_MS + 20_500,
        ends={"orders": {0: 40}},
        starts={},
        made_again=frozenset(),
    )
    timeline = growing(cluster, 0, [late, seen_ends(5, 3)])
    line = storage.lag_between(timeline, 1, timeline.last, 400)["lines"][0]
    assert line["records"] == [32, 47]


@pytest.mark.parametrize("make", [polled, None], ids=["polled", "followed"])
def test_rounds_whose_commits_wait_in_the_process_are_not_shown_yet(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, make: Callable[[Cluster], Timeline] | None
) -> None:
    """The end offsets of a large cluster are stored some rounds before what groups have committed."""
    if make is None:
        growing(cluster, 0, (seen_ends(number, 10 * number) for number in range(5)))
    else:
        make(cluster)
        Timeline.objects.update(status=Timeline.Status.RUNNING)
    monkeypatch.setattr(keeping, "SERIES_AT_ONCE", 1)
    keeper = PositionKeeper(cluster, OWNER)
    begun = [positions(number, (10 * number,) * 2, (10 * number,) * 2) for number in range(5, 10)]
    for each in begun[:3]:
        keeper.take(each)
    timeline = Timeline.objects.get()
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["lines"][0]["records"][-1] == 0
    keeper.flush()
    answer = storage.lag_between(timeline, 1, timeline.last, 400)
    assert answer["lines"][0]["records"][-3:] == [0, 0, 0]
    assert answer["times_ms"][-1] == begun[2].ends_ms


def test_the_api_and_the_command_line_give_the_same_lag(cluster: Cluster, client: Client) -> None:
    timeline = polled(cluster)
    answer: dict[str, Any] = client.get(f"/api/timelines/{timeline.pk}/lag").json()
    assert answer["total"]["records"] == [0, 0, 10, 20, 30]
    out = StringIO()
    call_command("timeline", "lag", timeline.pk, stdout=out)
    lines = [orjson.loads(line) for line in out.getvalue().splitlines()]
    assert [line["records"] for line in lines] == answer["total"]["records"]
    assert [line["partitions"]["orders-1"]["seconds"] for line in lines] == answer["lines"][1]["seconds"]


def moving(cluster: Cluster) -> Timeline:
    """B takes partition 1 from A at round 8, after three rounds in which nobody owned it; ten records are written each round.

    C joins in the last round.
    """
    store, keeper = Store(cluster, OWNER), PositionKeeper(cluster, OWNER)
    for number in range(16):
        shares: dict[str, Any] = {"a": ((0,), (0,)), "b": ((1,), (1,))}
        epoch = 5
        if number < 5:
            shares, epoch = {"a": ((0, 1), (0, 1))}, 3
        elif number < 8:
            shares, epoch = {"a": ((0,), (0,)), "b": ((), (1,))}, 5
        elif number == 15:
            shares, epoch = {**shares, "c": ((), ())}, 6
        store.take(round_of(BEGIN_MS + 5_000 * number, described("billing", shares, epoch=epoch)))
        read = 10 * number
        waiting = read if number < 5 else min(read, 50 + 15 * max(0, number - 8))
        keeper.take(positions(number, (read, waiting), (read, read)))
    made = Timeline.objects.get(cluster_id=cluster.pk)
    made.status = Timeline.Status.COMPLETE
    made.save(update_fields=["status"])
    return made


def test_the_cost_of_a_rebalance_is_in_the_answer_and_a_members_lag_is_that_of_what_it_owned(
    cluster: Cluster, client: Client
) -> None:
    timeline = moving(cluster)
    answer: dict[str, Any] = client.get(f"/api/timelines/{timeline.pk}/lag?by=member").json()
    cost = answer["rebalances"][1]
    at = {number: BEGIN_MS + 5_000 * number for number in range(16)}
    assert (cost["at_ms"], cost["settled_ms"], cost["moved"]) == (at[5], at[8], 1)
    assert (cost["unassigned_partition_ms"], cost["records_waited"]) == (15_000, 30)
    assert cost["caught_up_ms"] == at[14]
    assert cost["read_twice_least"] == 0
    lines = {line["member"]: line["records"] for line in answer["lines"]}
    assert lines["a"] == [0] * 16
    assert lines["b"][8:] == [30, 25, 20, 15, 10, 5, 0, 0]
    [topic] = client.get(f"/api/timelines/{timeline.pk}/lag?by=topic").json()["lines"]
    assert (topic["topic"], topic["records"]) == ("orders", answer["total"]["records"])
    out = StringIO()
    call_command("timeline", "lag", timeline.pk, "--rebalances", stdout=out)
    assert [orjson.loads(line) for line in out.getvalue().splitlines()] == answer["rebalances"]


def test_a_member_that_falls_behind_alone_is_named_by_the_api_and_the_command(
    cluster: Cluster, client: Client
) -> None:
    store, keeper = Store(cluster, OWNER), PositionKeeper(cluster, OWNER)
    shares = {"a": ((0,), (0,)), "b": ((1,), (1,))}
    for number in range(12):
        store.take(round_of(BEGIN_MS + 5_000 * number, described("billing", shares, epoch=3)))
        read = 10 * number
        keeper.take(positions(number, (read, read // 2), (read, read)))
    timeline = Timeline.objects.get(cluster_id=cluster.pk)
    answer: dict[str, Any] = client.get(f"/api/timelines/{timeline.pk}/lag").json()
    [skew] = answer["skew"]
    assert skew == {
        "kind": "slow-member", "partitions": ["orders-1"], "member": "b", "before": 0, "after": 55, "written_times": None
    }  # fmt: skip
    out = StringIO()
    call_command("timeline", "lag", timeline.pk, "--skew", stdout=out)
    assert [orjson.loads(line) for line in out.getvalue().splitlines()] == [skew]


@pytest.mark.parametrize("query", ["by=host", "from=3&to=2", "points=5000", "points=x", "from=0"])
def test_a_lag_that_cannot_be_asked_for_is_refused_in_one_line(
    cluster: Cluster, client: Client, query: str
) -> None:
    answer = client.get(f"/api/timelines/{polled(cluster).pk}/lag?{query}")
    assert answer.status_code == 400
    assert len(answer.json()["error"]["message"].splitlines()) == 1


def test_a_timeline_without_end_offsets_says_so(cluster: Cluster, client: Client) -> None:
    timeline = polled(cluster)
    OffsetBlock.objects.all().delete()
    answer = client.get(f"/api/timelines/{timeline.pk}/lag").json()
    assert (answer["problem"], answer["times_ms"], answer["lines"]) == (
        NO_ENDS[Timeline.Source.LIVE],
        [],
        [],
    )
