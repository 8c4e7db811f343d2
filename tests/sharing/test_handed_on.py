"""What is handed on of a timeline: whole, a stretch of it, as a page, as data that another installation takes in."""

from __future__ import annotations

import base64
import gzip
import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.http import HttpRequest

from explorer.figures.epochs import collect, figure
from explorer.pages.inspector.records import bytes_of_entry
from explorer.sharing.asking import wanted_of
from explorer.sharing.bundle import CannotBundle, script
from explorer.sharing.one_file import COMPARISON, LABORATORY, TIMELINE, Kind, fingerprint
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.exporting import EXPORTERS, Wanted, data, fresh_key
from groups.history.frames.changes import apply
from groups.incidents.data import BadData, unpacked
from groups.incidents.pieces import Stretch
from groups.models import Timeline
from groups.storage import exported
from groups.storage.handing_on import CannotHandOn, incident
from tests.stories import Story, a_day_of_three

MADE = datetime(2026, 11, 22, 17, 0, tzinfo=UTC)
Stored = Callable[..., Timeline]


def page(timeline: Timeline, **wanted: Any) -> str:
    return EXPORTERS["html"](timeline, Wanted(made=MADE, **wanted)).content.decode()


def blocks(text: str) -> dict[str, Any]:
    """The data of a page, unpacked."""
    found = re.findall(r'<script type="application/gzip" id="block-([\w-]+)">([^<]*)</script>', text)
    return {name: orjson.loads(gzip.decompress(base64.b64decode(held))) for name, held in found}


