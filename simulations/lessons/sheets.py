"""A lesson as a page plays it: the board's data, and beats whose sentences and answers the run has filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import orjson

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame, TopicFrame
from groups.history.story.epochs import EpochStart
from groups.history.story.moment import Moment
from simulations.lessons.document import Beat, Kind, Lesson, Table
from simulations.lessons.filling import Problem, RunFilling
from simulations.lessons.frames import flat, group_epoch
from simulations.lessons.hands import Hands, HandsSheet
from simulations.lessons.playing import Run, run_of
from simulations.lessons.questions import AskSheet, answered
from simulations.lessons.references import Context
from simulations.lessons.source import Source
from simulations.lessons.values import TextPart


class BeatSheet(TypedDict):
    """``sequence``: where the board is; ``row``: the row of the table that is lit, or None."""

    sequence: int
    title: str
    text: list[list[TextPart]]
    notes: list[TextPart] | None
    cite: list[TextPart] | None
    terms: Sequence[str]
    ask: AskSheet | None
    row: int | None


class RowSheet(TypedDict):
    """``cells``: for each member of the table's head; ``same`` where nothing changed since the row before."""

    sequence: int
    says: list[TextPart]
    cells: list[str]
    same: list[bool]


class TableSheet(TypedDict):
    source: str
    members: list[str]
    rows: list[RowSheet]
    slip: list[TextPart] | None


class RunSummary(TypedDict):
    """What a board shows of a run at its head, as in the summary of a timeline."""

    cast: Sequence[NamedMember]
    topics: Mapping[str, TopicFrame]
    epochs: Sequence[EpochStart]
    first_ms: int | None
    last_ms: int
    protocol: str | None


class RunChunk(TypedDict):
    """All of a run: its first frame, and what came after that."""

    first: int
    last: int
    frame: Frame
    changes: list[Change]
    moments: list[Moment]


class RunSheet(TypedDict):
    """What a board needs of a run."""

    title: str
    summary: RunSummary
    chunk: RunChunk


class Sheet(TypedDict):
    """``run`` is None for a case, which is in ``hands``.

    ``replayable``: whether a reader can take over and play on; of a recorded log nobody can. ``quiz``: an incident to be recognised, whose
    board hides what only the simulator knows until a question is answered.
    """

    id: str
    title: str
    goal: list[TextPart]
    minutes: int
    of: str
    kind: str
    replayable: bool
    quiz: bool
    run: RunSheet | None
    hands: HandsSheet | None
    table: TableSheet | None
    beats: list[BeatSheet]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A sheet, and what in its lesson the run does not bear out."""

    sheet: Sheet
    problems: tuple[Problem, ...]


def sheet_of(lesson: Lesson, source: Source) -> Made:
    """Plays the lesson and fills it in. ``ScenarioError`` where there is nothing to play."""
    filler: Hands | RunFilling
    table = run = None
    if lesson.kind is Kind.CASE:
        filler = Hands(lesson)
        if lesson.table is not None:
            filler.problems.append(Problem(lesson.of_line, "table", "a case has no proposal's table"))
    else:
        run = run_of(lesson, source)
        filler = RunFilling(run, Context(run=run, marks=lesson.marks))
        for place in lesson.marks.values():
            filler.index(place, 0)
        table = _table(lesson.table, filler) if lesson.table is not None else None
    sheet: Sheet = {
        "id": lesson.id,
        "title": lesson.title,
        "goal": filler.fill(lesson.goal, 0),
        "minutes": lesson.minutes,
        "of": lesson.of if lesson.kind is not Kind.SCENARIO else "",
        "kind": lesson.kind,
        "replayable": run is not None and run.scenario is not None,
        "quiz": run is not None and lesson.pattern is not None,
        "run": played(run) if run is not None else None,
        "hands": filler.sheet() if isinstance(filler, Hands) else None,
        "table": table,
        "beats": [_beat(beat, filler, table, lesson.id) for beat in lesson.beats],
    }
    if isinstance(filler, RunFilling):
        _in_order(lesson, sheet, filler)
    return Made(sheet=sheet, problems=tuple(sorted(set(filler.problems))))


def played(run: Run) -> RunSheet:
    """What a board needs of a run."""
    summary = run.summary
    return {
        "title": run.title,
        "summary": {
            "cast": summary["cast"],
            "topics": summary["topics"],
            "epochs": summary["epochs"],
            "first_ms": summary["first_ms"],
            "last_ms": summary["last_ms"],
            "protocol": summary["protocol"],
        },
        "chunk": _untold(orjson.loads(run.chunk)),
    }


def _untold(chunk: RunChunk) -> RunChunk:
    """Without the case study's own story: it would answer what is asked."""
    for moment in chunk["moments"]:
        moment.pop("narration", None)
    return chunk


