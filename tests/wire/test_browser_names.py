"""The browser's names of record types and of error codes are Kafka's: as the generated schemas and ``Errors`` have them."""

from __future__ import annotations

import re
from pathlib import Path

from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.rpc import error_name

FIELDS = Path(__file__).resolve().parents[2] / "static/js/panels/fields.js"


def table(name: str) -> dict[int, str]:
    """Number → name of a table of the browser's module."""
    text = FIELDS.read_text().partition(f"const {name} = {{")[2].partition("};")[0]
    return {int(number): named for number, named in re.findall(r"\[?(-?\d+)\]?: '(\w+)'", text)}


def test_the_browser_names_each_record_type_as_its_schema_does() -> None:
    assert table("RECORDS") == {each.number: each.message for each in RECORD_TYPES.values()}


def test_the_browser_names_error_codes_as_kafka_does() -> None:
    names = table("ERRORS")
    assert len(names) > 20
    assert names == {code: error_name(code) for code in names}
