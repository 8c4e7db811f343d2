from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from groups.pipeline.java import NoJava, find_java
from groups.pipeline.session import CACHE
from groups.spark_ready import missing_packages
from tests.conftest import missing

Lines = list[dict[str, Any]]


@pytest.fixture(scope="session")
def spark_can_start() -> None:
    """Skips where Spark's packages or Java are missing."""
    if packages := missing_packages():
        missing(f"Spark's packages are not installed ({', '.join(packages)})")
    try:
        find_java(CACHE)
    except NoJava as error:
        missing(str(error))


@pytest.fixture(scope="session")
def spark(spark_can_start: None) -> Iterator[Any]:
    """One session for all tests: starting one is most of what they would cost."""
    from groups.pipeline.session import close_session, open_session

    session = open_session(master="local[2]")
    yield session
    close_session(session)


@pytest.fixture
def imported(spark: Any) -> Callable[..., Lines]:
    """Runs both stages of the job on paths and gives its lines."""
    from groups.pipeline.job import Progress, import_with
    from groups.pipeline.naming import read_topics_file
    from groups.pipeline.sources import list_sources

    def run(*paths: Path, group: str | None = None, topics: Any = None, split_bytes: int = 1024) -> Lines:
        listing = list_sources([str(path) for path in paths], split_bytes=split_bytes)
        out = io.BytesIO()
        progress = Progress(out=out)
        progress.say(import_with(spark, listing, read_topics_file(topics or {}), group, progress, 0))
        return [orjson.loads(line) for line in out.getvalue().splitlines()]

    return run
