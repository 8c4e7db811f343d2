"""Two servers of a team add a cluster of one name in the same moment: one has it, the other states that it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from groups import storage
from groups.cluster_models import Cluster
from groups.watching import registry

pytestmark = pytest.mark.django_db

NAME = "prod-eu"
PROPERTIES = {"bootstrap.servers": "127.0.0.1:1"}


@contextmanager
def another_server_adds_it_meanwhile(looked: Callable[[str], bool]) -> Iterator[None]:
    """Its row comes right after this server's first query of which ``looked`` holds: that for the names that are taken."""
    done: list[str] = []

    def execute(go_on: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        answer = go_on(sql, parameters, many, context)
        if (
            sql.startswith("SELECT")
            and f'FROM "{Cluster._meta.db_table}"' in sql
            and not done
            and looked(sql)
        ):
            done.append(sql)
            Cluster.objects.bulk_create([Cluster(id=storage.new_id(), name=NAME)])
        return answer

    with connection.execute_wrapper(execute):
        yield
    assert done


def test_a_cluster_that_another_server_adds_meanwhile_is_there_already() -> None:
    with another_server_adds_it_meanwhile(lambda sql: '"name" = ' in sql):
        answer = Client().post(
            "/api/clusters", {"name": NAME, "properties": PROPERTIES}, content_type="application/json"
        )
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "name")
    assert answer.json()["error"]["message"] == f"There is a cluster named {NAME} already."
    assert Cluster.objects.filter(name=NAME).count() == 1


def test_the_clusters_of_the_environment_are_taken_by_servers_that_start_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    file = tmp_path / "prod-eu.properties"
    file.write_text("bootstrap.servers=127.0.0.1:1\n")
    monkeypatch.setenv("REBALANCE_CLUSTER_PROD_EU", str(file))
    with another_server_adds_it_meanwhile(lambda sql: "WHERE" not in sql):
        registry.take_environment()
    assert Cluster.objects.filter(name=NAME).count() == 1
