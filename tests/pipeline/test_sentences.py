"""Why an import failed, in one sentence: what to do about it, and never an exception's name."""

from __future__ import annotations

import errno
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.pipeline.spark.failures import why

EXCEPTION = re.compile(r"\b\w*(Error|Exception|Traceback)\b|\bat java|\.py\b")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (RuntimeError("java.io.IOException: No space left on device\n\tat java.base"), "the disk is full"),
        (RuntimeError("java.lang.OutOfMemoryError: Java heap space"), "too little memory"),
        (MemoryError(), "too little memory"),
        (RuntimeError("org.apache.spark.SparkException: Python worker exited unexpectedly"), "workers ended"),
        (RuntimeError("Could not parse Master URL: 'sprk://x'"), "master cannot be reached"),
        (PermissionError(errno.EACCES, "Permission denied"), "rights forbid it"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "0.log"), "removed while it was read"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "Java process ended"),
        (ValueError("something else"), "the server's log"),
    ],
)
def test_each_reason_that_is_known_has_its_sentence(error: Exception, says: str) -> None:
    sentence = why(error, "import")

    assert says in sentence
    assert sentence.startswith("The import failed")
    assert not EXCEPTION.search(sentence)


errors = st.sampled_from(
    (ValueError, OSError, RuntimeError, KeyError, MemoryError, type("Py4JJavaError", (Exception,), {}))
)
words = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ("java.lang.OutOfMemoryError", "\n\tat org.apache.spark", "SIGKILL", "ENOSPC", "Lost executor 3")
        ),
    ),
    max_size=6,
)


@given(kind=errors, said=words)
def test_whatever_spark_says_the_sentence_is_one_line_and_names_no_exception(
    kind: type[Exception], said: list[str]
) -> None:
    sentence = why(kind(" ".join(said)), "import")

    assert re.fullmatch(r"The import failed[^\n]*\.", sentence)
    assert not EXCEPTION.search(sentence)
