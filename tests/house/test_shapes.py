"""What the browser's modules and the schema for other programs say is what the fold declares, and what the API gives."""

from typing import Literal, NotRequired, TypedDict

import pytest

from explorer.server.openapi.schemas import schema_of
from tests.house.shapes import interface, texts, written


def test_the_browsers_types_and_the_schema_are_those_that_the_fold_declares() -> None:
    stale = [file.name for file, text in texts().items() if file.read_text() != text]
    assert stale == [], "run: python -m tests.house.shapes"


class Told(TypedDict):
    """Of a test; ``None`` is unknown."""

    epoch: int | None
    names: NotRequired[list[str | None]]
    """What they are called."""


def test_an_interface_has_the_docstrings_and_leaves_out_what_is_not_required() -> None:
    assert interface(Told) == (
        "/** Of a test; `null` is unknown. */\n"
        "export interface Told {\n"
        "  epoch: number | null;\n"
        "  /** What they are called. */\n"
        "  names?: (string | null)[];\n"
        "}\n"
    )


def test_literals_are_unions_and_a_type_without_a_counterpart_is_refused() -> None:
    assert written(Literal["a", "b"]) == "'a' | 'b'"
    with pytest.raises(TypeError, match="no counterpart"):
        written(set[int])
    with pytest.raises(TypeError, match="no counterpart"):
        schema_of(set[int], str)
