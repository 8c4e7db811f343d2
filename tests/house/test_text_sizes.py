"""Text grows with what a reader's browser is set to: no style sheet fixes its size, or the width at which a page changes, in pixels."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.house import ROOT

STYLES: Final = sorted((ROOT / "static" / "css").glob("*.css"))

DRAWINGS: Final = re.compile(
    r"(^|[\s,])(\.tl |\.blocks |\.block |\.ring |\.mstrip-svg |\.figure \.tick|\.b \.|#tracks )"
)
"""Within these a pixel is the drawing's own, and the whole drawing grows."""

RULE: Final = re.compile(r"(?P<selector>[^{}]*)\{(?P<body>[^{}]*)\}")
SIZE: Final = re.compile(r"(?:font|font-size|line-height|--t-\w+)\s*:[^;]*?[\d.]px")


def rules(text: str) -> list[tuple[str, str]]:
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [(found["selector"].strip(), found["body"]) for found in RULE.finditer(bare)]


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_the_size_of_text_is_in_rem(style: object) -> None:
    fixed = [
        f"{selector}: {body.strip()}"
        for selector, body in rules(style.read_text())  # type: ignore[attr-defined]
        if SIZE.search(body) and not DRAWINGS.search(selector)
    ]
    assert fixed == []


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_the_widths_at_which_a_page_changes_are_in_em(style: object) -> None:
    assert re.findall(r"@media[^{]*\dpx[^{]*", style.read_text()) == []  # type: ignore[attr-defined]
