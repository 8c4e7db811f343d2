"""A lesson's run: the entries of its scenario or log, folded, with the frame of each moment at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from groups.history.entries import Entry
from groups.history.frames.changes import Change, apply
from groups.history.frames.shapes import Frame
from groups.history.passes.recorder import Recorder
from groups.history.passes.summaries import Summary
from groups.history.state.group import Semantics
from groups.history.story.moment import Moment
from simulations.lessons.document import Kind, Lesson, Place
from simulations.lessons.source import Source
from simulations.protocol.coordinator.settings import Settings
from simulations.world.engine import RunTooLong, run
from simulations.world.scenario import Scenario, ScenarioError, load
from simulations.world.scenario.errors import nearest

ENTRIES_MAX: Final = 5_000
"""A lesson's run: the longest bundled one has some hundred entries, and a page carries all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """``moments`` as they are stored, and ``frames[i]`` the state after the i-th; ``chunk`` is what a board plays."""

    title: str
    moments: tuple[Moment, ...]
    frames: tuple[Frame, ...]
    summary: Summary
    settings: Settings | None
    scenario: Scenario | None
    ids: Mapping[str, str]
    """Name → member id; of a name that several processes had one after another, the last."""
    names: Mapping[str, str]
    """Member id → name."""
    chunk: bytes

    def place(self, place: Place, marks: Mapping[str, Place]) -> int:
        """The index of a moment; ``ScenarioError`` lists the known moments if the place does not exist."""
        if place.mark is not None:
            if place.mark == "start":
                return 0
            if place.mark == "end":
                return len(self.moments) - 1
            if place.mark not in marks:
                known = ("start", "end", *marks)
                raise ScenarioError(
                    place.line, place.field, f"there is no mark {place.mark}; {nearest(place.mark, known)}"
                )
            return self.place(marks[place.mark], marks)
        found = [index for index, moment in enumerate(self.moments) if self._is(moment, place)]
        if len(found) >= place.nth:
            return found[place.nth - 1]
        raise ScenarioError(place.line, place.field, self._missing(place, len(found)))

    def _is(self, moment: Moment, place: Place) -> bool:
        if place.step is not None:
            return bool(moment["step"] == place.step)
        actor = self.names.get(str(moment["actor"]), str(moment["actor"]))
        return moment["shape"] == place.shape and place.who in (None, actor)

    def _missing(self, place: Place, found: int) -> str:
        if place.step is not None:
            steps = [moment["step"] for moment in self.moments if moment["step"]]
            return f"the run has no step {place.step}; there are {len(steps)}"
        if found:
            return f"the run has {found} such, not {place.nth}"
        actors = {
            self.names.get(str(moment["actor"]), str(moment["actor"]))
            for moment in self.moments
            if moment["shape"] == place.shape
        }
        wanted = f"{place.shape} of {', '.join(sorted(actors))}" if actors else f"no {place.shape} at all"
        return f"{place.who} has no {place.shape} in this run; there is {wanted}"


def run_of(lesson: Lesson, source: Source) -> Run:
    """The run of a lesson about a scenario, a case study or a log. ``ScenarioError`` with the lesson's line."""
    scenario: Scenario | None = None
    entries: Iterable[Entry]
    group = ""
    match lesson.kind:
        case Kind.STUDY:
            scenario = _study(lesson, source)
            entries = run(scenario, scenario.semantics, scenario.seed)
        case Kind.SCENARIO:
            scenario = scenario_of(lesson)
            entries = run(scenario, scenario.semantics, scenario.seed)
        case Kind.LOG:
            recorded = _log(lesson, source)
            entries, group = recorded, _group_of(recorded)
        case Kind.CASE:
            raise AssertionError("a case of the laboratory is not played")
    group = scenario.group if scenario is not None else group
    title = scenario.title if scenario is not None else f"Log: {lesson.of}"
    try:
        return _folded(entries, title, group, scenario)
    except RunTooLong as error:
        raise ScenarioError(lesson.of_line, lesson.kind, str(error)) from None
    except _TooMany:
        raise ScenarioError(
            lesson.of_line,
            lesson.kind,
            f"the run of a lesson has at most {ENTRIES_MAX:,} entries; let it end earlier (until:)",
        ) from None


