"""A canary in each name of ten logs: with names hidden none sings in anything that is handed on, though as much happens."""

from __future__ import annotations

import gzip
from functools import cache

import orjson
import pytest
from asgiref.sync import sync_to_async

from explorer.sharing import comparing
from groups.exporting import EXPORTERS, Export, Wanted, fresh_key
from groups.models import Timeline
from groups.storage.handing_on import CannotHandOn, incident
from groups.trace_formats import FORMATS
from tests.access.conftest import Asks
from tests.history.corpus import CorpusLog, corpus
from tests.sharing.canaries import MARK, canaries_of, sings
from tests.sharing.test_handed_on import MADE
from tests.sharing.test_links import asks as asks
from tests.sharing.test_links import cookie_of, everything, link_to

LOGS = (
    "study released-basic kafka", "study kip848-client-side kip", "study released-regex kafka",
    "study released-fail-over kafka", "study incident-static-churn kafka", "study kip429-cooperative kafka",
    "study kip792-stale-owner kafka", "typed classic that migrates and goes back kafka", "typed share kafka",
    "typed streams kafka", "sample orders-enrich orders-enrich", "recorded clients clients-static",
)  # fmt: skip
"""Every kind of group, both protocols, a migration, simulated runs with notes and narration, and what brokers wrote."""


@cache
def logs() -> dict[str, CorpusLog]:
    return {log.name: log for log in corpus() if log.name in LOGS}


def told_in(export: Export) -> str:
    """A file's content with what is packed into it, and its name."""
    content = gzip.decompress(export.content).decode() if export.content[:2] == b"\x1f\x8b" else everything(export.content)  # fmt: skip
    return content + export.name


def handed_on(timeline: Timeline, key: bytes | None) -> dict[str, str]:
    files = {}
    for name, make in EXPORTERS.items():
        try:
            files[name] = told_in(make(timeline, Wanted(made=MADE, key=key)))
        except CannotHandOn:
            assert key is not None, f"only what hides names is refused, {name}"
            assert name in FORMATS, f"{name} has pseudonyms"
    half = Wanted(made=MADE, key=key, view="reader")
    files["for readers"] = told_in(EXPORTERS["html"](timeline, half))
    return files


@pytest.mark.django_db
@pytest.mark.parametrize("name", LOGS)
def test_no_canary_is_in_a_file_of_any_log_and_as_much_happens_in_it(name: str) -> None:
    timeline = canaries_of(logs()[name], LOGS.index(name))
    key = fresh_key()
    for what, text in handed_on(timeline, key).items():
        assert not sings(text), (what, text[max(0, text.find(MARK) - 200) :][:400])
    for what, text in handed_on(timeline, None).items():
        assert sings(text), what
    shown, hidden = incident(timeline), incident(timeline, key=key)
    assert [[one["shape"] for one in piece.moments] for piece in shown.pieces] == [
        [one["shape"] for one in piece.moments] for piece in hidden.pieces
    ]
    # A log of which the fold makes nothing would hide everything.
    touched = {change["path"][0] for piece in shown.pieces for change in piece.changes}
    assert "members" in touched


@pytest.mark.django_db
def test_no_canary_is_in_timelines_side_by_side() -> None:
    runs = [canaries_of(logs()[name], number).id for number, name in enumerate((LOGS[0], LOGS[5], LOGS[7]))]
    for key in (fresh_key(), None):
        text = told_in(comparing.html(comparing.Compared(made=MADE, runs=runs, key=key)))
        assert sings(text) is (key is None)


@pytest.mark.parametrize("name", LOGS)
async def test_no_canary_is_in_what_a_link_serves_or_in_its_preview(asks: Asks, name: str) -> None:
    timeline = await sync_to_async(canaries_of)(logs()[name], LOGS.index(name))
    embed = ("https://wiki.example",)
    link, token = await sync_to_async(link_to)(timeline, key=fresh_key(), view="investigator", embed=embed)
    cookie = cookie_of(link, token)
    answers = [
        await asks(f"/s/{token}{path}", token=False) for path in ("", "/card.png", "/embed/", "/embed/state")
    ]
    answers += [
        await asks(f"/s/open/{link.id}/{path}", token=False, headers=cookie) for path in ("", "state")
    ]
    # What it does not show is refused, and the refusal names nothing.
    answers += [await asks(f"/api/timelines/{timeline.id}", token=False, headers=cookie)]
    for answer in answers:
        assert answer is not None
        assert not sings(everything(answer.body) + repr(answer.headers) + repr(answer.cookies))
    assert not sings(link.title + link.sentence)
    preview = await asks(f"/api/timelines/{timeline.id}/pseudonyms", method="POST", body=(b"{}",))
    assert preview is not None
    told = orjson.loads(preview.body)["pseudonyms"]
    assert [one["there"] for one in told if sings(one["there"])] == []
    assert sings("".join(one["here"] for one in told))
