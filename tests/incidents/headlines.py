"""Headlines of recorded incidents, held against the worst fact of each, which somebody wrote down from its facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from groups.history.verdict.headline import QUIET_WORDS_MOST, WORDS_MOST

from .facts import RECORDED
from .judge import Judgement
from .world import COMMIT_SLACK_MS, World

WORST = RECORDED / "worst.json"

NOTHING = "nothing"

UNITS_MS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000}


class Worst(TypedDict):
    """The worst fact of a recording: who, what, how long at most, whether it is over at the end."""

    worst: str
    names: NotRequired[list[str]]
    words: NotRequired[str]
    """A regular expression for what happened."""
    partitions: NotRequired[list[str]]
    unread_ms: NotRequired[int]
    """The longest time without a reader, by the clients' own callbacks, or without a commit where readers went on."""
    over: NotRequired[bool]


def worst_facts() -> dict[str, Worst]:
    found: dict[str, Worst] = json.loads(WORST.read_text())
    return found


def lacks(name: str, worst: Worst, headline: Mapping[str, Any], world: World) -> list[str]:
    """What of the worst fact the headline does not name."""
    text = headline["text"].replace(f"{name}.", "")
    quiet = worst["worst"] == NOTHING
    missing = []
    words = len(text.split())
    if words > (QUIET_WORDS_MOST if quiet else WORDS_MOST):
        missing.append(f"it has {words} words")
    if quiet and not text.startswith("Stable since "):
        missing.append("that nothing happened")
    missing += [who for who in worst.get("names", ()) if re.search(rf"\b{re.escape(who)}\b", text) is None]
    if "words" in worst and re.search(worst["words"], text) is None:
        missing.append(worst["words"])
    if "partitions" in worst and not _has_partitions(text, worst["partitions"]):
        missing.append(f"the partitions {worst['partitions']}")
    if "unread_ms" in worst:
        least, most = worst["unread_ms"], worst["unread_ms"] + 2 * world.commit_ms
        if not any(least - COMMIT_SLACK_MS <= one <= most + COMMIT_SLACK_MS for one in lengths_ms(text)):
            missing.append(f"that it lasted {least} ms")
    still = headline["figures"]["still"]
    if "over" in worst and (still is worst["over"] or (still is None and not worst["over"])):
        missing.append("that it is over" if worst["over"] else "that it is still so")
    return missing


def _has_partitions(text: str, partitions: Sequence[str]) -> bool:
    """Each by its name or, behind another one of its topic, its number; or how many they are."""
    numbers = [one.rpartition("-")[2] for one in partitions]
    each = all(re.search(rf"-{number}\b", text) for number in numbers)
    return each or f"{len(partitions)} partitions" in text


def lengths_ms(text: str) -> Iterator[int]:
    """Each length of time in a sentence: ``1 min 29 s`` is one."""
    for found in re.finditer(r"(?:\d+(?:\.\d+)?\s(?:ms|s|min|h)\b\s?)+", text):
        pairs = re.findall(r"(\d+(?:\.\d+)?)\s(ms|s|min|h)\b", found[0])
        yield round(sum(float(number) * UNITS_MS[unit] for number, unit in pairs))


def false_of(one: Judgement, number: int, headline: Mapping[str, Any]) -> list[str]:
    """What a headline claims and the recording does not bear out: who is in it, and whether it is over.

    That each clause is proven by a true finding is judged with the verdict's (``unproven_clauses``).
    """
    world, text = one.world, headline["text"]
    known = {process["client_id"] for process in one.facts["processes"]}
    known |= {str(process["instance_id"]) for process in one.facts["processes"]}
    found = [
        f"there is no {who}"
        for who in re.findall(r"\b(?:worker|seat|crashy|connect|exactly|pod)-\d+\b", text)
        if who not in known
    ]
    longest = headline["figures"]["longest"]
    if longest is None or number < len(one.said.verdicts):
        return found
    is_read = not any(hole.to_ms == world.end_ms for _, hole in world.holes(longest))
    if text.endswith("; over.") and not is_read:
        found.append(f"nobody reads {longest} at the end")
    if headline["figures"]["still"] and headline["figures"]["unread"] and is_read:
        found.append(f"{longest} is read at the end")
    return found
