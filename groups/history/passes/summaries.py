"""The summary of a timeline: what lists and heads of pages show, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groups.history.findings import Finder
from groups.history.frames.changes import Frame
from groups.history.verdict import verdict


def summary_of(shown: Frame, finder: Finder, *, first_ms: int | None) -> Mapping[str, Any]:
    """Of the entries up to that of the frame ``shown``; the finder has folded the same."""
    findings = finder.findings(shown)
    return {
        "group": shown["group"],
        "protocol": shown["protocol"],
        "state": shown["state"],
        "first_ms": first_ms,
        "last_ms": shown["at_ms"],
        "entries": shown["sequence"],
        "last": shown["sequence"],
        "cast": finder.cast.to_json(),
        "topics": shown["topics"],
        "epochs": finder.epochs.to_json(),
        "gaps": finder.notes.gaps,
        "findings": findings,
        "cannot_tell": finder.cannot_tell(findings),
        "silences": finder.silences(),
        "verdict": verdict(findings, first_ms=first_ms, last_ms=shown["at_ms"]),
    }
