"""Small programs that tests run as children: ``python -m tests.tasks.child_programs NAME``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def say(**message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def echo(question: object) -> None:
    say(type="answer", question=question)
    say(type="done")


def silent(question: object) -> None:
    """Says who it is and then nothing, and never looks at its input."""
    say(type="pid", pid=os.getpid())
    time.sleep(60)


def stubborn(question: object) -> None:
    """Does not end when it is asked to, and has a child of its own."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    say(type="pid", pid=os.getpid(), grandchild=grandchild.pid)
    time.sleep(60)


def failing(question: object) -> None:
    say(type="batch")
    raise ValueError("the disk is full")


def babbling(question: object) -> None:
    sys.stdout.write("Hello, this is no JSON\n")


def chatty(question: object) -> None:
    for number in range(10_000):
        say(type="number", number=number)
    say(type="done")


def loud(question: object) -> None:
    """Says more on standard error than a pipe holds."""
    for _ in range(3000):
        sys.stderr.write("a warning that nobody asked for, some sixty characters long\n")
    say(type="done")


def parent(question: object) -> None:
    """Is itself a parent: starts a silent child, tells its number, and waits to be killed."""
    from groups.jobs.children import run_child

    for message in run_child(PROGRAM, ["silent"], question={}):
        say(**message)


PROGRAM = "tests.tasks.child_programs"

if __name__ == "__main__":
    globals()[sys.argv[1]](json.loads(sys.stdin.readline()))
