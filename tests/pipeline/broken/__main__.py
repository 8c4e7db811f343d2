"""``python -m tests.pipeline.broken [WORD…]``: imports each broken input by itself and prints a table of the answers.

A case is taken if its name holds one of the words. It takes about ten seconds a case, most of them Spark's start.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.pipeline.broken import CASES
from tests.pipeline.broken.importing import Importer, complaints, placed

CELL_MOST = 300


def main(words: list[str]) -> int:
    chosen = [
        (number, case)
        for number, case in enumerate(CASES)
        if not words or any(word in case.name for word in words)
    ]
    if not chosen:
        sys.stderr.write(f"No case has {' or '.join(words)} in its name.\n")
        return 2
    wrong = 0
    sys.stdout.write("| case | exit code | skipped | as it should be |\n|---|---:|---|---|\n")
    with tempfile.TemporaryDirectory() as folder:
        importer = Importer(Path(folder))
        for number, case in chosen:
            (place,) = placed(Path(folder) / "files", [(number, case)], good=False).values()
            done = importer.take(place.root)
            problems = complaints(case, place, done)
            if done.code != case.alone:
                problems.append(f"exit code {done.code} in place of {case.alone}")
            wrong += bool(problems)
            reasons = "; ".join(row["reason"] for row in done.skipped) or done.errors.strip().splitlines()[-1]
            verdict = cell("; ".join(problems) or "yes")
            sys.stdout.write(f"| {case.name} | {done.code} | {cell(reasons)} | {verdict} |\n")
            sys.stdout.flush()
    return 1 if wrong else 0


def cell(text: str) -> str:
    """Text for a table's cell: one line, not endless."""
    line = " ".join(text.replace("|", "\\|").split())
    return line if len(line) <= CELL_MOST else f"{line[:CELL_MOST]}…"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
