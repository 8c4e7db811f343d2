"""What every job on Spark has in common: it is a process of its own that is asked once and answers with JSON Lines."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from groups.child_side import Lines, end_with_parent, question
from groups.pipeline.spark.java import NoJava
from groups.pipeline.spark.session import CACHE, SessionFailed, close_session, jvm_of, open_session, scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_ENDS_S: Final = 1.5
"""Patience with Java when the job is stopped: less than that of the parent, which kills after 2 s."""


def answer_request(
    run: Callable[[Mapping[str, Any], Lines], None], *, work: str, refusals: tuple[type[Exception], ...] = ()
) -> int:
    """The whole of a job's process: reads the request and has ``run`` answer it.

    What goes wrong is its last line, ``{"type": "error", "message": "one line"}``: of ``refusals`` what they say
    themselves, of anything else that the ``work`` failed. The process ends when its standard input does.
    """
    expected: tuple[type[Exception], ...] = (NoJava, SessionFailed, *refusals)
    request = question()
    end_with_parent()
    # Java and Python's workers inherit standard output.
    lines = Lines.alone()
    try:
        run(request, lines)
    except expected as error:
        lines.say({"type": "error", "message": str(error)})
    except Exception as error:
        # Spark's own errors are pages of Java; the parent shows one line and logs what went to standard error.
        lines.say({"type": "error", "message": first_line(error, work)})
        raise
    return 0


@contextlib.contextmanager
def spark_session(**options: Any) -> Iterator[SparkSession]:
    """A session as ``open_session`` opens it, closed at the end."""
    session = open_session(**options)
    # Java was asked to end, too, and clears up behind itself: this process stays until it has.
    signal.signal(signal.SIGTERM, lambda *_: end_with_java(session))
    try:
        yield session
    finally:
        close_session(session)


def first_line(error: Exception, work: str) -> str:
    words = str(error).strip().splitlines()
    return f"the {work} failed: {type(error).__name__}: {words[0] if words else 'no reason was given'}"


def end_with_java(session: SparkSession) -> None:
    """Waits a moment for the JVM, which got the same signal, and ends."""
    jvm = jvm_of(session)
    if jvm is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            jvm.wait(JAVA_ENDS_S)
    shutil.rmtree(scratch(CACHE), ignore_errors=True)
    os._exit(1)
