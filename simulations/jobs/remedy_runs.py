"""Searches for remedies as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groups import storage
from groups.jobs.leases import end_of_wait
from groups.models import Timeline
from simulations.jobs.incidents import in_plain, incident_of
from simulations.jobs.long_questions import OPEN, CannotAsk, LongQuestions
from simulations.models import RemedySearch
from simulations.remedies.values import RemediesError

KEPT_MOST: Final = 20
"""Searches of one timeline that are kept; a new one removes the oldest that has ended."""


def create(timeline: Timeline, at: int, seeds: int) -> RemedySearch:
    """A search that waits."""
    ended = RemedySearch.objects.filter(timeline=timeline).exclude(status__in=OPEN)
    kept = list(ended.values_list("pk", flat=True)[: KEPT_MOST - 1])
    ended.exclude(pk__in=kept).delete()
    return RemedySearch.objects.create(
        id=storage.new_id(),
        timeline=timeline,
        at=at,
        seeds=seeds,
        stage="Waiting for its turn",
        lease_until=end_of_wait(),
    )


def _question(search: RemedySearch) -> Mapping[str, Any]:
    try:
        return {"incident": in_plain(incident_of(search.timeline, search.at)), "seeds": search.seeds}
    except RemediesError as error:
        raise CannotAsk(str(error)) from error


searches: Final = LongQuestions(
    RemedySearch, "search for remedies", "simulations.jobs.remedy_child", _question
)
