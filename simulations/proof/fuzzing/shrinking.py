"""Makes a failing scenario small: whatever can go without the same invariant holding again, goes.

Delta debugging over the script first, then over members, topics and options, then simpler numbers; and again until
nothing more can go, or the runs that were allowed are used up.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import yaml

from groups.history.state.group import Semantics
from simulations.proof.fuzzing.documents import Document, Line
from simulations.proof.fuzzing.generator import text_of
from simulations.proof.fuzzing.verdict import Broken, broken_by
from simulations.world.scenario import ScenarioError, load

RUNS_MOST: Final = 600
"""Runs that shrinking one scenario may take: some ten seconds."""

_DURATION: Final = re.compile(r"(\d+)ms")
_NEEDED: Final = frozenset({"topics", "members", "script", "semantics", "seed", "until", "group"})

Fails = Callable[[Document], bool]

Path = tuple[str | int, ...]
"""The keys and indices on the way to a part of a document."""


def shrunk(document: Document, semantics: Semantics | str, broken: Broken, runs: int = RUNS_MOST) -> Document:
    """The smallest scenario found that breaks the same invariant; ``document`` itself where nothing can go."""
    search = _Search(semantics, broken.invariant, runs)
    small = _one_each(document)
    if not search.fails(small):
        return document
    while True:
        before = text_of(small)
        small = _fewer_lines(small, search.fails)
        for change in (_without_members, _without_topics, _without_options, _with_simpler_numbers):
            small = _changed(small, change, search.fails)
        if text_of(small) == before or search.left <= 0:
            return small


def as_yaml(document: Document) -> str:
    """A scenario file's text. Lists that are one object are written out, since a scenario takes no anchors."""
    text: str = yaml.safe_dump(
        json.loads(text_of(document)), sort_keys=False, default_flow_style=None, width=100
    )
    return text


class _Search:
    """Answers whether a candidate breaks the same invariant, as long as there are runs left."""

    def __init__(self, semantics: Semantics | str, invariant: str, runs: int) -> None:
        self.left = runs
        self._semantics = semantics
        self._invariant = invariant
        self._known: dict[str, bool] = {}

    def fails(self, document: Document) -> bool:
        text = text_of(document)
        if text not in self._known:
            if self.left <= 0:
                return False
            self._known[text] = self._runs(text)
        return self._known[text]

    def _runs(self, text: str) -> bool:
        try:
            scenario = load(text, "shrunk")
        except ScenarioError:
            return False
        self.left -= 1
        broken = broken_by(scenario, self._semantics)
        return broken is not None and broken.invariant == self._invariant


def _one_each(document: Document) -> Document:
    """A line for each member that several were named in."""
    lines: list[Line] = []
    for line in document["script"]:
        verb, who = list(line.items())[1]
        lines += [{**line, verb: name} for name in who] if isinstance(who, list) else [line]
    return {**document, "script": lines}


