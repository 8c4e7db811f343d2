"""The pages of the differences: what ``compare_semantics`` lists and plays, with the board of each side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from explorer.figures.thumbnails import thumbnail
from groups.history.frames.shapes import Frame
from groups.history.state.group import Semantics, initial_state
from groups.wire.coordinator_schema import RECORD_TYPES
from simulations.output import frame_lines
from simulations.proof.differences import DIFFERENCES, Case, Difference, Step, frames, play
from simulations.proof.differences.exchange import Answer
from simulations.protocol.messages.errors import ErrorCode

BY_ID: Final = {each.id: each for each in DIFFERENCES}

SIDES: Final = {Semantics.KIP: "KIP-848's text", Semantics.KAFKA: "Kafka as released"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one side did in a step: its response, the records that it wrote, and the group afterwards."""

    response: str
    records: str
    epochs: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One side of a case: ``found`` is what distinguishes the two, ``picture`` who owned what, step by step."""

    title: str
    found: str
    picture: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    boards: tuple[Board, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    return render(request, "differences/list.html", {"differences": DIFFERENCES})


@require_safe
def page(request: HttpRequest, difference_id: str) -> HttpResponse:
    difference = BY_ID.get(difference_id)
    if difference is None:
        raise Http404(f"There is no difference {difference_id[:80]}; /differences lists all.")
    at = DIFFERENCES.index(difference)
    context = {
        "difference": difference,
        "before": DIFFERENCES[at - 1] if at else None,
        "behind": DIFFERENCES[at + 1] if at + 1 < len(DIFFERENCES) else None,
        "played": _played(difference_id) if difference.case is not None else None,
        "runs": _runs(difference_id),
    }
    return render(request, "differences/difference.html", context)


@lru_cache(maxsize=len(DIFFERENCES))
def _played(difference_id: str) -> Played:
    """The case by both rules; it is the same each time."""
    difference: Difference = BY_ID[difference_id]
    case = difference.case
    assert case is not None
    steps = {side: play(case, side) for side in SIDES}
    boards = {side: frames(case, side) for side in SIDES}
    rows = [
        (
            operation.text,
            tuple(_cell(steps[side][number], boards[side][number]) for side in SIDES),
        )
        for number, operation in enumerate(case.operations)
    ]
    return Played(
        boards=tuple(_board(case, side, title, steps[side], boards[side]) for side, title in SIDES.items()),
        rows=tuple(rows),
    )


@lru_cache(maxsize=len(DIFFERENCES))
def _runs(difference_id: str) -> tuple[Board, ...]:
    """The scenario by both rules, if the difference has one."""
    case = BY_ID[difference_id].scenario
    if case is None:
        return ()
    boards = []
    for side, title in SIDES.items():
        entries = case.entries(side)
        rows = frame_lines(entries, initial_state("orders", side), "unit")
        # The lines are frames with a mark of their own.
        shown = cast(list[Frame], list(rows))
        names = dict.fromkeys(member for frame in shown for member in frame["members"])
        picture = SafeString(thumbnail(shown, list(names)))
        boards.append(Board(title=title, found=json.dumps(case.look(entries)), picture=picture))
    return tuple(boards)


def _board(case: Case, side: Semantics, title: str, steps: list[Step], shown: Sequence[Frame]) -> Board:
    cast = dict.fromkeys(member for frame in shown for member in frame["members"])
    return Board(
        title=title,
        found=json.dumps(case.look(steps)),
        # The picture holds numbers and colour names alone.
        picture=SafeString(thumbnail(shown, list(cast))),
    )


def _cell(step: Step, frame: Frame) -> Cell:
    written = [_record(record["type"]) for record in step["records"]]
    group = step["group"]
    return Cell(
        response=_response(step["answer"]),
        records=", ".join(
            f"{name} ×{written.count(name)}" if written.count(name) > 1 else name
            for name in dict.fromkeys(written)
        ),
        epochs=f"group epoch {group['group_epoch']}, assignment epoch {group['assignment_epoch']}",
        members=tuple(_member(name, frame) for name in frame["members"]),
    )


def _record(number: int) -> str:
    """Kafka's name of a record's type, as words: ``current member assignment``."""
    return RECORD_TYPES[number].name.removeprefix("CONSUMER_GROUP_").replace("_", " ").lower()


def _response(body: Answer | None) -> str:
    """The response in words; its assignment is in the member's line."""
    if body is None:
        return ""
    codes = [body["errorCode"]] if "errorCode" in body else []
    for topic in body.get("topics") or ():
        codes += [partition["errorCode"] for partition in topic.get("partitions", ())]
    errors = ", ".join(ErrorCode(code).name for code in dict.fromkeys(codes) if code)
    if errors:
        return errors
    parts = ["no error"]
    if body.get("memberId"):
        parts.append(f"member id {body['memberId']}")
    if "memberEpoch" in body:
        parts.append(f"epoch {body['memberEpoch']}")
    if "assignment" in body:
        parts.append("an assignment" if body["assignment"] is not None else "no assignment")
    if body.get("shouldComputeAssignment"):
        parts.append("asks it to compute")
    if "assignorName" in body:
        parts.append(f"assignor {body['assignorName']}")
    return ", ".join(parts)


def _member(name: str, frame: Frame) -> str:
    member = frame["members"][name]
    parts = [f"{name} at epoch {member.get('epoch')}: {_listed(member.get('assigned') or {}) or 'nothing'}"]
    if gives := _listed(member.get("pending_revocation") or {}):
        parts.append(f"to revoke {gives}")
    if waits := _listed(member.get("pending_assignment") or {}):
        parts.append(f"waits for {waits}")
    return "; ".join(parts)


def _listed(partitions: Mapping[str, Iterable[int]]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, numbers in partitions.items() for number in numbers)
