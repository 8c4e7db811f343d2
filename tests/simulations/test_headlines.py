"""Headlines of forty generated groups: each has one incident, drawn before there is a log, and the headline names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

import pytest

from groups.history.passes.recorder import Recorder
from groups.history.verdict.headline import QUIET_WORDS_MOST, WORDS_MOST
from groups.history.verdict.text import Headline
from simulations.world.engine import run
from simulations.world.scenario import load

SEEDS: Final = range(40)

HEAD: Final = """\
name: generated
group: generated
semantics: kafka
brokers: 4.3.1
assignor: {assignor}
topics: {{orders: {{partitions: {partitions}}}}}
config: {{session_timeout_ms: 12000, heartbeat_interval_ms: 3000}}
members:
{members}
script:
{script}
seed: {seed}
until: {until}s
"""


class Drawn(NamedTuple):
    """A group and what is done to it: the worst fact, as a pattern of words that the headline must have."""

    scenario: str
    names: tuple[str, ...]
    words: str
    over: bool | None
    quiet: bool = False


def drawn(seed: int) -> Drawn:
    draw = Random(seed)
    names = [f"w{number}" for number in range(1, draw.randint(3, 6))]
    who = draw.choice(names)
    partitions = draw.randint(len(names) + 1, 3 * len(names))
    make: Callable[[Random, str], tuple[list[str], int, tuple[str, ...], str, bool | None, bool]]
    make = INCIDENTS[seed % len(INCIDENTS)]
    lines, until, about, words, over, quiet = make(draw, who)
    joins = [f"{{at: {number}s, join: {name}}}" for number, name in enumerate(names, 1)]
    late = [name for name in about if name not in names]
    scenario = HEAD.format(
        assignor=draw.choice(["uniform", "range"]),
        partitions=partitions,
        members="\n".join(f"  {name}: {{subscribe: [orders]}}" for name in [*names, *late]),
        script="\n".join(f"  - {line}" for line in [*joins, *lines]),
        seed=seed,
        until=until,
    )
    return Drawn(scenario, about, words, over, quiet)


def _killed(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    at = draw.randint(60, 80)
    return [f"{{at: {at}s, kill: {who}}}"], at + 60, (who,), r"was killed.*nobody read", True, False


def _killed_late(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    """The log ends before anybody has its partitions."""
    at = draw.randint(60, 80)
    return [f"{{at: {at}s, kill: {who}}}"], at + 8, (who,), r"was killed.*nobody read", False, False


def _loop(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    times, at = draw.randint(3, 5), draw.randint(60, 80)
    lines = []
    for number in range(times):
        lines.append(f"{{at: {at + 10 * number}s, kill: {who}}}")
        lines.append(f"{{at: {at + 10 * number + 3}s, restart: {who}}}")
    words = rf"was killed {('three', 'four', 'five')[times - 3]} times.*nobody read"
    return lines, at + 10 * times + 120, (who,), words, True, False


def _left(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    at = draw.randint(60, 80)
    return [f"{{at: {at}s, leave: {who}}}"], at + 60, (who,), r" left ", None, False


def _joined(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    at = draw.randint(60, 80)
    return [f"{{at: {at}s, join: late}}"], at + 60, ("late",), r" joined ", None, False


def _grown(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    at, more = draw.randint(60, 80), 30
    lines = [f"{{at: {at}s, add_partitions: orders, to: {more}}}"]
    return lines, at + 60, (), rf"orders grew from \d+ to {more} partitions", None, False


def _quiet(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    return [], 150, (), r"^Stable since ", None, True


def _fail_over(draw: Random, who: str) -> tuple[list[str], int, tuple[str, ...], str, bool | None, bool]:
    at = draw.randint(60, 80)
    return [f"{{at: {at}s, fail_over: coordinator}}"], at + 60, (), r"coordinator failed over", None, False


INCIDENTS: Final = (_killed, _killed_late, _loop, _left, _joined, _grown, _quiet, _fail_over)


def headline_of(scenario: str) -> Headline:
    parsed = load(scenario, "generated")
    recorder = Recorder(group=parsed.group, semantics=parsed.semantics)
    for entry in run(parsed, parsed.semantics):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    verdict = batch.summary["verdict"]
    assert verdict is not None
    return verdict["headline"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_headline_of_a_generated_group_names_its_incident(seed: int) -> None:
    done = drawn(seed)
    found = headline_of(done.scenario)
    text = found["text"]
    assert len(text.split()) <= (QUIET_WORDS_MOST if done.quiet else WORDS_MOST), text
    assert re.search(done.words, text), text
    assert all(re.search(rf"\b{name}\b", text) for name in done.names), text
    if done.over is not None:
        assert found["figures"]["still"] is not done.over, text
        assert text.endswith("; over." if done.over else "; still so."), text
