"""Rehearsals of new brokers: each broker rolled, what changes for the group by the table of releases, and the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groups.releases import TABLE
from simulations.rehearsal.judging import Sheet, WaySheet, answer
from simulations.rehearsal.markdown import markdown_of
from simulations.rehearsal.question_yaml import question_of
from simulations.rehearsal.values import RehearsalError
from simulations.rehearsal.warnings import CONCERNS


def rehearsed(*assignors: str | None, **changes: Any) -> Sheet:
    """Members of the consumer protocol that ask for these assignors."""
    members = {
        name: {"protocol": "consumer"} | ({"remote_assignor": asked} if asked else {})
        for name, asked in zip("ABCDEF", assignors, strict=False)
    }
    wanted = {"topics": {"foo": 6}, "members": members, "to": "brokers", "brokers": "4.3"}
    return answer(question_of(json.dumps(wanted | changes)))


def way(sheet: Sheet, name: str) -> WaySheet:
    return next(each for each in sheet["ways"] if each["name"] == name)


def codes(sheet: Sheet) -> dict[str, str]:
    return {each["code"]: each["level"] for each in sheet["warnings"]}


def rising(sheet: WaySheet) -> list[str]:
    """Stages at whose end the epoch still rises."""
    return [
        stage["title"] for stage in sheet["stages"] if any("not at rest" in says for says in stage["says"])
    ]


def test_a_tie_of_librdkafka_members_begins_and_ends_with_the_releases_that_one_of_java_does() -> None:
    java = rehearsed("range", "uniform")
    members = {
        name: {"protocol": "consumer", "client": "librdkafka", "remote_assignor": assignor}
        for name, assignor in (("A", "range"), ("B", "uniform"))
    }
    librdkafka = rehearsed(members=members)
    assert librdkafka["question"]["members"]["A"]["client"] == "librdkafka"
    for name in ("planned", "back"):
        assert rising(way(librdkafka, name)) == rising(way(java, name)) != []


def test_a_tie_begins_when_its_coordinator_is_of_the_new_release_and_ends_on_the_way_back() -> None:
    sheet = rehearsed("range", "uniform")
    planned, back = way(sheet, "planned"), way(sheet, "back")
    assert sheet["release"] == "4.3.1, then 4.4.0"
    assert [stage["title"] for stage in planned["stages"]] == [
        "Now",
        "Roll broker-1 to 4.4.0",
        "Roll broker-2 to 4.4.0",
        "Roll broker-3 to 4.4.0",
    ]
    assert planned["outcome"] == sheet["outcome"] == "unfinished"
    assert rising(planned) == ["Roll broker-3 to 4.4.0"]
    assert "does not stay at rest: from “Roll broker-3 to 4.4.0” on" in sheet["says"][0]
    assert codes(sheet)["assignor-tie"] == "warning"
    assert back["outcome"] == "done"
    assert [stage["brokers"] for stage in back["stages"]] == [None, *["roll"] * 3, *["roll_back"] * 3]
    assert back["stages"][-1]["epochs"] == []
    assert answer(question_of(json.dumps(sheet["question"]))) == sheet
    assert "| Roll broker-1 to 4.4.0 | brokers |" in markdown_of(sheet)


@pytest.mark.parametrize(
    "assignors", [("range", "range"), ("range", "uniform", "uniform"), (None, None), ("range", None)]
)
def test_without_a_tie_a_roll_moves_the_coordinator_and_nothing_else(
    assignors: tuple[str | None, ...],
) -> None:
    sheet = rehearsed(*assignors)
    planned = way(sheet, "planned")
    assert (planned["outcome"], rising(planned)) == ("done", [])
    assert all(stage["epochs"] == [] for stage in planned["stages"][2:])
    assert (planned["stopped"], planned["bounces"]) == (0, 3)
    assert "assignor-tie" not in codes(sheet)
    assert codes(sheet)["assignor-roll"] == ("warning" if len(assignors) == 2 else "note")


def test_the_table_of_releases_gives_the_warnings_that_concern_the_group() -> None:
    assert set(CONCERNS) <= {rule.name for rule in TABLE}
    dynamic = codes(rehearsed(None, None))
    assert {"assignor-change-bumps", "emptied-writes-target-epoch"} <= set(dynamic)
    assert "full-group-admits-instances" not in dynamic
    static = codes(
        rehearsed(members={name: {"protocol": "consumer", "instance_id": f"i-{name}"} for name in "AB"})
    )
    assert {"full-group-admits-instances", "instance-follows-member"} <= set(static)
    classic = codes(rehearsed(members=2))
    assert set(classic) == {"transactions-have-topic-ids"}
    old = codes(rehearsed(members=2, brokers="3.9", new_brokers="4.3"))
    assert set(old) == {"consumer-protocol"}


def test_a_classic_group_may_have_its_brokers_rolled_from_before_the_consumer_protocol() -> None:
    sheet = rehearsed(members=2, brokers="3.9", new_brokers="4.4", turn_after=1)
    assert [way(sheet, name)["outcome"] for name in ("planned", "back")] == ["done", "done"]
    assert len(way(sheet, "back")["stages"]) == 3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"brokers": "4.4"}, "brokers 4.4 are rolled to a newer release, and 4.4 is none"),
        ({"new_brokers": "3.9"}, "brokers 4.3 are rolled to a newer release, and 3.9 is none"),
        ({"brokers": "4.0", "new_brokers": "4.2"}, "brokers 4.0 and 4.2 are both played as 4.3.0"),
        ({"new_brokers": "next"}, "the release of a broker"),
        ({"to": "consumer"}, r"nothing to upgrade but the brokers \(to: brokers\)"),
        (
            {"members": {"A": {"protocol": "classic", "remote_assignor": "range"}}},
            "group.remote.assignor is of",
        ),
        ({"members": {"A": {"protocol": "consumer", "remote_assignor": "sticky"}}}, "assignor"),
    ],
)
def test_what_cannot_be_rolled_is_one_sentence(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(RehearsalError, match=reason):
        rehearsed("range", "uniform", **changes)
