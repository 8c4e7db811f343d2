"""Links to groups of the laboratory and to cells of sweeps; timelines side by side in one file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from asgiref.sync import sync_to_async

from groups import storage
from groups.models import Timeline
from simulations.jobs import sweep_runs
from simulations.models import Sweep
from simulations.sweeps.answering import rows_of
from simulations.sweeps.asked import axes_of
from tests.access.conftest import Asks
from tests.sharing.canaries import MARK, sings
from tests.sharing.test_handed_on import blocks
from tests.sharing.test_links import asks as asks
from tests.sharing.test_links import cookie_name, everything
from tests.stories import a_day_of_three

Stored = Callable[..., Timeline]
NAMES = {"n": f"{MARK}-a,{MARK}-b,{MARK}-c", "i": f"{MARK}-9,{MARK}-7,{MARK}-8", "tn": f"{MARK}-orders,{MARK}-clicks"}  # fmt: skip
GROUP = urlencode({"g": "3", "t": "4,3", "s": "same", "from": "range", "e": "leave:1", **NAMES})


async def told(asks: Asks, path: str, **body: Any) -> Any:
    answer = await asks(path, method="POST", body=(orjson.dumps(body),))
    assert answer is not None
    return answer


async def served_by(asks: Asks, url: str, link_id: str) -> str:
    """Everything that a link gives its holder, as text."""
    token = url.removeprefix("/s/")
    answers = [await asks(url, token=False), await asks(f"{url}/card.png", token=False)]
    cookie = {"Cookie": f"{cookie_name(link_id)}={token}"}
    answers += [
        await asks(f"/s/open/{link_id}/{path}", token=False, headers=cookie) for path in ("", "state")
    ]
    assert [answer.status for answer in answers if answer] == [200] * 4
    return "".join(everything(answer.body) + repr(answer.headers) for answer in answers if answer)


@pytest.mark.parametrize("hides", [True, False])
async def test_a_link_to_a_group_shows_its_answers_and_no_name_that_is_hidden(
    asks: Asks, hides: bool
) -> None:
    made = (await told(asks, "/api/laboratory/links", query=GROUP, board=3, hide_names=hides)).json
    assert (made["kind"], made["state"], made["hides_names"]) == ("laboratory", "open", hides)
    text = await served_by(asks, made["url"], made["id"])
    assert sings(text + made["title"]) is not hides
    began = text.rindex("<!doctype html>", 0, text.index("block-laboratory"))
    page = text[began : text.index("</html>", began)]
    shown = blocks(page)["laboratory"]
    assert shown["board"] == 3
    sheet = (await asks(f"/api/laboratory?{GROUP}")).json
    for ours, theirs in zip(shown["sheet"]["answers"], sheet["answers"], strict=True):
        assert (ours["before"], ours["after"], ours["measures"]) == (
            theirs["before"], theirs["after"], theirs["measures"],
        )  # fmt: skip
    assert (shown["sheet"] == sheet) is not hides


async def test_links_to_groups_are_listed_and_withdrawn(asks: Asks) -> None:
    made = (await told(asks, "/api/laboratory/links", query=GROUP, board=1, days=2)).json
    (listed,) = (await asks("/api/laboratory/links")).json
    assert (listed["id"], listed["title"]) == (made["id"], made["title"])
    assert (await asks(f"/api/links/{made['id']}", method="DELETE")).status == 204
    assert (await asks(made["url"], token=False)).status == 404
    assert (await asks("/api/laboratory/links")).json[0]["state"] == "withdrawn"


async def test_a_file_of_a_group_tells_no_hidden_name_not_even_in_its_own(asks: Asks) -> None:
    made = await told(asks, "/api/laboratory/exports", query=GROUP, board=1, hide_names=True)
    assert not sings(everything(made.body) + repr(made.headers))
    assert sings(everything((await told(asks, "/api/laboratory/exports", query=GROUP, board=1)).body))


def a_sweep() -> Sweep:
    axes = axes_of({"shapes": ["6x3x21"], "events": ["join"], "seeds": 3})
    sweep = sweep_runs.create(axes)
    for block in axes.blocks():
        rows = list(rows_of(axes, block, time.perf_counter))
        sweep_runs.store(sweep, [{"cell": block.cell, "first": block.first, "rows": rows}])
    Sweep.objects.filter(pk=sweep.id).update(status=Sweep.Status.COMPLETE)
    return sweep


async def test_a_link_to_a_cell_shows_one_of_its_seeds_and_what_all_of_them_come_to(asks: Asks) -> None:
    sweep = await sync_to_async(a_sweep)()
    cell = {"sweep": sweep.id, "cell": 2, "seed": 2}
    made = (await told(asks, "/api/laboratory/links", cell=cell)).json
    assert made["kind"] == "cell"
    text = await served_by(asks, made["url"], made["id"])
    found = (await asks(f"/api/sweeps/{sweep.id}/cells/2")).json
    assert f"median {found['median']}" in text
    assert "This is seed 2." in text
    sheet = (await asks((await asks(f"/api/sweeps/{sweep.id}/cells/2/seeds/2")).json["url"].replace("/laboratory", "/api/laboratory"))).json  # fmt: skip
    (page,) = re.findall(r"<!doctype html>(?:(?!<!doctype).)*block-laboratory.*?</html>", text, re.DOTALL)
    assert blocks(page)["laboratory"]["sheet"] == sheet
    assert sweep.id not in page


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 400, "query must be that of a group of the laboratory."),
        ({"query": "g=0&t=1", "board": 1}, 400, "member"),
        ({"query": "g=3&t=4"}, 400, "board must be a whole number from 1 to 6."),
        ({"query": "g=3&t=4", "board": 1, "days": 91}, 400, "days=91 must be"),
        ({"cell": 7}, 400, "cell must be {"),
        ({"cell": {"sweep": "none", "cell": 0, "seed": 1}}, 404, "none"),
        ({"cell": {"sweep": "none", "cell": "0", "seed": 1}}, 400, "cell='0' must be a whole number."),
    ],
)
async def test_what_of_the_laboratory_cannot_be_shared_is_told_in_one_line(
    asks: Asks, body: dict[str, Any], status: int, says: str
) -> None:
    answer = await told(asks, "/api/laboratory/links", **body)
    assert (answer.status, says in answer.message, "\n" in answer.message) == (status, True, False)


async def test_timelines_side_by_side_are_one_file_and_one_name_has_one_pseudonym_in_all(
    asks: Asks, stored: Stored
) -> None:
    stories = [a_day_of_three(), a_day_of_three().joins("D", [3])]
    first, second = [await sync_to_async(stored)(story) for story in stories]
    runs = [first.id, second.id]
    shown = await told(asks, "/api/comparisons/exports", runs=runs, from_ms=1000, at_ms=2000)
    held = blocks(shown.body.decode())
    assert [meta["id"] for meta in held["runs"]["metas"]] == runs
    assert (held["runs"]["from_ms"], held["runs"]["at_ms"]) == (1000, 2000)
    assert held["run-1-chunk-1"]["frame"] == await sync_to_async(storage.frame_at)(second, 0)
    hidden = await told(asks, "/api/comparisons/exports", runs=runs, hide_names=True)
    assert first.id not in everything(hidden.body) + repr(hidden.headers)
    held = blocks(hidden.body.decode())
    members = [
        {
            change["path"][1]
            for change in held[f"run-{run}-chunk-1"]["changes"]
            if change["path"][0] == "members"
        }
        for run in (0, 1)
    ]
    assert members[0] < members[1]
    assert len(members[1]) == 4


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "runs must be a list of ids of timelines."),
        ({"runs": ["one"]}, "expected 2 to 4 timelines"),
        ({"runs": ["one", "two"]}, "There is no timeline 'one'"),
        ({"runs": ["one", "two"], "from_ms": -1}, "from_ms=-1 must be a whole number of milliseconds"),
        ({"runs": ["one", "two"], "hide_names": 1}, "hide_names=1 must be true or false."),
    ],
)
async def test_what_cannot_be_compared_is_told_in_one_line(
    asks: Asks, body: dict[str, Any], says: str
) -> None:
    answer = await told(asks, "/api/comparisons/exports", **body)
    assert (answer.status, says in answer.message, "\n" in answer.message) == (400, True, False)


@pytest.mark.parametrize("given", ["pdf", None, 1, True, [], ["html"], {}, {"html": 1}])
@pytest.mark.parametrize("field", ["format", "view"])
async def test_a_choice_that_is_none_of_those_is_told_in_one_line_whatever_json_it_is(
    asks: Asks, stored: Stored, field: str, given: Any
) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    answer = await told(asks, f"/api/timelines/{timeline.id}/exports", **{field: given})
    assert (answer.status, answer.json["error"]["field"], "\n" in answer.message) == (400, field, False)
    assert f"{field}=" in answer.message
