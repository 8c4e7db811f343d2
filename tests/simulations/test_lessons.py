"""The bundled lessons: each plays to its end, states nothing that its run does not bear out, and is read as it was written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from explorer.web.glossary import terms
from groups.history.findings.patterns.pattern import DeclaredPattern
from groups.history.findings.registry import finders
from simulations import courses
from simulations.lessons import sheets
from simulations.lessons.checking import checked, problems
from simulations.lessons.document import Ask, Beat, Fact, Kind, Lesson
from simulations.lessons.playing import run_of
from simulations.lessons.sheets import sheet_of
from simulations.world import studies
from simulations.world.scenario import Scenario, ScenarioError, load
from tests.house import ROOT
from tests.simulations.lessons_told import FOLDER, plain, told

SOURCE = courses.Bundled()
NAMES = courses.names()


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_states_nothing_that_its_run_does_not_bear_out(name: str) -> None:
    assert [str(problem) for problem in problems(courses.load(name), SOURCE, terms())] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_says_what_was_read_and_approved(name: str) -> None:
    """``python -m tests.simulations.lessons_told`` writes the pages anew."""
    page = FOLDER / f"{name}.txt"
    assert told(sheet_of(courses.load(name), SOURCE).sheet) == page.read_text(encoding="utf-8")


def test_every_lesson_file_stands_in_a_course_and_in_one_alone() -> None:
    files = {
        path.removesuffix(".yaml")
        for path in (entry.name for entry in courses.files())
        if path.endswith(".yaml") and path != courses.INDEX
    }
    assert sorted(NAMES) == sorted(files)
    assert len(set(NAMES)) == len(NAMES)


def test_every_lesson_asks_and_is_short() -> None:
    for name in NAMES:
        lesson = courses.load(name)
        assert any(beat.ask for beat in lesson.beats), name
        assert lesson.minutes < 8
        assert len(lesson.beats) >= 2


def test_a_lesson_plays_to_the_same_end_each_time() -> None:
    for name in ("three-epochs", "by-hand-sticky", "recorded-one-gone"):
        first, second = (sheet_of(courses.load(name), SOURCE) for _ in range(2))
        assert first == second


PATTERNS = {
    "absent static member": "absent_static_member",
    "assignor failure": "assignor_failure",
    "fence loop": "fence_loop",
    "metadata flapping": "metadata_flapping",
    "mixed upgrade": "mixed_upgrade",
    "poll interval exceeded": "poll_interval_exceeded",
    "rebalance storm": "storm",
    "rebalances without a cause": "causeless_rebalances",
    "session expiry": "session_expiry",
    "short rebalance timeout": "short_rebalance_timeout",
    "slow revocation": "slow_revocation",
    "stale claim": "stale_owned",
    "static churn": "static_churn",
    "static member left for good": "limbo",
    "stuck revocation": "stuck_revocation",
    "sync never sent": "sync_never_sent",
    "two cooperative rounds": "two_round_cooperative",
    "two owners": "two_owners",
    "zombie member": "zombie",
}
"""Each pattern of incidents, as readers get to know it, and the finding that tells it."""

RECORDED = {
    "rebalance storm": "storm",
    "slow revocation": "slow_revocation",
    "poll interval exceeded": "poll_interval_exceeded",
    "session expiry": "session_expiry",
    "static restart": "rolling_restart",
    "crash loop": "crash_loop",
    "frozen process": "silent",
}
"""What a real broker's log shows."""


def incidents() -> list[Lesson]:
    return [lesson for lesson in map(courses.load, NAMES) if lesson.pattern is not None]


def test_every_pattern_of_incidents_is_read_in_a_lesson_and_those_that_were_recorded_in_a_real_log() -> None:
    declared = {each.pattern.kind for each in finders() if isinstance(each, DeclaredPattern)}
    assert set(PATTERNS.values()) <= declared
    assert {(PATTERNS | RECORDED)[str(lesson.pattern)] for lesson in incidents()} >= declared
    recorded = {lesson.pattern for lesson in incidents() if lesson.id.startswith("recorded-")}
    assert recorded == RECORDED.keys()
    assert {lesson.pattern for lesson in incidents() if lesson.id.startswith("incident-")} == PATTERNS.keys()


def test_what_an_incident_is_an_example_of_is_found_in_its_run() -> None:
    for lesson in incidents():
        assert lesson.pattern is not None
        found = {finding["kind"] for finding in run_of(lesson, SOURCE).summary["findings"]}
        assert (PATTERNS | RECORDED)[lesson.pattern] in found, lesson.id


