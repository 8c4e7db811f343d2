"""Watch expressions: what they read of a frame, what they refuse, and that their steps are those of fresh frames."""

from __future__ import annotations

from itertools import pairwise

import orjson
import pytest

from groups.history.frames.frame import frame, whole
from groups.history.frames.watch import TERMS, Step, WatchError, course, parsed
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.jobs.run import run
from simulations.world import studies

NAMES = {name: name for name in "ABC"}
EXPRESSIONS = (
    "owner of foo-2",
    "group epoch minus member epoch of B",
    "members",
    "unassigned",
    "partitions of A plus partitions of B + partitions of C",
    "state of B",
    "lag",
    "6 minus unassigned",
)


def in_words(text: str) -> str:
    with pytest.raises(WatchError) as refused:
        parsed(text, NAMES, ["foo", "my-topic"])
    return str(refused.value)


def test_the_steps_of_an_expression_are_the_changes_of_its_value_in_frames_that_are_made_fresh() -> None:
    study = studies.load("kip848-basic")
    recorder, state = (
        Recorder(group=study.group, semantics=study.semantics),
        initial_state(study.group, study.semantics),
    )
    fresh = []
    for entry in run(study, study.semantics, study.seed):
        recorder.add(entry)
        state = replay(state, entry)
        fresh.append(whole(frame(state)))
    batch = recorder.flush(final=True)
    assert batch is not None
    assert batch.checkpoint is not None
    chunks = [(orjson.loads(batch.checkpoint)["frame"], orjson.loads(batch.changes))]
    for text in EXPRESSIONS:
        expression = parsed(text, NAMES, ["foo"])
        values = [
            Step(sequence=each["sequence"], at_ms=each["at_ms"], value=expression.value(each, NAMES))
            for each in fresh
        ]
        wanted = [
            values[0],
            *(after for before, after in pairwise(values) if before["value"] != after["value"]),
        ]
        assert list(course(expression, chunks, NAMES)) == wanted, text
        assert len(wanted) > 1 or text == "lag"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "An expression has 1 to 200 characters."),
        ("x" * 201, "An expression has 1 to 200 characters."),
        ("owner of foo", "'foo' is no partition such as orders-2. Topics: foo, my-topic."),
        ("member epoch of Z", "No member is called 'Z'. There are: A, B, C."),
        (
            "members minus owner of foo-2",
            "'owner of foo-2' is no number, so that nothing can be added to it or subtracted.",
        ),
        (
            "__import__('os')",
            f"\"__import__('os')\" is unknown. Terms: {', '.join(term.form for term in TERMS)}.",
        ),
        ("members minus", f"'members minus' is unknown. Terms: {', '.join(term.form for term in TERMS)}."),
    ],
)
def test_an_expression_that_cannot_be_read_is_refused_in_one_line(text: str, sentence: str) -> None:
    assert in_words(text) == sentence


def test_terms_are_read_in_any_case_and_topics_with_hyphens_as_they_are() -> None:
    expression = parsed("  Owner  of my-topic-12 ", NAMES, ["my-topic"])
    assert (expression.text, expression.is_number, expression.parts[0][2]) == (
        "Owner of my-topic-12",
        False,
        "my-topic-12",
    )
