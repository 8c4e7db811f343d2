"""What the fold makes of the corpus, as digests that are written down.

python -m tests.history.truth --record      the digests anew, once the fold tells otherwise on purpose

``truth.json`` holds the ``FOLD_VERSION`` that it was made with and, for each log, its number of entries and a digest of
each thing that is made of it: of the log itself (``log``), and of what the fold says (``ASPECTS``).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypedDict

import orjson

from groups.history.frames.frame import FrameMaker
from groups.history.replay.fold import FOLD_VERSION, replay
from groups.history.state.group import initial_state
from tests.history.corpus import CorpusLog, corpus, recorded

TRUTH: Final = Path(__file__).parent / "truth.json"

ASPECTS: Final = ("frames", "changes", "moments", "findings", "verdict", "summary", "checkpoint")
"""Each has a digest of its own, so that a difference says what differs."""

DIGEST_LETTERS: Final = 12
"""Of SHA-256: nobody forges these, they only have to differ."""

Digests = dict[str, str | int]


class Truth(TypedDict):
    """The file's form."""

    fold_version: int
    logs: dict[str, Digests]


def digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
        whole.update(b"\n")
    return whole.hexdigest()[:DIGEST_LETTERS]


def digests_of(log: CorpusLog) -> Digests:
    """Everything that is made of a log, folded now. Frames are those after each entry, made of states alone."""
    state, maker = initial_state(log.group, log.semantics), FrameMaker()
    frames = hashlib.sha256()
    for entry in log.entries:
        state = replay(state, entry)
        frames.update(as_json(maker.frame(state)))
    recording = recorded(log)
    batch = recording.batch
    summary = dict(batch.summary)
    findings, verdict = summary.pop("findings"), summary.pop("verdict")
    remembered = {"findings": recording.finder, "metrics": recording.metrics}
    return {
        "entries": len(log.entries),
        "log": digest(as_json(entry.to_json()) for entry in log.entries),
        "frames": frames.hexdigest()[:DIGEST_LETTERS],
        "changes": digest([batch.changes]),
        "moments": digest([batch.moments]),
        "findings": digest([as_json(findings)]),
        "verdict": digest([as_json(verdict)]),
        "summary": digest([as_json(summary)]),
        "checkpoint": digest([as_json(remembered)]),
    }


def as_json(value: Any) -> bytes:
    """Keys in their order: what reads JSON shows members and topics in it."""
    return orjson.dumps(value)


def committed() -> Truth:
    told: Truth = json.loads(TRUTH.read_text(encoding="utf-8"))
    return told


def folded() -> Truth:
    """The truth of now."""
    return {"fold_version": FOLD_VERSION, "logs": {log.name: digests_of(log) for log in corpus()}}


if __name__ == "__main__":
    if sys.argv[1:] != ["--record"]:
        sys.exit("usage: python -m tests.history.truth --record")
    made = folded()
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in made["logs"].items())
    TRUTH.write_text(
        f'{{\n "fold_version": {made["fold_version"]},\n "logs": {{\n{rows}\n }}\n}}\n', encoding="utf-8"
    )
