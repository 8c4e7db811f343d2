"""Bodies of requests: counted before they are kept, in bounded time, an upload written once and left nowhere."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from explorer.access import bodies, gate
from explorer.access import places as gate_places
from explorer.pages.imports import receiving, uploading
from groups.imports import lifecycle
from groups.models import Import
from tests.access.conftest import GOES, Asks

pytestmark = pytest.mark.once

BOUNDARY = "the-boundary"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(*files: tuple[str, bytes]) -> bytes:
    """An upload as a browser sends it: a file and its path in turn."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{Path(path).name or "x"}"\r\n\r\n'.encode()
        + content
        + f'\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name="paths"\r\n\r\n{path}\r\n'.encode()
        for path, content in files
    ]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def pieces(data: bytes, size: int = 64 * 1024) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[str]:
    settings.VAR = tmp_path
    sent: list[str] = []
    monkeypatch.setattr(uploading.run_import, "delay", sent.append)
    return sent


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def upload(asks: Asks, body: Sequence[Any], **facts: Any) -> Any:
    return await asks("/api/imports", method="POST", headers=FORM, body=body, **facts)


async def test_an_upload_is_written_once_and_to_its_place(
    asks: Asks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No temporary file is made beside it, however large it is."""

    def refuse(*told: Any, **facts: Any) -> Any:
        raise AssertionError("a temporary file is made")

    for name in ("TemporaryFile", "NamedTemporaryFile", "SpooledTemporaryFile", "mkstemp"):
        monkeypatch.setattr(tempfile, name, refuse)
    content = bytes(range(256)) * 16 * 1024
    answer = await upload(asks, pieces(form(("backup/__consumer_offsets-7/0.log", content))))
    assert answer.status == 201
    [kept] = files_below(tmp_path)
    assert (
        kept.relative_to(tmp_path / "imports" / answer.json["import"]).as_posix()
        == "__consumer_offsets-7/0.log"
    )
    assert kept.read_bytes() == content
    assert list((tmp_path / "imports").iterdir()) == [tmp_path / "imports" / answer.json["import"]]


async def test_of_an_upload_whose_client_leaves_nothing_stays(asks: Asks, tmp_path: Path) -> None:
    begun = pieces(form(("a/0.log", b"x" * 500_000)))[:4]
    await upload(asks, [*begun, GOES], content_length=600_000)
    assert files_below(tmp_path) == []
    assert list((tmp_path / "imports").iterdir()) == []
    assert await Import.objects.acount() == 0


@pytest.mark.parametrize("told", [0, 10**12])
async def test_a_body_beyond_the_bound_is_refused_as_soon_as_it_is_known(
    asks: Asks, tmp_path: Path, told: int, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(gate, "FIELDS_BYTES", 0)
    settings.UPLOAD_BYTES_MOST = 300_000
    body = pieces(form(("a/0.log", b"x" * 2_000_000)))
    # Without a length Django takes a form for empty, so a lie stands for it.
    answer = await upload(asks, body, content_length=told or 299_999)
    assert answer.status == 413
    assert "300,000" in answer.message or "larger" in answer.message
    assert answer.headers["connection"] == "close"
    assert asks.pieces_left_when_answered >= len(body) - (0 if told else 6) - (0 if told else 1)
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("path", ["/api/runs", "/api/imports", "/simulate/", "/api/inspect", "/nowhere"])
async def test_what_takes_no_files_takes_a_mebibyte(asks: Asks, path: str) -> None:
    body = [b"x" * 65536] * 64
    answer = await asks(path, method="POST", body=body, headers={"Content-Type": "application/json"})
    assert answer.status == 413
    assert asks.pieces_left_when_answered == 64, "not a byte was read"
    lies = await asks(
        path, method="POST", body=body, content_length=10, headers={"Content-Type": "application/json"}
    )
    assert lies.status == 413
    assert asks.pieces_left_when_answered >= 46, "no more was read than may be"


async def test_a_body_that_does_not_come_is_not_waited_for(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PIECE_S", 0.05)
    answer = await asks("/api/runs", method="POST", body=[b"{"], content_length=100)
    assert answer.status == 400, "the server takes it for complete"
    begun: list[Any] = [{"type": "http.request", "body": b"{", "more_body": True}]
    answer = await asks("/api/runs", method="POST", body=begun, content_length=100)
    assert answer.status == 408
    assert "too slowly" in answer.message


async def test_a_body_that_drips_is_not_waited_for(asks: Asks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece comes in time; all of them together do not."""
    monkeypatch.setattr(bodies, "GRACE_S", -1.0)
    answer = await upload(asks, pieces(form(("a/0.log", b"x" * 1000)), 10))
    assert answer.status == 408


async def test_so_many_uploads_come_at_once(asks: Asks) -> None:
    places = asks.gate.upload_places
    for _ in range(gate_places.UPLOADS_AT_ONCE):
        await places.take()
    answer = await upload(asks, [form(("a/0.log", b"x"))])
    assert answer.status == 429
    assert answer.headers["retry-after"]
    assert asks.pieces_left_when_answered == 1
    places.leave()
    assert (await upload(asks, [form(("a/0.log", b"x"))])).status == 201


async def test_requests_beyond_the_places_wait_and_beyond_that_are_told_so(asks: Asks) -> None:
    places = asks.gate.answer_places
    for _ in range(gate_places.ANSWERS_AT_ONCE):
        await places.take()
    waits = asyncio.create_task(asks("/api/timelines"))
    await asyncio.sleep(0.05)
    assert places.waiting == 1
    # Pages have places of their own.
    assert (await asks("/simulate/")).status == 200
    places.waiting_most = 1
    refused = await asks("/api/timelines")
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    places.leave()
    assert (await waits).status == 200


async def test_more_than_a_thousand_files_are_taken_and_too_many_are_told(asks: Asks, settings: Any) -> None:
    many = [(f"backup/__consumer_offsets-{number % 50}/{number}.log", b"x") for number in range(1500)]
    answer = await upload(asks, pieces(form(*many)))
    assert answer.status == 201
    kept = Path((await Import.objects.aget()).options["folder"])
    assert len(files_below(kept)) == 1500
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 100
    refused = await upload(asks, pieces(form(*many)))
    assert refused.status == 413
    assert "more files" in refused.message
    assert "(100)" in refused.message


async def test_a_form_with_too_many_fields_is_refused_as_such(asks: Asks, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 1
    refused = await upload(asks, pieces(form(("a.log", b"x"), ("b.log", b"x"))))
    assert refused.status == 413
    assert refused.message == "The form has more fields than this server takes (1)."


@pytest.mark.parametrize(
    "path",
    [
        "分" * 84 + ".log",
        "分" * 84 + "/" + "区" * 84 + ".log",
        "x" * 300,
        "nul\0inside.log",
        "line\nfeed.log",
        "…/é.log",
    ],
)
async def test_a_file_of_any_name_is_taken(asks: Asks, path: str, tmp_path: Path) -> None:
    answer = await upload(asks, [form((path, b"content"))])
    assert answer.status == 201
    [kept] = files_below(tmp_path)
    assert kept.read_bytes() == b"content"
    title = (await Import.objects.aget()).title
    assert title
    assert title.isprintable()
    page = await asks(answer.json["url"])
    assert page.status == 200


async def test_a_full_disk_is_told_and_nothing_stays(
    asks: Asks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, raw_data: bytes, start: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(receiving.Keeping, "receive_data_chunk", full)
    answer = await upload(asks, pieces(form(("a/0.log", b"x" * 200_000))))
    assert answer.status == 507
    assert "disk is full" in answer.message
    assert files_below(tmp_path) == []


async def test_what_a_killed_server_had_received_is_removed_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = lifecycle.uploads() / f"{receiving.COMING}1"
    whole = lifecycle.uploads() / "an-import"
    for folder in (left, whole):
        folder.mkdir(parents=True)
        (folder / "0").write_bytes(b"x")
    await sync_to_async(receiving.forget_cut_short)()
    assert left.exists(), "another process may be receiving it"
    monkeypatch.setattr(receiving, "CUT_SHORT_S", -1)
    await sync_to_async(receiving.forget_cut_short)()
    assert (left.exists(), whole.exists()) == (False, True)
