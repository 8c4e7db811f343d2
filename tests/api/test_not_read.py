"""“Not read” has one measure: the fold, ranges, the table of rebalances, the budget and the remedies answer the same."""

from __future__ import annotations

import pytest
import yaml

from explorer.management.commands.budget import line_of
from explorer.pages.runs import starting
from explorer.pages.timelines.rebalances import table_of
from groups import storage
from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.jobs import run_tasks
from simulations.remedies.measuring import Meter, with_rates
from simulations.world import studies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", ["incident-max-poll-interval", "incident-slow-revocation", "kip429-eager"])
def test_not_read_is_the_same_wherever_it_is_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tasks.run, "delay", lambda _id: None)
    document = yaml.safe_load(studies.text(name))
    document.pop("steps", None)
    document["topics"] = with_rates(document["topics"], 100)
    run = starting.start_run(yaml.safe_dump(document))
    run_tasks.run(run.id)
    run = storage.get(run.id)
    assert run.status == "complete", run.problem
    entries = [Entry.from_json(line) for line in storage.every_entry(run)]
    whole = run.summary["consumption"]["unread_ms"]
    assert whole > 0
    costs = [row["cost"] for row in table_of(run)["rebalances"]]
    assert sum(cost["unread_partition_ms"] for cost in costs if cost is not None) == whole
    assert round(line_of(run, {})["not_read"] * 1_000) == whole
    for share in (0, 0.25, 0.5, 0.75):
        first = 1 + int(share * (run.last - 1))
        at_ms = entries[first - 1].at_ms
        before, after = storage.range_between(run, 1, first), storage.range_between(run, first, run.last)
        assert before["unread_partition_ms"] + after["unread_partition_ms"] == whole
        # Remedies count a partition that nobody has read yet, too: a branch may begin with one.
        if share:
            meter = Meter(run.group, Semantics.KAFKA, at_ms)
            for entry in entries:
                meter.add(entry)
            assert meter.end(entries[-1].at_ms).not_read_ms == after["unread_partition_ms"]
