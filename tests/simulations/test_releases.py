"""Rules that depend on the broker's release: what each changes, alone and by release, and the tie that 4.4.0 rebalances by for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Final

import pytest

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.releases import EARLIER, NEWEST, OLDER, TABLE, Release, Rules, UnknownRelease, release_of
from simulations.invariants.ties import AssignorTies
from simulations.protocol.assignors.java_orders import string_hash
from simulations.protocol.coordinator.errors import ConfigRefused
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.protocol.messages.classic_requests import JoinGroup
from simulations.protocol.messages.groups import CommittedOffset, TransactionalCommit
from simulations.world.engine import run
from simulations.world.scenario import ScenarioError, load
from tests.house import releases_page
from tests.simulations.broker import FOO, GROUP, Broker


@contextmanager
def with_rule(release: Release, rule: str, holds: bool) -> Iterator[None]:
    before = release.rules
    release.rules = replace(before, **{rule: holds})
    try:
        yield
    finally:
        release.rules = before


def written(broker: Broker) -> list[tuple[int, bool]]:
    return [(record["type"], record["value"] is None) for record in broker.last.records]


def two(release: Release, a: str | None, b: str | None, **settings: Any) -> Broker:
    """A and B, converged, who ask for these assignors."""
    broker = Broker(release=release, foo=6, **{"assignment_interval_ms": 0, **settings})
    broker.join("A", server_assignor=a)
    broker.join("B", server_assignor=b)
    converge(broker)
    return broker


def converge(broker: Broker) -> None:
    for _ in range(3):
        for name in tuple(broker.group.members):
            target = {topic: tuple(numbers) for topic, numbers in broker.group.target.get(name, {}).items()}
            broker.heartbeat(name, broker.member(name).epoch, target)


# -- the table


def test_the_table_has_a_row_with_a_source_for_each_rule() -> None:
    assert {rule.name for rule in TABLE} == {field.name for field in fields(Rules)}
    assert all(rule.source and rule.before and rule.now and rule.before != rule.now for rule in TABLE)


def test_a_release_follows_the_rules_that_began_with_it_or_before() -> None:
    assert not any(getattr(Release.V3_9.rules, field.name) for field in fields(Rules))
    assert all(getattr(NEWEST.rules, field.name) for field in fields(Rules))
    since = {rule.name for rule in TABLE if getattr(EARLIER.rules, rule.name)}
    assert since == {"consumer_protocol", "disabled_policy_refuses_joins"}
    assert not Release.V4_3_0.rules.disabled_policy_refuses_joins


def test_a_release_is_called_by_its_name_or_by_its_minor_release() -> None:
    assert release_of("4.3") is Release.V4_3_1 is EARLIER
    assert release_of("4.4") is Release.V4_4_0 is NEWEST
    with pytest.raises(UnknownRelease, match=r"4\.9 is not a release that is simulated: there are 3\.9, "):
        release_of("4.9")


# -- each rule, alone: what a group does with it and without


def tied(release: Release) -> object:
    broker = two(release, "range", "uniform")
    before = broker.group.group_epoch
    broker.heartbeat("A", before, {})
    return broker.group.group_epoch - before, written(broker)


def emptied(release: Release) -> object:
    broker = two(release, None, None)
    broker.heartbeat("A", -1)
    broker.heartbeat("B", -1)
    return written(broker), broker.group.group_epoch - broker.group.assignment_epoch


def full(release: Release) -> object:
    broker = Broker(release=release, max_size=2)
    broker.join("A", instance_id="i-A")
    broker.join("B")
    broker.heartbeat("A", -2, instance_id="i-A")
    return int(broker.join("A~2", instance_id="i-A").error_code), int(
        broker.join("C", instance_id="i-C").error_code
    )


def renamed(release: Release) -> object:
    broker = Broker(release=release)
    broker.join("A", instance_id="i")
    broker.join("A", instance_id="j")
    known = broker.heartbeat("A", broker.member("A").epoch, {}, instance_id="i")
    return int(known.error_code), int(broker.join("B", instance_id="i").error_code)


def replaced(release: Release) -> object:
    broker = Broker(release=release, foo=4, assignment_interval_ms=0)
    for name in "AB":
        broker.join(name, instance_id=f"i-{name}")
    for _ in range(3):
        for name in "AB":
            target = {topic: tuple(numbers) for topic, numbers in broker.group.target[name].items()}
            broker.heartbeat(name, broker.member(name).epoch, target, instance_id=f"i-{name}")
    broker.heartbeat("A", -2, instance_id="i-A")
    # A topic that does not exist: a reason for an epoch, and for no other target.
    broker.join("A~2", "foo", "nothing", instance_id="i-A")
    return [
        record["key"].get("memberId")
        for record in broker.last.records
        if record["type"] == 7 and record["value"]
    ]


def _named(bucket: int, start: str) -> str:
    """A member id whose hash is in this one of 32 buckets."""
    return next(
        name
        for name in (f"{start}{number}" for number in range(10_000))
        if (string_hash(name) ^ string_hash(name) >> 16) & 31 == bucket
    )


def table_of_twelve(release: Release) -> object:
    """Twelve static members just fill a table of 16: the order shows whether the joiner made it grow before one left."""
    holder, joiner = _named(30, "h"), _named(13, "j")
    others = [_named(bucket, "m") for bucket in (0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10)]
    broker = Broker(release=release, foo=12, assignment_interval_ms=0)
    for name in (holder, *others):
        broker.join(name, instance_id=f"i-{name}")
    broker.heartbeat(holder, -2, instance_id=f"i-{holder}")
    broker.grow("foo", 24)
    broker.join(joiner, instance_id=f"i-{holder}")
    return [record["key"].get("memberId") for record in broker.last.records if record["type"] == 7]


def classic_join(release: Release, metadata: bytes, **settings: Any) -> int:
    broker = two(release, None, None, **settings)
    request = JoinGroup(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id="C",
        protocols=(("range", metadata),),
    )
    outcome = broker.shard.join(request, broker.now_ms, ticket=1)
    answers = [int(parked.answer.error_code) for parked in outcome.parked_answers]
    return answers[0] if answers else 0


def malformed(release: Release) -> object:
    return classic_join(release, b"")


SUBSCRIPTION: Final = b"\x00\x00\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff"
"""Version 0: the topic foo, no user data."""


def disabled(release: Release) -> object:
    return classic_join(release, SUBSCRIPTION, migration_policy=MigrationPolicy.DISABLED)


def in_transaction(release: Release) -> object:
    broker = Broker(release=release)
    offset = CommittedOffset(topic="foo", topic_id=FOO, partition=0, offset=1)
    request = TransactionalCommit(
        group_id=GROUP,
        member_id="",
        member_epoch=-1,
        offsets=(offset,),
        transactional_id="p",
        producer_id=7,
        version=5,
    )
    [record] = broker.shard.commit(request, 0).records
    return "topicId" in (record["value"] or {})


def out_of_range(release: Release) -> object:
    with pytest.raises(ConfigRefused) as refused:
        Broker(release=release).shard.configure({"session_timeout_ms": 44_999})
    return refused.value.message


SHOWN: Final[Mapping[str, tuple[Callable[[Release], object], object, object]]] = {
    "assignor_change_bumps": (tied, (0, []), (1, [(3, False), (6, False), (8, False)])),
    "emptied_writes_target_epoch": (
        emptied,
        ([(8, True), (7, True), (5, True), (3, False)], 2),
        ([(8, True), (7, True), (5, True), (3, False), (6, False)], 0),
    ),
    "full_group_admits_instances": (full, (81, 81), (0, 81)),
    "instance_follows_member": (renamed, (0, 111), (25, 0)),
    "malformed_join_is_inconsistent": (malformed, -1, 23),
    "disabled_policy_refuses_joins": (disabled, 0, 23),
    "transactions_have_topic_ids": (in_transaction, False, True),
    "setting_out_of_range_names_it": (
        out_of_range,
        "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
    ),
}
"""By rule: what shows it, what it shows without the rule, and with it."""


@pytest.mark.parametrize("rule", SHOWN)
@pytest.mark.parametrize("release", [Release.V4_3_1, Release.V4_4_0])
def test_each_rule_alone_makes_the_difference(rule: str, release: Release) -> None:
    show, without, with_it = SHOWN[rule]
    for holds, expected in ((False, without), (True, with_it)):
        with with_rule(release, rule, holds):
            assert show(release) == expected


@pytest.mark.parametrize("release", [Release.V4_3_1, Release.V4_4_0])
def test_a_replacement_gets_a_second_target_only_if_it_is_another_one(release: Release) -> None:
    for holds, count in ((False, 2), (True, 1)):
        with with_rule(release, "replacement_target_only_if_changed", holds):
            shown = replaced(release)
        assert isinstance(shown, list)
        assert shown == ["A~2"] * count


@pytest.mark.parametrize("release", [Release.V4_3_1, Release.V4_4_0])
def test_the_table_of_twelve_members_grows_only_where_the_replaced_one_was_put_into_it(
    release: Release,
) -> None:
    told = []
    for holds in (False, True):
        with with_rule(release, "replaced_member_never_in_table", holds):
            told.append(table_of_twelve(release))
    assert set(map(str, told[0])) == set(map(str, told[1]))
    assert told[0] != told[1]


# -- the tie

TIE: Final = """
group: orders
brokers: {release}
topics: {{orders: {{partitions: 6}}}}
config: {config}
members: {members}
script: {script}
until: 90s
"""


def tie(release: str, *assignors: str | None, config: str = "{}", script: str | None = None) -> list[Entry]:
    names = "ABCDEF"[: len(assignors)]
    members = ", ".join(
        f"{name}: {{subscribe: [orders]{f', assignor: {assignor}' if assignor else ''}}}"
        for name, assignor in zip(names, assignors, strict=True)
    )
    joins = "[" + ", ".join(f"{{at: {2 * at}s, join: {name}}}" for at, name in enumerate(names)) + "]"
    return list(
        run(
            load(TIE.format(release=release, members=f"{{{members}}}", config=config, script=script or joins))
        )
    )


def epochs(log: list[Entry], after_ms: int) -> int:
    return sum(
        entry.kind is Kind.RECORD and entry.payload["type"] == 3 and entry.at_ms >= after_ms for entry in log
    )


ENDLESS: Final = (("range", "uniform"), ("range", "uniform", None), ("uniform", "range"))
QUIET: Final = (
    ("range", "range", "uniform", "uniform"),
    ("range", "range", "uniform"),
    ("range", "uniform", "uniform"),
    ("uniform", "uniform"),
    ("range", None),
    (None, None),
)


@pytest.mark.parametrize("assignors", ENDLESS)
def test_in_4_4_0_a_tie_of_one_to_one_raises_the_epoch_with_each_heartbeat_of_the_range_member(
    assignors: tuple[str | None, ...],
) -> None:
    log = tie("4.4.0", *assignors)
    assert epochs(log, 30_000) == 12, "one in each interval of 5 s until 90 s"
    assert epochs(tie("4.3.1", *assignors), 30_000) == 0


@pytest.mark.parametrize("assignors", QUIET)
@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_without_a_tie_of_one_to_one_the_group_comes_to_rest(
    release: str, assignors: tuple[str | None, ...]
) -> None:
    assert epochs(tie(release, *assignors), 30_000) == 0


def test_a_third_voter_ends_the_tie_at_once() -> None:
    joins = "[{at: 0s, join: A}, {at: 1s, join: B}, {at: 50s, join: C}]"
    log = tie("4.4.0", "range", "uniform", "uniform", script=joins)
    assert epochs(log, 30_000) > epochs(log, 50_000)
    assert epochs(log, 62_000) == 0


def test_a_roll_from_4_3_1_to_4_4_0_and_back_has_the_tie_in_between() -> None:
    script = (
        "[{at: 0s, join: A}, {at: 2s, join: B}, {at: 20s, roll: brokers, release: 4.4.0, for: 1s}, "
        "{at: 50s, roll: brokers, release: 4.3.1, for: 1s}]"
    )
    log = tie("4.3.1", "range", "uniform", script=script)
    rises = [e.at_ms for e in log if e.kind is Kind.RECORD and e.payload["type"] == 3 and e.at_ms > 10_000]
    assert rises
    assert 20_000 < rises[0] < 30_000
    assert rises[-1] < 60_000


def test_nobody_is_blamed_that_a_tied_group_does_not_rest_where_the_release_has_the_tie() -> None:
    log = tie("4.4.0", "range", "uniform")
    assert [entry.payload for entry in log if entry.payload.get("fault") == "invariant"] == []
    ends = {}
    for release in (Release.V4_3_1, Release.V4_4_0):
        ties, state = AssignorTies(), initial_state("orders")
        for entry in log:
            state = replay(state, entry)
            if entry.kind is Kind.RECORD and entry.payload["type"] in (3, 5, 6, 7, 8, 16):
                ties.record(entry, replace(state, release=release))
        ends[release] = ties.goes_on
    assert ends == {Release.V4_3_1: False, Release.V4_4_0: True}, "a release without the rule has no excuse"


def causeless(log: list[Entry]) -> list[dict[str, Any]]:
    recorder = Recorder(group="orders")
    for entry in log:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    assert batch.summary is not None
    return [one for one in batch.summary["findings"] if one["kind"] == "causeless_rebalances"]


def test_the_tie_is_found_with_who_asks_for_what_and_what_ends_it() -> None:
    [one] = causeless(tie("4.4.0", "range", "uniform"))
    assert (one["tied"], one["a_day"]) == ({"range": ["A"], "uniform": ["B"]}, 17_280)
    assert (
        "; A asks for range and B asks for uniform, and as many for the one as for the other: from Kafka 4.4 on "
        "heartbeats raise the epoch then, until all ask for one assignor or a third member decides"
    ) in one["says"]


@pytest.mark.parametrize(
    ("release", "assignors"),
    [("4.3.1", ("range", "uniform")), *(("4.4.0", assignors) for assignors in QUIET)],
)
def test_nothing_is_found_where_there_is_no_tie_or_the_release_has_none(
    release: str, assignors: tuple[str | None, ...]
) -> None:
    assert causeless(tie(release, *assignors)) == []


def test_a_classic_member_that_joins_again_does_not_end_a_tie_and_another_vote_does() -> None:
    ties, state = AssignorTies(), initial_state("orders", release=Release.V4_4_0)
    log = tie("4.4.0", "range", "uniform")
    for entry in log:
        state = replay(state, entry)
        if entry.kind is Kind.RECORD and entry.payload["type"] in (3, 5, 6, 7, 8, 16):
            ties.record(entry, state)
    assert ties.goes_on
    again = next(e for e in log if e.kind is Kind.RECORD and e.payload["type"] == 5)
    alone = replace(again, settled=True)
    ties.record(alone, state)
    assert ties.goes_on, "who joins again votes as before"
    value = {**again.payload["value"], "serverAssignor": "uniform"}
    changed = replace(alone, sequence=log[-1].sequence + 1, payload={**again.payload, "value": value})
    ties.record(changed, replay(state, changed))
    assert not ties.goes_on


# -- scenarios


def test_a_scenario_names_the_release_of_its_brokers() -> None:
    log = tie("4.4.0", None)
    assert log[0].payload["release"] == "4.4.0"
    assert "release" not in tie("'4.3'", None)[0].payload


def test_each_broker_may_run_a_release_of_its_own() -> None:
    script = "[{at: 0s, join: A}, {at: 2s, join: B}, {at: 40s, fail_over: coordinator}]"
    log = tie("{broker-1: 4.3.1, broker-2: 4.4.0}", "range", "uniform", script=script)
    runs = [entry.payload["release"] for entry in log if entry.payload.get("event") == "runs"]
    assert runs == ["4.3.1", "4.4.0", "4.3.1"]
    assert (epochs(log, 20_000), epochs(log, 40_000)) == (10, 10)
    with pytest.raises(ScenarioError, match="expected the release of broker-1"):
        tie("{broker-2: 4.4.0}", None)


def test_an_unknown_release_gets_one_line_with_those_that_there_are() -> None:
    with pytest.raises(ScenarioError) as told:
        tie("4.9.0", None)
    assert "4.9.0 is not a release that is simulated: there are 3.9, 4.3.0, 4.3.1, 4.4.0" in str(told.value)
    assert "\n" not in str(told.value)


def test_the_page_of_releases_has_every_rule() -> None:
    assert releases_page.PAGE.read_text(encoding="utf-8") == releases_page.text(), (
        "write it: python -m tests.house.releases_page write"
    )
    assert releases_page.older() == OLDER
