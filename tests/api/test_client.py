"""The Python client asks a real server; how it waits, keeps answers and reports errors is seen at one that answers by a list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from explorer import client as package
from explorer.client import ApiError, Client, Unreachable, connection
from tests.house import ROOT
from tests.serving import Served, served

pytestmark = pytest.mark.once

TIMELINE = "kip848-basic"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("client")) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Served) -> Client:
    return Client(server.url, server.token)


@pytest.mark.long
def test_rows_are_of_one_level_and_lead_to_their_entries(client: Client, server: Served) -> None:
    rows: list[Any] = [
        *client.timelines(),
        *client.findings(TIMELINE),
        *client.rebalances(TIMELINE),
        *client.owners(TIMELINE),
    ]
    assert all(not isinstance(value, dict) for row in rows for value in row.values())
    first = client.findings(TIMELINE)[0]
    assert first["url"] == f"{server.url}/t/{TIMELINE}?at={first['first']}"
    last = client.rebalances(TIMELINE)[-1]
    assert last["sequence"] <= client.timeline(TIMELINE)["last"]
    costs = [row["cost"] for row in client.get(client.address(TIMELINE, "/rebalances"))["rebalances"]]
    for bound in ("unread_partition_ms", "unread_partition_ms_most"):
        assert [row[bound] for row in client.rebalances(TIMELINE)] == [cost[bound] for cost in costs]
    assert any(cost["unread_partition_ms_most"] is not None for cost in costs)
    assert client.verdict(TIMELINE) == client.timeline(TIMELINE)["summary"]["verdict"]["text"]


@pytest.mark.long
def test_owners_are_those_of_the_frame(client: Client) -> None:
    frame = client.frame(TIMELINE)
    owners = {(row["topic"], row["partition"]): row["owner"] for row in client.owners(TIMELINE)}
    held = {
        (topic, number): member
        for member, each in frame["clients"].items()
        for topic, numbers in each["owned"].items()
        for number in numbers
    }
    assert owners == held
    assert client.next_assignment(TIMELINE, leaves=next(iter(frame["members"])))["next"]["moves"]


@pytest.mark.long
def test_lists_are_read_page_by_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.client.api.ENTRIES_AT_ONCE", 7)
    last = client.timeline(TIMELINE)["last"]
    assert [entry["sequence"] for entry in client.entries(TIMELINE)] == list(range(1, last + 1))
    assert [entry["sequence"] for entry in client.entries(TIMELINE, 3, 5)] == [3, 4, 5]
    made = {client.run(TIMELINE) for _ in range(2)}
    assert {row["id"] for row in client.kept(source="simulation")} == made


@pytest.mark.long
def test_a_note_that_is_written_is_a_row_that_leads_to_its_entry(client: Client, server: Served) -> None:
    made = client.write_note(TIMELINE, "Ours?", 3, kind="question")
    client.send("POST", client.address(TIMELINE, "/notes"), {"text": "Yes.", "parent": made})
    asked, reply = client.notes(TIMELINE)
    assert (asked["id"], asked["kind"], asked["text"]) == (made, "question", "Ours?")
    assert (reply["parent"], reply["sequence"]) == (made, 3)
    assert asked["url"] == f"{server.url}/t/{TIMELINE}?at=3"


@pytest.mark.long
def test_a_refusal_has_its_status_word_and_sentence(client: Client, server: Served) -> None:
    with pytest.raises(ApiError, match="There is no timeline 'none'") as refused:
        client.timeline("none")
    assert (refused.value.status, refused.value.code) == (404, "not_found")
    with pytest.raises(ApiError) as refused:
        Client(server.url, "wrong").timelines()
    assert refused.value.status == 401
    with pytest.raises(ApiError, match="scenario"):
        client.send("POST", "/api/runs", {"scenario": 7})


@pytest.mark.long
def test_the_notebook_runs_to_its_end(server: Served, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    program = types.ModuleType("rebalance_explorer")
    monkeypatch.setitem(sys.modules, "rebalance_explorer", program)
    monkeypatch.setitem(sys.modules, "rebalance_explorer.client", package)
    monkeypatch.setenv("REBALANCE_URL", server.url)
    monkeypatch.setenv("REBALANCE_TOKEN", server.token)
    cells = json.loads((ROOT / "docs/examples/rebalances.ipynb").read_text())["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert len(names["timelines"]) > 10
    assert len(names["entries"]) == int(names["entries"]["sequence"].max())
    assert set(names["findings"]["kind"]) >= {"formed"}
    assert capsys.readouterr().out.strip()


def test_importing_it_loads_no_framework_and_leaves_the_path() -> None:
    code = (
        "import sys; before = list(sys.path); import explorer.client; "
        "assert sys.path == before; "
        "print(sorted({'django', 'orjson', 'groups', 'requests', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


class Listed(BaseHTTPRequestHandler):
    """Answers by a list: status, headers and body of each request in turn."""

    answers: list[tuple[int, dict[str, str], bytes]]
    asked: list[Any]

    def do_GET(self) -> None:
        self.asked.append(self.headers)
        status, headers, body = self.answers.pop(0)
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def listed() -> Iterator[tuple[Client, type[Listed]]]:
    Listed.answers, Listed.asked = [], []
    with HTTPServer(("127.0.0.1", 0), Listed) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Client(f"http://127.0.0.1:{running.server_port}/", "a token", timeout_s=60), Listed
        finally:
            running.shutdown()
            thread.join()


def test_an_answer_that_has_not_changed_does_not_come_again(
    listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, server = listed
    monkeypatch.setattr(connection, "KEPT_MOST", 1)
    server.answers += [(200, {"ETag": '"1"'}, b"[1]"), (304, {}, b""), (200, {"ETag": '"2"'}, b"[2]"), (200, {"ETag": '"3"'}, b"[3]"), (200, {}, b"[4]")]  # fmt: skip
    assert [client.get("/a"), client.get("/a"), client.get("/a"), client.get("/b"), client.get("/a")] == [
        [1],
        [1],
        [2],
        [3],
        [4],
    ]
    assert [each["If-None-Match"] for each in server.asked] == [None, '"1"', '"1"', None, None]
    assert {each["Authorization"] for each in server.asked} == {"Bearer a token"}


def test_what_has_no_pages_is_not_asked_for_without_end(listed: Any) -> None:
    client, server = listed
    server.answers += [(200, {}, b"[1]"), (200, {}, b"[1]"), (200, {}, b'{"rows": []}')]
    assert list(client.listed("/a")) == [1]
    with pytest.raises(ValueError, match=r"^/b is no list in pages"):
        list(client.listed("/b"))


def test_a_busy_server_is_asked_again_when_it_says_and_not_for_ever(
    listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, server = listed
    waited: list[float] = []
    monkeypatch.setattr(connection.time, "sleep", waited.append)
    server.answers += [
        (503, {"Retry-After": "2"}, b"{}"),
        (429, {"Retry-After": "3"}, b"{}"),
        (200, {}, b"1"),
    ]
    assert (client.get("/a"), waited) == (1, [2, 3])
    for headers in ({"Retry-After": "3600"}, {}, {"Retry-After": "soon"}):
        server.answers.append((429, headers, b'{"error": {"code": "busy", "message": "Too many."}}'))
        with pytest.raises(ApiError, match="Too many"):
            client.get("/a")


def test_the_token_goes_to_no_other_place(listed: Any) -> None:
    client, server = listed
    server.answers.append((302, {"Location": client.url + "/elsewhere"}, b""))
    with pytest.raises(ApiError) as refused:
        client.get("/a")
    assert (refused.value.status, len(server.asked)) == (302, 1)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error": "text"}'])
def test_an_error_without_the_servers_form_is_one_with_its_status(listed: Any, body: bytes) -> None:
    client, server = listed
    server.answers.append((502, {}, body))
    with pytest.raises(ApiError, match="The server answered 502"):
        client.get("/a")


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "file:///etc/passwd", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is no address of a server"):
        Client(url)


@pytest.mark.parametrize("token", ["s3cret\n", "s3cret\u20ac"])
def test_a_token_that_is_none_is_in_no_message(token: str) -> None:
    with pytest.raises(ValueError, match="The token has") as refused:
        Client("http://127.0.0.1:9", token)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("timeline", ["", "other/cancel?x=", "../clusters", "a\r\nb"])
def test_an_id_leads_to_no_other_address(listed: Any, timeline: str) -> None:
    client, server = listed
    for ask in (client.timeline, client.findings, client.frame, lambda named: client.remedies(named, 1)):
        with pytest.raises(ValueError, match="is no timeline's id"):
            ask(timeline)
    assert server.asked == []


def test_a_server_that_is_away_is_said_in_one_sentence() -> None:
    with pytest.raises(Unreachable, match=r"No answer of http://127\.0\.0\.1:9"):
        Client("http://127.0.0.1:9").timelines()
