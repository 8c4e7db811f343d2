"""What the fold makes has the shapes that it declares, for every log of the corpus."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import orjson
import pytest

from groups.history.findings.kinds import ByKind
from groups.history.frames.changes import Change, apply
from groups.history.frames.shapes import Frame
from groups.history.passes.summaries import Summary
from groups.history.story.moment import Moment
from tests.history.corpus import CorpusLog, corpus, recorded
from tests.tiers import spread


def misfits(value: Any, hint: Any, at: str) -> Iterator[str]:
    """Where a JSON value is not of its declared type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        yield from misfits(value, inner[0], at)
    elif hint in (Any, object):
        return
    elif is_typeddict(hint):
        yield from object_misfits(value, hint, at)
    elif origin is types.UnionType:
        if all(any(misfits(value, each, at)) for each in inner):
            yield f"{at} is {value!r:.60}, not {hint}"
    elif origin is Literal:
        if value not in inner:
            yield f"{at} is {value!r:.60}"
    elif origin in (dict, Mapping):
        if not isinstance(value, dict):
            yield f"{at} is {value!r:.60}, not an object"
            return
        for each in value.values():
            yield from misfits(each, inner[1], f"{at}.…")
    elif origin in (list, Sequence):
        if not isinstance(value, list):
            yield f"{at} is {value!r:.60}, not a list"
            return
        for each in value:
            yield from misfits(each, inner[0], f"{at}[…]")
    elif type(value) is not hint:
        yield f"{at} is {value!r:.60}, not {hint.__name__}"


def object_misfits(value: Any, shape: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at} is {value!r:.60}, not an object"
        return
    hints = get_type_hints(shape, include_extras=True)
    for name, hint in hints.items():
        if name in value:
            yield from misfits(value[name], hint, f"{at}.{name}")
        elif get_origin(hint) is not NotRequired and name not in shape.__optional_keys__:
            yield f"{at} has no {name}"
    if not is_finding(shape):
        yield from (f"{at}.{name} is not declared" for name in value.keys() - hints.keys())


def is_finding(shape: Any) -> bool:
    """Findings have fields beside the declared ones."""
    return {"says", "sequences", "needs"} <= get_type_hints(shape).keys()


def misfits_by_kind(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Where a finding has not the fields that the verdict reads of its kind."""
    kinds = get_type_hints(ByKind, include_extras=True)
    for one in findings:
        if one["kind"] in kinds:
            yield from misfits([one], kinds[one["kind"]], one["kind"])


@pytest.mark.parametrize("log", spread(corpus()[::4]), ids=lambda log: log.name)
def test_frames_changes_moments_and_summaries_are_as_they_are_declared(log: CorpusLog) -> None:
    batch = recorded(log).batch
    frame = orjson.loads(batch.checkpoint or b"")["frame"]
    found = list(misfits(frame, Frame, "frame"))
    for change in orjson.loads(batch.changes):
        found += misfits(change, Change, "change")
        frame = apply(frame, [change])
    for moment in orjson.loads(batch.moments):
        found += misfits(moment, Moment, "moment")
    found += misfits(frame, Frame, "frame")
    summary = orjson.loads(orjson.dumps(batch.summary))
    found += misfits(summary, Summary, "summary")
    found += misfits_by_kind(summary["findings"])
    assert sorted(set(found)) == []