def play(scenario: Scenario) -> Run:
    """A scenario by itself, as a reader plays on; ``ScenarioError`` where it is too long for a page."""
    try:
        return _folded(
            run(scenario, scenario.semantics, scenario.seed), scenario.title, scenario.group, scenario
        )
    except (_TooMany, RunTooLong):
        raise ScenarioError(1, "until", f"the run has more than {ENTRIES_MAX:,} entries") from None


def scenario_of(lesson: Lesson) -> Scenario:
    """The scenario that is in the lesson; the lines of its mistakes are the lesson's."""
    try:
        return load(lesson.of, lesson.id)
    except ScenarioError as error:
        field = f"scenario.{error.field}" if error.field else "scenario"
        raise ScenarioError(lesson.of_line + error.line, field, error.message) from None


def _study(lesson: Lesson, source: Source) -> Scenario:
    try:
        return source.study(lesson.of)
    except KeyError:
        raise ScenarioError(
            lesson.of_line,
            "study",
            f"there is no case study {lesson.of}; {nearest(lesson.of, source.studies())}",
        ) from None


def _log(lesson: Lesson, source: Source) -> list[Entry]:
    try:
        return [Entry.from_json(entry) for entry in source.log(lesson.of)]
    except KeyError:
        raise ScenarioError(
            lesson.of_line,
            "log",
            f"there is no recorded log {lesson.of}; {nearest(lesson.of, source.logs())}",
        ) from None


def _group_of(entries: Iterable[Entry]) -> str:
    """The group whose records these are."""
    keys = (entry.payload.get("key") for entry in entries)
    groups = (str(key["groupId"]) for key in keys if isinstance(key, Mapping) and "groupId" in key)
    return next(groups, "")


class _TooMany(Exception):
    """The run goes on beyond the bound."""


def _folded(entries: Iterable[Entry], title: str, group: str, scenario: Scenario | None) -> Run:
    recorder: Recorder | None = None
    for entry in entries:
        if recorder is None:
            semantics = scenario.semantics if scenario is not None else Semantics.KAFKA
            recorder = Recorder(group=group, semantics=semantics, digests=False)
        if entry.sequence > ENTRIES_MAX:
            raise _TooMany
        recorder.add(entry)
    batch = recorder.flush(final=True) if recorder is not None else None
    if batch is None or batch.checkpoint is None:
        raise ScenarioError(1, "", "nothing happens in this run")
    first = orjson.loads(batch.checkpoint)["frame"]
    moments = orjson.loads(batch.moments)
    cast = batch.summary["cast"]
    return Run(
        title=title,
        moments=tuple(moments),
        frames=tuple(_frames(first, orjson.loads(batch.changes), moments)),
        summary=batch.summary,
        settings=scenario.settings if scenario is not None else None,
        scenario=scenario,
        ids={member["name"]: member["id"] for member in cast},
        names={member["id"]: member["name"] for member in cast},
        chunk=orjson.dumps(
            {
                "first": batch.first,
                "last": batch.last,
                "frame": first,
                "changes": orjson.Fragment(batch.changes),
                "moments": orjson.Fragment(batch.moments),
            }
        ),
    )


def _frames(first: Frame, changes: list[Change], moments: list[Moment]) -> Iterable[Frame]:
    """The frame after each moment."""
    frame, at = first, 0
    for moment in moments:
        end = at
        while end < len(changes) and changes[end]["sequence"] <= moment["sequence"]:
            end += 1
        frame, at = apply(frame, changes[at:end]), end
        yield {**frame, "at_ms": moment["at_ms"]}
