"""The way of somebody who has never seen a rebalance: the lessons of the first course, and then a real log."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from explorer.pages.lessons.listing import line_of
from simulations import courses


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """What to look at, and how long it takes or what it teaches."""

    title: str
    teaches: str
    url: str
    lesson: str | None = None
    """Its name, by which the browser knows whether it was done."""


def path_of() -> list[Station]:
    """The lessons of the first course, then an incident, then a log of a real broker."""
    first, *_, incidents = courses.courses()
    stations = [
        Station(title=line["title"], teaches=f"{line['minutes']} min", url=line["url"], lesson=name)
        for name in (*first.lessons, incidents.lessons[0])
        for line in (line_of(name),)
    ]
    return [
        *stations,
        Station(
            title="A log of a real broker",
            teaches="a sample",
            url=f"{reverse('import-new')}#samples",
        ),
    ]
