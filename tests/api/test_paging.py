"""Lists of the API come in pages: the header ``Link`` leads through all rows, each once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from explorer.pages.clusters import views as clusters
from explorer.pages.imports import views as imports
from explorer.pages.sweeps import views as sweeps
from explorer.pages.timelines import timeline_api as timelines
from explorer.pages.troubles import views as troubles
from explorer.sharing import api as sharing
from explorer.sharing.models import Kind, Link
from groups.cluster_models import Cluster, WatchedGroup
from groups.models import Import, Timeline
from groups.watching.group_row import GroupRow
from simulations.models import Sweep

COUNT = 5

LISTS = {
    "/api/timelines?source=ignored": (timelines, "LISTED_MOST"),
    "/api/imports": (imports, "LISTED_MOST"),
    "/api/sweeps": (sweeps, "LISTED_MOST"),
    "/api/clusters": (clusters, "CLUSTERS_SHOWN_MOST"),
    "/api/clusters/c0/groups": (clusters, "GROUPS_SHOWN_MOST"),
    "/api/laboratory/links": (sharing, "LISTED_MOST"),
}


@pytest.fixture
def rows(db: None) -> None:
    names = [f"c{n}" for n in range(COUNT)]
    Cluster.objects.bulk_create(Cluster(id=name, name=name) for name in names)
    facts: GroupRow | dict[str, str] = {"group": ""}
    WatchedGroup.objects.bulk_create(
        WatchedGroup(cluster_id="c0", group=name, facts={**facts, "group": name}) for name in names
    )
    Import.objects.bulk_create(Import(id=name, title=name) for name in names)
    Sweep.objects.bulk_create(Sweep(id=name, title=name, axes={}, cases=1, engine="e") for name in names)
    of_link: Any = {"kind": Kind.LABORATORY, "hides_names": False, "first": 1, "last": 1}
    until = timezone.now()
    Link.objects.bulk_create(
        Link(id=name, token_hash=name, title=name, until=until, **of_link) for name in names
    )
    Timeline.objects.bulk_create(
        Timeline(id=name, title=name, group=name, source="import", entry_format=1, fold_version=1)
        for name in names
    )


def pages(client: Client, path: str) -> list[list[Any]]:
    found = []
    while path:
        answer = client.get(path)
        found.append(answer.json())
        link = answer.headers.get("Link", "")
        assert not link or link.endswith('>; rel="next"')
        path = link[1 : link.index(">")] if link else ""
    return found


@pytest.mark.parametrize("path", LISTS)
def test_a_list_has_the_rows_alone_whose_name_has_what_is_asked_for(
    rows: None, client: Client, path: str
) -> None:
    path, _, _ = path.partition("?")
    every, some = (client.get(path, {"q": q}).json() for q in ("", "C3"))
    assert (len(every), len(some)) == (COUNT, 1)
    assert client.get(path, {"q": "nothing"}).json() == []
    refused = client.get(path, {"q": "c\0"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "q")


@pytest.mark.parametrize("path", LISTS)
def test_the_pages_of_a_list_have_each_row_once_and_in_the_order_of_the_list(
    rows: None, client: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    [whole] = pages(client, path)
    assert len(whole) == COUNT
    module, bound = LISTS[path]
    monkeypatch.setattr(module, bound, 2)
    found = pages(client, f"{path}{'&' if '?' in path else '?'}after=0")
    assert [len(page) for page in found] == [2, 2, 1]
    assert [row for page in found for row in page] == whole


def test_the_table_of_what_is_wrong_goes_on_behind_the_rows_that_were_shown(
    rows: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(troubles, "GROUPS_MOST", 3)
    first, second = (client.get(f"/api/groups?after={after}").json() for after in (0, 3))
    assert (first["matching"], second["matching"]) == (COUNT, COUNT)
    shown = [{row["timeline"] for row in table["rows"]} for table in (first, second)]
    assert [len(each) for each in shown] == [3, 2]
    assert not shown[0] & shown[1]


@pytest.mark.parametrize("path", [*LISTS, "/api/groups"])
def test_a_place_that_is_no_number_is_refused_in_one_line(rows: None, client: Client, path: str) -> None:
    answer = client.get(f"{path}{'&' if '?' in path else '?'}after=-1")
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "after")
