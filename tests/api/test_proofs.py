"""Explorations and judged recordings over HTTP and by the pages' forms: they run in their child, and can be cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from explorer.pages.proofs import starting
from groups.imports import lifecycle
from simulations import samples, small_scenarios
from simulations.jobs import long_questions, proof_child, proof_runs
from simulations.models import Proof
from simulations.proof.exploration.actions import BUDGETS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_proof, "delay", sent.append)
    return sent


def test_the_simulators_form_explores_a_scenario_and_shows_what_was_found(
    client: Client, queued: list[str]
) -> None:
    form = {"scenario": small_scenarios.text("client-side-one"), "explore": "1", "losses": "1"}
    answer = client.post("/simulate/", form)
    assert (answer.status_code, answer["Location"]) == (302, f"/proofs/{queued[0]}")
    assert 'data-id="' in client.get(answer["Location"]).content.decode()
    assert proof_runs.perform(queued[0]).status == "complete"
    found = client.get(f"/api/proofs/{queued[0]}").json()["answer"]
    assert (found["complete"], found["violations"]) == (True, [])
    page = client.get(answer["Location"]).content.decode()
    assert "No order of events breaks an invariant" in page
    assert f"{found['states']} states" in page
    refused = client.post("/simulate/", {**form, "losses": "many"})
    assert refused.status_code == 400
    assert "losses must be a whole number from 0 to 9." in refused.content.decode()


def test_a_broken_invariant_is_shown_with_the_way_to_it(client: Client, queued: list[str]) -> None:
    body = {"scenario": small_scenarios.text("upgrade-one-bounce"), "unhurried": True}
    assert client.post("/api/proofs", body, content_type="application/json").status_code == 201
    proof_runs.perform(queued[0])
    page = client.get(f"/proofs/{queued[0]}").content.decode()
    assert "one_processor_of_a_generation" in page
    assert "<li>bounce B</li>" in page


def test_a_result_is_found_again_on_the_page_that_began_it(client: Client) -> None:
    explored = proof_runs.create("small group", {"scenario": "x"}).id
    judged = proof_runs.create("a recording", {"sample": "y"}).id
    for page, own, other in (("/simulate/", explored, judged), ("/import/", judged, explored)):
        shown = client.get(page).content.decode()
        assert f'href="/proofs/{own}"' in shown, page
        assert other not in shown, page


def test_the_list_has_the_newest_proof_first_and_no_report(client: Client) -> None:
    ids = [proof_runs.create(title, {"scenario": "x"}).id for title in ("older", "newer")]
    listed = client.get("/api/proofs").json()
    assert [(each["id"], each["title"], each["asks"], each["status"]) for each in listed] == [
        (ids[1], "newer", "explore", "waiting"),
        (ids[0], "older", "explore", "waiting"),
    ]
    assert "answer" not in listed[0]


def test_the_import_page_puts_a_recording_to_the_simulated_coordinator(
    client: Client, queued: list[str], settings: Any, tmp_path: Any
) -> None:
    settings.VAR = tmp_path
    sample = samples.sample("recorded-classic")
    segments = [path for path in sample.segments.rglob("*") if path.is_file()]
    form = {
        "conform": "upload",
        "requests": SimpleUploadedFile(sample.requests.name, sample.requests.read_bytes()),
        "files": [SimpleUploadedFile(path.name, path.read_bytes()) for path in segments],
        "paths": [f"{path.parent.name}/{path.name}" for path in segments],
        "settings": "\n".join(f"{key}={value}" for key, value in sample.settings.items()),
    }
    answer = client.post("/import/", form)
    assert answer.status_code == 302, answer.content
    proof = proof_runs.perform(queued[0])
    assert (proof.status, proof.problem) == ("complete", "")
    assert proof.answer is not None
    assert (proof.answer["differences"], proof.answer["problems"]) == ([], [])
    assert not list(lifecycle.uploads().glob("proof-*")), "its files are removed"
    page = client.get(f"/proofs/{queued[0]}").content.decode()
    assert "The simulated coordinator does the same" in page
    # The bundled recording is the same one.
    client.post("/import/", {"conform": "recorded-classic"})
    sampled = proof_runs.perform(queued[1]).answer
    assert sampled is not None
    assert sampled == proof.answer


def test_a_proof_is_cancelled_and_what_is_none_has_a_sentence(client: Client, queued: list[str]) -> None:
    def asked(body: Any, status: int) -> Any:
        answer = client.post("/api/proofs", body, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    made = asked({"sample": "recorded-classic"}, 201)
    assert client.post(f"/api/proofs/{made['id']}/cancel").json()["status"] == "cancelled"
    assert client.post(f"/api/proofs/{made['id']}/cancel").status_code == 409
    assert proof_runs.perform(made["id"]).status == "cancelled"
    assert "sample must be one of" in asked({"sample": "mine"}, 400)["error"]["message"]
    scripted = {
        "scenario": "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo]}}\nscript: [{at: 1s, clock_jump: A, by: 1s}]\nuntil: 5s\n"
    }
    assert "is not explored" in asked(scripted, 400)["error"]["message"]
    long = {"scenario": small_scenarios.text("client-side-one"), "losses": "9" * 5_000}
    assert "losses must be" in asked(long, 400)["error"]["message"]
    assert client.post("/import/", {"conform": "upload"}).status_code == 400
    assert Proof.objects.count() == 1


def test_a_name_with_a_character_that_no_database_keeps_loses_it_alone(
    client: Client, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request log may have any group's name; PostgreSQL refuses U+0000, and the proof would never end."""
    said = [{"type": "progress", "answer": {"group": "a\0b"}}, {"type": "done"}]
    monkeypatch.setattr(long_questions, "run_child", lambda *_, **__: iter(said))
    client.post("/api/proofs", {"sample": "recorded-classic"}, content_type="application/json")
    assert proof_runs.perform(queued[0]).answer == {"group": "a\u2400b"}


def test_an_exploration_ends_with_a_sentence_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_child, "EXPLORED_S_MOST", -1)
    budgets = dict.fromkeys(BUDGETS, 0)
    text = small_scenarios.text("client-side-one")
    question = {"scenario": text, "semantics": "kip", "budgets": budgets, "unhurried": True, "states_most": 9}
    with pytest.raises(proof_child.Asked, match="take fewer members or faults, or the command explore"):
        proof_child.explored(question)


def test_of_many_differences_the_first_are_listed_and_the_others_counted() -> None:
    found: Any = proof_child.bounded({"differences": [*range(proof_child.DIFFERENCES_MOST + 2)]}, ["one"])
    assert found["differences"] == [*range(proof_child.DIFFERENCES_MOST)]
    assert found["problems"] == ["one", "2 more differences are not listed: the command conform lists all."]
