from __future__ import annotations

import re
from typing import Any

from explorer.figures.thumbnails import ROWS_MOST, STEPS_MOST, thumbnail


def frame(**members: list[int] | tuple[list[int], list[int]]) -> dict[str, Any]:
    """``A=[0, 1]`` owns two partitions of foo; ``A=([0], [1])`` owns one and gives up the other."""
    states = {}
    for name, sets in members.items():
        own, going = sets if isinstance(sets, tuple) else (sets, [])
        states[name] = {"assigned": {"foo": own}, "pending_revocation": {"foo": going}}
    return {"members": states, "clients": None}


def bars(svg: str) -> list[tuple[str, str]]:
    """Colour and kind of each bar, in order."""
    hue = ""
    found = []
    for tag in re.findall(r'data-hue="(\w)"|class="(own|going|none)"', svg):
        hue = tag[0] or hue
        if tag[1]:
            found.append(("" if tag[1] == "none" else hue, tag[1]))
    return found


def test_a_partition_that_moves_is_owned_given_up_free_and_owned_by_another() -> None:
    steps = [frame(A=[0]), frame(A=([], [0])), frame(A=[], B=[]), frame(A=[], B=[0])]
    assert bars(thumbnail(steps, ["A", "B"])) == [("0", "own"), ("0", "going"), ("", "none"), ("1", "own")]


def test_what_a_client_was_told_to_give_up_is_hatched_too() -> None:
    told = frame(A=[0]) | {"clients": {"A": {"revoking": {"foo": [0]}}}}
    assert bars(thumbnail([told], ["A"])) == [("0", "going")]


def test_a_member_that_comes_back_has_its_colour_and_the_seventh_is_grey() -> None:
    cast = ["A", "B", "C", "D", "E", "F", "G", "A~2"]
    assert bars(thumbnail([frame(**{"A~2": [0], "G": [1]})], cast)) == [("0", "own"), ("x", "own")]


def test_a_group_that_never_owns_anything_has_no_picture() -> None:
    assert thumbnail([], []) == ""
    assert thumbnail([frame(A=[])], ["A"]) == ""


def test_long_and_wide_timelines_stay_small() -> None:
    svg = thumbnail([frame(A=list(range(500))) if n % 2 else frame(A=[]) for n in range(2000)], ["A"])
    assert svg.count("<rect") <= STEPS_MOST * ROWS_MOST


def test_no_text_of_a_log_reaches_the_picture() -> None:
    assert "script" not in thumbnail([frame(**{"<script>": [0]})], ["<script>"])
