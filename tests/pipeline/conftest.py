from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.folds import Folds, import_with_engine


@pytest.fixture
def imported(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Folds]:
    """Runs both stages of the job on Spark; what it reported and stored."""
    from groups.pipeline.spark_engine import SparkEngine

    def run(*paths: Path, **request: Any) -> Folds:
        store = tmp_path_factory.mktemp("store")
        return import_with_engine(SparkEngine(spark), store, *paths, **request)

    return run
