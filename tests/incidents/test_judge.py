"""The judge itself: what it takes for told and for false. Each test plants something wrong in what is right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .claims import Claim, Said
from .facts import Fact, Facts, Process, Reading
from .telling import FINDERS, told_by
from .truth import CAUSES, RULES, false_because
from .world import World

START = 1_000_000
KILLED, REMOVED, TAKEN = START + 60_000, START + 70_000, START + 70_500


def silence(**changed: object) -> Claim:
    data = {"sequences": [1], **changed}
    told = {
        "kind": "silent",
        "says": "b was silent",
        "certain": False,
        "clients": ("b",),
        "partitions": ("t-1",),
        "from_ms": KILLED - 1_000,
        "to_ms": REMOVED,
        "steps_ms": (),
        "timeline": 1,
        "data": data,
    }
    return Claim(**{**told, **{name: value for name, value in changed.items() if name in told}})  # type: ignore[arg-type]


def removal(**changed: object) -> Claim:
    data = {"looks_like": "session_expired", **changed}
    return silence(kind="removed", partitions=(), from_ms=REMOVED, to_ms=REMOVED, data=data)


def fact(kind: str, at_ms: int, **more: object) -> Fact:
    told = {
        "kind": kind,
        "at_ms": at_ms,
        "sentence": kind,
        "source": "script",
        "clients": ["b"],
        "partitions": [],
        "duration_ms": None,
        "tellable": True,
    }
    return {**told, **more}  # type: ignore[typeddict-item]


SILENT = fact("silent", KILLED, partitions=["t-1"], duration_ms=REMOVED - KILLED, cause="killed")
GONE = fact("removed", REMOVED, cause="session_expired")


@pytest.fixture
def world() -> World:
    """Client b reads t-1 and is killed; a second later than its session lasts, a reads it."""

    def process(client: str, ended_ms: int | None) -> Process:
        return {
            "client_id": client,
            "instance_id": None,
            "library": "java",
            "started_ms": START,
            "ended_ms": ended_ms,
            "member_ids": [client],
        }

    readings: list[Reading] = [
        {"client_id": "b", "from_ms": START, "to_ms": KILLED},
        {"client_id": "a", "from_ms": TAKEN, "to_ms": None},
    ]
    facts: Facts = {
        "incident": "made",
        "title": "Made",
        "done": "",
        "group": "made",
        "protocol": "consumer",
        "settings": {"auto.commit.interval.ms": "2000"},
        "began_ms": START + 30_000,
        "copied_ms": START + 100_000,
        "facts": [fact("joined", START), SILENT, GONE],
        "processes": [process("a", None), process("b", KILLED)],
        "readings": {"t-0": [{"client_id": "a", "from_ms": START, "to_ms": None}], "t-1": readings},
    }
    return World(facts)


def said(*claims: Claim) -> Said:
    return Said(({"text": "", "clauses": []},), claims, (START + 100_000,))


def test_a_silence_from_the_last_commit_to_the_removal_is_true_and_tells_the_fact(world: World) -> None:
    assert false_because(silence(), world) is None
    assert told_by(SILENT, said(silence()), world) == silence()


@pytest.mark.parametrize(
    "wrong",
    [
        {"clients": ("a",)},
        {"partitions": ("t-0",)},
        {"from_ms": KILLED - 30_000},
        {"from_ms": KILLED + 5_000},
        {"to_ms": REMOVED + 20_000},
        {"to_ms": None},
    ],
    ids=str,
)
def test_a_silence_of_another_client_partition_or_time_is_false_and_tells_nothing(
    world: World, wrong: dict[str, object]
) -> None:
    assert false_because(silence(**wrong), world) is not None
    assert told_by(SILENT, said(silence(**wrong)), world) is None


def test_a_removal_for_another_reason_is_false_and_tells_nothing(world: World) -> None:
    assert false_because(removal(), world) is None
    assert told_by(GONE, said(removal()), world) == removal()
    assert false_because(removal(looks_like="poll_overrun"), world) is not None
    assert told_by(GONE, said(removal(looks_like="poll_overrun")), world) is None


def test_a_removal_without_a_reason_is_not_false_and_tells_nothing(world: World) -> None:
    assert false_because(removal(looks_like=None), world) is None
    assert told_by(GONE, said(removal(looks_like=None)), world) is None


def test_a_partition_that_somebody_read_was_not_unassigned(world: World) -> None:
    freed = silence(kind="no_owner", clients=(), from_ms=REMOVED, to_ms=TAKEN)
    assert false_because(freed, world) is None
    assert false_because(freed._replace(partitions=("t-0",)), world) is not None
    assert false_because(freed._replace(from_ms=KILLED - 10_000), world) is not None


@pytest.mark.parametrize(
    "kind", ["crash_loop", "migrated", "coordinator_moved", "topics_deleted", "twin_instance"]
)
def test_what_did_not_happen_is_false(world: World, kind: str) -> None:
    claim = silence(kind=kind, data={"sequences": [1], "count": 3, "to": "classic"})
    assert false_because(claim, world) is not None


def test_a_kind_that_nobody_judges_is_false(world: World) -> None:
    assert "no rule" in str(false_because(silence(kind="new_kind"), world))


def test_every_kind_of_fact_has_a_rule_and_every_reason_is_known() -> None:
    from typing import get_args

    from .facts import Kind

    assert set(FINDERS) == set(get_args(Kind))
    assert all(isinstance(rule, Callable) for rule in RULES.values())  # type: ignore[arg-type]
    assert {"session_expired", "poll_overrun", "left"} <= set(CAUSES)
