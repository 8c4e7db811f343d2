"""``python -m tests.simulations.lessons_told``: writes down what each lesson says, as a reader gets to read it.

The pages lie in ``tests/simulations/lessons_told``: a change of the simulator, of a scenario or of a lesson that changes any
sentence, answer or explanation shows there, and fails the test until somebody has read it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from simulations import courses
from simulations.lessons.sheets import Sheet, sheet_of
from simulations.lessons.values import TextPart

FOLDER: Final = Path(__file__).parent / "lessons_told"


def plain(parts: Iterable[TextPart] | None) -> str:
    return "".join(part["text"] for part in parts or ())


def told(sheet: Sheet) -> str:
    """All that a lesson states: sentences, table, questions, which answers are right, and why the others are not."""
    return "\n".join(_lines(sheet)) + "\n"


def _lines(sheet: Sheet) -> Iterator[str]:
    yield f"{sheet['title']} ({sheet['minutes']} min)"
    yield plain(sheet["goal"])
    for number, beat in enumerate(sheet["beats"], 1):
        yield f"\n{number}. {beat['title']}"
        yield from (f"   {plain(text)}" for text in beat["text"])
        yield from (f"   ({plain(beat[key])})" for key in ("cite", "notes") if beat[key])
        if (ask := beat["ask"]) is None:
            continue
        yield f"   ? {plain(ask['question'])}"
        for option in ask["options"]:
            why = plain(option["why"])
            yield f"     [{'x' if option['right'] else ' '}] {plain(option['says'])}{f'  -- {why}' if why else ''}"
        yield from (f"   = {line}" for line in (plain(ask["answer"]), plain(ask["then"])) if line)
        if ask["hint"]:
            yield f"   hint: {plain(ask['hint'])}"
    if (table := sheet["table"]) is not None:
        yield f"\n{table['source']}: {' | '.join(table['members'])}"
        for row in table["rows"]:
            yield f"   {plain(row['says'])} | {' | '.join(row['cells'])}"
    if (hands := sheet["hands"]) is not None:
        for answer in hands["answers"]:
            yield f"   {answer['name']}: {' '.join(owner or '-' for owner in answer['after'])} {answer['measures']}"


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name in courses.names():
        made = sheet_of(courses.load(name), courses.Bundled())
        (FOLDER / f"{name}.txt").write_text(told(made.sheet), encoding="utf-8")
    sys.stdout.write(f"{len(courses.names())} lessons\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
