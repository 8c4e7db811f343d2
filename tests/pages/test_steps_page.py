"""A simulated run step by step, and its segment; a regular expression on the page of bytes."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.test import Client

from explorer.pages.runs import starting
from explorer.pages.timelines import steps
from groups import storage
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from simulations.jobs import run_tasks

pytestmark = pytest.mark.django_db(transaction=True)


def run_of(monkeypatch: pytest.MonkeyPatch, scenario: str, semantics: str) -> str:
    monkeypatch.setattr(starting.run_tasks.run, "delay", lambda _: None)
    timeline = starting.start_run(scenario, semantics)
    run_tasks.run(timeline.id)
    return timeline.id


def test_each_step_of_a_run_is_shown_as_a_broker_describes_the_group(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(monkeypatch, "kip848-basic", "kip")
    page = unescape(client.get(f"/t/{run}/steps").content.decode())
    lines = [json.loads(line) for line in client.get(f"/t/{run}/steps?format=jsonl").content.splitlines()]
    assert {line["api"] for line in lines} == {"ConsumerGroupDescribe"}
    for line in lines:
        assert line["says"] in page
    reconciling = lines[5]["group"]
    assert [member["memberEpoch"] for member in reconciling["members"]] == [1, 2]
    assert "Reconciling, epoch 2, target 2" in page
    assert "<td>foo-0, foo-1, foo-2</td><td>foo-0, foo-1</td>" in page
    refused = client.get(f"/t/{run}/steps?format=segment")
    assert (refused.status_code, refused.content) == (
        409,
        b"No Kafka reads records of the proposal: a run of kip has no segment.",
    )


def test_the_records_of_a_run_are_downloaded_as_a_segment(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(monkeypatch, "kip848-basic", "kafka")
    content = client.get(f"/t/{run}/steps?format=segment").content
    batches = [each for each in read_batches(content) if isinstance(each, RecordBatch)]
    records = [each for each in storage.every_entry(storage.get(run)) if each["kind"] == "record"]
    assert sum(len(batch.records) for batch in batches) == len(records) > 0
    assert client.get(f"/t/{run}/steps?format=pdf").status_code == 400
    assert client.get("/t/nowhere/steps").status_code == 404


def test_a_regular_expression_is_checked_on_the_page_of_bytes(client: Client) -> None:
    assert "It is valid." in client.get("/inspect", {"regex": "orders-.*"}).content.decode()
    assert "It is invalid: " in client.get("/inspect", {"regex": "orders-("}).content.decode()
    long = client.get("/inspect", {"regex": "x{1,1000}" * 100}).content.decode()
    assert "It has 900 characters; up to 200 are checked here" in long


def test_steps_that_take_too_long_are_refused_in_one_line(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(monkeypatch, "kip848-basic", "kip")
    monkeypatch.setattr(steps, "DESCRIBED_S_MOST", 0.0)
    answer = client.get(f"/t/{run}/steps")
    assert (answer.status_code, b"take more than 0 s" in answer.content) == (409, True)
