"""``python -m tests.attack --minutes 20``: a server of its own under mixed hostile load, and what became of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.attack.siege import Siege, besiege


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        siege = besiege(Path(folder), minutes=asked.minutes, seed=asked.seed, say=say)
    say(siege.told())
    problems = [*siege.problems, *too_slow(siege)]
    for problem in problems:
        say(f"NOT HELD: {problem}")
    return 1 if problems else 0


def too_slow(siege: Siege) -> list[str]:
    median = siege.page_ms(0.5)
    return [f"a page took {median:.0f} ms in the median, 100 are allowed"] if median > 100 else []


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
