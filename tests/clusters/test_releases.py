"""The comparison with Kafka's own tool sees what differs, and reads the tables of each release."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.broker import jars
from tests.clusters.releases.__main__ import run
from tests.clusters.releases.new_kinds import read_share, read_streams
from tests.clusters.releases.tool import GroupFacts, MemberFacts, differences, read

PLANTED = 50

GROUP = GroupFacts(
    state="Reconciling",
    members={
        name: MemberFacts(
            partitions=frozenset(f"foo-{number}" for number in own),
            epoch=epoch,
            target_epoch=7,
            target=frozenset(f"foo-{number}" for number in wants),
        )
        for name, own, epoch, wants in (
            ("a", (0, 1, 2), 6, (0, 1)),
            ("b", (3, 4), 7, (3, 4)),
            ("c", (), 7, (2,)),
        )
    },
    group_epoch=7,
    assignment_epoch=7,
)


def planted(draw: random.Random) -> GroupFacts:
    """The group with one thing changed, of any kind."""
    name = draw.choice(sorted(GROUP.members))
    member = GROUP.members[name]
    others = {other: each for other, each in GROUP.members.items() if other != name}
    return draw.choice(
        (
            GROUP._replace(state="Stable"),
            GROUP._replace(group_epoch=draw.choice((6, 8))),
            GROUP._replace(assignment_epoch=6),
            GROUP._replace(members=others),
            GROUP._replace(members=GROUP.members | {"d": member}),
            GROUP._replace(members=others | {name: member._replace(epoch=draw.choice((5, 8)))}),
            GROUP._replace(members=others | {name: member._replace(target_epoch=6)}),
            GROUP._replace(members=others | {name: member._replace(partitions=member.partitions | {"foo-9"})}),
            GROUP._replace(members=others | {name: member._replace(partitions=frozenset(sorted(member.partitions)[1:]) | {"bar-0"})}),
            GROUP._replace(members=others | {name: member._replace(target=frozenset(sorted(member.target or ())[1:]))}),
        )
    )  # fmt: skip


def test_fifty_planted_differences_are_all_found_on_either_side() -> None:
    assert differences(GROUP, GROUP) == []
    draw = random.Random(848)
    for _ in range(PLANTED):
        other = planted(draw)
        assert differences(GROUP, other)
        assert differences(other, GROUP)


def test_the_tables_of_each_release_are_read() -> None:
    new = read(
        "\nGROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH TARGET-ASSIGNMENT\n"
        "g a-1 /h a 2 6 foo:0,1;bar:2 7 -\n",
        "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH #MEMBERS\n"
        "g 127.0.0.1:9092  (1) uniform Reconciling 7 7 1\n",
    )
    assert new is not None
    assert new.members == {"a-1": MemberFacts(frozenset({"foo-0", "foo-1", "bar-2"}), 6, 7, frozenset())}
    assert (new.state, new.group_epoch, new.assignment_epoch) == ("Reconciling", 7, 7)
    old = read(
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\ng a-1 /h a 3 foo(0,1), bar(2)\n",
        "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\ng 127.0.0.1:9092 (1) range Stable 1\n",
    )
    assert old is not None
    assert old.members == {"a-1": MemberFacts(frozenset({"foo-0", "foo-1", "bar-2"}))}
    assert (old.state, old.group_epoch) == ("Stable", None)
    assert read("Error: no such group", "") is None


def test_the_tables_of_share_and_streams_groups_are_read() -> None:
    """As 4.3.1 printed them."""
    share = read_share(
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS MEMBER-EPOCH ASSIGNMENT\ng m1 /h c 4 3 jobs:0,1,2,3\ng m2 /h c 0 4 \n",
        "\nGROUP COORDINATOR (ID) STATE GROUP-EPOCH ASSIGNMENT-EPOCH #MEMBERS\ng 127.0.0.1:9092  (1) Stable 5 4 2\n",
    )
    jobs = frozenset(f"jobs-{number}" for number in range(4))
    assert share == GroupFacts(
        "Stable", {"m1": MemberFacts(jobs, 3), "m2": MemberFacts(frozenset(), 4)}, 5, 4
    )
    streams = read_streams(
        "GROUP TARGET-ASSIGNMENT-EPOCH TOPOLOGY-EPOCH MEMBER MEMBER-PROTOCOL MEMBER-EPOCH PROCESS CLIENT-ID ASSIGNMENTS\n"
        "g 4 0 s2 streams 3 p2 c STANDBY: 0:[0,1]; TARGET-ACTIVE: 0:[2,3]; 1:[2]; TARGET-STANDBY: 0:[0,1]; \n"
        "g 4 0 s3 streams 4 p3 c \n",
        "GROUP COORDINATOR (ID) STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH #MEMBERS\ng 127.0.0.1:9092 (1) Reconciling 4 4 2\n",
    )
    assert streams is not None
    standby = {"standby 0-0", "standby 0-1"}
    assert streams.members["s2"] == MemberFacts(
        frozenset(standby), 3, 4, frozenset({"active 0-2", "active 0-3", "active 1-2"} | standby)
    )
    assert streams.members["s3"] == MemberFacts(frozenset(), 4, 4, frozenset())


@pytest.mark.broker
@pytest.mark.once
def test_frames_of_living_groups_are_what_kafkas_own_tool_prints(
    released_broker_jars: str, tmp_path: Path
) -> None:
    """Small here; ``python -m tests.clusters.releases`` does it at length, and on older releases."""
    report = run(jars.RELEASE, 2, 10, tmp_path)
    assert report["differences"] == []
    assert report["by_state"]["Reconciling"] >= 10
    assert report["groups"] == [
        "modern", "moving", "old", "old-seats", "regex", "seats", "share-orders", "streams-counts"
    ]  # fmt: skip
    assert min(report["by_group"][group] for group in ("share-orders", "streams-counts")) >= 10
