"""The committed inputs: one line each, the target's name and the bytes in hex. Lines keep working when targets are
added, and a change shows in a review.

``inputs.txt`` is what ``python -m tests.fuzz --collect`` chose: for each target one input for each fault that it
tells, the shortest of those that coverage led to and of some thousand mutations. ``found.txt`` is what fuzzing found.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from groups.wire.errors import WireError
from tests.fuzz.mutation import mutated
from tests.fuzz.oracle import Target

FOLDER: Final = Path(__file__).parent / "corpus"
COLLECTED: Final = FOLDER / "inputs.txt"

MUTATIONS_OF_A_TARGET: Final = 300
LONGEST_COLLECTED: Final = 160

SHARING: Final = {"list": "", "edit": "kind:", "tell": "kind:"}
"""Targets that are tried with the inputs of another one: a listing with those of its message."""


def read() -> Iterator[tuple[str, bytes]]:
    """All committed inputs."""
    for path in sorted(FOLDER.glob("*.txt")):
        yield from map(parse, path.read_text(encoding="ascii").splitlines())


def parse(line: str) -> tuple[str, bytes]:
    name, _, text = line.partition(" ")
    return name, bytes.fromhex(text)


def write(path: Path, inputs: Iterable[tuple[str, bytes]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{name} {data.hex()}".rstrip() + "\n" for name, data in sorted(set(inputs)))
    path.write_text("".join(lines), encoding="ascii")


def lender(name: str) -> str:
    """The target whose inputs a target is tried with: mostly itself."""
    prefix, _, rest = name.partition(":")
    return SHARING[prefix] + rest if prefix in SHARING else name


def for_each_target(targets: Iterable[str]) -> dict[str, list[bytes]]:
    """The committed inputs of every target."""
    by_name: dict[str, list[bytes]] = {}
    for name, data in read():
        by_name.setdefault(name, []).append(data)
    return {name: by_name.get(lender(name), []) for name in targets}


def collect(targets: dict[str, Target], led_to: Iterable[tuple[str, bytes]]) -> int:
    """Choose anew what is committed, out of what coverage led to, what was there, and mutations; returns how many."""
    offered: dict[str, list[bytes]] = {}
    for name, data in (*led_to, *read()):
        offered.setdefault(lender(name), []).append(data)
    chosen: dict[tuple[str, str], tuple[str, bytes]] = {}
    for name, target in targets.items():
        if lender(name) != name:
            continue
        rng = random.Random(name)
        seeds = target.seeds()
        mutations = [mutated(rng.choice(seeds), seeds, rng) for _ in range(MUTATIONS_OF_A_TARGET)]
        # Versions of one message share their faults.
        of = re.sub(r"-\d+$", "", name)
        for data in sorted((*offered.get(name, ()), *mutations), key=lambda each: (len(each), each)):
            if len(data) <= LONGEST_COLLECTED:
                chosen.setdefault((of, outcome(target, data)), (name, data))
    write(COLLECTED, chosen.values())
    return len(chosen)


def outcome(target: Target, data: bytes) -> str:
    """What comes of an input, as far as two inputs that share it are alike: the fault, without its numbers and names,
    and for a message the field too."""
    try:
        target.check(data)
    except WireError as error:
        field = (
            ".".join(part for part in error.path if not part.isdigit()) if target.family == "messages" else ""
        )
        return f"{type(error).__name__} {field} {re.sub(r'[0-9]+|(?<=: ).*', '', error.sentence)}"
    return "read"