def test_the_title_of_an_incident_does_not_tell_its_pattern() -> None:
    for name in NAMES:
        lesson = courses.load(name)
        if lesson.pattern is not None:
            told = f"{lesson.title} {''.join(map(str, lesson.goal.parts))}".lower()
            assert lesson.pattern not in told


ALOUD_WORDS_A_MINUTE = 110
QUESTION_MINUTES, BEAT_MINUTES = 0.5, 0.1
"""To think about a question, and to look at the board of a beat."""


def minutes_of(sheet: sheets.Sheet) -> float:
    """To read all of it aloud, with one wrong answer's explanation for each question."""
    words, questions = 0, 0
    for beat in sheet["beats"]:
        texts = [beat["title"], *map(plain, beat["text"])]
        if (ask := beat["ask"]) is not None:
            questions += 1
            texts += [plain(ask["question"]), plain(ask["answer"]), plain(ask["then"])]
            texts += [plain(option["says"]) for option in ask["options"] if ask["kind"] == "choice"]
            texts += [max((plain(option["why"]) for option in ask["options"]), key=len, default="")]
        words += sum(len(text.split()) for text in texts)
    return words / ALOUD_WORDS_A_MINUTE + questions * QUESTION_MINUTES + len(sheet["beats"]) * BEAT_MINUTES


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_read_aloud_and_answered_in_the_minutes_that_it_states(name: str) -> None:
    sheet = sheet_of(courses.load(name), SOURCE).sheet
    assert minutes_of(sheet) <= sheet["minutes"] < 8


