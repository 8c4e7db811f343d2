"""An agent asks over the Model Context Protocol: an independent client, the server as a process of its own, and incidents that happened."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from explorer.agents.claims import PROVED, REFUTED, UNKNOWN
from tests.incidents.facts import RECORDED, SEGMENTS, Fact, Facts, read_facts
from tests.incidents.segments import unpacked
from tests.serving import ROOT, Served, end, served

pytestmark = [pytest.mark.once, pytest.mark.long]

STUDY = "kip848-basic"
TOLD = "incident-slow-revocation"
"""Of the how-to's conversation."""
BEFORE_MS, AFTER_MS = 5_000, 60_000
"""Around the time that a script wrote down: a member joins when its first rebalance begins, and goes when its session has expired."""

GOES = ("left", "removed")

ASKED = (
    *("classic-kill", "crash-loop", "deploy-with-kill", "early-leave", "eager-restart", "flapping-leaves"),
    *("grown-classic", "kill-one", "kip429-static", "poll-overrun", "twin-instances"),
)
"""Recordings of both protocols, with static members and without, in which members come and go in each way."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("agents")
    with served(folder / "var") as running:
        logs = []
        for name in ASKED:
            (folder / name).mkdir()
            logs.append(str(unpacked((RECORDED / name / SEGMENTS).read_bytes(), folder / name)))
        words = [sys.executable, "manage.py", "import_log", *logs, "--engine", "local"]
        subprocess.run(words, cwd=ROOT, env=running.environment, check=True, capture_output=True)
        yield running


def agent(server: Served, *words: str) -> Client:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp", "--url", server.url, *words],
        env=server.environment,
        cwd=ROOT,
    )
    return Client(parameters)


async def asked(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def test_each_sentence_has_its_entries_and_a_link(server: Served) -> None:
    async with agent(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "check_claim" in names
        assert not {"run_scenario", "write_note", "what_would_have_helped"} & names, (
            "read-only unless asked otherwise"
        )
        listed = (await asked(client, "list_timelines"))["rows"]
        assert {STUDY, "kill-one"} <= {row["group"] for row in listed}
        told = (await asked(client, "verdict", timeline=STUDY))["rows"]
        text = next(row["verdict"] for row in listed if row["id"] == STUDY)
        assert " ".join(sentence["text"] for sentence in told).split() == text.split()
        blocked = (await asked(client, "who_blocked_whom", timeline=STUDY))["rows"]
        assert blocked
        for sentence in (*told[:1], *blocked):
            assert sentence["sequences"]
            assert sentence["links"] == [
                f"{server.url}/t/{STUDY}?at={each}" for each in sentence["sequences"]
            ]
        assert all(
            row["sequences"] and row["url"]
            for row in (await asked(client, "findings", timeline=STUDY))["rows"]
        )
        assert (await asked(client, "rebalances", timeline=STUDY))["rows"]
        flapping = next(row["id"] for row in listed if row["group"] == "flapping-leaves")
        motifs = (await asked(client, "motifs", timeline=flapping))["rows"]
        assert "left_often" in {row["kind"] for row in motifs}
        assert all(row["url"] == f"{server.url}/t/{flapping}?at={row['sequences'][-1]}" for row in motifs)
        assert (await asked(client, "frame", timeline=STUDY, at=40))["sequence"] == 40
        assert len((await asked(client, "entries", timeline=STUDY, first=3, last=4))["rows"]) == 2
        assert (await asked(client, "owners", timeline=STUDY))["rows"]
        assert (await asked(client, "next_assignment", timeline=STUDY, joins=True))["next"]
        assert (await asked(client, "decode_bytes", text="00 01 00 02 41 42"))["fields"]
        refused = await client.call_tool("verdict", {"timeline": "none"})
        assert (refused.is_error, "There is no timeline 'none'" in str(refused.content)) == (True, True)


async def test_claims_about_a_moment_are_proved_and_their_false_variants_refuted(server: Served) -> None:
    async with agent(server) as client:
        frame = await asked(client, "frame", timeline=STUDY, at=60)
        member, other = list(frame["members"])[:2]
        topic, numbers = next(iter(frame["members"][member]["assigned"].items()))
        partition = f"{topic}-{numbers[0]}"
        claims = [
            (PROVED, {"kind": "member", "member": member}),
            (REFUTED, {"kind": "member", "member": "nobody-of-that-name"}),
            (PROVED, {"kind": "assigned", "member": member, "partition": partition}),
            (REFUTED, {"kind": "assigned", "member": other, "partition": partition}),
            (REFUTED, {"kind": "assigned", "partition": partition}),
            (PROVED, {"kind": "assigned", "partition": f"{topic}-999"}),
            (PROVED, {"kind": "epoch", "value": str(frame["group_epoch"])}),
            (REFUTED, {"kind": "epoch", "value": str(frame["group_epoch"] + 1)}),
            (PROVED, {"kind": "state", "value": frame["state"]}),
            (REFUTED, {"kind": "state", "value": "Dead"}),
            (UNKNOWN, {"kind": "finding", "value": "coordinator_moved"}),
        ]  # fmt: skip
        for verdict, claim in claims:
            found = await asked(client, "check_claim", timeline=STUDY, at=60, **claim)
            assert found["verdict"] == verdict, (claim, found)
            assert found["sequences"] == ([] if verdict == UNKNOWN else [60])
        lacking = await client.call_tool("check_claim", {"timeline": STUDY, "kind": "epoch"})
        assert (lacking.is_error, "needs value" in str(lacking.content)) == (True, True)


CLAIMS = {
    r"after entry (?P<at>\d+) (?P<member>\w+) is a member": "member",
    r"after entry (?P<at>\d+) (?P<member>\w+) has `(?P<partition>[\w-]+)`": "assigned",
    r"after entry (?P<at>\d+) the group epoch is (?P<value>\d+)": "epoch",
    r"after entry (?P<at>\d+) the group is (?P<value>\w+)": "state",
    r"(?P<member>\w+) left between (?P<from_ms>\d+) s and (?P<to_ms>\d+) s": "left",
    r"the (?P<value>coordinator moved) \(`finding`\)": "finding",
}
"""A claim of the how-to's conversation, and its kind."""


