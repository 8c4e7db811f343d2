"""Text for the database: without U+0000, and otherwise as it was, whatever stands in it."""

from __future__ import annotations

import pytest

from groups.storage.importing import plain

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("a\0b", "a\u2400b"),
        ("a\\u0000b", "a\\u0000b"),
        ("\\\0", "\\\u2400"),
        ("\\\\u0000\0", "\\\\u0000\u2400"),
    ],
    ids=["nul", "a backslash and letters", "a backslash before it", "both"],
)
def test_only_the_character_itself_is_replaced(told: str, kept: str) -> None:
    assert plain({"group": [told], told: 1}) == {"group": [kept], kept: 1}
