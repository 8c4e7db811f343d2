"""``python -m tests.parts``: the parts of ``make test``, some at a time, and at the very end the names of what failed.

Each part is a target of the Makefile. Its output goes to ``var/tests/PART.log`` and is shown when the part is over.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "var" / "tests"

PARTS = ("test-broker", "test-browser", "test-rest", "test-inner", "test-live", "test-services", "test-js")
"""In the order in which they begin: the long ones first, so that the short ones fill the end."""

AT_ONCE = 3
"""Tests with a broker or a browser mostly wait, so they run beside the others even on two cores."""

LINE_MOST = 240
"""Characters of a failure's line: the whole of it stands above, in the part's output."""

TELL_EVERY_S = 60.0
"""How often it says that it is alive: whoever watches takes silence for a standstill."""

TELLS_FAILURE = re.compile(r"^(FAILED|ERROR) \S|^\s*(not ok \d+ - |✖ )")
"""Lines of pytest's short summary, and of Node's two ways to report."""

SUMMARY = "short test summary info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a part: its exit code, what it printed, and how long it took."""

    part: str
    code: int
    output: str
    took_s: float


running: dict[str, subprocess.Popen[bytes]] = {}


def run(part: str) -> Outcome:
    log = LOGS / f"{part}.log"
    begun_s = time.monotonic()
    with log.open("wb") as out:
        running[part] = subprocess.Popen(
            [os.environ.get("MAKE", "make"), "--no-print-directory", part],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        code = running[part].wait()
    del running[part]
    output = log.read_text(encoding="utf-8", errors="replace")
    return Outcome(part=part, code=code, output=output, took_s=time.monotonic() - begun_s)


def failures(outcome: Outcome) -> Iterator[str]:
    """A line for each failed test of a part; one that failed otherwise tells what it said last."""
    if outcome.code == 0:
        return
    lines = outcome.output.splitlines()
    begins = [number for number, line in enumerate(lines) if SUMMARY in line]
    told = [line.strip() for line in lines[begins[-1] if begins else 0 :] if TELLS_FAILURE.match(line)]
    if not told:
        said = [line.strip() for line in lines if line.strip() and not line.startswith("make")]
        told = [
            f"ended with code {outcome.code} and names no test; it said last: {said[-1] if said else 'nothing'}"
        ]
    for line in told:
        yield f"{outcome.part}: {line if len(line) <= LINE_MOST else line[: LINE_MOST - 1] + '…'}"


def main() -> int:
    LOGS.mkdir(parents=True, exist_ok=True)
    say(
        f"{', '.join(PARTS)}: {AT_ONCE} at a time; what each says comes when it is over, and is in {LOGS} meanwhile."
    )
    outcomes: list[Outcome] = []
    begun_s = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        left = {pool.submit(run, part) for part in PARTS}
        # Ctrl-C reaches the parts by itself, an end from outside does not.
        signal.signal(signal.SIGTERM, lambda *_: end(pool))
        while left:
            done, left = wait(left, timeout=TELL_EVERY_S, return_when=FIRST_COMPLETED)
            for part in done:
                if not part.cancelled():
                    outcomes.append(part.result())
                    say(outcomes[-1].output)
            if not done:
                say(f"{', '.join(running)}: not over after {time.monotonic() - begun_s:.0f} s")
    for outcome in outcomes:
        say(f"{'passed' if outcome.code == 0 else 'FAILED'} {outcome.part} in {outcome.took_s:.0f} s")
    failed = [line for outcome in outcomes for line in failures(outcome)]
    if failed:
        say(f"\n{len(failed)} failed:")
        say("\n".join(failed))
    return 1 if failed or len(outcomes) < len(PARTS) else 0


def end(pool: ThreadPoolExecutor) -> None:
    """Ends the parts that run, and begins no other."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in list(running.values()):
        process.terminate()


def say(text: str) -> None:
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
