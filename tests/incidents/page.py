"""``python -m tests.incidents.page`` writes docs/explanation/incidents.md from the recordings and what the product says of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .facts import Fact, recorded_names
from .judge import Judgement, judge_all
from .scripts import INCIDENTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "incidents.md"

FRONT = """\
# What is told of recorded incidents

Each incident below was played by a script with released Kafka 4.3.1 clients (Java, where nothing else is said) on a released
broker, and its `__consumer_offsets` was kept. What was done stands on the left: noted by the script, by the clients' callbacks and
by the coordinator's own log lines. What an import says stands on the right. A program holds them against each other
(`python -m tests.incidents.judge`): a fact is *told* if a finding of a fitting kind names its clients and partitions at its time;
a finding that nothing bears out is *false*. What a log cannot tell is named with the reason, and not counted.

Times are seconds from the moment at which the group had formed and was stable. Sessions last 10 s instead of Kafka's 45 s,
heartbeats come every second, clients commit every 2 s (5 s in the quiet hour): an incident is over in minutes. The import is told
none of these settings. Every recording can be made anew with `python -m tests.incidents.record NAME`.

The first ten recordings were there while the finders were written, and the quiet hour was under way; all others were recorded
afterwards. Held against twenty of those for the first time, the finders told 56 of 64 facts, and four findings were false: three
took an overdue poll of a classic member for an expired session or a death, one had all moves follow one of two clients that were
killed at once. That was mended, and three more were recorded: of those all 30 facts were told at once, and nothing was false.
"""

ALSO_MAX = 12
"""Findings without a fact that are listed of one incident; hand-overs of single partitions are many."""

SMALL = frozenset({"moved", "joined", "no_owner", "waited_for", "epochs", "commits", "moves", "formed"})
"""Findings that an incident has many of; they are counted."""


def page(judged: Iterable[Judgement]) -> str:
    judged = sorted(judged, key=lambda each: list(INCIDENTS).index(each.name))
    return "\n".join([FRONT, *_totals(judged), *(line for each in judged for line in _incident(each)), ""])


def _totals(judged: list[Judgement]) -> Iterator[str]:
    told, tellable = sum(each.told_count for each in judged), sum(len(each.told) for each in judged)
    false, untellable = sum(len(each.false) for each in judged), sum(len(each.untellable) for each in judged)
    spoken = sum(each.in_verdict_count for each in judged)
    yield f"**{told} of {tellable} facts are told, {false} findings are false**; of {spoken} facts the verdict speaks;"
    yield f"{untellable} facts cannot be told from a log.\n"
    yield "| incident | protocol | told | in the verdict | false | cannot be told |"
    yield "|---|---|---|---|---|---|"
    for each in judged:
        title, name = each.facts["title"], each.name
        counts = f"{each.told_count} of {len(each.told)} | {each.in_verdict_count} | {len(each.false)} | {len(each.untellable)}"
        yield f"| [{title}](#{name}) | {each.facts['protocol']} | {counts} |"


def _incident(one: Judgement) -> Iterator[str]:
    began_ms = one.facts["began_ms"]
    yield f"\n## {one.name}\n"
    yield f"{one.facts['title']}. {one.facts['done']}\n"
    for number, verdict in enumerate(one.said.verdicts, 1):
        which = f" of life {number}" if len(one.said.verdicts) > 1 else ""
        yield f"> **{_plain(verdict['headline']['text'])}**\n>"
        yield f"> Verdict{which}: {_plain(verdict['text'])}\n"
    yield "| s | what was done | what is said |"
    yield "|---|---|---|"
    for fact in one.world.incident:
        yield f"| {(fact['at_ms'] - began_ms) / 1000:.1f} | {_short(fact['sentence'], one.name)} | {_right(fact, one)} |"
    used = {id(each.claim) for each in one.told}
    wrong = {id(each.claim): each.because for each in one.false}
    others = [each for each in one.said.claims if id(each) not in used and each.kind not in SMALL]
    lines = [
        f"- {_short(each.says, one.name)}{f' **False: {wrong[id(each)]}.**' if id(each) in wrong else ''}"
        for each in sorted(others, key=lambda each: id(each) not in wrong)
    ]
    lines += [
        f"- {_short(each.claim.says, one.name)} **False: {each.because}.**"
        for each in one.false
        if each.claim.kind in SMALL
    ]
    if lines:
        yield "\nAlso said:\n"
        yield from lines[:ALSO_MAX]
        if len(lines) > ALSO_MAX:
            yield f"- and {len(lines) - ALSO_MAX} more"


def _right(fact: Fact, one: Judgement) -> str:
    if not fact["tellable"]:
        return f"*cannot be told:* {fact.get('why_not', '')}"
    claim = next((each.claim for each in one.told if each.fact is fact), None)
    return "**not told**" if claim is None else _short(claim.says, one.name)


def _short(sentence: str, name: str) -> str:
    """Topics carry the incident's name, so that incidents do not meddle with each other: here it is left out."""
    return _plain(sentence).replace(f"{name}.", "").replace("|", "\\|")


def _plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\n", " ")


def main() -> int:
    judged = judge_all(recorded_names())
    PAGE.write_text(page(judged))
    sys.stdout.write(f"{PAGE.name}: {len(judged)} incidents\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    sys.exit(main())
