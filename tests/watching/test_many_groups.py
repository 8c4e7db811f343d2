"""A cluster of more groups than are recorded at once: listed at once, begun round by round, and let go where they rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.following.partition import PartitionLog
from groups.history.following.topics import TopicFacts
from groups.history.polls.description import GroupDescription, GroupKind
from groups.models import Timeline
from groups.watching import live_group, storing
from groups.watching import registry as clusters
from groups.watching.alerts import registry
from groups.watching.alerts.looking import Lookout
from groups.watching.checking import DIFFERS_AFTER_MS, Checks
from groups.watching.log_storing import LogStore, Taken
from groups.watching.pulling import Round
from groups.watching.storing import Store
from tests.history.test_following import batch, epoch
from tests.watching.rounds import BEGIN_MS, described, round_of

OWNER = "test"
WHOLE = {"anna": ((0, 1, 2, 3), (0, 1, 2, 3))}
HALVES = {"anna": ((0, 1), (0, 1)), "ben": ((2, 3), (2, 3))}
FREE = {"anna": ((0, 1), (0, 1)), "ben": ((2,), (2, 3))}
"""orders-3 is released, and ben has not received it."""

NAMES = [f"group-{number}" for number in range(7)]

pytestmark = pytest.mark.django_db(transaction=True)


def cluster_of(name: str) -> Cluster:
    made = clusters.add(name, {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(made.pk, OWNER)
    return clusters.get(made.pk)


@pytest.fixture
def cluster(db: None) -> Cluster:
    return cluster_of("prod")


def at(second: float) -> int:
    return BEGIN_MS + round(second * 1000)


def begun() -> list[str]:
    return sorted(Timeline.objects.values_list("group", flat=True))


def described_all(shares: Any, epoch: int, names: list[str] = NAMES) -> list[GroupDescription]:
    return [described(name, shares, epoch=epoch) for name in names]


def test_all_groups_are_listed_after_the_first_round_and_their_timelines_begin_in_the_rounds_that_follow(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "FIRST_AT_ONCE", 3)
    store = Store(cluster, OWNER)
    busy = described("group-5", FREE, epoch=4, state="Reconciling")
    rows = store.take(round_of(at(0), *described_all(WHOLE, 3, [n for n in NAMES if n != "group-5"]), busy))
    assert sorted(row["group"] for row in rows) == NAMES
    assert {row["group"]: row["members"] for row in rows}["group-5"] == 2
    assert WatchedGroup.objects.count() == len(NAMES)
    # What rebalances comes first.
    assert begun() == ["group-0", "group-1", "group-5"]
    rows = store.take(quiet(at(1)))
    assert begun() == [*NAMES[:4], "group-4", "group-5"]
    assert all(row["timeline"] for row in rows)
    store.take(quiet(at(2)))
    assert begun() == NAMES
    assert store.take(quiet(at(3))) == []
    # What was seen in the first round is told as of then.
    last = Timeline.objects.get(group="group-6")
    assert {entry["at_ms"] for entry in storage.every_entry(last)} == {at(0)}


def quiet(at_ms: int) -> Round:
    """A round that lists the same groups, and in which no answer changed."""
    seen = round_of(at_ms, *described_all(WHOLE, 3))
    return replace(seen, answers={})


def test_a_group_that_changes_before_its_timeline_begins_begins_with_what_it_became(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "FIRST_AT_ONCE", 1)
    store = Store(cluster, OWNER)
    store.take(round_of(at(0), *described_all(WHOLE, 3, NAMES[:2])))
    assert begun() == ["group-0"]
    store.take(round_of(at(1), *described_all(HALVES, 4, NAMES[:2])))
    timeline = Timeline.objects.get(group="group-1")
    assert {entry["at_ms"] for entry in storage.every_entry(timeline)} == {at(1)}
    frame = storage.frame_at(timeline, timeline.last)
    assert frame is not None
    assert (frame["group_epoch"], sorted(frame["members"])) == (4, ["anna", "ben"])


def test_another_process_begins_the_timelines_that_the_one_before_did_not_come_to(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "FIRST_AT_ONCE", 2)
    Store(cluster, OWNER).take(round_of(at(0), *described_all(WHOLE, 3)))
    assert begun() == ["group-0", "group-1"]
    monkeypatch.setattr(storing, "FIRST_AT_ONCE", 50)
    Store(cluster, OWNER).take(round_of(at(1), *described_all(WHOLE, 3)))
    assert begun() == NAMES
    assert WatchedGroup.objects.count() == len(NAMES)


def recorded(cluster: Cluster) -> dict[str, Any]:
    """Entries and summary of each timeline, without what differs from run to run."""
    found = {}
    for timeline in Timeline.objects.filter(cluster=cluster).order_by("group", "created"):
        found[timeline.group, timeline.status] = (list(storage.every_entry(timeline)), timeline.summary)
    return found


def test_a_recorder_that_is_let_go_and_made_again_records_what_one_that_is_kept_does(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for most, checkpoint in ((200, 100_000), (1, 100_000), (1, 1)):
        monkeypatch.setattr(live_group, "WARM_MOST", most)
        monkeypatch.setattr(live_group, "CHECKPOINT_BYTES", checkpoint)
        mine = cluster_of(f"kept-{most}-{checkpoint}")
        store = Store(mine, OWNER)
        for second, shares in enumerate((WHOLE, HALVES, FREE, HALVES, WHOLE, {}, HALVES)):
            names = NAMES[: 3 + second % 3]
            store.take(round_of(at(10 * second), *described_all(shares, 3 + second, names)))
            assert len([each for each in store.groups.values() if each.recorder is not None]) <= most
        told.append(recorded(mine))
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 5


def test_an_alert_knows_what_was_open_in_a_group_whose_recorder_was_let_go(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_group, "WARM_MOST", 1)
    registry.add(cluster, {"kind": "unassigned", "for_s": 30})
    store, lookout = Store(cluster, OWNER), Lookout(cluster)

    def says(second: float, *some: GroupDescription) -> list[str]:
        store.take(replace(round_of(at(second), *some), listing=listing))
        lookout._looked_s = None
        return [each["says"] for each in lookout.look(store.groups, at(second))]

    listing = round_of(at(0), *described_all(HALVES, 3, ["orders", "other"])).listing
    says(0, *described_all(HALVES, 3, ["orders", "other"]))
    says(1, described("orders", FREE, epoch=4, state="Reconciling"))
    assert says(2, described("other", WHOLE, epoch=4)) == []
    assert store.groups["orders"].recorder is None
    [said] = says(40, described("other", HALVES, epoch=5))
    assert said.startswith("orders-3 has been unassigned for ")


def test_a_followed_group_that_is_let_go_goes_on_as_if_it_had_been_kept_and_is_still_compared(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for most in (200, 1):
        monkeypatch.setattr(live_group, "WARM_MOST", most)
        mine = cluster_of(f"followed-{most}")
        store = LogStore(mine, OWNER)
        store.begin()
        log, base = PartitionLog(partition=0), 0
        for number in range(1, 5):
            data = b"".join(batch(base + place, epoch(number, name)) for place, name in enumerate(NAMES[:3]))
            base += 3
            store.take([Taken(log, list(log.take(data)), True, log.position)], {"foo": TopicFacts(None, 3)})
        assert len([each for each in store.groups.values() if each.recorder is not None]) == min(most, 3)
        told.append(recorded(mine))
        checks = Checks(store)
        wrong = GroupDescription(
            group="group-0", kind=GroupKind.CONSUMER, state="Empty", group_epoch=9, assignment_epoch=9
        )
        checks.take(round_of(at(0), wrong), at_end=True)
        checks.take(replace(round_of(BEGIN_MS + DIFFERS_AFTER_MS, wrong), answers={}), at_end=True)
        assert checks.different == 1
    assert told[0] == told[1]
