"""A lesson of one's own, begun from a stored timeline: what is in the editor before anything was written."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from explorer.web.endpoint import BadRequest
from groups import storage
from groups.history.entries import EntryLine
from groups.models import Timeline
from groups.shown import or_title
from simulations.courses import Bundled
from simulations.lessons.document import Kind
from simulations.lessons.lesson_yaml import read_lesson
from simulations.lessons.playing import ENTRIES_MAX
from simulations.world.scenario import ScenarioError

DRAFT = """\
title: {title}
goal: Say what the reader can do afterwards.
minutes: 5
{of}
beats:
  - at: start
    title: How it begins
    text: "{{happens}}."
    facts: {{time: 0.0 s}}
"""


def draft_of(timeline: Timeline) -> str:
    """The beginning of a lesson about a timeline: a case study by its name, a run by its scenario, a log by its id."""
    if timeline.source == Timeline.Source.CASE_STUDY:
        of = f"study: {timeline.id}"
    elif timeline.scenario:
        of = "scenario: |\n" + "".join(f"  {line}\n" for line in timeline.scenario.splitlines()).rstrip("\n")
    else:
        of = f"log: {timeline.id}"
    return DRAFT.format(
        title=_one_line(f"What happened in {or_title(timeline.group, timeline.title)}"), of=of
    )


def logs_of(text: str) -> Mapping[str, list[EntryLine]]:
    """The entries of the stored timeline that a lesson's ``log`` names; none where it names a bundled log, or nothing."""
    try:
        lesson = read_lesson(text)
    except ScenarioError:
        return {}
    if lesson.kind is not Kind.LOG or lesson.of in Bundled().logs():
        return {}
    try:
        timeline = storage.get(lesson.of)
    except storage.NoSuchTimeline:
        return {}
    if timeline.last > ENTRIES_MAX:
        raise BadRequest(
            f"Timeline {timeline.id} has {timeline.last:,} entries; a lesson is told of {ENTRIES_MAX:,} at most.",
            field="text",
        )
    return {lesson.of: list(islice(storage.every_entry(timeline), ENTRIES_MAX))}


def _one_line(title: str) -> str:
    """A title that YAML reads as text, whatever is in it."""
    return '"' + " ".join(title.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
