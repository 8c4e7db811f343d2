"""The table of what is wrong: its order, what many groups share, narrowing to an import, and its size."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from groups.cluster_models import Cluster, WatchedGroup
from groups.history.verdict import verdict
from groups.models import Import, Timeline
from groups.packs.listed_summary import listed_summary
from groups.storage.trouble_table import CELLS

BEGAN = 1_700_000_000_000
HOUR_MS = 3_600_000


def finding(kind: str, from_ms: int, **facts: Any) -> dict[str, Any]:
    made = {"kind": kind, "says": kind, "sequences": [7], "needs": ["records"], "certain": True}
    return made | {"from_ms": from_ms, "to_ms": from_ms, "at_ms": from_ms} | facts


def unassigned(from_ms: int, length_ms: int) -> dict[str, Any]:
    places = {"partition": "orders-1", "noun": "partition", "first": False, "forming": False}
    return finding(
        "no_owner", from_ms, length_ms=length_ms, to_ms=from_ms + length_ms, open=False, count=1, **places
    )


def lost(at_ms: int) -> dict[str, Any]:
    facts = {"lane": "a", "why": None, "polled": False, "looks_like": None, "short": None, "partitions": []}
    facts |= {
        "quiet_ms": None,
        "timeout_ms": None,
        "silent_from_ms": None,
        "silent_sequence": None,
        "killed_ms": None,
    }
    facts |= {"killed_sequence": None, "back_ms": None, "back_sequence": None, "member": "a"}
    return finding("removed", at_ms, name="worker-3", **facts)


def storm(from_ms: int) -> dict[str, Any]:
    facts = {
        "pattern": True,
        "title": "Rebalance storm",
        "rank": 50,
        "severity": "warning",
        "steps": [7],
        "names": [],
    }
    return finding("storm", from_ms, to_ms=from_ms + 60_000, length_ms=60_000, causes=[], look_at=[], **facts)


def grouped(
    pk: str, findings: list[dict[str, Any]], epochs: list[int], source: str = "import", span_ms: int = HOUR_MS
) -> Timeline:
    """A timeline as the store has it in short; not stored yet."""
    last_ms = BEGAN + span_ms
    short = listed_summary(
        {
            "group": pk,
            "first_ms": BEGAN,
            "last_ms": last_ms,
            "topics": {"orders": {}},
            "hosts": ["/10.0.0.7"],
            "epochs": [{"at_ms": BEGAN + at_ms} for at_ms in epochs],
            "findings": findings,
            "verdict": verdict(findings, first_ms=BEGAN, last_ms=last_ms),  # type: ignore[arg-type]
        }
    )
    orjson.dumps(short)  # as packs keep it
    facts = {"title": pk, "group": pk, "source": source, "status": "complete", "weight": short["weight"]}
    return Timeline(id=pk, entry_format=1, fold_version=1, summary=short, **facts)


def group(pk: str, findings: list[dict[str, Any]], epochs: list[int], source: str = "import") -> Timeline:
    made = grouped(pk, findings, epochs, source)
    made.save()
    return made


def table(client: Client, query: str = "") -> dict[str, Any]:
    answer = client.get(f"/api/groups{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def row(found: dict[str, Any], name: str) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {one["group"]: one for one in found["rows"]}
    return rows[name]


def test_the_gravest_group_is_first_and_its_row_has_pattern_harm_rate_and_strip(
    client: Client, db: None
) -> None:
    group("calm", [], [0, 1_000])
    group("stormy", [storm(BEGAN + 60_000), unassigned(BEGAN + 61_000, 17_000)], [0, 60_000, 61_000, 62_000])
    found = table(client)
    assert [one["group"] for one in found["rows"]] == ["stormy", "calm"]
    stormy = found["rows"][0]
    assert (stormy["severity"], stormy["pattern"], stormy["topics"]) == (1, "Rebalance storm", ["orders"])
    assert stormy["hosts"] == ["10.0.0.7"]
    assert (stormy["rebalances"], stormy["per_hour"]) == (3, 3.0)
    assert stormy["strip"] == [{"cell": CELLS // 60, "rebalances": 3, "unread": True}]
    assert (found["from_ms"], found["to_ms"], found["matching"]) == (BEGAN, BEGAN + HOUR_MS, 2)


def test_members_lost_in_one_second_by_many_groups_are_one_cause_and_rank_none_of_them(
    client: Client, db: None
) -> None:
    at_ms = 600_000
    for number in range(5):
        group(f"g{number}", [lost(BEGAN + at_ms + number * 200)], [0, at_ms + number * 200])
    group("own", [storm(BEGAN + 60_000), lost(BEGAN + at_ms)], [0, 60_000, at_ms])
    found = table(client)
    assert [(cause["kind"], len(cause["groups"])) for cause in found["causes"]] == [("removed", 6)]
    assert found["causes"][0]["text"].startswith("6 groups lost members at once")
    shared = row(found, "g0")
    assert (shared["causes"], shared["severity"], shared["worst_member"]) == ([0], 0, "")
    assert (shared["rebalances"], shared["strip"][0]["rebalances"]) == (0, 1)
    assert (row(found, "own")["severity"], row(found, "own")["rebalances"]) == (1, 1)


def test_rows_of_watched_groups_have_their_lag_and_the_head_of_the_page_the_clusters(
    client: Client, db: None
) -> None:
    group("imported", [], [0])
    assert table(client)["live"] is None
    assert ">State<" not in client.get("/groups").content.decode()
    watched = group("orders", [], [0], "live")
    prod = Cluster.objects.create(id="c", name="prod", status="connected")
    Cluster.objects.create(id="d", name="staging", status="failing", problem="No broker answers.")
    facts = {"members": 3, "lag": 4_200, "lag_ms": 17_000}
    WatchedGroup.objects.create(cluster=prod, group="orders", state="Stable", timeline=watched, facts=facts)
    live = table(client)["live"]
    assert {name: live["orders"][name] for name in ("state", *facts)} == {"state": "Stable", **facts}
    assert table(client, "?cluster=c")["live"] is None
    page = client.get("/groups").content.decode()
    assert ">State<" in page
    assert re.search(r"prod</a> <span[^>]*>connected<", page)
    assert re.search(r'title="No broker answers.">staging</a> <span[^>]*>failing<', page)


def test_a_row_names_the_releases_that_the_records_show_and_what_shows_them(client: Client, db: None) -> None:
    made = grouped("rolled", [], [0])
    made.summary["verdict"]["headline"]["figures"]["releases"] = ["4.3", "4.4 or later"]
    made.save()
    group("older", [], [0])
    found = table(client)
    assert row(found, "rolled")["releases"] == ["4.3", "4.4 or later"]
    assert row(found, "rolled")["releases_why"] == (
        "4.3 or later, as targets have a time (type 6); "
        "older than 4.4, as when a group emptied, its target epoch stayed behind (no type 6); "
        "then 4.4 or later, as when a group emptied, its target epoch followed (a type 6 without a time)"
    )
    assert (row(found, "older")["releases"], row(found, "older")["releases_why"]) == ([], "")


def test_four_groups_that_lose_members_at_once_may_be_chance(client: Client, db: None) -> None:
    for number in range(4):
        group(f"g{number}", [lost(BEGAN + 600_000)], [0, 600_000])
    found = table(client)
    assert found["causes"] == []
    assert row(found, "g0")["worst_member"] == "worker-3"


def test_the_table_is_narrowed_to_an_import_and_refuses_one_that_is_not_there(
    client: Client, db: None
) -> None:
    one = group("one", [], [0])
    group("other", [], [0])
    told = {"id": "one", "first_ms": None, "last_ms": None, "deleted": True, "overlaps": ["other"]}
    report = {"timelines": [told]}
    Import.objects.create(id="night", title="night", status="complete", report=report).timelines.set([one])
    [only] = table(client, "?import=night")["rows"]
    assert (only["group"], only["note"]) == ("one", "deleted at the end; overlaps other")
    page = client.get("/import/night").content.decode()
    [data] = re.findall(r'id="troubles-data">(.*?)</script>', page)
    assert [each["group"] for each in orjson.loads(data)["rows"]] == ["one"]
    assert client.get("/api/groups?import=nothing").status_code == 404
    assert client.get("/api/groups?cluster=nothing").status_code == 404


def test_runs_and_case_studies_are_no_groups_of_a_reader(client: Client, db: None) -> None:
    group("run", [storm(BEGAN)], [0], source="simulation")
    assert table(client)["rows"] == []


def test_a_timeline_of_an_earlier_release_is_ranked_by_its_headline(client: Client, db: None) -> None:
    made = group("old", [storm(BEGAN + 60_000)], [0, 60_000])
    assert table(client)["older"] == 0
    fields = ("rebalances", "pattern", "problems", "occurrences", "topics", "hosts")
    made.summary = {name: value for name, value in made.summary.items() if name not in fields}
    made.save()
    found = table(client)
    assert found["older"] == 1
    old = row(found, "old")
    assert (old["severity"], old["pattern"], old["rebalances"]) == (1, "", 1)


def test_the_page_has_the_rows_of_its_table_and_a_name_ends_no_element(client: Client, db: None) -> None:
    group("</script><b>", [], [0])
    page = client.get("/groups").content.decode()
    assert "troubles-data" in page
    assert "</script><b>" not in page


@pytest.mark.parametrize("count", [1, 12])
def test_the_table_asks_the_database_as_often_for_many_groups_as_for_one(
    client: Client, db: None, count: int, django_assert_max_num_queries: Any
) -> None:
    for number in range(count):
        group(f"g{number}", [], [0])
    with django_assert_max_num_queries(4):
        assert len(table(client)["rows"]) == count


def test_the_command_prints_the_groups_in_trouble_and_the_same_table_as_the_api(
    client: Client, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    group("calm", [], [0, 1_000])
    stormy = group("stormy", [storm(BEGAN + 60_000), unassigned(BEGAN + 61_000, 17_000)], [0, 60_000])
    Import.objects.create(id="night", title="night", status="complete").timelines.set([stormy])

    def printed(*arguments: str) -> str:
        call_command("groups", "trouble", *arguments)
        return capsys.readouterr().out

    assert re.fullmatch(r"stormy: warning, Rebalance storm: storm.+\n1 of 2 groups in trouble\.\n", printed())
    assert "calm: no trouble, no pattern: " in printed("--all")
    assert "1 of 1 group in trouble." in printed("--import", "night")
    assert orjson.loads(printed("--json")) == table(client)
    with pytest.raises(CommandError, match="There is no import 'day'") as refused:
        call_command("groups", "trouble", "--import", "day")
    assert refused.value.returncode == 2
