"""What a database searches and sorts timelines by, in columns of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groups.history.story.problems import gravity
from groups.packs.listed_summary import headline_text, plain, words_of


def listed_columns(summary: Mapping[str, Any]) -> dict[str, Any]:
    """``headline``, ``weight`` and ``words`` of a timeline with this summary, which is whole or in short (``packs.listed_summary``)."""
    weight = summary["weight"] if "weight" in summary else gravity(summary.get("findings") or ())
    return {"headline": plain(headline_text(summary)), "weight": weight, "words": plain(words_of(summary))}
