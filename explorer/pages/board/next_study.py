"""What to look at after a case study: the next one in the order in which they are understood."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from explorer.pages.home.pictures import in_order
from groups.models import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    title: str
    url: str


def next_study(timeline: Timeline) -> Next | None:
    """After the last one a log of a real broker; nothing after what is no case study."""
    if timeline.source != Timeline.Source.CASE_STUDY:
        return None
    studies = in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).only("id", "title"))
    ids = [study.id for study in studies]
    after = studies[ids.index(timeline.id) + 1 :] if timeline.id in ids else studies
    if not after:
        return Next(title="a log of a real broker", url=f"{reverse('import-new')}#samples")
    return Next(title=after[0].title, url=f"{reverse('board', args=[after[0].id])}?play=1")
