"""An import lists its gravest groups first: recorded incidents among routine groups, folded without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from groups.history.passes.indexing import Indexer
from groups.packs.listed_summary import listed_summary
from tests.benchmarks.generated.mixes import many_groups
from tests.history.corpus import CorpusLog, logs_of_segments
from tests.incidents.facts import read_facts
from tests.incidents.logs import recorded_logs

HARMS: Final = frozenset(
    {"killed", "frozen", "poll_overrun", "crash_loop", "flapping", "revocation_slow", "twin_instance", "coordinator_moved"}
)  # fmt: skip
"""Kinds of facts that hurt somebody. The other recordings are of groups at their daily work: a deploy, a topic that grows."""

ROUTINE_GROUPS: Final = 200


def weight(log: CorpusLog) -> int:
    indexer = Indexer(group=log.group)
    for entry in log.entries:
        indexer.add(entry)
    return int(listed_summary(indexer.summary())["weight"])


@pytest.mark.long
def test_every_recorded_incident_is_above_every_one_of_200_routine_groups(tmp_path: Path) -> None:
    """Members of a routine group join and leave; it was the headline, since a partition was unassigned for some seconds."""
    many_groups(tmp_path, ROUTINE_GROUPS)
    routine = [weight(log) for log in logs_of_segments("routine", tmp_path)]
    assert len(routine) == ROUTINE_GROUPS
    incidents = {
        log.name: weight(log)
        for log in recorded_logs()
        if any(fact["kind"] in HARMS for fact in read_facts(log.name)["facts"])
    }
    assert len(incidents) >= 15
    assert {name for name, value in incidents.items() if value <= max(routine)} == set()
