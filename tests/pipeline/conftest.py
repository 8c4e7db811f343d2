from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from groups.packs.files import Folder
from tests.pipeline.folds import FOLDER, Folds


@pytest.fixture
def imported(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Folds]:
    """Runs both stages of the job on paths; what it told and stored."""
    from groups.pipeline.job import import_with
    from groups.pipeline.progress import Progress
    from groups.pipeline.reading.splitting import list_sources
    from groups.pipeline.spark.child import Lines
    from groups.pipeline.topics.naming import read_topics_file

    def run(
        *paths: Path, topics: Mapping[str, Any] | None = None, split_bytes: int = 1024, **request: Any
    ) -> Folds:
        store = tmp_path_factory.mktemp("store")
        listing = list_sources([str(path) for path in paths], split_bytes=split_bytes)
        out = io.BytesIO()
        progress = Progress(Lines(out))
        asked = {"store": str(store), "folder": FOLDER, **request}
        progress.lines.say(import_with(spark, listing, read_topics_file(topics or {}), asked, progress, 0))
        return Folds([orjson.loads(line) for line in out.getvalue().splitlines()], Folder(store))

    return run