async def test_the_conversation_of_the_how_to_is_what_an_agent_is_answered(server: Served) -> None:
    page = (ROOT / "docs/how-to/let-an-agent-ask.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \| ([\d, –]+) \|$", page, re.MULTILINE)
    assert [row[1] for row in rows].count(REFUTED) >= 5
    async with agent(server) as client:
        for claim, verdict, reason, entries in rows:
            ((kind, found),) = [
                (kind, match) for form, kind in CLAIMS.items() if (match := re.fullmatch(form, claim))
            ]
            words = found.groupdict()
            numbers = {
                name: int(words.pop(name)) * (1 if name == "at" else 1000)
                for name in ("at", "from_ms", "to_ms")
                if name in words
            }
            if kind == "finding":
                words["value"] = words["value"].replace(" ", "_")
            said = await asked(client, "check_claim", timeline=TOLD, kind=kind, **words, **numbers)
            shown = ", ".join(str(each) for each in said["sequences"]) or "–"
            assert (said["verdict"], said["because"], shown) == (verdict, reason, entries), claim


async def test_what_happened_to_recorded_groups_is_never_refuted_and_what_did_not_never_proved(
    server: Served,
) -> None:
    true, false = Counter[str](), Counter[str]()
    wrong: list[Any] = []
    async with agent(server) as client:
        timelines: dict[str, list[str]] = {}
        for row in (await asked(client, "list_timelines"))["rows"]:
            if row["source"] == "import":
                timelines.setdefault(row["group"], []).append(row["id"])
        for name in ASKED:
            facts = read_facts(name)
            (timeline,) = timelines[facts["group"]]
            for fact in facts["facts"]:
                if fact["kind"] not in ("joined", *GOES) or not fact["tellable"] or len(fact["clients"]) != 1:
                    continue
                kind = "joined" if fact["kind"] == "joined" else "left"
                claim = {"timeline": timeline, "kind": kind, "member": fact["clients"][0]}
                window = {"from_ms": fact["at_ms"] - BEFORE_MS, "to_ms": fact["at_ms"] + AFTER_MS}
                found = await asked(client, "check_claim", **claim, **window)
                true[found["verdict"]] += 1
                if found["verdict"] == REFUTED or (found["verdict"] == PROVED and not found["links"]):
                    wrong.append((name, fact["sentence"], found))
                for variant in variants(facts, fact, claim):
                    found = await asked(client, "check_claim", **variant)
                    false[found["verdict"]] += 1
                    if found["verdict"] == PROVED:
                        wrong.append((name, variant, found))
    assert wrong == []
    assert true[PROVED] > 0.8 * true.total() > 40
    assert false[REFUTED] > 0.8 * false.total() > 60


def variants(facts: Facts, fact: Fact, claim: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What did not happen: to a client that there was not, and in a time before any client had begun."""
    yield {**claim, "member": f"{fact['clients'][0]}-of-another-group"}
    began_ms = min(process["started_ms"] for process in facts["processes"])
    yield {**claim, "from_ms": began_ms - 120_000, "to_ms": began_ms - 60_000}
    if not any(
        each["kind"] in (*GOES, "killed", "frozen", "twin_instance")
        for each in facts["facts"]
        if claim["member"] in each["clients"]
    ):
        ends_ms = facts["copied_ms"]
        yield {**claim, "kind": "left", "from_ms": began_ms, "to_ms": ends_ms}


async def test_with_write_scenarios_are_run_and_what_a_log_cannot_show_is_said(server: Served) -> None:
    async with agent(server, "--write") as client:
        assert (await asked(client, "run_scenario", scenario=STUDY))["rows"][0]["sequences"]
        await asked(client, "write_note", timeline=STUDY, text="Ours?", at=3)
        (note,) = (await asked(client, "notes", timeline=STUDY))["rows"]
        assert (note["text"], note["url"]) == ("Ours?", f"{server.url}/t/{STUDY}?at=3")
        rows = (await asked(client, "list_timelines"))["rows"]
        timeline = next(row["id"] for row in rows if row["group"] == "kill-one")
        found = await asked(
            client, "check_claim", timeline=timeline, kind="reads", partition="kill-one.orders-3"
        )
        assert found["verdict"] == UNKNOWN


async def test_over_http_a_caller_shows_its_own_token(server: Served, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    words = [sys.executable, "manage.py", "mcp", "--url", server.url, "--http", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            words, cwd=ROOT, env=server.environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        await until_listening(port, process)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            refused = await client.call_tool("list_timelines", {})
            assert (refused.is_error, "token" in str(refused.content)) == (True, True)
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=server.headers) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport) as client:
                assert (await asked(client, "list_timelines"))["rows"]
    finally:
        end(process)


async def until_listening(port: int, process: Any) -> None:
    ends = time.monotonic() + 120
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server for agents does not listen")


def test_what_is_no_address_is_refused_in_one_line(server: Served) -> None:
    words = [sys.executable, "manage.py", "mcp", "--url", "nowhere"]
    done = subprocess.run(
        words, cwd=ROOT, env=server.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert json.dumps("nowhere").strip('"') in done.stderr
