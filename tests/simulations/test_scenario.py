"""Scenarios: what a good one becomes."""

from __future__ import annotations

import pytest

from groups.history.state.group import Semantics
from simulations.world.scenario import Event, How, Verb, load
from simulations.world.scenario.environment import WORLDS

GOOD = """\
name: three of them
proposal: KIP-848
group: orders
semantics: kip
assignor: range
topics:
  foo: {partitions: 6}
  bar: {partitions: 2, id: cLledStpRu6ixDUvA4jVgA}
config: {session_timeout_ms: 6000, heartbeat_interval_ms: 1000, assignment_interval_ms: 0}
start:
  group_epoch: 22
  assignment_epoch: 21
  members:
    A: {epoch: 21, owned: {foo: [2, 0]}, heartbeat_at: 1s}
members:
  A: {subscribe: [foo]}
  B: {subscribe: [foo, bar], client_id: b-1, rack_id: r1, assignor: uniform, rebalance_timeout_ms: 5000}
network: {delay_ms: [0, 9], loss: 0.0, duplicate: 0}
script:
  - {at: 12s, join: B}
  - {at: 1.5s, slow_revoke: [A, B], for: 500ms}
  - {at: 2m, add_partitions: foo, to: 8}
steps:
  - {after: target, says: computed}
  - {after: {gains: B}, says: more for B}
  - {after: {removed: A~2}, says: gone}
start_ms: 1000
seed: 7
until: 3m
"""


def test_a_scenario_is_read_whole() -> None:
    scenario = load(GOOD, "case")
    assert (scenario.title, scenario.group, scenario.semantics) == ("three of them", "orders", Semantics.KIP)
    assert scenario.settings.assignors == ("range", "uniform")
    assert scenario.topics["bar"].topic_id == "cLledStpRu6ixDUvA4jVgA"
    assert (scenario.members["A"].client_id, scenario.members["A"].client_host) == ("a", "/10.0.0.1")
    assert scenario.members["B"].assignor == "uniform"
    assert scenario.start is not None
    assert scenario.start.members[0].owned == {"foo": (2, 0)}, "in document order"
    assert scenario.start.members[0].target == {"foo": (2, 0)}
    assert [(a.at_ms, a.verb, a.who) for a in scenario.script] == [
        (1_500, Verb.SLOW_REVOKE, "A"),
        (1_500, Verb.SLOW_REVOKE, "B"),
        (12_000, Verb.JOIN, "B"),
        (120_000, Verb.ADD_PARTITIONS, "foo"),
    ]
    assert [(step.event, step.who) for step in scenario.steps] == [
        (Event.TARGET, None),
        (Event.GAINS, "B"),
        (Event.REMOVED, "A~2"),
    ]
    assert (scenario.network.delay_ms, scenario.until_ms, scenario.seed) == ((0, 9), 180_000, 7)


EVERYTHING = """\
group: orders
topics:
  foo: {partitions: 2, racks: {0: [r1, r2], 1: [r2]}}
config: {assignors: [range, uniform], append_linger_ms: 5, offsets_retention_minutes: 1, max_session_timeout_ms: 90000}
world: stormy
network: {loss: 0}
metadata_delay_ms: 0
start:
  group_epoch: 2
  assignment_epoch: 2
  members: {A: {epoch: 2, owned: {foo: [0, 1]}}}
  offsets: {foo: {1: 42}}
members:
  A: {regex: 'f.*', auto_commit: true, auto_commit_interval_ms: 100}
  B: {subscribe: [foo, bar]}
script:
  - {at: 1s, create_topic: bar, partitions: 3, racks: {2: [r1]}, id: cLledStpRu6ixDUvA4jVgA}
  - {at: 1s, subscribe: A, regex: '.*'}
  - {at: 2s, cut: A}
  - {at: 2s, cut: [A, coordinator]}
  - {at: 3s, heal: [A, coordinator]}
  - {at: 3s, heal: everything}
  - {at: 4s, network: {loss: 0.5, delay_ms: [0, 1]}}
  - {at: 5s, clock_jump: [A, coordinator], by: -2s}
  - {at: 6s, set_config: {session_timeout_ms: 80000}}
  - {at: 7s, fail_over: coordinator, how: crash, lost: 2, loading: 3s, from: compacted}
  - {at: 8s, leave: A, how: remain}
  - {at: 9s, delete_topic: bar}
  - {at: 9s, delete_group: orders}
  - {at: 9s, expire_offsets: orders}
"""


def test_every_verb_says_what_it_needs() -> None:
    scenario = load(EVERYTHING)
    actions = {action.verb: action for action in scenario.script}
    created = actions[Verb.CREATE_TOPIC]
    assert (created.who, created.partitions, created.racks) == ("bar", 3, {2: ("r1",)})
    assert created.topic_id == "cLledStpRu6ixDUvA4jVgA"
    assert actions[Verb.SUBSCRIBE].regex == ".*"
    assert [(a.who, a.peer) for a in scenario.script if a.verb is Verb.CUT] == [
        ("A", None),
        ("A", "coordinator"),
    ]
    assert [(a.who, a.peer) for a in scenario.script if a.verb is Verb.HEAL] == [
        ("A", "coordinator"),
        ("everything", None),
    ]
    assert actions[Verb.NETWORK].rates == {"loss": 0.5, "delay_ms": (0, 1)}
    jumps = [(a.who, a.length_ms) for a in scenario.script if a.verb is Verb.CLOCK_JUMP]
    assert jumps == [("A", -2_000), ("coordinator", -2_000)]
    assert actions[Verb.SET_CONFIG].config == {"session_timeout_ms": 80_000}
    over = actions[Verb.FAIL_OVER]
    assert (over.how, over.lost, over.loading_ms, over.compacted) == (How.CRASH, 2, 3_000, True)
    assert actions[Verb.LEAVE].how is How.REMAIN
    assert scenario.settings.assignors == ("range", "uniform")
    assert scenario.topics["foo"].racks == {0: ("r1", "r2"), 1: ("r2",)}
    assert (scenario.members["A"].regex, scenario.members["A"].auto_commit) == ("f.*", True)
    assert scenario.start is not None
    assert scenario.start.offsets == {"foo": {1: 42}}


def test_a_preset_is_overridden_by_what_the_scenario_says_itself() -> None:
    scenario, stormy = load(EVERYTHING), WORLDS["stormy"]
    assert scenario.world == "stormy"
    assert (scenario.network.loss, scenario.network.reorder) == (0, stormy.network.reorder)
    assert (scenario.metadata_delay_ms, scenario.replication_ms) == (0, stormy.replication_ms)


def test_what_is_left_out_has_a_default() -> None:
    scenario = load(
        "{topics: {foo: {partitions: 1}}, members: {A: {subscribe: [foo]}}, script: [{at: 0s, join: A}]}"
    )
    assert (scenario.semantics, scenario.until_ms, scenario.seed) == (Semantics.KAFKA, 60_000, 1)
    assert scenario.settings.session_timeout_ms == 45_000
    assert scenario.start is None


@pytest.mark.parametrize(
    ("named", "row"), [("2.8", "2.5"), ("2.8.2", "2.5"), ("3.9", "3.5"), ("4.3", "4.3"), ("9.0", "4.3")]
)
def test_a_client_between_two_releases_of_the_table_is_as_the_older(named: str, row: str) -> None:
    text = f"topics: {{a: {{partitions: 1}}}}\nmembers: {{A: {{subscribe: [a], protocol: classic, client: '{named}'}}}}\nscript: []"
    classic = load(text).members["A"].classic
    assert classic is not None
    assert classic.client == row
