"""The format of lessons: what is written comes back, and each mistake is told with its line."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.web.glossary import terms
from simulations import courses
from simulations.lessons.checking import problems
from simulations.lessons.lesson_yaml import read_lesson
from simulations.lessons.sheets import sheet_of
from simulations.lessons.texts import read_text
from simulations.world.scenario import ScenarioError
from tests.simulations.test_lessons import NAMES, SOURCE
from tests.tiers import examples

LESSON = """\
title: A lesson
goal: To be read.
minutes: 3
study: kip848-basic
marks: {joined: {join: B}}
beats:
  - at: 3
    title: One
    text: "{A} owns {A.owned}."
    facts: {A.count: 3}
  - at: joined
    title: Two
    text: Another one.
    ask: {question: "Who owns {foo-2}?", of: foo-2.owner, expect: A}
"""


def test_the_lesson_of_these_tests_is_right() -> None:
    assert problems(read_lesson(LESSON), SOURCE, terms()) == ()


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("minutes: 3", "minutes: 8", "line 3, minutes: must be 1 to 7 (a lesson takes less than eight minutes), is 8"),
        ("title: A lesson\n", "", "line 1, title: a lesson needs title"),
        ("study: kip848-basic\n", "", "line 1, study: a lesson is told of one thing: study, scenario, log or case"),
        ("study: kip", "study: kap", "line 4, study: there is no case study kap848-basic; did you mean kip848-basic?"),
        ("at: 3", "at: 30", "line 7, beats[0].at: the run has no step 30; there are 16"),
        ("at: joined", "at: joind", "line 11, beats[1].at: there is no mark joind; did you mean joined?"),
        ("{join: B}", "{join: D}", "line 5, marks.joined: D has no join in this run; there is join of A, B, C"),
        ("{join: B}", "{jon: B}", "line 5, marks.joined.jon: unknown key; did you mean join?"),
        ("{A.owned}", "{A.owner}", "line 9, beats[0].text: {A.owner}: a member has no owner; did you mean owned?"),
        ("{A.owned}", "{D.owned}", "nothing in this run is called D"),
        ("{A.owned}", "foo-1", "line 9, beats[0].text: the partition foo-1 is written by hand; write {foo-1} or a reference"),
        ("{A.owned}", "3 of them", "the number 3 is written by hand and may go stale"),
        ("Another one", "The other is B", "line 13, beats[1].text: the member B is written by hand; write {B}"),
        ("{A.owned}", "{A.owned", "a brace { that has no partner"),
        ("{A.owned}", "[relesed]", "line 9, beats[0].text: the glossary has no 'relesed'; did you mean released?"),
        ("A.count: 3", "A.count: 4", "line 10, beats[0].facts.A.count: the run says that A.count is 3, not 4"),
        ("expect: A", "expect: B", "line 14, beats[1].ask.expect: the run answers A, not B"),
        ("    facts: {A.count: 3}\n", "", "line 7, beats[0].facts: a beat states at least one fact, or asks"),
        (", expect: A", "", "a question with of needs expect"),
        ("at: 3", "at: end", "line 11, beats[1].at: this moment lies before that of the beat before it"),
        ("goal:", "gaol:", "line 2, gaol: unknown key; did you mean goal?"),
        ("beats:", "beats: []\nx:", "x: unknown key"),
        ("A.count: 3", "config.session_timeout: 3", "there is no setting session_timeout; did you mean session_timeout_ms?"),
        (": foo-2.owner", ": foo-2.ownr", "a partition has no ownr; did you mean owner?"),
        (": foo-2.owner", ": foo-2.owner@jond", "there is no mark jond; did you mean joined?"),
        (": foo-2.owner", ": group.epch", "the group has no epch; did you mean epoch?"),
    ],
)  # fmt: skip
def test_a_mistake_says_line_field_and_what_would_be_right(before: str, after: str, says: str) -> None:
    text = LESSON.replace(before, after, 1)
    assert text != LESSON
    try:
        found = [str(problem) for problem in problems(read_lesson(text), SOURCE, terms())]
    except ScenarioError as error:
        found = [str(error)]
    assert any(says in one for one in found), found


def test_the_mistakes_of_a_scenario_in_a_lesson_have_the_lines_of_the_lesson() -> None:
    scenario = "group: g\ntopics: {t: {partitions: 2}}\nmembers: {A: {subscribe: [t]}}\nscript: [{at: 0s, jion: A}]\n"
    indented = "".join(f"  {line}\n" for line in scenario.splitlines())
    text = LESSON.replace("study: kip848-basic\n", f"scenario: |\n{indented}")
    (problem,) = problems(read_lesson(text), SOURCE)
    assert problem.line == text.splitlines().index("  script: [{at: 0s, jion: A}]") + 1
    assert problem.field.startswith("scenario.script[0]")


def test_a_run_that_is_too_long_for_a_page_is_refused() -> None:
    scenario = "topics: {t: {partitions: 2}}\nmembers: {A: {subscribe: [t]}}\nscript: [{at: 0s, join: A}]\nuntil: 20h\n"
    indented = "".join(f"  {line}\n" for line in scenario.splitlines())
    text = LESSON.replace("study: kip848-basic\n", f"scenario: |\n{indented}")
    (problem,) = problems(read_lesson(text), SOURCE)
    assert "the run of a lesson has at most 5,000 entries" in problem.message


def test_a_wrong_answer_is_explained_by_what_would_have_to_be_true() -> None:
    ask = sheet_of(courses.load("released-is-not-assigned"), SOURCE).sheet["beats"][3]["ask"]
    assert ask is not None
    why: Mapping[str, str] = {
        option["key"]: "".join(part["text"] for part in option["why"]) for option in ask["options"]
    }
    assert why["foo-5"] == (
        "foo-5 is in the target of C, but B is still revoking it: it is assigned only after its owner has confirmed that."
    )
    assert why["foo-0"] == "foo-0 is owned by A; for C to get it, the target would have to name C."


@pytest.mark.parametrize("name", NAMES)
def test_where_nobody_can_be_chosen_one_answer_alone_is_right(name: str) -> None:
    for beat in sheet_of(courses.load(name), SOURCE).sheet["beats"]:
        ask = beat["ask"]
        if ask is not None and any(option["key"] == "nobody" for option in ask["options"]):
            assert not ask["many"]
            assert [option["right"] for option in ask["options"]].count(True) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_that_can_be_given_wrongly_is_explained(name: str) -> None:
    for beat in sheet_of(courses.load(name), SOURCE).sheet["beats"]:
        for option in (beat["ask"] or {"options": []})["options"]:
            assert option["right"] or option["why"], (name, option["key"])


# ---- whatever is written ----


def mistake_in(text: str) -> ScenarioError | None:
    try:
        read_text(text, 1, "text")
    except ScenarioError as error:
        return error
    return None


@given(st.text(max_size=300))
def test_any_text_is_a_sentence_or_says_what_is_wrong_with_it(text: str) -> None:
    error = mistake_in(text)
    assert error is None or error.message


def mistakes_in(text: str) -> list[tuple[int, str]]:
    try:
        return [(problem.line, problem.message) for problem in problems(read_lesson(text), SOURCE)]
    except ScenarioError as error:
        return [(error.line, error.message)]


@given(st.data())
@examples(150)
def test_a_lesson_with_lines_lost_or_mixed_up_is_refused_line_by_line(data: st.DataObject) -> None:
    lines = LESSON.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "indent", "word"]))
        line = lines[place]
        if what == "drop" and len(lines) > 1:
            del lines[place]
        elif what == "double":
            lines.insert(place, line)
        elif what == "indent":
            lines[place] = "  " + line
        else:
            words = line.split(" ")
            at = data.draw(st.integers(0, len(words) - 1))
            lines[place] = " ".join([*words[:at], data.draw(st.text(max_size=8)), *words[at + 1 :]])
    for number, message in mistakes_in("".join(lines)):
        assert number >= 1
        assert "\n" not in message