def _fewer_lines(document: Document, fails: Fails) -> Document:
    """Delta debugging: halves, quarters, … single lines, and pairs of one member such as pause and resume."""
    lines = list(document["script"])
    size = max(1, len(lines) // 2)
    while True:
        start, removed = 0, False
        while start < len(lines):
            fewer = lines[:start] + lines[start + size :]
            if fails({**document, "script": fewer}):
                lines, removed = fewer, True
            else:
                start += size
        if size == 1 and not removed:
            break
        size = max(1, size // 2)
    return _fewer_pairs({**document, "script": lines}, fails)


def _fewer_pairs(document: Document, fails: Fails) -> Document:
    lines = list(document["script"])
    first = 0
    while first < len(lines):
        for second in range(first + 1, len(lines)):
            if set(_named(lines[first])).isdisjoint(_named(lines[second])):
                continue
            fewer = [line for at, line in enumerate(lines) if at not in (first, second)]
            if fails({**document, "script": fewer}):
                lines = fewer
                break
        else:
            first += 1
    return {**document, "script": lines}


def _named(line: Line) -> list[str]:
    return [value for key, value in line.items() if key != "at" and isinstance(value, str)]


def _changed(document: Document, change: Callable[[Document], Iterator[Document]], fails: Fails) -> Document:
    """Takes each change that still fails, and asks for the next ones from there."""
    taken = True
    while taken:
        taken = False
        for candidate in change(document):
            if fails(candidate):
                document, taken = candidate, True
                break
    return document


def _without_members(document: Document) -> Iterator[Document]:
    for name in document["members"]:
        members = {other: known for other, known in document["members"].items() if other != name}
        lines = [line for line in document["script"] if name not in _named(line)]
        yield {**document, "members": members, "script": lines}


def _without_topics(document: Document) -> Iterator[Document]:
    for name in document["topics"]:
        smaller = copy.deepcopy(document)
        del smaller["topics"][name]
        parts: list[Mapping[str, object]] = [*smaller["members"].values(), *smaller["script"]]
        for known in parts:
            for names in (known.get("subscribe"), known.get("topics")):
                if isinstance(names, list) and name in names:
                    names.remove(name)
        smaller["script"] = [line for line in smaller["script"] if name not in _named(line)]
        yield smaller


def _without_options(document: Document) -> Iterator[Document]:
    """Without one key, or one element of a list, at any depth below what every scenario needs."""
    for path in list(_paths(document)):
        smaller = copy.deepcopy(document)
        holder, last = _at(smaller, path[:-1]), path[-1]
        match holder, last:
            case list(), int():
                del holder[last]
            case dict(), _:
                del holder[last]
        yield smaller


def _at(document: object, path: Path) -> object:
    """The part of a document to which a path leads."""
    for key in path:
        if isinstance(document, list) and isinstance(key, int):
            document = document[key]
        else:
            assert isinstance(document, dict)
            document = document[key]
    return document


def _paths(document: object) -> Iterator[Path]:
    def walk(value: object, path: Path) -> Iterator[Path]:
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in list(keys):
            yield (*path, key)
            yield from walk(_at(value, (key,)), (*path, key))

    for path in walk(document, ()):
        if len(path) == 1 and path[0] in _NEEDED:
            continue
        if path[0] == "script" or path[-1] == "at":
            continue
        yield path


def _with_simpler_numbers(document: Document) -> Iterator[Document]:
    for path in list(_paths({**document, "lines": document["script"]})):
        place = ("script", *path[1:]) if path[0] == "lines" else path
        if len(place) == 1:
            continue
        for simpler in _simpler(_at(document, place)):
            smaller = copy.deepcopy(document)
            holder, last = _at(smaller, place[:-1]), place[-1]
            match holder, last:
                case list(), int():
                    holder[last] = simpler
                case dict(), _:
                    holder[last] = simpler
            yield smaller
    yield from _earlier(document)


def _simpler(value: object) -> Iterator[int | str]:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        yield from (smaller for smaller in (0, 1, value // 2, value - 1) if smaller < value)
    elif isinstance(value, str) and (match := _DURATION.fullmatch(value)) is not None:
        length = int(match[1])
        yield from (f"{shorter}ms" for shorter in _rounder(length))


def _earlier(document: Document) -> Iterator[Document]:
    """Lines at rounder times; all lines behind a line come forward with it."""
    for at, line in enumerate(document["script"]):
        match = _DURATION.fullmatch(str(line["at"]))
        if match is None:
            continue
        for time_ms in _rounder(int(match[1])):
            lines = copy.deepcopy(document["script"])
            lines[at]["at"] = f"{time_ms}ms"
            yield {**document, "script": lines}


def _rounder(length: int) -> list[int]:
    rounded = (0, length // 1_000 * 1_000, length // 100 * 100)
    return sorted({other for other in rounded if other < length})
