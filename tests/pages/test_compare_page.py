"""The page that plays timelines side by side."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from explorer import case_studies
from explorer.pages.compare import views
from groups import storage
from groups.models import Timeline
from simulations.world import studies
from tests.pages.test_board_page import data_in
from tests.stories import Story

pytestmark = pytest.mark.django_db(transaction=True)


def stored_studies(*names: str) -> None:
    for name, batches in case_studies.recorded(names):
        study = studies.load(name)
        storage.replace_timeline(
            name,
            batches,
            title=study.title,
            source=Timeline.Source.CASE_STUDY,
            semantics=study.semantics,
            scenario=study.text,
            seed=study.seed,
        )


def test_without_an_address_eager_cooperative_and_consumer_stand_side_by_side(client: Client) -> None:
    stored_studies("kip429-eager", "kip429-cooperative", "kip429-consumer")
    page = client.get("/compare", follow=True).content.decode()
    runs = data_in(page, "runs-data")
    assert [run["id"] for run in runs] == ["kip429-eager", "kip429-cooperative", "kip429-consumer"]
    assert all(run["chunks"] for run in runs)
    assert 'aria-current="page">Compare' in page
    for run in runs:
        assert f'href="/t/{run["id"]}"' in page


@pytest.mark.parametrize(
    ("runs", "status", "says"),
    [
        ("one", 400, "expected 2 to 4 timelines with commas between, found &#x27;one&#x27;"),
        ("a,b,c,d,e", 400, "expected 2 to 4 timelines"),
        ("a,,b", 400, "expected 2 to 4 timelines"),
        ("a,b", 404, "There is no timeline &#x27;a&#x27;"),
        ("%3Cscript%3E,b", 404, "There is no timeline &#x27;&lt;script&gt;&#x27;"),
    ],
)
def test_an_address_that_makes_no_sense_is_told_in_one_line(
    client: Client, runs: str, status: int, says: str
) -> None:
    response = client.get(f"/compare?runs={runs}")
    page = response.content.decode()
    assert response.status_code == status
    assert says in page
    assert "runs-data" not in page


def test_a_group_of_many_members_is_not_compared(
    client: Client, stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = stored(Story()), stored(Story())
    monkeypatch.setattr(views, "MEMBERS_MOST", -1)
    response = client.get(f"/compare?runs={one.id},{other.id}")
    assert response.status_code == 400
    assert "boards of up to -1 are compared" in response.content.decode()


def test_every_preset_names_case_studies_that_there_are() -> None:
    for runs, *_ in views.PRESETS:
        assert set(runs.split(",")) <= set(studies.names())


def test_a_case_study_is_next_to_its_run_by_the_other_semantics_and_the_run_is_made_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulations.jobs.run_tasks.run.delay", lambda _: None)
    stored_studies("kip848-basic")
    first = client.post("/compare", {"study": "kip848-basic"})
    runs = first.headers["Location"].removeprefix("/compare?runs=").split(",")
    made = Timeline.objects.get(pk=runs[1])
    assert (runs[0], made.semantics, made.scenario) == ("kip848-basic", "kafka", studies.text("kip848-basic"))
    assert client.post("/compare", {"study": "kip848-basic"}).headers["Location"] == first.headers["Location"]
    refused = client.post("/compare", {"study": "no-such"})
    assert (refused.status_code, "There is no such case study" in refused.content.decode()) == (404, True)
