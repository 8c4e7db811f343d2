"""``python -m tests.broker.conformance_page`` writes docs/reference/conformance.md from the tables of the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from .classic.as_recorded import UNLOGGED
from .classic.exchanges import EXCHANGES as CLASSIC
from .exchanges import EXCHANGES
from .jars import RELEASE
from .real_classic_clients import STORIES as CLASSIC_STORIES
from .real_clients import STORIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "conformance.md"

FRONT = f"""\
# Conformance

A test starts a real Kafka {RELEASE} broker, plays each of these exchanges on it (requests with chosen member ids and
epochs, byte by byte), and puts the broker's own request log and its log segments to
[`conform`](commands.md#conform): the simulated coordinator has to give the same answers, field by field, and write the
same records, one by one, the order of lists inside them included. What is taken from the recording, as nobody but the
broker could know it, stands in [Ask what Kafka would do](../how-to/ask-what-kafka-would-do.md#what-is-taken-from-the-recording).

What agrees need not be right. Where a coordinator's own fault was seen on the broker, the simulated one has it, too:
`regex-unresolved-joiner` and `regex-unresolved-nothing` mean partitions for a member that does not subscribe to their topic,
so that nobody has them until the next group epoch (the case study `released-unresolved-regex` tells it).

This page is made from the tests' own tables (`python -m tests.broker.conformance_page`); "agrees" is what the test demands.
"""


def page() -> str:
    return "\n".join([FRONT, *_exchanges(), *_stories(), *_improvised(), *_classic(), ""])


def _exchanges() -> Iterator[str]:
    differing = sum(1 for each in EXCHANGES.values() if each.differs)
    yield f"{len(EXCHANGES)} exchanges; {len(EXCHANGES) - differing} agree, {differing} differ."
    for about, rows in groupby(EXCHANGES.values(), key=lambda each: each.about):
        yield f"\n## {about[0].upper()}{about[1:]}\n"
        yield "| exchange | what it shows | |"
        yield "|---|---|---|"
        for each in rows:
            yield f"| `{each.name}` | {each.shows} | {each.differs or 'agrees'} |"


def _classic() -> Iterator[str]:
    yield "\n# The classic protocol and migration\n"
    yield "Requests that wait for each other are sent to a broker of the same release; each answer, when it came, and each record is then"
    yield "demanded of the simulated coordinator, whose timers run beside them. The broker's own request log and its segments are put to"
    yield "[`conform`](commands.md#conform), too. The recordings are kept with the tests, which repeat them without a broker."
    yield "What it does stands in [The classic coordinator](classic-coordinator.md)."
    yield ""
    named = ", ".join(f"`{name}`" for name in sorted(UNLOGGED))
    yield f"In {len(UNLOGGED)} of them ({named})"
    yield "a request counts that was never answered, and so stands in no request log: what it brought about `conform` tells as a difference."
    yield ""
    yield f"{len(CLASSIC)} exchanges; all agree."
    listed = sorted(CLASSIC.values(), key=lambda each: each.about)
    for about, rows in groupby(listed, key=lambda each: each.about):
        yield f"\n## {about[0].upper()}{about[1:]}\n"
        yield "| exchange | what it shows | |"
        yield "|---|---|---|"
        for each in rows:
            yield f"| `{each.name}` | {each.shows} | agrees |"
    yield "\n## Released clients of the classic protocol\n"
    yield "The Java client and librdkafka on the same broker, in groups that stay classic and in groups that change their protocol;"
    yield "nothing they did may differ. `conform --sample recorded-classic` judges a recording of them."
    yield ""
    yield "| group | what its members go through | |"
    yield "|---|---|---|"
    for group, story in CLASSIC_STORIES.items():
        yield f"| `{group}` | {(story.__doc__ or '').strip().removesuffix('.')} | agrees |"
    yield "\n## Improvised classic groups\n"
    yield "Groups of six members, some static, whose requests are drawn at random: joining with other protocols, bytes, versions and timeouts,"
    yield "coming back without an id, assigning, committing, leaving, waiting. In each third group members of the consumer protocol join and"
    yield "leave, too, so that it changes its kind again and again. A few are played with the tests. The 200 groups of the seeds 0 to 199 were"
    yield "played once, 9,117 requests, and none differed. More with"
    yield ""
    yield "```sh"
    yield "python -m tests.broker.classic.improvised 0-199"
    yield "```"


def _improvised() -> Iterator[str]:
    yield "\n## Improvised groups\n"
    yield "Groups of five members whose requests are drawn at random: joins, static members that come back under another id,"
    yield "expressions, wrong epochs, commits, partitions given up in part, topics that grow. A few are played with the tests; more with"
    yield ""
    yield "```sh"
    yield "python -m tests.broker.improvised 0-63"
    yield "```"
    yield ""
    yield "which prints what differs, if anything does."


def _stories() -> Iterator[str]:
    yield "\n## Released clients\n"
    yield "The Java client and librdkafka on the same broker; nothing they did may differ."
    yield ""
    yield "| group | what its members go through | |"
    yield "|---|---|---|"
    for group, story in STORIES.items():
        yield f"| `{group}` | {(story.__doc__ or '').strip().removesuffix('.')} | agrees |"


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(
        f"{PAGE.name}: {len(EXCHANGES)} exchanges, {len(STORIES)} groups of clients, {len(CLASSIC)} classic exchanges\n"
    )
