"""The steps of an algorithm as a reader takes them: neighbours of one kind as one, with the columns they speak of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from simulations.laboratory.assignor_answers import Answer, counts_of
from simulations.laboratory.cases import NOBODY, Case, Event
from simulations.laboratory.sentences import NAMED_MOST, counted, listed
from simulations.laboratory.shapes import StepSheet
from simulations.protocol.assignors.explanation import Step
from simulations.protocol.assignors.measures import RebalanceProtocol

STEPS_MOST: Final = 60
"""Of one board: nobody reads more. `manage.py assign --explain` gives them all."""

CHIPS_MOST: Final = 24
"""Partitions that a step lists under itself."""

STRIP_MOST: Final = 12
"""Members that a strip has room for."""

TAKES: Final = frozenset({"over-quota", "drop"})
"""Kinds that take partitions from a member."""

GIVES: Final = frozenset({"give"})
"""Kinds that hand partitions to a member."""


def steps_of(case: Case, answer: Answer) -> list[StepSheet]:
    """The steps with what each does to whom; the last one is how it ends."""
    if answer.measures is None:
        return []
    telling = _Telling(case, answer)
    groups = [list(group) for _, group in itertools.groupby(answer.steps, key=_alike)]
    steps = [step for group in groups[:STEPS_MOST] for step in telling.sheets(group)]
    shown = steps[:STEPS_MOST]
    left_out = len(steps) - len(shown) + sum(map(len, groups[STEPS_MOST:]))
    if left_out:
        shown.append({"says": f"{counted(left_out, 'step')} more, which are not shown.", "columns": []})
    return [*shown, telling.closing()]


def _kind(step: Step) -> str:
    return str(step["step"])


def _alike(step: Step) -> tuple[str, str]:
    """What neighbours are shown together by: their kind, and of partitions that are not kept the reason."""
    kind = _kind(step)
    if kind != "drop":
        return kind, ""
    reason = str(step["says"]).rpartition(": ")[2]
    # Which rack that is differs from member to member.
    return kind, reason.partition(", ")[0] if reason.startswith("no replica") else reason


class _Telling:
    """Counts what everybody has while the steps go by."""

    def __init__(self, case: Case, answer: Answer) -> None:
        self.case = case
        self.answer = answer
        self.names = case.names
        self.places = {member_id: place for place, member_id in enumerate(case.ids)}
        self.sizes = dict(zip(case.topic_names, case.sizes, strict=True))
        self.columns = _columns(case)
        self.named = {f"{topic}-{partition}": column for (topic, partition), column in self.columns.items()}
        there = set(case.present)
        counts = counts_of(case, answer.before)
        self.counts = {place: counts[place] for place in range(len(counts)) if place in there}
        self.moved = {
            column
            for column, (old, new) in enumerate(zip(answer.before, answer.after, strict=True))
            if old != new
        }
        self._renamed = _renaming(case)

    def sheets(self, group: Sequence[Step]) -> Iterator[StepSheet]:
        """Several steps of one kind as one where there are words for them together."""
        together = TOGETHER.get(_kind(group[0]))
        if together is not None and (len(group) > 1 or _kind(group[0]) == "withhold"):
            partitions = [name for step in group for name in _partitions(step)]
            members = list(dict.fromkeys(self._name(step) for step in group))
            _, reason = _alike(group[0])
            yield self._step(f"{together(members, partitions)}{reason and ': '}{reason}", group)
        else:
            for step in group:
                yield self._step(self._renamed(str(step["says"])), [step])

    def closing(self) -> StepSheet:
        """How it ends, the same words for all six."""
        found = self.answer.measures
        assert found is not None
        each = f"{found.least:,}" if found.least == found.most else f"{found.least:,} to {found.most:,}"
        moved = counted(found.moved, "partition") if found.moved else "nothing"
        text = f"{each} each; {moved} moved."
        if found.local is not None:
            text += f" {found.local:,} of {found.placed:,} are in the rack of their reader."
        if self.answer.board.rebalance is RebalanceProtocol.EAGER and self.case.event is not Event.FULL:
            stay = sum(
                1
                for old, new in zip(self.answer.before, self.answer.after, strict=True)
                if old == new != NOBODY
            )
            if stay and found.paused:
                text += (
                    f" Eager: before this began everybody gave up everything, also the {stay:,} that stay."
                )
        step: StepSheet = {"says": text, "columns": sorted(self.moved)}
        after = counts_of(self.case, self.answer.after)
        before = counts_of(self.case, self.answer.before)
        if len(self.counts) <= STRIP_MOST:
            step["strip"] = [[place, after[place], before[place]] for place in self.counts]
        return step

    def _step(self, text: str, group: Sequence[Step]) -> StepSheet:
        sheet: StepSheet = {"says": text if text.endswith((".", ":")) else f"{text}."}
        if _topics(group[0]):
            self._spread(sheet, _topics(group[0]))
            return sheet
        before = dict(self.counts)
        chips = [chip for step in group for chip in self._effect(step)]
        sheet["columns"] = sorted({column for column, _ in chips})
        if chips and len(chips) <= CHIPS_MOST:
            sheet["chips"] = chips
        if before != self.counts and len(self.counts) <= STRIP_MOST:
            sheet["strip"] = [[place, count, before[place]] for place, count in self.counts.items()]
        return sheet

    def _effect(self, step: Step) -> Iterator[list[int]]:
        """Moves the partitions of a step; each with the member that it goes to."""
        kind = _kind(step)
        columns = [self.named[name] for name in _partitions(step) if name in self.named]
        giver = self.places.get(str(step.get("from", step.get("member") if kind in TAKES else "")))
        taker = self.places.get(str(step.get("to", step.get("member") if kind in GIVES else "")))
        for place, by in ((giver, -len(columns)), (taker, len(columns))):
            if place in self.counts:
                self.counts[place] += by
        named = self.places.get(str(step.get("member", ""))) if kind not in TAKES else None
        shown = taker if taker is not None else named
        for column in columns:
            yield [column, NOBODY if shown is None else shown]

    def _spread(self, sheet: StepSheet, topics: Sequence[str]) -> None:
        """Adds what each member has of topics that are spread as a whole."""
        columns = [
            self.columns[topic, partition] for topic in topics for partition in range(self.sizes[topic])
        ]
        owners = [self.answer.after[column] for column in columns]
        sheet["columns"] = [column for column in columns if column in self.moved] or columns
        if len(self.counts) <= STRIP_MOST:
            sheet["strip"] = [[place, owners.count(place), owners.count(place)] for place in self.counts]

    def _name(self, step: Step) -> str:
        member_id = str(step.get("member", step.get("from", "")))
        place = self.places.get(member_id)
        return member_id if place is None else self.names[place]


def _columns(case: Case) -> dict[tuple[str, int], int]:
    """Topic and partition → column."""
    partitions = (
        (topic, partition)
        for topic, size in zip(case.topic_names, case.sizes, strict=True)
        for partition in range(size)
    )
    return {partition: column for column, partition in enumerate(partitions)}


def _topics(step: Step) -> list[str]:
    """Topics that a step spreads over members; none of a step that only speaks of them."""
    if not isinstance(step.get("partitions"), int):
        return []
    several = step.get("topics")
    if isinstance(several, list):
        return [str(topic) for topic in several]
    one = step.get("topic")
    return [str(one)] if one is not None else []


def _partitions(step: Step) -> list[str]:
    several = step.get("partitions")
    if isinstance(several, list):
        return [str(name) for name in several]
    one = step.get("partition")
    return [str(one)] if one is not None else []


def _renaming(case: Case) -> Callable[[str], str]:
    """Members' ids in a sentence become their names."""
    other = {
        member_id: name for member_id, name in zip(case.ids, case.names, strict=True) if member_id != name
    }
    if not other:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(each) for each in sorted(other, key=len, reverse=True)))
    return lambda text: pattern.sub(lambda found: other[found[0]], text)


