"""The child process that answers what the inspector is asked of many bytes: 131,000 names took the server seconds.

A question is ``{"sides": [one, or two to be compared], "guesses": true}``, a side being ``answering.Asked`` with its bytes in
base64. The answer is the API's own JSON, or ``{"refused": {"message", "status", "facts"}}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson

from explorer.pages.inspector.answering import Asked, Refused, answer_to, comparison_of
from groups.child_side import answer_lines
from groups.wire.codecs.primitives import from_base64, to_base64


def question_of(sides: Sequence[Asked], *, guesses: bool) -> dict[str, Any]:
    return {
        "sides": [asdict(side) | {"data": to_base64(side.data)} for side in sides],
        "guesses": guesses,
    }


def answer_here(sides: Sequence[Asked], *, guesses: bool) -> dict[str, Any]:
    """One side is inspected, two are compared. Raises ``Refused``."""
    if len(sides) == 1:
        return answer_to(sides[0], guesses=guesses)
    return comparison_of(sides[0], sides[1])


def answered(question: Mapping[str, Any]) -> bytes:
    sides = [
        Asked(**side | {"data": from_base64(side["data"]), "edits": [tuple(each) for each in side["edits"]]})
        for side in question["sides"]
    ]
    try:
        return orjson.dumps(answer_here(sides, guesses=question["guesses"]))
    except Refused as error:
        refused = {"message": str(error), "status": error.status, "facts": error.facts}
        return orjson.dumps({"refused": refused})


if __name__ == "__main__":
    answer_lines(answered)
