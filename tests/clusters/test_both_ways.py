"""One group, watched in both ways at once: its rows are equal, and are what its coordinator describes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groups import storage
from groups.alert_models import Alert
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.frames.shapes import Frame
from groups.history.polls.description import GroupDescription
from groups.history.state.classic_group import BETWEEN
from groups.watching import registry
from groups.watching.alerts import registry as alerts
from groups.watching.rows import row_of
from tests.broker.members import CLASSIC, Member
from tests.broker.node import wait_for_coordinator
from tests.clusters.endless import endless
from tests.clusters.secure import Secure
from tests.clusters.watched import Watch, described, members, topic, until

__all__ = ["members", "topic"]

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

AGREE_S = 15
"""Within so long both ways show what the coordinator describes; a fast group changes on meanwhile."""

APART_MS = 10_000
"""Both ways look at times of their own, and rounds are late on a busy machine."""


@pytest.fixture
def both(secure: Secure) -> Iterator[tuple[Cluster, Cluster]]:
    """The same cluster twice, followed and polled, both under way."""
    wait_for_coordinator(secure.node, "any")
    followed, polled = (registry.add(name, secure.properties("scram-512")) for name in ("followed", "polled"))
    with Watch(followed, follow=True), Watch(polled, follow=False):
        until(lambda: registry.get(followed.pk).seen.get("follow", {}).get("at_end"))
        until(lambda: registry.get(polled.pk).seen)
        yield followed, polled


def shown(cluster: Cluster, group: str) -> Any:
    row = WatchedGroup.objects.filter(cluster=cluster, group=group).first()
    return None if row is None else row_of(row)


def board(cluster: Cluster, group: str, sequence: int | None = None) -> Frame:
    """What the group's board shows, by default at its end."""
    timeline = WatchedGroup.objects.get(cluster=cluster, group=group).timeline
    assert timeline is not None
    frame = storage.frame_at(timeline, sequence or storage.get(timeline.pk).last)
    assert frame is not None
    return frame


def noted(cluster: Cluster, group: str) -> list[Any]:
    """The settings that the group's timeline contains."""
    timeline = WatchedGroup.objects.get(cluster=cluster, group=group).timeline
    assert timeline is not None
    payloads: list[Any] = [each["payload"] for each in storage.every_entry(timeline)]
    return [each["settings"] for each in payloads if each.get("note") == "settings"]


def agreed(secure: Secure, both: tuple[Cluster, Cluster], group: str, **wanted: Any) -> dict[str, Any]:
    """The followed row, once both rows are equal, have these facts, and are what the coordinator describes."""
    deadline, why = time.monotonic() + AGREE_S, "no row"
    while time.monotonic() < deadline:
        rows = [shown(cluster, group) for cluster in both]
        if None not in rows:
            before = described(secure, group)
            first, second = (shown(cluster, group) or {} for cluster in both)
            why = _difference(first, second, before, wanted)
            if not why and described(secure, group) == before:
                return first
        time.sleep(0.1)
    raise AssertionError(why)


def _difference(
    first: dict[str, Any], second: dict[str, Any], told: GroupDescription, wanted: dict[str, Any]
) -> str:
    """What differs between both rows, the coordinator's description and what is wanted; empty for nothing."""
    facts = {
        "type": told.kind.value, "state": told.state, "members": len(told.members), "group_epoch": told.group_epoch,
        "assignment_epoch": told.assignment_epoch, "rebalancing": told.is_rebalancing, "condition": "seen", **wanted,
    }  # fmt: skip
    found = [
        f"{name}: {first[name]} followed, {second[name]} polled, {value} is right"
        for name, value in facts.items()
        if not first[name] == second[name] == value
    ]
    # Between its two phases a group goes to and fro faster than both ways look.
    names = ["since_ms"] if told.is_rebalancing else ["since_ms", "state_since_ms"]
    pairs = [(name, first[name], second[name]) for name in names]
    found += [
        f"{name}: {one} followed, {other} polled"
        for name, one, other in pairs
        if one != other and (None in (one, other) or abs(one - other) > APART_MS)
    ]
    return "; ".join(found)


