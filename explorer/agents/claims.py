"""Whether a claim about a group is proved, refuted, or cannot be known from its log, with the entries that show it.

A claim is refuted only by what the log shows otherwise, or by its absence where the log has every entry in question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, TypedDict

from explorer.client import Client

PROVED: Final = "proved"
REFUTED: Final = "refuted"
UNKNOWN: Final = "cannot be known from this log"

Kind = Literal["joined", "left", "member", "assigned", "reads", "epoch", "state", "finding"]

COLUMNS_MOST: Final = 4_000
"""As many as a digest has; of a longer log some columns have several moments."""

IS_MEMBER: Final = 1
"""Of a digest's flags."""

INCOMPLETE: Final = ("gap", "midway")
"""Findings of a log that lacks entries."""

SIMULATED: Final = ("simulation", "case-study")
"""Sources whose entries have what clients read; a log has what the coordinator assigned."""


class Checked(TypedDict):
    verdict: str
    because: str
    sequences: list[int]
    links: list[str]


class Claim(NamedTuple):
    kind: Kind
    member: str = ""
    """A name, a member id or a client id; of ``assigned`` and ``reads`` empty for nobody."""

    partition: str = ""
    value: str = ""
    """The epoch, the state, or the finding's kind."""

    at: int | None = None
    """The entry after which it is claimed; the last one if null."""

    from_ms: int | None = None
    to_ms: int | None = None


class _Log:
    """A timeline as claims are held against it. ``Any``: answers are JSON."""

    def __init__(self, client: Client, timeline: str) -> None:
        self.client, self.id = client, timeline
        self.detail = client.timeline(timeline)
        self.summary: dict[str, Any] = self.detail.get("summary") or {}
        self.findings = client.findings(timeline)
        self.is_complete = not self.summary.get("gaps") and not any(
            each["kind"] in INCOMPLETE for each in self.findings
        )
        self.names: dict[str, str] = {each["id"]: each["name"] for each in self.summary.get("cast", [])}

    def answer(self, verdict: str, because: str, *sequences: int) -> Checked:
        links = [self.client.link(self.id, each) for each in sequences]
        return {"verdict": verdict, "because": because, "sequences": list(sequences), "links": links}

    def absent(self, because: str, *sequences: int, member: str = "", static: bool = False) -> Checked:
        """Of what no entry shows. ``static``: whether members have a ``group.instance.id``."""
        if static and member and member not in self.names.keys() | set(self.names.values()):
            why = "A process that takes over a group.instance.id keeps the client.id of the one before in the log."
            return self.answer(UNKNOWN, f"{because} {why}", *sequences)
        if self.is_complete:
            return self.answer(REFUTED, because, *sequences)
        return self.answer(UNKNOWN, f"{because} The log lacks entries, which may have shown it.", *sequences)


def check(client: Client, timeline: str, claim: Claim) -> Checked:
    """Raises ``ValueError`` for a claim that lacks what its kind needs."""
    needs = {
        "joined": "member",
        "left": "member",
        "member": "member",
        "assigned": "partition",
        "reads": "partition",
    }
    needed = needs.get(claim.kind, "value")
    if not getattr(claim, needed):
        raise ValueError(f"A claim of the kind {claim.kind} needs {needed}.")
    log = _Log(client, timeline)
    if claim.kind in ("joined", "left"):
        return _of_change(log, claim)
    if claim.kind == "finding":
        return _of_finding(log, claim)
    return _of_moment(log, claim)


def _of_moment(log: _Log, claim: Claim) -> Checked:
    frame = log.client.frame(log.id, claim.at)
    at = frame["sequence"]
    if claim.kind == "epoch":
        return _compared(log, at, "the group epoch", str(frame["group_epoch"]), claim.value)
    if claim.kind == "state":
        return _compared(log, at, "the state", str(frame["state"]), claim.value)
    if claim.kind == "reads" and log.detail["source"] not in SIMULATED:
        because = (
            "A log has what the coordinator assigned, and not what clients read. Claim `assigned` instead."
        )
        return log.answer(UNKNOWN, because, at)
    static = any(each["instance_id"] for each in frame["members"].values())
    is_named = {
        member
        for member, each in frame["members"].items()
        if _is(log, claim.member, member, each["client_id"])
    }
    if claim.kind == "member":
        if is_named:
            return log.answer(PROVED, f"{claim.member} is a member after entry {at}.", at)
        shown = ", ".join(log.names.get(each, each) for each in frame["members"]) or "nobody"
        return log.absent(
            f"After entry {at} the members are: {shown}.", at, member=claim.member, static=static
        )
    topic, _, number = claim.partition.rpartition("-")
    held = {member: each["assigned"] for member, each in frame["members"].items()}
    if claim.kind == "reads":
        held = {member: each["owned"] for member, each in frame["clients"].items()}
    holders = [
        member
        for member, topics in held.items()
        if number.isascii() and number.isdigit() and int(number) in topics.get(topic, [])
    ]
    shown = ", ".join(log.names.get(each, each) for each in holders) or "nobody"
    verb = "reads" if claim.kind == "reads" else "has been assigned"
    because = f"After entry {at} {shown} {verb} {claim.partition}."
    is_so = bool(is_named & set(holders)) if claim.member else not holders
    return (
        log.answer(PROVED, because, at)
        if is_so
        else log.absent(because, at, member=claim.member, static=static)
    )


