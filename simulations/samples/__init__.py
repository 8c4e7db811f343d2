"""Bundled recordings for ``conform``: what a real broker was asked and what it wrote, with the settings it ran with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A recording as the options of ``conform`` name it."""

    requests: Path
    """The broker's group requests with their answers, as JSON Lines."""

    segments: Path
    """A folder with segments of ``__consumer_offsets`` and of ``__cluster_metadata``."""

    settings: dict[str, str]
    """The broker's settings that are not Kafka's defaults, by Kafka's names."""


def names() -> tuple[str, ...]:
    """The names of all recordings, sorted."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/settings.json")))


def sample(name: str) -> Sample:
    """The recording; ``KeyError`` if there is none of that name."""
    if name not in names():
        raise KeyError(name)
    folder = FOLDER / name
    return Sample(
        requests=folder / "requests.jsonl.gz",
        segments=folder / "segments",
        settings=json.loads((folder / "settings.json").read_bytes()),
    )
