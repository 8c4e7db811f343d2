"""Subjects of headlines that are changes rather than harm, and how the words of an event become a headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, cast

from groups.history.findings.finding import Finding
from groups.history.findings.kinds import ByKind, Steps
from groups.history.verdict.headline.fitting import OVER_MS, Level, Subject, Words
from groups.history.verdict.text import Event, Part

WARNINGS: Final = frozenset(
    {
        "unread",
        "group_stopped",
        "offset_back",
        "offsets_set",
        "open_transaction",
        "two_writers",
        "unowned_commits",
        "passed_over",
        "fenced",
        "two_clients",
        "lost_batch",
    }
)
"""Events that somebody has to look at, however long they lasted."""

NEWS: Final[Mapping[str, int]] = {
    kind: number
    for number, kind in enumerate(
        (
            "formed",
            "waited_for",
            "no_owner",
            "matched",
            "first_assigned",
            "leader_changed",
            "joined",
            "aborted_transactions",
            "partitions_added",
            "idle_members",
            "replaced",
            "refused",
            "away",
            "removed",
            "coordinator_moved",
            "failed_over",
            "release_changed",
            "strategy_changed",
            "rolling_restart",
            "migrated",
            "offsets_deleted",
            "topics_remade",
            "topics_deleted",
            "emptied",
            "deleted",
        ),
        1,
    )
}
"""Changes that hurt nobody: of several the last in this order is the headline."""

MOMENTS: Final = frozenset({"offset_back", "offsets_set", "offsets_deleted", "aborted_transactions"})
"""What happened and stays: neither over nor still so."""

EXPLAINED: Final[Mapping[str, str]] = {
    "first_assigned": ": ",
    "aborted_transactions": ": ",
    "open_transaction": ": ",
    "offsets_deleted": ": ",
    "two_writers": ": ",
    "idle_members": ", without",
    "offset_back": ": ",
    "release_changed": ": ",
}
"""Events whose words explain themselves behind these."""


@dataclass(frozen=True)
class Shown:
    """An event and the finding that it is made of."""

    event: Event
    by_kind: ByKind

    @cached_property
    def finding(self) -> Finding:
        found = cast(Mapping[str, list[Finding]], self.by_kind).get(self.event.kind, ())
        return next(
            (one for one in found if self.event.sequence in (*one["sequences"], *one.get("steps", ()))),
            cast(Finding, {}),
        )

    @property
    def is_open(self) -> bool:
        found = self.finding
        return found.get("open", False) or ("to_ms" in found and found["to_ms"] is None)

    @property
    def lasts(self) -> bool:
        if self.event.kind in MOMENTS or self.event.kind == "unread":
            return False
        if " within " in self.event.parts[0].text:
            return True
        return self.is_open or bool(self.finding.get("length_ms")) or self.finding.get("to_ms") is not None

    @property
    def from_ms(self) -> int | None:
        """``None`` where the words have their times in them."""
        return None if any(part.at_ms is not None for part in self._parts) else self.event.at_ms

    def still(self, last_ms: int) -> bool | None:
        if self.is_open:
            return True
        if self.event.kind in MOMENTS:
            return None
        ends_ms = self.finding.get("to_ms")
        length_ms = self.finding.get("length_ms")
        if ends_ms is None and length_ms:
            ends_ms = self.event.at_ms + length_ms
        return False if ends_ms is not None and last_ms - ends_ms > OVER_MS else None

    @property
    def lead(self) -> Words:
        """Its first clause."""
        return _clauses(self._parts)[0]

    @property
    def rest(self) -> tuple[Words, ...]:
        """Its later clauses, and ever fewer of them."""
        later = _clauses(self._parts)[1:]
        if self.event.kind == "offset_back" and self.finding.get("why") == "handover":
            later = [[Part(f"{self.finding['name']} took over")]]
        forms = [later[:number] for number in range(len(later), 0, -1)]
        return tuple([part for clause in form for part in (Part("; "), *clause)] for form in forms)

    @cached_property
    def _parts(self) -> Words:
        """Its words without the time before them, and without the words of the headline's end."""
        parts = self.event.parts
        parts = parts[3:] if parts[0].text == "from " and len(parts) > 3 else parts
        if self.event.kind in EXPLAINED:
            return [parts[0]._replace(text=parts[0].text.split(EXPLAINED[self.event.kind])[0])]
        return [part._replace(text=part.text.removesuffix(" up to the end")) for part in parts]


def _clauses(parts: Words) -> list[Words]:
    """At each semicolon, whether it is between two parts or within one."""
    found: list[Words] = [[]]
    for part in parts:
        texts = part.text.split("; ")
        for number, text in enumerate(texts):
            if number:
                found.append([])
            if text or part.at_ms is not None:
                found[-1].append(part._replace(text=text))
    return [clause for clause in found if clause]


def changes_at_the_end(by_kind: ByKind) -> Iterator[Subject]:
    """What still is so at the log's end, and how the group formed."""
    for one in by_kind.get("idle_members", ()):
        if one["open"]:
            yield _lasting("idle_members", one, one["says"].split(":")[0], one["from_ms"])
    for kind in ("topic_not_assigned", "partitions_not_assigned", "assigned_unsubscribed"):
        for each in cast(Mapping[str, list[Finding]], by_kind).get(kind, ()):
            subject = _lasting(kind, each, each["says"].split(" (the log")[0], each.get("from_ms"))
            subject.level = Level.WARNING
            yield subject
    for deleted in by_kind.get("deleted", ())[:1]:
        yield _change("deleted", [Part("The group was deleted", deleted["sequences"][-1])], None)
    for emptied in by_kind.get("emptied", ()):
        if emptied["open"]:
            subject = _change("emptied", [Part("No member", emptied["sequences"][-1])], emptied["from_ms"])
            subject.lasts, subject.still = True, True
            yield subject
    for formed in by_kind.get("formed", ())[:1]:
        members = f"{formed['joined']} members" if formed["joined"] != 1 else "One member"
        step = formed["steps"][0] if formed["steps"] else formed["sequences"][0]
        yield _change("formed", [Part(f"{members} joined", step, formed["steps"])], formed["from_ms"])


def _lasting(kind: str, one: Steps | Finding, text: str, from_ms: int | None) -> Subject:
    subject = _change(kind, [Part(text, one["sequences"][0], one["steps"])], from_ms)
    subject.lasts, subject.still, subject.certain = True, True, bool(one["certain"])
    return subject


def _change(kind: str, words: Words, from_ms: int | None) -> Subject:
    return Subject(
        kind=kind,
        sequence=words[0].sequence or 0,
        level=Level.NEWS,
        weight=NEWS.get(kind, 0),
        lead=[words],
        from_ms=from_ms,
    )
