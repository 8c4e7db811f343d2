"""The server of the Model Context Protocol: tools that ask the API with the caller's token, and give each sentence its entries and a link."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypedDict

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from explorer.agents.claims import Checked, Claim, Kind, check
from explorer.client import ApiError, Client, Unreachable
from explorer.client.rows import EntryRow, FindingRow, MotifRow, NoteRow, OwnerRow, RebalanceRow, TimelineRow
from groups.places import VERSION

INSTRUCTIONS: Final = (
    "Timelines of Apache Kafka consumer groups as they rebalance, from logs, live clusters and simulations. Entries are numbered; "
    "`at` is an entry's number and means the moment after it. Cite the sequences and links that an answer has. Before you state what "
    "happened in a group, `check` it: an answer that cannot be known from the log is neither true nor false."
)

ENTRIES_MOST: Final = 200
"""In one answer: an agent reads all of it."""

P = ParamSpec("P")


class Sentence(TypedDict):
    text: str
    sequences: list[int]
    links: list[str]


def sentences(client: Client, timeline: str) -> list[Sentence]:
    """A verdict's sentences, each with the entries that its parts lead to."""
    verdict = (client.timeline(timeline).get("summary") or {}).get("verdict") or {}
    found: list[Sentence] = []
    text, sequences = "", list[int]()
    for clause in verdict.get("clauses", []):
        sequences += clause.get("sequences") or (
            [clause["sequence"]] if clause["sequence"] is not None else []
        )
        for part in re.split(r"(?<=[.])\s+", clause["text"]):
            text += part
            if text.strip() and part.endswith("."):
                sequences = sorted(set(sequences))
                links = [client.link(timeline, each) for each in sequences]
                found.append({"text": text.strip(), "sequences": sequences, "links": links})
                text, sequences = "", []
    return found