def test_the_ten_questions_of_trainers_name_beats_of_the_first_course() -> None:
    page = (ROOT / "docs/how-to/teach-rebalancing.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\| \d+ \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    assert len(answers) == 10
    for answer in answers:
        taught = re.findall(r"`([\w-]+)`, beats? ((?:\d+(?:, | and )?)+)", answer)
        assert taught
        for name, beats in taught:
            assert name in courses.courses()[0].lessons
            assert max(map(int, re.findall(r"\d+", beats))) <= len(courses.load(name).beats)


def test_the_end_of_a_lesson_leads_to_the_next_one() -> None:
    assert [courses.after(name) for name in NAMES] == [*NAMES[1:], None]


# ---- spoiling ----


def spoiled(expected: str) -> str:
    """Another value of the same kind."""
    if expected.lstrip("-").isdigit():
        return str(int(expected) + 1)
    return {"nothing": "zar-9", "nobody": "Z"}.get(expected, f"{expected}x")


def with_beat(lesson: Lesson, place: int, **changes: Any) -> Lesson:
    beats = list(lesson.beats)
    beats[place] = replace(beats[place], **changes)
    return replace(lesson, beats=tuple(beats))


def facts_spoiled(facts: Sequence[Fact]) -> Iterator[tuple[Fact, ...]]:
    for place, fact in enumerate(facts):
        yield (*facts[:place], replace(fact, expected=spoiled(fact.expected)), *facts[place + 1 :])


def stated(lesson: Lesson) -> Iterator[tuple[str, Lesson]]:
    """The lesson with each fact, each stated answer and each cell of its table spoiled, one at a time."""
    for place, beat in enumerate(lesson.beats):
        for facts in facts_spoiled(beat.facts):
            yield f"beat {place + 1}, a fact", with_beat(lesson, place, facts=facts)
        if beat.ask is not None and beat.ask.expect is not None:
            ask = replace(beat.ask, expect=spoiled(beat.ask.expect))
            yield f"beat {place + 1}, the answer", with_beat(lesson, place, ask=ask)
        yield from right_options_spoiled(lesson, place, beat)
    for number, row in enumerate(lesson.table.rows if lesson.table else ()):
        assert lesson.table is not None
        for name, cell in row.cells.items():
            rows = list(lesson.table.rows)
            rows[number] = replace(row, cells={**row.cells, name: f"{cell}x"})
            yield f"row {number + 1}, {name}", replace(lesson, table=replace(lesson.table, rows=tuple(rows)))


def right_options_spoiled(lesson: Lesson, place: int, beat: Beat) -> Iterator[tuple[str, Lesson]]:
    """What makes the right option right, one fact at a time."""
    ask = beat.ask
    if ask is None or not ask.options:
        return
    sheet = sheet_of(lesson, SOURCE).sheet["beats"][place]["ask"]
    assert sheet is not None
    right = {option["key"] for option in sheet["options"] if option["right"]}
    for number, option in enumerate(ask.options):
        if str(number) in right:
            for facts in facts_spoiled(option.facts):
                yield (
                    f"beat {place + 1}, what makes the answer right",
                    with_option(lesson, place, ask, number, facts),
                )


def with_option(lesson: Lesson, place: int, ask: Ask, number: int, facts: tuple[Fact, ...]) -> Lesson:
    options = list(ask.options)
    options[number] = replace(options[number], facts=facts)
    return with_beat(lesson, place, ask=replace(ask, options=tuple(options)))


@pytest.mark.parametrize("name", NAMES)
def test_a_spoiled_fact_answer_or_row_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = courses.load(name)
    if lesson.kind is not Kind.CASE:
        run = run_of(lesson, SOURCE)
        monkeypatch.setattr(sheets, "run_of", lambda *_: run)
    kept = [what for what, changed in stated(lesson) if not problems(changed, SOURCE)]
    assert kept == []


class Without(courses.Bundled):
    """The case studies, one of them with other text."""

    def __init__(self, name: str, scenario: Scenario) -> None:
        self.name, self.scenario = name, scenario

    def study(self, name: str) -> Scenario:
        return self.scenario if name == self.name else super().study(name)


def events_removed(text: str) -> Iterator[tuple[str, str]]:
    """The scenario's text without each line of its script."""
    lines = text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if line.lstrip().startswith("- {at:"):
            yield line.strip(), "".join(lines[:place] + lines[place + 1 :])


def without_events(lesson: Lesson) -> Iterator[tuple[str, Lesson, courses.Bundled]]:
    if lesson.kind is Kind.SCENARIO:
        for event, text in events_removed(lesson.of):
            yield event, replace(lesson, of=text), SOURCE
    if lesson.kind is Kind.STUDY:
        for event, text in events_removed(studies.text(lesson.of)):
            try:
                yield event, lesson, Without(lesson.of, load(text, lesson.of))
            except ScenarioError:
                continue


SURVIVE = {
    # A heartbeat at a time of its own comes at the next interval as well, and a callback that is quicker is still asked.
    "three-epochs: - {at: 1s, heartbeat: A}",
    "three-epochs: - {at: 12s, slow_revoke: A, for: 1.5s}",
    "three-epochs: - {at: 22.6s, slow_revoke: A, for: 500ms}",
    "three-epochs: - {at: 23.6s, heartbeat: C}",
    "the-basic-case: - {at: 22.6s, slow_revoke: A, for: 500ms}",
    "as-released: - {at: 0s, slow_revoke: A, for: 4.5s}",
    "as-released: - {at: 0s, slow_revoke: B, for: 8s}",
    "an-assignor-on-the-client: - {at: 1s, heartbeat: A}",
    "an-assignor-on-the-client: - {at: 2s, heartbeat: A}",
    "an-assignor-on-the-client: - {at: 13s, heartbeat: A}",
    "an-assignor-on-the-client: - {at: 14s, heartbeat: B}",
    # After what the lesson tells, and what it does not speak of.
    "an-assignor-on-the-client: - {at: 47s, network: {delay_ms: [1, 5]}}",
    "incident-two-readers: - {at: 12s, commit: A, offset: 1000}",
    "incident-two-readers: - {at: 75s, commit: A, offset: 1010}",
    # The next life of a process ends the one before it.
    "incident-never-at-rest: - {at: 15s, kill: C}",
    "incident-never-at-rest: - {at: 30s, kill: C}",
    "incident-never-at-rest: - {at: 45s, kill: C}",
    "incident-never-at-rest: - {at: 60s, kill: C}",
}
"""Events without which a lesson says the same, word for word."""


@pytest.mark.long
def test_a_scenario_event_that_is_missing_is_told_or_changes_nothing_that_is_stated() -> None:
    """Nothing stated changes: the page that a reader would read is the same, to the letter."""
    survived = []
    for name in NAMES:
        lesson = courses.load(name)
        page = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        for event, changed, source in without_events(lesson):
            made, found = checked(changed, source)
            if not found:
                assert made is not None
                if told(made.sheet) == page:
                    survived.append(f"{name}: {event}")
    assert set(survived) == SURVIVE


def test_no_place_among_the_answers_is_the_usual_place_of_the_right_one() -> None:
    """Authors write the right answer first; all 69 questions with written answers had it there."""
    places: Counter[int] = Counter()
    for page in FOLDER.glob("*.txt"):
        for question in re.split(r"^   \? ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            marks = re.findall(r"^     \[(.)\]", question, flags=re.MULTILINE)
            if len(marks) == 3 and marks.count("x") == 1:
                places[marks.index("x")] += 1
    assert places.total() >= 60
    assert max(places.values()) <= 0.45 * places.total()
