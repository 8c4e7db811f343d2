from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

Lines = list[dict[str, Any]]


@pytest.fixture
def imported(spark: Any) -> Callable[..., Lines]:
    """Runs both stages of the job on paths and gives its lines."""
    from groups.pipeline.job import Progress, import_with
    from groups.pipeline.naming import read_topics_file
    from groups.pipeline.sources import list_sources
    from groups.pipeline.spark_child import Lines

    def run(*paths: Path, group: str | None = None, topics: Any = None, split_bytes: int = 1024) -> Lines:
        listing = list_sources([str(path) for path in paths], split_bytes=split_bytes)
        out = io.BytesIO()
        progress = Progress(Lines(out))
        progress.lines.say(import_with(spark, listing, read_topics_file(topics or {}), group, progress, 0))
        return [orjson.loads(line) for line in out.getvalue().splitlines()]

    return run
