"""The steps of an algorithm, in words and data, collected while it runs.

An assignor is handed an ``Explanation`` or none, and asks ``if explain:`` before it explains anything, so that the answer
alone costs nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

STEPS_MAX: Final = 10_000
"""More is not read by anybody: after so many steps the explanation counts those that it leaves out."""

LISTED_MAX: Final = 20
"""Partitions named in one sentence; of more only the number is shown."""


Step = Mapping[str, object]
"""``{"step": kind, "says": sentence, …data}``: the kind decides which data there are."""


class Explanation:
    """A list of steps."""

    __slots__ = ("left_out", "steps")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.left_out = 0

    def say(self, step: str, text: str, **data: object) -> None:
        """Adds a step: a short name for its kind, what happened and why, and the values in it."""
        if len(self.steps) < STEPS_MAX:
            self.steps.append({"step": step, "says": text, **data})
        else:
            self.left_out += 1

    def to_json(self) -> list[Step]:
        """The steps; a last one shows how many are left out."""
        if not self.left_out:
            return self.steps
        text = f"{self.left_out} more steps are left out"
        more: Step = {"step": "more", "says": text, "left_out": self.left_out}
        return [*self.steps, more]


def explain_quota(explain: Explanation, partitions: int, members: int, least: int, extras: int) -> None:
    """How many partitions everybody may have."""
    more = f", {extras} of them one more" if extras else ", nothing left over"
    counts = f"{counted(partitions, 'partition')}, {counted(members, 'member')}"
    explain.say(
        "quota",
        f"All subscribe to the same topics. {counts}: {least} each{more}",
        partitions=partitions,
        members=members,
        least=least,
        with_one_more=extras,
    )


def explain_drop(
    explain: Explanation, member_id: str, partitions: Iterable[tuple[str, int]], because: str
) -> None:
    """Partitions that a member had and is not considered for; no step if there are none."""
    names = named(partitions)
    if names:
        explain.say(
            "drop",
            f"{member_id} does not keep {listed(names)}: {because}",
            member=member_id,
            partitions=names,
        )


def counted(number: int, what: str) -> str:
    """``1 member``, ``3 members``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def named(partitions: Iterable[tuple[str, int]]) -> list[str]:
    """``[("foo", 2)]`` as ``["foo-2"]``."""
    return [f"{topic}-{partition}" for topic, partition in partitions]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: all of a few, the first and the number of many."""
    if not names:
        return "nothing"
    if len(names) <= LISTED_MAX:
        return ", ".join(names)
    return f"{', '.join(names[:LISTED_MAX])} and {len(names) - LISTED_MAX} more"