def _beat(beat: Beat, filler: RunFilling | Hands, table: TableSheet | None, lesson: str) -> BeatSheet:
    index = filler.index(beat.at, 0)
    for fact in beat.facts:
        filler.fact(fact, index)
    sequence = filler.sequence(index)
    rows = [row["sequence"] for row in table["rows"]] if table is not None else []
    if not beat.facts and beat.ask is None:
        filler.problems.append(
            Problem(
                beat.line,
                f"{beat.field}.facts",
                "a beat states at least one fact, or asks: else nothing holds it to the run",
            )
        )
    return {
        "sequence": sequence,
        "title": beat.title,
        "text": [filler.fill(text, index) for text in beat.text],
        "notes": filler.fill(beat.notes, index) if beat.notes is not None else None,
        "cite": filler.fill(beat.cite, index) if beat.cite is not None else None,
        "terms": beat.terms,
        "ask": answered(beat.ask, index, filler, lesson) if beat.ask is not None else None,
        "row": max((number for number, at in enumerate(rows) if at <= sequence), default=None),
    }


def _table(table: Table, filler: RunFilling) -> TableSheet:
    """The proposal's rows, each cell held against the run."""
    members = list(dict.fromkeys(name for row in table.rows for name in row.cells))
    rows: list[RowSheet] = []
    for row in table.rows:
        index = filler.index(row.at, 0)
        cells = [row.cells.get(name, "") for name in members]
        for name, cell in row.cells.items():
            if name not in filler.run.ids:
                filler.problems.append(
                    Problem(row.line, f"{row.field}.cells", f"nobody in this run is called {name}")
                )
                continue
            shown = cell_of(filler.run.frames[index], filler.run.ids[name])
            if shown != cell:
                filler.problems.append(
                    Problem(row.line, f"{row.field}.cells.{name}", f"the run has {shown}, not {cell}")
                )
        before = rows[-1]["cells"] if rows else None
        rows.append(
            {
                "sequence": filler.sequence(index),
                "says": filler.fill(row.text, index),
                "cells": cells,
                "same": [before is not None and before[place] == cell for place, cell in enumerate(cells)],
            }
        )
    return {
        "source": table.source,
        "members": members,
        "rows": rows,
        "slip": filler.fill(table.slip, 0) if table.slip is not None else None,
    }


def cell_of(frame: Frame, member: str) -> str:
    """A member as the proposal's tables write it: ``22 {2} waits {5}``, or ``-`` where it is no member."""
    about = frame["members"].get(member)
    if about is None:
        return "-"
    owned, waits = flat(about.get("assigned")), flat(about.get("pending_assignment"))
    # A member of a classic group has no epoch of its own: it is of the group's generation.
    epoch = about["epoch"] if about.get("epoch") is not None else group_epoch(frame)
    shown = f"{epoch} {_numbers(owned)}"
    return f"{shown} waits {_numbers(waits)}" if waits else shown


def _numbers(names: Sequence[str]) -> str:
    """The numbers alone where all are of one topic, as the proposal has it."""
    topics = {name.rpartition("-")[0] for name in names}
    shown_names = names if len(topics) > 1 else [name.rpartition("-")[2] for name in names]
    return "{" + ",".join(shown_names) + "}"


def _in_order(lesson: Lesson, sheet: Sheet, filler: RunFilling) -> None:
    """A lesson goes forward: a beat does not stand before the one that it follows, nor an answer before its question."""
    last = -1
    for beat, beat_sheet in zip(lesson.beats, sheet["beats"], strict=True):
        if beat_sheet["sequence"] < last:
            filler.problems.append(
                Problem(beat.line, f"{beat.field}.at", "this moment lies before that of the beat before it")
            )
        last = beat_sheet["sequence"]
        ask = beat_sheet["ask"]
        if ask is not None and ask["at"] is not None:
            if ask["at"] < last:
                filler.problems.append(
                    Problem(beat.line, f"{beat.field}.ask.at", "the answer lies before its question")
                )
            last = max(last, ask["at"])
