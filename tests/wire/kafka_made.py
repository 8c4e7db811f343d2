"""The committed fixtures that Kafka's own classes made (``tests/wire/java``)."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from groups.wire.codecs.schema import UNKNOWN_TAGS

FOLDER = Path(__file__).parent / "fixtures"


@cache
def lines(name: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The JSON lines of one fixture, named without its endings; shared, not to be changed."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def as_kafka_prints(value: Any) -> Any:
    """Without the tagged fields that no schema declares: here they are kept, Kafka's JSON form drops them."""
    if isinstance(value, dict):
        return {name: as_kafka_prints(each) for name, each in value.items() if name != UNKNOWN_TAGS}
    return [as_kafka_prints(each) for each in value] if isinstance(value, list) else value


def as_text(value: Any) -> str:
    """JSON in one order of fields. To Python ``True`` equals 1; in text a bool and a number differ."""
    return json.dumps(value, sort_keys=True)
