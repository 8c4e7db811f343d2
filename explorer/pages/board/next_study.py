"""What a case study is about, and what to look at after it: a short way for anyone who is new, else the order of understanding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.urls import reverse

from explorer.pages.home.pictures import in_order
from groups.models import Timeline
from simulations.world import studies

PATH: Final = {
    "kip848-basic": "Three members join, one after another",
    "kip848-member-failure": "A member dies",
    "incident-slow-revocation": "One member blocks the others",
}
"""The studies that somebody new plays one after another: the epochs, what a session timeout costs, who waits for whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    title: str
    url: str


def next_study(timeline: Timeline) -> Next | None:
    """The path's next study where this is one of it; after the last one a log of a real broker.

    Nothing after what is no case study.
    """
    if timeline.source != Timeline.Source.CASE_STUDY:
        return None
    others = in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).only("id", "title"))
    titles = {study.id: study.title for study in others}
    if timeline.id in PATH:
        titles = {study: title for study, title in PATH.items() if study in titles}
    ids = list(titles)
    after = ids[ids.index(timeline.id) + 1 :] if timeline.id in ids else ids
    if not after:
        return Next(title="A log of a real broker", url=f"{reverse('import-new')}#samples")
    return Next(title=titles[after[0]], url=f"{reverse('board', args=[after[0]])}?play=1")


def about(timeline: Timeline) -> str:
    """A case study's summary; nothing of another timeline."""
    if timeline.source != Timeline.Source.CASE_STUDY or timeline.id not in studies.names():
        return ""
    return studies.load(timeline.id).summary or ""
