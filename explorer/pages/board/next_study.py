"""What a case study is about, and what to look at after it: the first page's path, then the order in which the others are understood."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from explorer.pages.home.path import PATH, path_of
from explorer.pages.home.pictures import in_order
from groups.models import Timeline
from simulations.world import studies


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    title: str
    url: str


def next_study(timeline: Timeline) -> Next | None:
    """The path's next station where the study is one of them; after the last study a log of a real broker.

    Nothing after what is no case study.
    """
    if timeline.source != Timeline.Source.CASE_STUDY:
        return None
    others = in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).only("id", "title"))
    if any(station.study == timeline.id for station in PATH):
        stations = path_of(study.id for study in others)
        place = [station.study for station in stations].index(timeline.id)
        # The last station is no study, so one follows each.
        return Next(title=stations[place + 1].title, url=stations[place + 1].url)
    ids = [study.id for study in others]
    after = others[ids.index(timeline.id) + 1 :] if timeline.id in ids else others
    if not after:
        return Next(title="a log of a real broker", url=f"{reverse('import-new')}#samples")
    return Next(title=after[0].title, url=f"{reverse('board', args=[after[0].id])}?play=1")


def about(timeline: Timeline) -> str:
    """A case study's summary; nothing of another timeline."""
    if timeline.source != Timeline.Source.CASE_STUDY or timeline.id not in studies.names():
        return ""
    return studies.load(timeline.id).summary or ""
