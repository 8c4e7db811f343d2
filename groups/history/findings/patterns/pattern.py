"""What all patterns have: a name, how bad it is, which sources show it, what usually causes it, where to look.

A pattern is reported with its evidence, and where the log lacks the sources that it needs, the summary lists that: a log of records holds
neither requests nor callbacks, so that a zombie is not ruled out by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from groups.history.findings.declaring import Declared, Find, Row, Watch
from groups.history.findings.finding import Finding, finding

RECORDS: Final = "records"
COMMITS: Final = "commits"
REQUESTS: Final = "requests"
TIMERS: Final = "timers"
CALLBACKS: Final = "callbacks"

KEPT_MAX: Final = 200
"""Of each kind of evidence, the first ones; more of the same proves no more."""


class Severity(StrEnum):
    """``critical``: records are read twice or not at all until somebody acts; ``warning``: it heals, and comes again."""

    CRITICAL = "critical"
    WARNING = "warning"
    HARMLESS = "harmless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """``sources``: any one of these sets shows it, the surest first. ``rank``: of several the lowest opens the verdict.

    ``look_for`` is its mark in a log, ``causes`` what usually brings it about, ``look_at`` settings and code, ``differs`` where
    the proposal and the release say different things.
    """

    kind: str
    title: str
    severity: Severity
    rank: int
    sources: tuple[tuple[str, ...], ...]
    look_for: str
    causes: tuple[str, ...]
    look_at: tuple[str, ...]
    differs: str = ""
    classic: tuple[str, ...] = ()
    """Those of ``causes`` and ``look_at`` that apply to groups of the classic protocol alone."""
    consumer: tuple[str, ...] = ()
    """Those that apply to groups of the consumer protocol alone."""

    def fitting(self, found: Finding, *, classic: bool, consumer: bool) -> Finding:
        """A finding of this pattern without the lines that cannot apply to a group which only had these protocols."""
        others = {*(() if classic else self.classic), *(() if consumer else self.consumer)}
        causes = [line for line in found["causes"] if line not in others]
        return {
            **found,
            "causes": causes,
            "look_at": [line for line in found["look_at"] if line not in others],
        }

    def lacks(self, present: frozenset[str]) -> tuple[str, ...] | None:
        """The sources without which it is unknown; ``None`` where the log has what it takes."""
        missing = [tuple(one for one in each if one not in present) for each in self.sources]
        return None if not all(missing) else min(missing, key=len)

    def row(self) -> Row:
        needs = " or ".join(" and ".join(each) for each in self.sources)
        return Row(kinds=(self.kind,), needs=needs, incident=self.severity is not Severity.HARMLESS)

    def finder(
        self,
        place: int,
        find: Find,
        *,
        watch: type[Watch] | None = None,
        more: tuple[Row, ...] = (),
    ) -> DeclaredPattern:
        """A file's ``FINDER``; ``more``: rows of what it finds besides the pattern."""
        return DeclaredPattern(place=place, find=find, rows=(self.row(), *more), watch=watch, pattern=self)

    def found(
        self,
        brief: str,
        sequences: Sequence[int],
        *,
        needs: Sequence[str],
        certain: bool = True,
        severity: Severity | None = None,
        rank: int | None = None,
        advice: Sequence[str] = (),
        explained_by: str = "",
        **data: object,
    ) -> Finding:
        """A finding of this pattern. ``brief`` contains who and how long; the title goes before it. ``advice`` is for this case alone.

        ``explained_by``: titles of other patterns that are its cause here, so that it has no causes and no advice of its own.
        """
        title = self.title if certain else f"Looks like {_small(self.title)}"
        return finding(
            self.kind,
            f"{title}: {brief}",
            sorted(set(sequences)),
            needs=list(needs),
            certain=certain,
            pattern=True,
            title=self.title,
            rank=self.rank if rank is None else rank,
            severity=str(severity or self.severity),
            causes=[] if explained_by else list(self.causes),
            look_at=[] if explained_by else [*self.look_at, *advice],
            differs=self.differs,
            more={**data, "explained_by": explained_by} if explained_by else data,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredPattern(Declared):
    """A finder of a pattern."""

    pattern: Pattern


def _small(title: str) -> str:
    """A title within a sentence: names of Kafka keep their letters."""
    return title if title.startswith("max.") else title[0].lower() + title[1:]
