"""The child that simulates: ``python -m simulations.jobs.run``, without Django.

It reads questions from standard input, a line of JSON each: ``{"scenario": name | YAML | mapping, "semantics", "release", "seed",
"bytes_most"}`` (all but the first may be missing or empty), and
answers in JSON Lines: ``batch`` (``groups.history.passes.recorder.Batch``), now and then ``progress``, and last ``done`` with how long
its stages took (``groups.pipeline.times``), or ``error``, which has that too where the run had begun, with the line and the field of a
scenario's mistake, or with the bound that the run reached. It ends when nobody reads, and with its standard input.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson

from groups.address_space import forget_peak
from groups.child_side import answer_questions
from groups.history.passes.recorder import Recorder
from groups.history.state.group import Semantics
from groups.pipeline.times import RUN_UNITS, Times
from groups.releases import release_of
from simulations.world import studies
from simulations.world.engine import RunTooLong, run
from simulations.world.scenario import Scenario, ScenarioError, load, with_release

FLUSH_S: Final = 0.05
"""A watching browser gets a message this often; more would only be coalesced again."""

FLUSH_ENTRIES: Final = 500
"""And a batch never waits for more entries than a page shows without a pause."""


def scenario_of(asked: object) -> Scenario:
    """A case study's name, a YAML text, or a mapping in the same form."""
    if isinstance(asked, str):
        return studies.load(asked) if asked in studies.names() else load(asked)
    return load(json.dumps(asked, indent=1))


def answer(question: dict[str, Any], clock: Callable[[], float]) -> Iterator[bytes]:
    """The lines that answer a question; ``clock`` returns seconds of wall time."""
    try:
        scenario = scenario_of(question["scenario"])
        semantics = Semantics(question.get("semantics") or scenario.semantics)
        if release := question.get("release"):
            scenario = with_release(scenario, release_of(release))
        seed = question.get("seed")
        seed = scenario.seed if seed is None else int(seed)
    except ScenarioError as error:
        yield _line(type="error", message=str(error), line=error.line, field=error.field)
        return
    except (KeyError, TypeError, ValueError) as error:
        yield _line(type="error", message=f"the question cannot be read: {error}")
        return
    bytes_most = question.get("bytes_most")
    weight = 0
    recorder = Recorder(group=scenario.group, semantics=semantics)
    flushed_s, waiting, last, at_ms = clock(), 0, 0, scenario.start_ms
    # The same process may have run before.
    forget_peak()
    times = Times(units=RUN_UNITS, clock=clock)
    begun = times.clock()
    try:
        for entry in run(scenario, semantics, seed):
            begun = times.lap("simulate", begun, entry.kind)
            recorder.add(entry)
            begun = times.lap("fold", begun, entry.kind)
            waiting += 1
            last, at_ms = entry.sequence, entry.at_ms
            if not (waiting >= FLUSH_ENTRIES or recorder.full or clock() - flushed_s >= FLUSH_S):
                continue
            line = _flushed(recorder, times)
            flushed_s, waiting = clock(), 0
            if line is not None:
                yield line
                weight += len(line)
                if bytes_most is not None and weight > bytes_most:
                    raise RunTooLong(
                        f"the run stopped at {bytes_most / 1024**2:,.0f} MiB, which is as much as a run may have here: "
                        f"{last:,} entries, {(at_ms - scenario.start_ms) / 1000:,.0f} s in; "
                        "shorten until, or let the group have fewer members or partitions"
                    )
                yield _line(type="progress", entries=last, at_ms=at_ms, until_ms=_end_ms(scenario))
            begun = times.clock()
        problem = None
    except RunTooLong as error:
        problem = str(error)
    if (line := _flushed(recorder, times, final=True)) is not None:
        yield line
    times.end_task("simulate")
    if problem is not None:
        yield _line(type="error", message=problem, times=times.report())
        return
    yield _line(type="done", entries=last, at_ms=at_ms, times=times.report())


def _flushed(recorder: Recorder, times: Times, *, final: bool = False) -> bytes | None:
    with times.taking("write"):
        batch = recorder.flush(final=final)
        line = batch.to_line() if batch is not None else None
    times.add("write", 0.0, len(line or b""))
    return line


def _end_ms(scenario: Scenario) -> int:
    return scenario.start_ms + scenario.until_ms


def _line(**message: object) -> bytes:
    return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    answer_questions(lambda question: answer(question, time.monotonic))
