"""Settings of a live group, as its cluster reports them: a note of its timeline, when they are other than before."""

from __future__ import annotations

from collections.abc import Mapping

from groups.history.entries import Payload


def changed_settings(known: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in now.items() if known.get(name) != value}


def settings_note(settings: Mapping[str, int]) -> Payload:
    """The payload of the note."""
    return {"note": "settings", "settings": dict(settings), "source": "cluster"}