def server_of(url: str, token: str, *, may_write: bool) -> MCPServer[Any]:
    """The server. ``token``: of a caller that sends none, which over HTTP is nobody's."""
    Client(url)  # refuses what is no address
    server: MCPServer[Any] = MCPServer(
        "rebalance-explorer", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING"
    )

    def client_of(context: Context) -> Client:
        request = context.request_context.request
        if request is None:
            return Client(url, token)
        return Client(url, request.headers.get("authorization", "").removeprefix("Bearer "))

    def tool(function: Callable[P, object]) -> Callable[P, object]:
        """A tool, whose refusals are sentences for the agent. Its answer is an object, in which a list is ``rows``."""

        @wraps(function)
        def answered(*args: P.args, **named: P.kwargs) -> object:
            try:
                found = function(*args, **named)
            except (ApiError, Unreachable, ValueError, TimeoutError) as error:
                raise ToolError(str(error)) from error
            return {"rows": found} if isinstance(found, list) else found

        # What the package makes a schema of: it takes no typing.TypedDict before Python 3.12.
        signature = inspect.signature(function, eval_str=True).replace(return_annotation=dict[str, Any])
        answered.__signature__ = signature  # type: ignore[attr-defined]
        return server.tool()(answered)

    @tool
    def list_timelines(context: Context) -> list[TimelineRow]:
        """Timelines, the newest first: each is one consumer group over time, with its verdict."""
        return client_of(context).timelines()

    @tool
    def list_groups(context: Context, cluster: str | None = None) -> list[dict[str, Any]]:
        """Groups of imported logs and of live clusters by what is wrong, the gravest first."""
        return client_of(context).groups(cluster=cluster)

    @tool
    def verdict(context: Context, timeline: str) -> list[Sentence]:
        """What happened in a group, sentence by sentence."""
        return sentences(client_of(context), timeline)

    @tool
    def findings(context: Context, timeline: str) -> list[FindingRow]:
        """Single things that happened; one that is not certain is inferred from what the log has."""
        return client_of(context).findings(timeline)

    @tool
    def rebalances(context: Context, timeline: str) -> list[RebalanceRow]:
        """Every rebalance: cause, moves, who blocked whom, and what it cost."""
        return client_of(context).rebalances(timeline)

    @tool
    def motifs(context: Context, timeline: str) -> list[MotifRow]:
        """What repeats: partitions that return to a former owner, members that join amid a reconciliation, or leave three times or more."""
        return client_of(context).motifs(timeline)

    @tool
    def who_blocked_whom(context: Context, timeline: str) -> list[Sentence]:
        """Members that waited for others to release partitions."""
        client = client_of(context)
        rows = client.get(client.address(timeline, "/rebalances"))["rebalances"]
        return [
            {
                "text": text,
                "sequences": row["proof"],
                "links": [client.link(timeline, each) for each in row["proof"]],
            }
            for row in rows
            for text in row["blocked"]
        ]

    @tool
    def frame(context: Context, timeline: str, at: int | None = None) -> dict[str, Any]:
        """The whole group after an entry: members, epochs, target, who owns what."""
        client = client_of(context)
        found = client.frame(timeline, at)
        return {**found, "link": client.link(timeline, found["sequence"])}

    @tool
    def owners(context: Context, timeline: str, at: int | None = None) -> list[OwnerRow]:
        """Who reads each partition after an entry, and who is to."""
        return client_of(context).owners(timeline, at)

    @tool
    def entries(context: Context, timeline: str, first: int, last: int) -> list[EntryRow]:
        """Entries as they were recorded, 200 at most."""
        return list(client_of(context).entries(timeline, first, min(last, first + ENTRIES_MOST - 1)))

    @tool
    def notes(context: Context, timeline: str) -> list[NoteRow]:
        """What people wrote at entries, and replies: their words, which prove nothing."""
        return client_of(context).notes(timeline)

    @tool
    def next_assignment(
        context: Context,
        timeline: str,
        at: int | None = None,
        leaves: str | None = None,
        joins: bool = False,
    ) -> dict[str, Any]:
        """The assignment that the group would get next, also if a member left or another joined."""
        return client_of(context).next_assignment(timeline, at, leaves=leaves, joins=joins)

    @tool
    def decode_bytes(context: Context, text: str) -> dict[str, Any]:
        """Bytes of Kafka (hex, a dump, base64) field by field. With accounts it needs a token with the scope write."""
        return client_of(context).decode(text)

    @tool
    def check_claim(
        context: Context,
        timeline: str,
        kind: Kind,
        member: str = "",
        partition: str = "",
        value: str = "",
        at: int | None = None,
        from_ms: int | None = None,
        to_ms: int | None = None,
    ) -> Checked:
        """Whether a claim is proved, refuted or cannot be known from this log. `joined`, `left`: the member did, between `from_ms` and `to_ms`; `member`: it is one after entry `at`; `assigned`, `reads`: `partition` (orders-3) is the member's after `at`, or nobody's without a member; `epoch`, `state`: it is `value` after `at`; `finding`: one of the kind `value`."""
        return check(client_of(context), timeline, Claim(kind, member, partition, value, at, from_ms, to_ms))

    if may_write:

        @tool
        def run_scenario(context: Context, scenario: str) -> list[Sentence]:
            """Runs a scenario, by the name of a sample or as YAML, keeps its timeline, and returns its verdict."""
            client = client_of(context)
            return sentences(client, client.run(scenario))

        @tool
        def write_note(context: Context, timeline: str, text: str, at: int) -> dict[str, str]:
            """Writes a note at an entry, for the people who look at it."""
            return {"id": client_of(context).write_note(timeline, text, at)}

        @tool
        def what_would_have_helped(
            context: Context, timeline: str, at: int, seeds: int = 5
        ) -> dict[str, Any]:
            """Plays what follows an entry again under remedies, and ranks them. It may take minutes."""
            return client_of(context).remedies(timeline, at=at, seeds=seeds)

    return server
