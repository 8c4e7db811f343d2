"""Names that Kafka takes and a database does not: U+0000, which PostgreSQL keeps in no text, and states longer than a row has room for."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import psycopg
import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from psycopg.adapt import AdaptersMap, PyFormat
from psycopg.types.json import JsonbBinaryDumper, JsonbDumper
from psycopg.types.string import StrBinaryDumper, StrDumperUnknown

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.watching import registry
from groups.watching.storing import Store
from groups.without_nul import json_without_nul, without_nul
from tests.watching.rounds import BEGIN_MS, described, round_of

pytestmark = pytest.mark.django_db(transaction=True)

OWNER = "test"
WHOLE = {"an\0na": ((0, 1, 2, 3), (0, 1, 2, 3))}


@pytest.fixture
def cluster() -> Cluster:
    made = registry.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert registry.take(made.pk, OWNER)
    return made


def test_a_polled_member_and_group_with_such_names_are_recorded_and_other_groups_too(
    cluster: Cluster,
) -> None:
    store = Store(cluster, OWNER)
    for second, epoch in enumerate((3, 4)):
        told = [described(name, WHOLE, epoch=epoch) for name in ("orders", "pay\0ments")]
        store.take(round_of(BEGIN_MS + 1000 * second, *told, replace(told[0], group="other")))
    rows = {row.group: row for row in WatchedGroup.objects.select_related("timeline")}
    # One that its row could not name is left out.
    assert set(rows) == {"orders", "other"}
    for row in rows.values():
        assert row.timeline is not None
        assert storage.get(row.timeline.pk).last > 3
    members = WHOLE.keys()
    sign = "an\N{SYMBOL FOR NULL}na" if connection.vendor == "postgresql" else "an\0na"
    assert rows["orders"].polled["last"]["members"][0]["member_id"] == sign
    # Entries are bytes: they have the names as they are.
    timeline = storage.get(rows["orders"].timeline_id)
    frame = storage.frame_at(timeline, timeline.last)
    assert frame is not None
    assert frame["members"].keys() == members


def test_texts_and_documents_have_the_sign_and_backslashes_stay() -> None:
    assert without_nul("a\0b") == "a\N{SYMBOL FOR NULL}b"
    for text in ("a\0b", "\\u0000", "\\\0", "plain"):
        stored = json.loads(json_without_nul(json.dumps({text: [text]}).encode()))
        assert stored == {without_nul(text): [without_nul(text)]}


def test_connections_add_no_classes_to_those_that_psycopg_keeps_for_good() -> None:
    """Four of each connection were kept, and each request has one: 90 MB after 11,600 requests."""

    def connect() -> None:
        opened = SimpleNamespace(adapters=AdaptersMap(psycopg.adapters))
        connection_created.send(
            BaseDatabaseWrapper, connection=SimpleNamespace(vendor="postgresql", connection=opened)
        )
        assert opened.adapters.get_dumper(str, PyFormat.TEXT)("", None).dump("a\0b") == b"a\xe2\x90\x80b"

    connect()
    bases = (StrBinaryDumper, StrDumperUnknown, JsonbBinaryDumper, JsonbDumper)
    before = [len(base.__subclasses__()) for base in bases]
    for _ in range(50):
        connect()
    assert [len(base.__subclasses__()) for base in bases] == before


def test_a_state_that_no_row_has_room_for_is_cut_off_and_other_groups_are_stored(cluster: Cluster) -> None:
    store = Store(cluster, OWNER)
    long = described("orders", WHOLE, epoch=3, state="x" * 10_000)
    store.take(round_of(BEGIN_MS, long, described("other", WHOLE, epoch=3)))
    rows = {row.group: row.state for row in WatchedGroup.objects.all()}
    assert rows == {"orders": "x" * 32, "other": "Stable"}
