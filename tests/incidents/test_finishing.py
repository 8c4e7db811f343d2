"""What follows from a script's acts: removals by the coordinator's own log, and partitions that nobody read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from .facts import Fact, Facts, Process
from .finishing import finished
from .ledger import Ledger
from .stage import Stage

BEGAN, KILLED, REMOVED, TAKEN, COPIED = 10_000, 20_000, 30_000, 32_000, 60_000

LINE = "{at_ms} INFO GroupMetadataManager [GroupCoordinator id=1 topic=__consumer_offsets partition=3] [GroupId g] Member {text}\n"
EXPIRED = LINE.format(at_ms=REMOVED, text="id-b fenced from the group because the member session expired.")
LEFT = LINE.format(at_ms=KILLED + 5_000, text="id-b left the consumer group.")
BACK = LINE.format(
    at_ms=1_000, text="id-b joins the consumer group using the consumer protocol."
) + LINE.format(at_ms=40_000, text="id-b joins the consumer group using the consumer protocol.")


def played(folder: Path, log: str, *, instance: str | None = None, **more: Any) -> Stage:
    """Client b reads t-1 until it is stopped; then a has it."""
    (folder / "broker.log").write_text(log)
    process = Process(
        client_id="b",
        instance_id=instance,
        library="java",
        started_ms=0,
        ended_ms=KILLED,
        member_ids=["id-b"],
    )
    other = process | {"client_id": "a", "instance_id": None, "ended_ms": None, "member_ids": ["id-a"]}
    ledger = Ledger()
    ledger.assigned("a", 1, ["t-0"], 1_000)
    ledger.assigned("b", 1, ["t-1"], 1_000)
    ledger.stopped("b", 1, more.pop("stop", "killed"), KILLED)
    ledger.assigned("a", 1, ["t-1"], TAKEN)
    stage = {
        "node": SimpleNamespace(folder=folder),
        "name": "g",
        "group": "g",
        "began_ms": BEGAN,
        "cleaned_ms": 0,
        "ledger": ledger,
        "facts": [],
        "processes": [process, other],
        "clients": [
            SimpleNamespace(client_id="b", life=1, process=process),
            SimpleNamespace(client_id="a", life=1, process=other),
        ],
        "revoke_ms": {("a", 1): 0, ("b", 1): 0},
        "settings": {},
        "idle_topics": set(),
    }
    return cast(Stage, SimpleNamespace(**{**stage, **more}))


def facts_of(stage: Stage, protocol: Any = "consumer") -> list[Fact]:
    found: Facts = finished(stage, title="", done="", protocol=protocol, copied_ms=COPIED)
    return found["facts"]


def told(facts: list[Fact]) -> list[tuple[str, int, int | None, bool]]:
    return [(each["kind"], each["at_ms"], each["duration_ms"], each["tellable"]) for each in facts]


def test_a_killed_client_is_silent_until_it_is_removed_and_then_its_partitions_are_unassigned(
    tmp_path: Path,
) -> None:
    assert told(facts_of(played(tmp_path, EXPIRED))) == [
        ("silent", KILLED, REMOVED - KILLED, True),
        ("removed", REMOVED, None, True),
        ("unassigned", REMOVED, TAKEN - REMOVED, True),
    ]


def test_a_silence_of_two_commits_cannot_be_told(tmp_path: Path) -> None:
    silent, *_ = facts_of(played(tmp_path, EXPIRED.replace(str(REMOVED), str(KILLED + 5_000))))
    assert (silent["duration_ms"], silent["tellable"]) == (5_000, False)
    assert "commit" in silent["why_not"]


def test_a_clean_leave_leaves_partitions_unassigned_and_of_a_static_member_silent(tmp_path: Path) -> None:
    assert [each["kind"] for each in facts_of(played(tmp_path, LEFT, stop="left"))] == ["unassigned"]
    assert [each["kind"] for each in facts_of(played(tmp_path, "", stop="left", instance="seat"))] == [
        "silent"
    ]


def test_in_a_classic_group_the_time_without_an_owner_cannot_be_told(tmp_path: Path) -> None:
    [unassigned] = facts_of(played(tmp_path, LEFT, stop="left"), "classic")
    assert (unassigned["kind"], unassigned["tellable"]) == ("unassigned", False)


def test_what_nobody_writes_to_is_silent_without_a_trace(tmp_path: Path) -> None:
    [silent, *_] = facts_of(played(tmp_path, EXPIRED, idle_topics={"t"}))
    assert (silent["kind"], silent["tellable"]) == ("silent", False)


def test_a_member_that_comes_back_under_its_id_rejoined(tmp_path: Path) -> None:
    facts = facts_of(played(tmp_path, BACK + EXPIRED))
    assert ("rejoined", 40_000, None, True) in told(facts)


def test_what_the_cleaner_has_taken_cannot_be_told(tmp_path: Path) -> None:
    facts = facts_of(played(tmp_path, EXPIRED, cleaned_ms=REMOVED + 1))
    assert {each["tellable"] for each in facts} == {False}


def test_the_partitions_of_a_deleted_topic_are_nobodys_loss(tmp_path: Path) -> None:
    deleted = Fact(
        at_ms=KILLED - 100,
        kind="topic_deleted",
        sentence="",
        source="script",
        clients=[],
        partitions=[],
        duration_ms=None,
        tellable=True,
        detail="t",
    )
    facts = facts_of(played(tmp_path, "", facts=[deleted]))
    assert [each["kind"] for each in facts] == ["topic_deleted"]