def _compared(log: _Log, at: int, what: str, found: str, claimed: str) -> Checked:
    verdict = PROVED if found.casefold() == claimed.casefold() else REFUTED
    return log.answer(verdict, f"After entry {at} {what} is {found}.", at)


class _Change(NamedTuple):
    """A column in which a member is, next to one in which it is not."""

    is_join: bool
    sequence: int
    from_ms: int
    to_ms: int


def _of_change(log: _Log, claim: Claim) -> Checked:
    digest = log.client.get(
        log.client.address(log.id, "/digest"),
        {"of": "members", "from": 0, "to": log.detail["last"], "columns": COLUMNS_MOST},
    )
    rows = [
        row
        for row, member in enumerate(digest["ids"])
        if _is(log, claim.member, member, digest["facts"][row][0])
    ]
    if not rows:
        static = any(facts[3] for facts in digest["facts"])
        return log.absent(f"No entry of this log names {claim.member}.", member=claim.member, static=static)
    begins = log.detail["first_ms"] if claim.from_ms is None else claim.from_ms
    ends = log.detail["last_ms"] if claim.to_ms is None else claim.to_ms
    changes = [
        change
        for row in rows
        for change in _changes(digest, row)
        if change.is_join == (claim.kind == "joined")
    ]
    inside = [change for change in changes if change.from_ms <= ends and change.to_ms >= begins]
    if inside and (log.is_complete or claim.kind == "left"):
        sequences = sorted({change.sequence for change in inside})
        shown = ", ".join(map(str, sequences))
        since = "a member" if claim.kind == "joined" else "no member any more"
        return log.answer(PROVED, f"{claim.member} {claim.kind}: {since} from entry {shown} on.", *sequences)
    if inside:
        because = f"{claim.member} is first seen at entry {inside[0].sequence}; the log lacks entries, and it may have joined before."
        return log.answer(UNKNOWN, because, inside[0].sequence)
    if not digest["exact"] or any(digest["columns"]["unknown"]):
        return log.answer(
            UNKNOWN, "The log is too long to be looked at moment by moment; ask about entries with `at`."
        )
    elsewhere = [change.sequence for change in changes]
    when = (
        f"It {claim.kind} at entry {', '.join(map(str, elsewhere))}, outside that time."
        if elsewhere
        else f"It never {claim.kind}."
    )
    return log.absent(
        f"No entry from {begins} to {ends} ms shows that {claim.member} {claim.kind}. {when}", *elsewhere
    )


def _changes(digest: dict[str, Any], row: int) -> Iterator[_Change]:
    columns = digest["columns"]
    runs = range(digest["offsets"][row], digest["offsets"][row + 1])
    was = False
    for run in runs:
        column = digest["start"][run]
        if columns["unknown"][column] or (column and columns["unknown"][column - 1]):
            was = bool(digest["flags"][run] & IS_MEMBER)
            continue
        now = bool(digest["flags"][run] & IS_MEMBER)
        if now != was:
            # A column with several moments has the worst of them: who left in one is still a member of it.
            before = max(column - 1, 0)
            since = (
                columns["from_ms"][column] if columns["moments"][before] <= 1 else columns["from_ms"][before]
            )
            yield _Change(now, columns["first"][column], since, columns["to_ms"][column])
        was = now


def _of_finding(log: _Log, claim: Claim) -> Checked:
    fitting = [
        each
        for each in log.findings
        if each["kind"] == claim.value
        and all(word in each["text"] for word in filter(None, (_name(log, claim.member), claim.partition)))
        and (claim.to_ms is None or each["at_ms"] is None or each["at_ms"] <= claim.to_ms)
        and (claim.from_ms is None or (each["to_ms"] or each["at_ms"] or claim.from_ms) >= claim.from_ms)
    ]
    if not fitting:
        return log.answer(
            UNKNOWN, f"No finding of the kind {claim.value} fits, which is no proof that it did not happen."
        )
    best = max(fitting, key=lambda each: each["certain"])
    if best["certain"]:
        return log.answer(PROVED, f"{best['text']}.", *best["sequences"])
    return log.answer(UNKNOWN, f"It is inferred, not recorded: {best['text']}.", *best["sequences"])


def _is(log: _Log, claimed: str, member: str, client_id: str | None) -> bool:
    return bool(claimed) and claimed in (member, log.names.get(member), client_id)


def _name(log: _Log, claimed: str) -> str:
    return log.names.get(claimed, claimed)
