"""Imports the product with one mistake in it: ``python -m tests.simulations.mutations.mutated NAME FIRST LAST SEMANTICS…``.

A process of its own: the patched module is compiled from its changed text as it is imported, nothing is written, and no
compiled file is used for it. It prints the first seed that finds the mistake as a line of JSON, ``null`` if none does.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.patches import MUTATIONS

ROOT = Path(__file__).resolve().parents[3]


class DoesNotApply(Exception):
    """The text to replace is not there exactly once."""


def applied(mutation: Mutation) -> str:
    """The changed text of the file."""
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    count = text.count(mutation.old)
    if count != 1:
        raise DoesNotApply(f"{mutation.name}: its text is {count} times in {mutation.file}, not once")
    return text.replace(mutation.old, mutation.new)


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self._text, self.path, "exec", dont_inherit=True)
        return code


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutation: Mutation) -> None:
        self._name = mutation.file.removesuffix(".py").replace("/", ".")
        self._path = str(ROOT / mutation.file)
        self._text = applied(mutation)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        loader = _Loader(name, self._path, self._text)
        return importlib.util.spec_from_file_location(name, self._path, loader=loader)


def introduce(mutation: Mutation) -> None:
    """From now on its file is imported with the mistake in it."""
    sys.meta_path.insert(0, _Finder(mutation))


def main(name: str, first: str, last: str, *semantics: str) -> None:
    introduce(next(each for each in MUTATIONS if each.name == name))

    from simulations.proof.fuzzing.batches import judged

    for seed in range(int(first), int(last) + 1):
        for rules in semantics:
            broken = judged(seed, rules).broken
            if broken is not None:
                found = {
                    "seed": seed,
                    "semantics": rules,
                    "invariant": broken.invariant,
                    "says": broken.sentence,
                }
                sys.stdout.write(json.dumps(found))
                return
    sys.stdout.write("null")


if __name__ == "__main__":
    main(*sys.argv[1:])
