"""How little of the pure rooms is left to ``Any``, which no type checker looks into."""

import io
import tokenize
from pathlib import Path

from tests.house import ROOT
from tests.house.test_architecture import PURE

LINES_MOST = 32
"""Lines of code with ``Any``, imports counted. Who takes one away lowers the bound; nobody raises it."""


def files() -> list[Path]:
    return [path for room in PURE for path in sorted(ROOT.joinpath(*room.split(".")).rglob("*.py"))]


def lines_with_any(source: str) -> tuple[set[int], bool]:
    """The lines of code with ``Any``, and whether a comment or a docstring speaks of it."""
    lines: set[int] = set()
    reason = False
    if "Any" not in source:
        return lines, reason
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string == "Any":
            lines.add(token.start[0])
        elif token.type in (tokenize.COMMENT, tokenize.STRING) and "``Any``" in token.string:
            reason = True
    return lines, reason


def test_no_more_is_left_to_any_than_the_bound_says() -> None:
    found = {path: lines_with_any(path.read_text())[0] for path in files()}
    count = sum(map(len, found.values()))
    most = sorted(((len(lines), str(path.relative_to(ROOT))) for path, lines in found.items()), reverse=True)
    assert count <= LINES_MOST, f"{count} lines with Any, {LINES_MOST} are allowed; most have {most[:5]}"


def test_a_file_that_leaves_something_to_any_says_why() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in files()
        for lines, reason in [lines_with_any(path.read_text())]
        if lines and not reason
    ]
    assert silent == [], "say in a comment or docstring why ``Any`` stands there"


def test_any_is_counted_by_line_and_not_where_it_is_only_spoken_of() -> None:
    source = "from typing import Any\n\nKept = dict[str, Any]\n\n\ndef of(one: Any) -> Any:\n    # Any\n    return 'Any'\n"
    assert lines_with_any(source) == ({1, 3, 6}, False)
    assert lines_with_any('"""``Any``, as bytes come from outside."""\n') == (set(), True)
