"""The two pages of sweeps, without scripts."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from explorer.pages.sweeps import starting
from simulations.jobs import sweep_runs
from simulations.models import Sweep
from simulations.sweeps.asked import axes_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_sweep, "delay", sent.append)
    return sent


def test_the_form_works_without_scripts(queued: list[str]) -> None:
    answer = Client().post(
        "/sweeps",
        {
            "assignors": ["classic/range", "consumer/uniform"],
            "shapes": ["6x3x21"],
            "more": "9x3x30-skewed, 12x4x48",
            "events": ["join"],
            "seeds": "3",
        },
    )

    sweep = Sweep.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/sweeps/{sweep.id}")
    assert sweep.axes["shapes"] == ["6x3x21", "9x3x30-skewed", "12x4x48"]
    assert queued == [sweep.id]


def test_a_form_that_is_refused_keeps_what_was_filled_in() -> None:
    answer = Client().post(
        "/sweeps", {"assignors": ["classic/range"], "more": "9x3", "events": ["join"], "seeds": "many"}
    )

    page = html.unescape(answer.content.decode())
    assert answer.status_code == 400
    assert "'9x3' is no shape" in page
    assert 'value="9x3"' in page
    assert 'value="many"' in page
    assert 'value="classic/sticky" checked' not in page


def test_an_address_fills_the_form_in() -> None:
    page = (
        Client().get("/sweeps?shapes=9x3x30&shapes=6x3x21&assignors=classic/range&seeds=40").content.decode()
    )

    assert 'value="9x3x30"' in page
    assert 'value="classic/range" checked' in page
    assert 'value="classic/sticky">' in page
    assert 'value="40"' in page
    assert "No sweeps yet" in page


def test_the_page_of_a_sweep_carries_its_first_maps_and_one_that_is_not_there_is_not_found() -> None:
    sweep = sweep_runs.create(axes_of({"shapes": ["6x3x21"], "events": ["join"], "seeds": 1}))

    page = Client().get(f"/sweeps/{sweep.id}?measure=time&of=beauty").content.decode()
    assert 'id="sweep-data"' in page
    assert "1 shape, 1 event" in page
    assert Client().get("/sweeps/nosuchone").status_code == 404
    assert sweep.title in Client().get("/sweeps").content.decode()


def test_a_group_of_the_laboratory_is_swept_in_the_layouts_of_its_size() -> None:
    page = Client().get("/sweeps?g=abcabc.a&t=12,6,3&from=range&e=join").content.decode()

    shapes = "6x3x21-skewed-racks 6x3x21-skewed 6x3x21-racks 6x3x21-nested 6x3x21-disjoint"
    assert f'value="{shapes}"' in page
    assert 'name="shapes" value="6x3x21" checked' in page
    assert "No sweeps yet" in Client().get("/sweeps?g=nonsense&t=1").content.decode()
