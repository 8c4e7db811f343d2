"""Children of imports that are kept for the next question: the product's, and those of a pretended job."""

from __future__ import annotations

import pytest

from groups.imports import lifecycle
from groups.jobs.warm_children import WarmChildren

READERS = lifecycle.children
PRETENDED = WarmChildren("tests.pipeline.pretend_job")


def pretend_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "children", PRETENDED)


def close_idle_children() -> None:
    """Ends every one, as the end of the process does."""
    READERS.close()
    PRETENDED.close()