def test_a_classic_group_that_cannot_finish_a_rebalance_has_the_same_row_in_both_ways_and_no_false_alert(
    secure: Secure, both: tuple[Cluster, Cluster], topic: str
) -> None:
    group = f"endless-{topic}"
    for cluster in both:
        alerts.add(cluster, {"kind": "empty", "for_s": 1})
        alerts.add(cluster, {"kind": "stuck", "for_s": 4})
    with endless(secure.node, group, topic) as mended:
        agreed(secure, both, group, members=2, rebalancing=True)
        counts = [len(shown(cluster, group)["rebalanced_ms"]) for cluster in both]
        until(lambda: Alert.objects.filter(group=group).count() == 2, AGREE_S)
        assert {(each.rule.kind, each.cluster_id) for each in Alert.objects.filter(group=group)} == {
            ("stuck", cluster.pk) for cluster in both
        }
        for cluster in both:
            row = shown(cluster, group)
            assert row is not None
            assert row["since_ms"] is not None
            assert time.time() * 1000 - row["since_ms"] >= 4_000
        assert [len(shown(cluster, group)["rebalanced_ms"]) for cluster in both] == counts == [1, 1]
        for cluster in both:
            # Its board shows what the coordinator describes, and the alert leads to where that began.
            frame = board(cluster, group)
            assert frame["state"] in BETWEEN
            assert len(frame["members"]) == 2
            [alert] = Alert.objects.filter(group=group, cluster=cluster)
            shown_at = board(cluster, group, alert.sequence)
            assert shown_at["state"] in BETWEEN
            assert abs(shown_at["at_ms"] - shown(cluster, group)["since_ms"]) <= APART_MS
        mended.set()
        agreed(secure, both, group, members=2, rebalancing=False, state="Stable")
        until(lambda: not Alert.objects.filter(group=group, ended_ms=None).exists(), AGREE_S)
        for cluster in both:
            until(lambda cluster=cluster: board(cluster, group)["state"] == "Stable", AGREE_S)


def test_members_that_come_and_go_have_the_same_row_in_both_ways(
    secure: Secure, both: tuple[Cluster, Cluster], members: Callable[..., Member], topic: str
) -> None:
    for name, settings in (("consumer", None), ("classic", CLASSIC)):
        group = f"{name}-{topic}"
        more = () if settings is None else (settings,)
        first = members("a", group, topic, *more)
        agreed(secure, both, group, members=1, rebalancing=False, state="Stable")
        counts = [len(shown(cluster, group)["rebalanced_ms"]) for cluster in both]
        second = members("b", group, topic, *more)
        agreed(secure, both, group, members=2, rebalancing=False, state="Stable")
        more_rebalances = [len(shown(cluster, group)["rebalanced_ms"]) for cluster in both]
        followed, polled = (later - one for one, later in zip(counts, more_rebalances, strict=True))
        # On a busy machine a member joins twice, and two rebalances between two polls are seen as one.
        assert followed >= polled >= 1
        second.kill()
        agreed(secure, both, group, members=1, rebalancing=False, state="Stable")
        first.leave()
        agreed(secure, both, group, members=0, rebalancing=False, state="Empty")
        # A classic client brings its own session timeout; that of the others is the broker's.
        known = [{"consumer.session.timeout.ms": 6000}] if name == "consumer" else []
        assert [noted(cluster, group) for cluster in both] == [known, known]


def test_a_planted_difference_is_found(
    secure: Secure, both: tuple[Cluster, Cluster], members: Callable[..., Member], topic: str
) -> None:
    group = f"planted-{topic}"
    members("a", group, topic)
    agreed(secure, both, group, members=1)
    WatchedGroup.objects.filter(cluster=both[0], group=group).update(state="Reconciling")
    with pytest.raises(AssertionError, match="state: Reconciling followed, Stable polled, Stable is right"):
        agreed(secure, both, group)
