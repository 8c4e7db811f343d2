"""The shape of a moment: one declaration for the story, the API and the browser (``static/js/shapes.d.ts`` is made of it)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

MomentShape = Literal[
    "join",
    "target",
    "advance",
    "revoke",
    "acknowledge",
    "gain",
    "leave",
    "remove",
    "commit",
    "metadata",
    "regex",
    "state",
    "note",
    "fault",
    "fence",
    "fail_over",
    "replace",
    "violation",
    "gap",
]
"""What a moment's mark in the timeline looks like."""


class Moment(TypedDict):
    """A settled step that changed or said something; the board rests on nothing else."""

    sequence: int
    first: int
    """The first of its entries; ``sequence`` is the last."""
    at_ms: int
    actor: str
    shape: MomentShape
    says: str
    epoch: int | None
    cause: int | None
    """The sequence of the request or timer that brought it about, where that is before ``first``."""
    step: int | None
    """The row of a proposal's table that ends here."""
    narration: NotRequired[str]
    """The case study's own words for that row."""
