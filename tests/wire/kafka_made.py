"""The committed fixtures that Kafka's own classes made (``tests/wire/java``)."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures"


def lines(name: str) -> list[dict[str, Any]]:
    """The JSON lines of one fixture file."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