def test_a_page_holds_the_frames_that_the_server_has(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    held = blocks(page(timeline))
    chunk = held["chunk-1"]
    for sequence in range(timeline.last + 1):
        shown = apply(chunk["frame"], [one for one in chunk["changes"] if one["sequence"] <= sequence])
        assert shown == storage.frame_at(timeline, sequence)
    assert held["entries-1"] == list(storage.every_entry(timeline))
    assert held["timeline"]["summary"] == storage.summary(timeline)


def test_the_panels_beside_the_board_are_the_servers(stored: Stored) -> None:
    timeline = stored(a_day_of_three(), source="simulation")
    held = blocks(page(timeline))
    chunk = held["chunk-1"]
    assert held["epochs"] == plain(figure(collect([(chunk["frame"], chunk["changes"])])))
    for moment in chunk["moments"]:
        at = moment["sequence"]
        assert metrics_of(held["metrics"], at) == metrics_of_server(timeline, at)
    records = [entry["sequence"] for entry in held["entries-1"] if entry["kind"] == "record"]
    assert list(held["bytes-1"]) == [str(sequence) for sequence in records]
    for sequence in records:
        told = bytes_of_entry(HttpRequest(), timeline, sequence)
        assert held["bytes-1"][str(sequence)] == plain(told)


def metrics_of(measured: dict[str, Any], at: int) -> dict[str, Any]:
    """What ``static/js/source/panels.js`` makes of it: each measure with the value that holds at ``at``."""
    told: dict[str, Any] = {}
    for measure in measured["measures"]:
        place = bisect_right(measure["at"], at)
        if place:
            key = f"{measure['member']} {measure['about']['name']} {measure['about'].get('tags')}"
            told[key] = {**measure["about"], "value": measure["values"][place - 1]}
    return told


def metrics_of_server(timeline: Timeline, at: int) -> dict[str, Any]:
    told = plain(storage.metrics_at(timeline, at))
    found = {f"None {one['name']} {one.get('tags')}": one for one in told["broker"]}
    for client in told["clients"]:
        for one in client["metrics"]:
            found[f"{client['member']} {one['name']} {one.get('tags')}"] = one
    return found


def plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


def test_readers_and_whoever_is_not_told_names_are_given_no_bytes(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    for wanted in ({"view": "reader"}, {"key": fresh_key()}):
        assert [name for name in blocks(page(timeline, **wanted)) if name.startswith("bytes")] == []
    reader = blocks(page(timeline, view="reader"))
    assert "epochs" not in reader
    assert "metrics" not in reader


def test_of_many_records_the_first_have_bytes_and_too_many_moments_have_no_metrics(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.sharing.page.RECORDS_MOST", 3)
    monkeypatch.setattr("groups.incidents.measured.MOMENTS_MOST", 2)
    held = blocks(page(stored(a_day_of_three())))
    assert len(held["bytes-1"]) == 3
    assert "metrics" not in held


def test_readers_are_given_neither_requests_nor_records(stored: Stored) -> None:
    held = blocks(page(stored(a_day_of_three()), view="reader"))
    assert [name for name in held if name.startswith("entries")] == []


def test_a_stretch_holds_whole_moments_and_nothing_of_what_is_outside(stored: Stored) -> None:
    timeline = stored(a_day_of_three().joins("newcomer", [3]))
    moments = blocks(page(timeline))["chunk-1"]["moments"]
    first, last = moments[1], moments[2]
    asked = Stretch(first=first["sequence"], last=last["first"])
    text = page(timeline, stretch=asked)
    held = blocks(text)
    chunk = held[f"chunk-{first['first']}"]
    assert (chunk["first"], chunk["last"]) == (first["first"], last["sequence"])
    assert chunk["moments"] == [first, last]
    assert chunk["frame"] == storage.frame_at(timeline, first["first"] - 1)
    assert [one["sequence"] for one in held[f"entries-{first['first']}"]] == list(
        range(first["first"], last["sequence"] + 1)
    )
    # Values go on from what was before; who was there before and is gone is not told of.
    assert metrics_of(held["metrics"], last["sequence"]) == metrics_of_server(timeline, last["sequence"])
    assert "newcomer" not in text + orjson.dumps(held).decode()


def test_a_stretch_that_is_none_is_refused_in_one_line(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    with pytest.raises(CannotHandOn, match=f"has entries 1 to {timeline.last}; 5 to 99 is no stretch"):
        page(timeline, stretch=Stretch(first=5, last=99))
    with pytest.raises(CannotHandOn, match="Data begin with entry 1"):
        data(timeline, Wanted(made=MADE, stretch=Stretch(first=8, last=9)))


def test_with_names_hidden_the_same_happens_at_the_same_moments(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    open_, hidden = incident(timeline), incident(timeline, key=fresh_key())
    assert [
        [(one["sequence"], one["shape"], one["at_ms"]) for one in piece.moments] for piece in open_.pieces
    ] == [[(one["sequence"], one["shape"], one["at_ms"]) for one in piece.moments] for piece in hidden.pieces]
    assert [one["kind"] for one in open_.summary["findings"]] == [
        one["kind"] for one in hidden.summary["findings"]
    ]


def test_the_same_timeline_gives_the_same_bytes(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    assert page(timeline) == page(timeline)
    assert data(timeline, Wanted(made=MADE)).content == data(timeline, Wanted(made=MADE)).content


def test_a_page_asks_for_nothing_and_runs_only_its_own_script(stored: Stored) -> None:
    text = page(stored(a_day_of_three(), title="</script><script>alert(1)</script>"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "connect-src" not in policy[1]
    assert "unsafe-inline&#x27;" not in policy[1].replace("style-src-attr &#x27;unsafe-inline&#x27;", "")
    assert "<script>alert" not in text
    outside = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!#|\?at=|data:,)[^"]*"', outside) == []


def test_a_changed_letter_changes_the_checksum_of_the_text(stored: Stored) -> None:
    text = page(stored(a_day_of_three()))
    assert f'"page":"{fingerprint(text)}"' in text
    changed = text.replace("Keys</h2>", "keys</h2>", 1)
    assert changed != text
    assert fingerprint(changed) != fingerprint(text)


def test_data_are_taken_in_elsewhere_under_the_same_id_with_the_same_frames(stored: Stored) -> None:
    timeline = stored(a_day_of_three(), title="What happened on Sunday")
    frames = [storage.frame_at(timeline, sequence) for sequence in range(timeline.last + 1)]
    content = data(timeline, Wanted(made=MADE)).content
    assert exported.take_in(content).id == timeline.id
    storage.delete(timeline.id)
    taken = exported.take_in(content)
    assert (taken.id, taken.title, taken.source) == (timeline.id, timeline.title, timeline.source)
    assert [storage.frame_at(taken, sequence) for sequence in range(taken.last + 1)] == frames


def test_an_id_that_something_else_has_is_refused_unless_a_new_one_is_asked_for(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    content = data(timeline, Wanted(made=MADE)).content
    storage.delete(timeline.id)
    other = stored(Story().joins("A", [0]), timeline_id=timeline.id)
    with pytest.raises(exported.BadExport, match="with other entries is here already; --new-id"):
        exported.take_in(content)
    assert exported.take_in(content, new_id=True).id != other.id
    assert storage.get(timeline.id).last == other.last


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda held: held[:-20], "cut off"),
        (lambda held: held[:60] + bytes([held[60] ^ 1]) + held[61:], "changed"),
        (lambda held: gzip.compress(gzip.decompress(held).replace(b'"at_ms":1000', b'"at_ms":1001', 1)), "SHA-256"),
        (lambda held: gzip.compress(b'{"format":"other"}\n'), "does not say that it is"),
        (lambda held: gzip.compress(b"[]\n"), "does not say that it is"),
        (lambda held: gzip.compress(b"{\n"), "no JSON"),
        (lambda held: gzip.compress(gzip.decompress(held).replace(b'"version":1,', b'"version":9,', 1)), "version 9"),
    ],
)  # fmt: skip
def test_data_that_were_changed_are_refused_in_one_line(
    stored: Stored, damage: Callable[[bytes], bytes], says: str
) -> None:
    content = damage(data(stored(a_day_of_three()), Wanted(made=MADE)).content)
    with pytest.raises(BadData, match=says) as refused:
        unpacked(content)
    assert "\n" not in str(refused.value)


def test_a_small_file_that_unpacks_into_very_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groups.incidents.data.BYTES_MOST", 1000)
    with pytest.raises(BadData, match="more than 1000 bytes"):
        unpacked(gzip.compress(b"x" * 100_000))


@pytest.mark.parametrize("kind", [TIMELINE, COMPARISON, LABORATORY], ids=lambda kind: str(kind.entry))
def test_the_script_is_every_module_and_no_import_is_left(kind: Kind) -> None:
    assert "</script" not in kind.script
    assert not re.search(r"^(?:import|export)\b", kind.script, re.MULTILINE)
    assert "</style" not in kind.styles
    assert "url(http" not in kind.styles


def test_a_module_that_is_written_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.sharing import bundle

    script.cache_clear()
    monkeypatch.setattr(bundle, "_read", lambda path: "import * as all from './api.js';\n")
    with pytest.raises(CannotBundle, match=r"import \* as all"):
        script("js/pages/board.js")
    script.cache_clear()


def test_a_page_opens_at_the_moment_that_was_shared(stored: Stored) -> None:
    """An import opens at its worst moment: the file did, too, whatever moment its reader had shared."""
    timeline = stored(a_day_of_three())
    assert blocks(page(timeline, at=7))["timeline"]["opens"] == 7
    assert blocks(page(timeline))["timeline"]["opens"] is None
    assert wanted_of({"at": 7}, timeline).at == 7
    for wrong in (-1, timeline.last + 1, True, "7"):
        with pytest.raises(BadRequest, match="at="):
            wanted_of({"at": wrong}, timeline)


def test_the_command_writes_a_page_that_opens_at_an_entry(stored: Stored, tmp_path: Path) -> None:
    timeline = stored(a_day_of_three())
    out = tmp_path / "page.html"
    call_command("timeline", "export", timeline.id, "--at", "7", "--out", str(out), stdout=StringIO())
    assert blocks(out.read_text(encoding="utf-8"))["timeline"]["opens"] == 7
    for words, said in (
        (("--at", str(timeline.last + 1)), f"has entries 1 to {timeline.last}"),
        (("--at", "7", "--format", "data"), "--at is where a page opens"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("timeline", "export", timeline.id, *words, "--out", str(out))


def test_a_page_with_names_hidden_has_the_diagnosis_of_the_one_that_shows_them(stored: Stored) -> None:
    """Sentences have as many words, findings are of the same kinds at the same entries."""
    timeline = stored(a_day_of_three())
    shown, hidden = (blocks(page(timeline, key=key))["timeline"]["summary"] for key in (None, fresh_key()))
    assert [(one["kind"], one["sequences"]) for one in hidden["findings"]] == [
        (one["kind"], one["sequences"]) for one in shown["findings"]
    ]
    assert len(hidden["verdict"]["text"].split()) == len(shown["verdict"]["text"].split())
    assert "orders" not in orjson.dumps(hidden).decode()
