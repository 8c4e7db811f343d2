"""A group of the laboratory as it is handed on: six answers, with all that the page needs in itself; or one answer that stands for a cell of a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from django.http import HttpRequest

from explorer.pages.laboratory.asking import Question, question_in_address, sheet_of
from explorer.pages.sweeps.describing import Shown, cell_detail, seed_detail
from explorer.sharing.card import answers_card
from explorer.sharing.links import Subject
from explorer.sharing.models import Kind
from explorer.sharing.one_file import LABORATORY, Link, made_at_text, policy, sealed
from explorer.web.endpoint import BadRequest
from groups.exporting import Export
from groups.places import VERSION
from simulations.laboratory import BOARDS
from simulations.laboratory.shapes import Sheet
from simulations.models import Sweep

NAME_LETTERS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group with its answers (``simulations.laboratory.sheets``), which board is open, and of which cell it is, in a sentence."""

    sheet: Sheet
    board: int
    hides_names: bool
    cell: str = ""

    @property
    def title(self) -> str:
        return str(self.sheet["title"])

    @property
    def sentence(self) -> str:
        return "".join(clause["text"] for clause in self.sheet["says"])

    @property
    def kind(self) -> Kind:
        return Kind.CELL if self.cell else Kind.LABORATORY


def group_of(request: HttpRequest, query: str, board: int, *, hides_names: bool) -> Group:
    """The group of a laboratory's link."""
    question: Question = question_in_address(query.removeprefix("?")) | {"hide_names": hides_names}
    sheet = orjson.loads(sheet_of(request, question).json)
    return Group(sheet=sheet, board=board, hides_names=hides_names)


def group_of_cell(request: HttpRequest, sweep: Sweep, number: int, seed: int, shown: Shown) -> Group:
    """One seed of a cell. Its members and topics have the laboratory's own names."""
    detail, opened = cell_detail(sweep, number, shown), seed_detail(sweep, number, seed)
    if opened["query"] is None:
        raise BadRequest(str(opened["reason"]), status=409, field="seed")
    sheet = orjson.loads(sheet_of(request, {"query": opened["query"]}).json)
    return Group(
        sheet=sheet, board=opened["board"], hides_names=False, cell=_cell_sentence(detail, seed, shown)
    )


def _cell_sentence(detail: Mapping[str, Any], seed: int, shown: Shown) -> str:
    what = f"{detail['assignor']}, {detail['shape']}, {detail['event'].lower()}"
    if detail["median"] is None:
        return f"A cell of a sweep: {what}. This is seed {seed} of {detail['in']}."
    unit = detail["unit"]
    return (
        f"A cell of a sweep: {what}. {shown.measure.label}: median {detail['median']}{unit}, from {detail['least']} to "
        f"{detail['most']}{unit} over {detail['in']} seeds. This is seed {seed}."
    )


def page_of(group: Group, made: datetime, link: Link | None = None) -> bytes:
    answers = [
        {"assignor": f"{board.protocol} {board.assignor}", "says": answer["error"] or answer["says"]}
        for board, answer in zip(BOARDS, group.sheet["answers"], strict=True)
    ]
    context = {
        "title": group.title,
        "sentence": group.sentence,
        "cell": group.cell,
        "hidden": group.hides_names,
        "boards": list(enumerate(BOARDS, 1)),
        "answers": answers,
        "made": f"Six answers, as Rebalance Explorer {VERSION} worked them out on {made_at_text(made)}.",
    }
    parts = {"laboratory": {"sheet": group.sheet, "board": group.board}}
    return sealed(LABORATORY, parts, context, view="investigator", made=made, link=link)


def subject_of(group: Group, made: datetime) -> Subject:
    """What a link to it shows."""
    return Subject(
        kind=group.kind,
        title=group.title,
        sentence=group.cell or group.sentence,
        policy=policy(LABORATORY, connects=True),
        card=answers_card(group.sheet),
        page=lambda link: page_of(group, made, link),
    )


def html(group: Group, made: datetime) -> Export:
    digest = hashlib.sha256(str(group.sheet["query"]).encode()).hexdigest()[:NAME_LETTERS]
    return Export(name=f"laboratory-{digest}.html", content=page_of(group, made))
