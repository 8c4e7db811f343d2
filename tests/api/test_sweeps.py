"""Sweeps as they are stored, told and exported; what is refused; the way from a cell to the same numbers again."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from explorer.pages.sweeps import starting
from simulations.jobs import sweep_runs, sweep_tasks
from simulations.models import Answered, Sweep
from simulations.sweeps.answering import FIGURES
from simulations.sweeps.asked import axes_of

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"shapes": ["6x3x21", "7x3x20-skewed-nested"], "events": ["join", "leave"], "seeds": 8}
CASES = 6 * 2 * 2 * 8
Queued = list[str]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Queued:
    """Sweeps are queued and run by nobody; the job answers without Spark."""
    sent: Queued = []
    monkeypatch.setattr(starting.run_sweep, "delay", sent.append)
    monkeypatch.setattr(sweep_runs, "JOB", "tests.simulations.pretend_sweep")
    return sent


def post(address: str, body: Any = None) -> Any:
    return Client().post(address, orjson.dumps(body or {}), content_type="application/json")


def get(address: str) -> Any:
    return Client().get(address).json()


@pytest.fixture
def done() -> Sweep:
    """A sweep that came to its end."""
    return sweep_runs.perform(sweep_runs.create(axes_of(SMALL)).id)


def test_a_sweep_is_queued_and_told_as_waiting(queued: Queued) -> None:
    answer = post("/api/sweeps", SMALL)

    sweep = Sweep.objects.get()
    assert answer.status_code == 201
    url = f"/sweeps/{sweep.id}"
    # ``sweep`` is the name that its id had before.
    assert answer.json() == {"id": sweep.id, "type": "sweep", "cases": CASES, "url": url, "sweep": sweep.id}
    assert queued == [sweep.id]
    [told] = get("/api/sweeps")
    assert (told["status"], told["done"], told["title"]) == ("waiting", 0, "6 assignors, 2 shapes, 2 events")


@pytest.mark.parametrize(
    ("body", "status", "field", "says"),
    [
        ({"shapes": ["6x3"]}, 400, "shapes", "is no shape"),
        ({"seeds": 0}, 400, "seeds", "from 1 to 1,000"),
        ({"assignors": ["classic/best"]}, 400, "assignors", "There is no assignor"),
        ({"master": "spark://elsewhere:7077"}, 400, "master", "is no axis"),
        ([], 400, None, "JSON object"),
    ],
)
def test_what_makes_no_sweep_is_refused_in_one_line(
    body: Any, status: int, field: str | None, says: str
) -> None:
    answer = Client().post("/api/sweeps", orjson.dumps(body), content_type="application/json")
    error = answer.json()["error"]
    assert (answer.status_code, error.get("field")) == (status, field)
    assert says in error["message"]
    assert Sweep.objects.count() == 0


def test_more_sweeps_than_the_server_takes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "SWEEPS_WAITING_MOST", 1)
    post("/api/sweeps", SMALL)
    assert post("/api/sweeps", SMALL).status_code == 429


def test_what_was_made_and_what_was_chosen_have_their_old_names_beside_the_new_ones(done: Sweep) -> None:
    made = post("/api/sweeps", SMALL).json()
    assert (made["id"], made["type"]) == (made["sweep"], "sweep")
    new, old = (get(f"/api/sweeps/{done.id}?{name}=worst") for name in ("aggregate", "of"))
    assert new == old
    assert new["aggregate"] == new["of"] == "worst"


def test_a_wrong_choice_is_told_by_its_code_too(done: Sweep) -> None:
    answer = Client().get(f"/api/sweeps/{done.id}?aggregate=best")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "bad_request")
    assert error["message"] == "aggregate='best' must be one of median, worst."
    assert {"field", "expected"} <= set(error)


def test_a_whole_sweep_is_a_map_for_each_assignor(done: Sweep) -> None:
    told = get(f"/api/sweeps/{done.id}?measure=interrupted&aggregate=worst")

    assert (told["status"], told["done"], told["cores"]) == ("complete", CASES, 2)
    assert len(told["maps"]) == 6
    [trace] = told["maps"][0]["figure"]["data"]
    assert (trace["type"], len(trace["z"]), len(trace["z"][0])) == ("heatmap", 2, 2)
    # Eager: everybody stops.
    assert {place["text"] for place in told["maps"][0]["cells"]} == {"100"}
    assert {place["step"] for place in told["maps"][0]["cells"]} == {8}
    assert [place["cell"] for place in told["maps"][1]["cells"]] == [4, 5, 6, 7]
    assert "".join(part["text"] for part in told["says"]).startswith("When one joins, ")


def test_a_cell_shows_each_seed_of_every_assignor_and_opens_the_worst(done: Sweep) -> None:
    told = get(f"/api/sweeps/{done.id}/cells/5?measure=moved")

    assert (told["assignor"], told["shape"], told["event"]) == (
        "classic roundrobin",
        "6 members, 21 partitions",
        "One leaves",
    )
    assert [each["seed"] for each in told["seeds"]] == list(range(1, 9))
    values = {each["seed"]: float(each["text"]) for each in told["seeds"]}
    assert values[told["worst"]] == max(values.values())
    names = [note["text"] for note in told["strip"]["layout"]["annotations"]]
    assert names == [
        "classic range",
        "<b>roundrobin</b>",
        "sticky",
        "cooperative-sticky",
        "consumer range",
        "uniform",
    ]


@pytest.mark.long
def test_a_cell_opened_again_gives_the_numbers_that_were_stored(done: Sweep) -> None:
    axes = axes_of(SMALL)
    for cell, rows in sweep_runs.answers_of(done).items():
        for seed in (1, 8):
            opened = get(f"/api/sweeps/{done.id}/cells/{cell}/seeds/{seed}")
            stored = dict(zip(FIGURES, rows[seed], strict=True))
            known = {name: stored[name] for name in FIGURES[:-1]}
            assert opened["figures"] == known | {"assigned": known["placed"]}
            laboratory = get(f"/api/laboratory?{opened['query']}")
            rows_of_card = {row["key"]: row["values"][opened["board"] - 1] for row in laboratory["scorecard"]}
            assert rows_of_card["moved"] == stored["moved"]
            assert rows_of_card["spread"] == stored["max"] - stored["min"]
            assert (opened["reason"] is None) == (axes.cell(cell).board.protocol == "consumer")


def test_all_cases_are_exported_as_a_table(done: Sweep) -> None:
    answer = Client().get(f"/api/sweeps/{done.id}/cases.csv")

    rows = list(csv.DictReader(answer.content.decode().splitlines()))
    assert answer["Content-Type"].startswith("text/csv")
    assert len(rows) == CASES
    assert (rows[0]["protocol"], rows[0]["assignor"], rows[0]["shape"], rows[0]["seed"]) == (
        "classic",
        "range",
        "6x3x21",
        "1",
    )
    assert {row["error"] for row in rows} == {""}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/sweeps/nosuchone", 404),
        ("{}?measure=beauty", 400),
        ("{}?of=best", 400),
        ("{}?aggregate=best", 400),
        ("{}/cells/24", 404),
        ("{}/cells/1/seeds/9", 404),
        ("{}/cells/1/seeds/0", 404),
    ],
)
@pytest.mark.long
def test_what_is_not_there_is_told_in_one_line(done: Sweep, address: str, status: int) -> None:
    answer = Client().get(address.format(f"/api/sweeps/{done.id}"))
    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("word", "problem"), [("fails", "Spark needs Java 17"), ("breaks", "ended with code 1: it broke")]
)
def test_a_sweep_that_fails_says_why_and_goes_on_from_what_it_has(
    queued: Queued, word: str, problem: str
) -> None:
    failed = sweep_runs.perform(sweep_runs.create(axes_of(SMALL), master=word).id)
    assert failed.status == "failed"
    assert problem in failed.problem
    had = failed.done

    Sweep.objects.update(master="")
    assert post(f"/api/sweeps/{failed.id}/resume").json()["status"] == "waiting"
    assert queued == [failed.id]
    ended = sweep_runs.perform(failed.id)

    assert (had, ended.status, ended.done) == (0 if word == "fails" else 6, "complete", CASES)
    assert sum(len(orjson.loads(bytes(each.rows))) for each in Answered.objects.all()) == CASES
    assert post(f"/api/sweeps/{failed.id}/resume").status_code == 409


def test_a_sweep_of_other_assignors_does_not_go_on() -> None:
    failed = sweep_runs.perform(sweep_runs.create(axes_of(SMALL), master="fails").id)
    Sweep.objects.update(engine="an earlier one")

    answer = post(f"/api/sweeps/{failed.id}/resume")

    assert answer.status_code == 409
    assert "have changed since" in answer.json()["error"]["message"]


def test_cancel_keeps_what_is_answered() -> None:
    sweep = sweep_runs.create(axes_of(SMALL), master="waits")

    def perform() -> None:
        try:
            sweep_runs.perform(sweep.id)
        finally:
            connection.close()

    running = threading.Thread(target=perform)
    running.start()
    until(lambda: sweep_runs.get(sweep.id).done == 6)
    cancelled = post(f"/api/sweeps/{sweep.id}/cancel")
    running.join(20)

    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert not running.is_alive()
    found = sweep_runs.get(sweep.id)
    assert (found.status, found.done) == ("cancelled", 6)
    assert post(f"/api/sweeps/{sweep.id}/cancel").status_code == 409
    [first, *others] = get(f"/api/sweeps/{sweep.id}")["maps"][0]["cells"]
    assert (first["seeds"], {other["step"] for other in others}) == (6, {None})


def until(told: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not told():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_lost_sweeps_are_queued_again_or_told_as_cut_short(queued: Queued) -> None:
    waiting, running = sweep_runs.create(axes_of(SMALL)), sweep_runs.create(axes_of(SMALL))
    Sweep.objects.filter(pk=running.id).update(status="running")
    Sweep.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    sweep_tasks.take_up_lost()

    assert queued == [waiting.id]
    found = sweep_runs.get(running.id)
    assert (found.status, found.problem) == ("interrupted", "What ran it was cut short.")


def test_a_sweep_is_run_once_however_often_its_task_comes(
    monkeypatch: pytest.MonkeyPatch, done: Sweep
) -> None:
    monkeypatch.setattr(sweep_tasks, "missing_packages", list)
    sweep_tasks.run_sweep(done.id)
    sweep_tasks.run_sweep("nosuchone")
    assert Answered.objects.filter(sweep=done).count() == CASES // 4


def test_a_sweep_waits_for_sparks_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    later: list[Any] = []
    monkeypatch.setattr(sweep_tasks, "missing_packages", lambda: ["pyspark"])
    monkeypatch.setattr(sweep_tasks.run_sweep, "apply_async", lambda *words, **options: later.append(words))
    sweep = sweep_runs.create(axes_of(SMALL))

    sweep_tasks.run_sweep(sweep.id)
    assert (sweep_runs.get(sweep.id).stage, len(later)) == ("Getting Spark ready", 1)
    Sweep.objects.update(created=timezone.now() - timedelta(hours=1))
    sweep_tasks.run_sweep(sweep.id)
    assert "make install" in sweep_runs.get(sweep.id).problem


def test_delete_removes_a_sweep_with_its_answers(done: Sweep) -> None:
    assert Client().delete(f"/api/sweeps/{done.id}").status_code == 204
    assert Answered.objects.count() == 0
    assert Client().get(f"/api/sweeps/{done.id}").status_code == 404


def test_the_command_prints_a_line_for_each_case(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "sweep", "--assignor", "consumer/uniform", "--shape", "6x3x21", "--event", "join", "--seeds", "1-3"
    )

    out, err = capsys.readouterr()
    lines = [orjson.loads(line) for line in out.splitlines()]
    assert [line["seed"] for line in lines] == [1, 2, 3]
    assert lines[0].keys() == {"protocol", "assignor", "shape", "event", "seed", *FIGURES}
    assert "3 of 3 cases" in err
    assert Sweep.objects.get().status == "complete"


def test_a_range_of_seeds_begins_where_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "sweep", "--assignor", "consumer/uniform", "--shape", "6x3x21", "--event", "join", "--seeds", "5-6"
    )
    assert [orjson.loads(line)["seed"] for line in capsys.readouterr().out.splitlines()] == [5, 6]
    sweep = Sweep.objects.get()
    assert Client().get(f"/api/sweeps/{sweep.id}/cells/0/seeds/6").status_code == 200
    assert Client().get(f"/api/sweeps/{sweep.id}/cells/0/seeds/4").status_code == 404


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--shape", "6x3"], "is no shape"),
        (["--seeds", "0-1000"], "from 1 to 1,000"),
        (["--seeds", "9-3"], "the first is at most the last"),
        (["--seeds", "many"], "expected the first and the last one, such as 1-12"),
        (["--master", "fails", "--shape", "3x1x6"], "Spark needs Java"),
    ],
)
def test_the_command_refuses_in_one_line_with_exit_2(words: list[str], says: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("sweep", *words)
    assert says in str(caught.value)
    assert caught.value.returncode == 2