def _over_quota(members: Sequence[str], partitions: Sequence[str]) -> str:
    verb, their = ("has", "its") if len(members) == 1 else ("have", "their")
    gives = "gives" if len(members) == 1 else "give"
    return f"{listed(members, NAMED_MOST)} {verb} more than {their} share and {gives} up {_some(partitions)}"


def _hand_back(members: Sequence[str], partitions: Sequence[str]) -> str:
    return (
        f"{listed(members, NAMED_MOST)} do not fill their one more and hand it back, since more members are to come "
        "than may have one more"
    )


def _drop(members: Sequence[str], partitions: Sequence[str]) -> str:
    verb = "does" if len(members) == 1 else "do"
    return f"{listed(members, NAMED_MOST)} {verb} not keep {_some(partitions)}"


def _give(members: Sequence[str], partitions: Sequence[str]) -> str:
    return f"What is free is handed out to members with room: {_some(partitions)}"


def _move(members: Sequence[str], partitions: Sequence[str]) -> str:
    return (
        f"{counted(len(partitions), 'time')} a partition moves from a member with more to one with less: "
        f"{_some(list(dict.fromkeys(partitions)))}"
    )


def _withhold(members: Sequence[str], partitions: Sequence[str]) -> str:
    them = "it" if len(partitions) == 1 else "them"
    return (
        f"Withheld: others may still hold {_some(partitions)}, so this round gives {them} to nobody. "
        f"The owners let go and join again; the second round hands {them} over"
    )


def _some(partitions: Sequence[str]) -> str:
    return listed(partitions, NAMED_MOST)


TOGETHER: Final[Mapping[str, Callable[[Sequence[str], Sequence[str]], str]]] = {
    "over-quota": _over_quota,
    "hand-back": _hand_back,
    "drop": _drop,
    "give": _give,
    "move": _move,
    "withhold": _withhold,
}
"""What several steps of a kind are called together."""
