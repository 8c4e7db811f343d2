"""The network, clocks and metadata: what each fault means, and that one member more changes nothing for the others."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from groups.history.entries import Kind
from simulations.invariants import Checker
from tests.simulations.worlds import THREE, Disturbed, rough

ROOT = Path(__file__).resolve().parents[2]
NEVER_HEARD = 1.0

PROGRAM = """
from tests.simulations.test_world_network import hostile
for semantics in ("kip", "kafka"):
    for entry in hostile(semantics):
        print(entry.to_json())
"""


def hostile(semantics: str) -> list[Any]:
    world = Disturbed(
        THREE,
        semantics,
        7,
        replication_ms=40,
        metadata_delay_ms=900,
        network=rough(loss=0.1, duplicate=0.2, reorder=0.2),
    )
    world.at(4_000, lambda each: each.cut("A")).at(6_000, lambda each: each.heal("A"))
    world.at(7_000, lambda each: each.change_topics(lambda i: i.with_partitions("foo", 8), ("foo",)))
    world.at(8_000, lambda each: each.fail_over(crash=True, loading_ms=300))
    world.at(9_000, lambda each: each.jump_clock(each.acting.processes["B"], 20_000))
    world.at(20_000, lambda each: each.heal())
    return world.run(converges=False)


def test_a_hostile_run_is_the_same_bytes_whatever_the_seed_of_pythons_hashes() -> None:
    def printed(hash_seed: str) -> bytes:
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "explorer.settings",
        }
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        ).stdout

    first = printed("0")
    assert len(first) > 20_000
    assert printed("4242") == first


def test_a_message_that_is_lost_is_a_fault_and_its_sender_waits_for_its_request_timeout() -> None:
    world = Disturbed(network=rough())
    world.at(1, lambda each: each.change_network(rough(loss=NEVER_HEARD)))
    world.at(900, lambda each: each.change_network(rough()))
    world.run()
    lost = world.faults("lost_message")
    assert {entry.payload["way"] for entry in lost} == {"response"}, "the joins were on their way"
    again = [
        e.at_ms for e in world.of(Kind.REQUEST) if e.payload["body"]["memberEpoch"] == 0 and e.at_ms > 20
    ]
    assert again
    assert min(again) >= 30_000


def test_a_request_that_comes_twice_is_handled_twice_and_tells_everything_the_second_time() -> None:
    world = Disturbed(network=rough(duplicate=1.0))
    world.at(900, lambda each: each.heal())
    world.run()
    joins = [e for e in world.of(Kind.REQUEST) if e.actor == "A" and e.payload["body"]["memberEpoch"] == 0]
    assert len(joins) > 1
    assert len(world.faults("duplicated_message")) > 1


def test_messages_of_a_connection_keep_their_order_and_others_overtake_those_that_are_held_up() -> None:
    calm, held = Disturbed(network=rough()), Disturbed(network=rough(reorder=0.5))
    for world in (calm, held):
        world.run()

    def longest_silence(world: Disturbed) -> int:
        times = [entry.at_ms for entry in world.of(Kind.REQUEST) if entry.actor == "A"]
        return max(after - before for before, after in pairwise(times))

    assert longest_silence(calm) <= 1_040 < longest_silence(held)


def test_who_is_cut_off_is_removed_and_comes_back_when_it_is_mended() -> None:
    world = Disturbed().at(5_000, lambda each: each.cut("A")).at(20_000, lambda each: each.heal("A"))
    world.run()
    assert not [e for e in world.of(Kind.REQUEST) if e.actor == "A" and 5_010 < e.at_ms < 20_000]
    fired = world.of(Kind.TIMER, event="fired", timer="session")
    assert [entry.payload["member"] for entry in fired] == ["A"]
    assert [e.payload["fault"] for e in world.of(Kind.FAULT) if e.payload["fault"] in ("cut", "heal")] == [
        "cut",
        "heal",
    ]


def test_a_cut_of_a_pair_leaves_the_others_alone() -> None:
    world = Disturbed().at(5_000, lambda each: each.cut("A", "coordinator"))
    world.at(7_000, lambda each: each.fail_over(crash=False))
    world.run()
    requests = [e for e in world.of(Kind.REQUEST) if e.actor == "A"]
    assert requests[-1].at_ms > 50_000, "the next coordinator is within its reach"


def test_the_run_of_one_member_does_not_change_when_another_joins_later() -> None:
    def of_a(script: str) -> list[int]:
        world = Disturbed(THREE.replace(THREE[THREE.index("script") : THREE.index("until")], script + "\n"))
        world.run(converges=False)
        return [e.at_ms for e in world.of(Kind.REQUEST) if e.actor == "A" and e.at_ms < 9_000]

    alone = of_a("script: [{at: 0s, join: A}]")
    assert of_a("script: [{at: 0s, join: A}, {at: 10s, join: B}]") == alone


def test_a_process_whose_clock_jumps_forwards_heartbeats_early_and_one_set_back_late() -> None:
    def beats(by_ms: int) -> list[int]:
        world = Disturbed().at(10_100, lambda each: each.jump_clock(each.acting.processes["A"], by_ms))
        world.run(converges=False)
        assert world.faults("clock_jump")[0].payload["by_ms"] == by_ms
        return [e.at_ms for e in world.of(Kind.REQUEST) if e.actor == "A" and e.at_ms > 10_100]

    assert beats(2_000)[0] < beats(0)[0] < beats(-3_000)[0]


def test_a_broker_learns_of_topics_late_and_the_target_follows_then() -> None:
    world = Disturbed(metadata_delay_ms=4_000)
    world.at(10_000, lambda each: each.change_topics(lambda i: i.with_partitions("foo", 9), ("foo",)))
    world.run()
    note = world.of(Kind.NOTE, note="topics")[-1]
    assert 10_000 < note.at_ms <= 14_000
    assert note.payload["topics"]["foo"]["partitions"] == 9


def test_a_coordinator_that_knows_less_than_the_last_one_says_so() -> None:
    for seed in range(20):
        world = Disturbed(seed=seed, metadata_delay_ms=4_000)
        world.at(10_000, lambda each: each.change_topics(lambda i: i.with_partitions("foo", 9), ("foo",)))
        world.at(12_000, lambda each: each.fail_over(crash=True))
        world.run()
        counts = [e.payload["topics"]["foo"]["partitions"] for e in world.of(Kind.NOTE, note="topics")]
        if counts == [6, 9, 6, 9]:
            return
    raise AssertionError("no seed has a coordinator that learns later than the one before it")


def test_heal_ends_every_cut_and_every_chance_but_leaves_the_delays() -> None:
    world = Disturbed(network=rough(loss=0.5, duplicate=0.5, reorder=0.5))
    world.at(1_000, lambda each: each.cut("A")).at(1_000, lambda each: each.cut("B", "coordinator"))
    world.at(2_000, lambda each: each.heal())
    world.run()
    assert world.simulation.network.rates == rough()
    assert not [e for e in world.faults("lost_message") if e.at_ms > 2_100]


def test_the_checker_is_told_that_messages_take_longer_from_here_on() -> None:
    world = Disturbed().at(5, lambda each: each.change_network(rough(delay_ms=(200, 900))))
    assert isinstance(world.simulation.log.checker, Checker)
    world.run()
