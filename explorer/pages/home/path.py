"""The way of somebody who has never seen a rebalance: what to look at first, and then, and what each of it teaches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.urls import reverse


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """``study`` is the id of a case study; none is the import of a real log."""

    title: str
    teaches: str
    study: str | None = None

    @property
    def url(self) -> str:
        if self.study is None:
            return f"{reverse('import-new')}#samples"
        return f"{reverse('board', args=[self.study])}?play=1"


PATH: Final = (
    Station(
        study="kip848-basic",
        title="Three members join, one after another",
        teaches="Three epochs, and why released is not assigned",
    ),
    Station(
        study="kip848-member-failure",
        title="A member dies",
        teaches="What the session timeout costs its readers",
    ),
    Station(
        study="incident-slow-revocation",
        title="One member blocks the others",
        teaches="Who waits for whom, and until when",
    ),
    Station(title="A log of a real broker", teaches="What records tell, and what no log can tell"),
)


def path_of(stored: Iterable[str]) -> list[Station]:
    """The stations whose case study is stored."""
    known = set(stored)
    return [station for station in PATH if station.study is None or station.study in known]
