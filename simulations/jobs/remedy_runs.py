"""Searches for remedies as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groups.models import Timeline
from simulations.jobs.incidents import in_plain, incident_of
from simulations.jobs.long_questions import CannotAsk, LongQuestions
from simulations.models import RemedySearch
from simulations.remedies.values import RemediesError

KEPT_MOST: Final = 20
"""Searches of one timeline that are kept; a new one removes the oldest that has ended."""


def create(timeline: Timeline, at: int, seeds: int) -> RemedySearch:
    """A search that waits."""
    return searches.create(KEPT_MOST, {"timeline": timeline}, at=at, seeds=seeds)


def _question(search: RemedySearch) -> Mapping[str, Any]:
    try:
        return {"incident": in_plain(incident_of(search.timeline, search.at)), "seeds": search.seeds}
    except RemediesError as error:
        raise CannotAsk(str(error)) from error


searches: Final = LongQuestions(
    RemedySearch, "search for remedies", "simulations.jobs.remedy_child", _question
)
