"""What a stopped broker left, judged group by group: ``conform`` as the tests of the broker use it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from groups.releases import Release, release_of
from simulations.proof.conformance import Judge, NotJudged, Report, recordings, report, settings_of
from simulations.proof.conformance.configs import BROKER_SETTINGS
from simulations.recorded_files import read

from . import played
from .node import SETTINGS, Node

TRIES: Final = 3
"""How often a group is recorded that differs or was not played to its end. A machine that stands still for a second lets
timers run out that a script meant to beat; what differs by rule differs each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformed:
    """By group: the verdict on it, and what went wrong while it was played. ``errors`` are codes that were answered."""

    verdicts: dict[str, Report]
    problems: dict[str, Exception]
    errors: frozenset[int]

    def agrees(self, group: str, *, differs: bool = False) -> bool:
        """Whether it was played to its end and found without a difference, or with one where it ``differs``."""
        return (
            group not in self.problems
            and group in self.verdicts
            and bool(self.verdicts[group]["differences"]) == differs
        )

    def followed_by(self, again: Conformed, groups: Collection[str]) -> Conformed:
        """With these groups as they were found when they were recorded again."""
        kept = {group: problem for group, problem in self.problems.items() if group not in groups}
        return Conformed(
            verdicts={**self.verdicts, **again.verdicts},
            problems={**kept, **again.problems},
            errors=self.errors | again.errors,
        )


def recorded_until_alike(
    record: Callable[[int, Collection[str]], Conformed],
    groups: Collection[str],
    *,
    differing: Collection[str] = (),
) -> Conformed:
    """``record`` plays groups, of the first or a later try; those that do not agree are played again, with few beside them."""
    found = record(0, groups)
    for number in range(1, TRIES):
        again = [group for group in groups if not found.agrees(group, differs=group in differing)]
        if not again:
            break
        found = found.followed_by(record(number, again), again)
    return found


def told_settings(settings: Mapping[str, object] = played.SETTINGS) -> dict[str, str]:
    """Of those that a node ran with, the ones that ``conform`` is told."""
    every = {**SETTINGS, **settings}
    return {name: str(every[name]) for name in BROKER_SETTINGS if name in every}


def conform(
    node: Node,
    problems: dict[str, Exception],
    settings_told: Mapping[str, object] = played.SETTINGS,
    release: Release | None = None,
    limit_s: float | None = None,
) -> Conformed:
    """Puts the node's request log and segments to the simulated coordinator, with the settings that it ran with.

    It is judged by the rules of ``release``, or of the node's own. A group that takes longer than ``limit_s`` of processor time has
    no verdict.
    """
    settings = replace(settings_of(told_settings(settings_told)), release=release or release_of(node.release))
    files = read(str(node.folder / "broker.log.requests"), [str(node.data)], timedelta())
    not_judged = NotJudged()
    verdicts = {}
    for recording in recordings(files.requests, files.written, files.images, not_judged):
        judge = Judge(recording, settings)
        try:
            with _at_most(limit_s):
                judge.judge()
        except TimeoutError:
            continue
        verdicts[recording.group] = report([judge.tally], NotJudged())
    errors = {each.response.get("errorCode", 0) for each in files.requests}
    for each in files.requests:
        for name in ("groups", "results"):
            errors |= {part["errorCode"] for part in each.response.get(name, ())}
    return Conformed(verdicts=verdicts, problems=problems, errors=frozenset(errors))


@contextlib.contextmanager
def _at_most(limit_s: float | None) -> Iterator[None]:
    """``TimeoutError`` after so much processor time of this process; of the main thread alone."""
    if limit_s is None:
        yield
        return

    def over(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
