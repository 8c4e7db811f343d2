"""The fuzzer's preset ``rolling``: brokers are rolled and ``group.version`` changes in what a seed draws without them."""

from __future__ import annotations

import hashlib
import json
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from groups.history.state.group import Semantics
from simulations.proof.fuzzing.batches import Answer, answer, kinds_of, name_of
from simulations.proof.fuzzing.documents import Document, Line
from simulations.proof.fuzzing.generator import document_of, scenario_of, text_of
from simulations.proof.fuzzing.groups import GROUPS, Groups
from simulations.proof.fuzzing.presets import PRESETS, Preset
from simulations.world.scenario import Verb
from simulations.world.scenario.brokers import OF_BROKERS
from tests.simulations.fuzzing_reach import expected, expected_of
from tests.simulations.mutations import rolled
from tests.simulations.mutations.mutated import applied
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_brokers import BROKER_MUTATIONS

SEEDS = (0, 59)
"""Some fifteen seconds."""

RARE = (
    (74, "mixed", Semantics.KAFKA),
    (300, "mixed", Semantics.KIP),
    (385, "consumer", Semantics.KAFKA),
)
"""More seeds, whose older broker becomes the coordinator of a consumer group."""

ROLLING = (Preset.ROLLING,)

KINDS = kinds_of(GROUPS, list(Semantics))


@pytest.fixture(scope="module")
def answered() -> Answer:
    whole = answer(*SEEDS, list(Semantics), ROLLING, GROUPS, covered=True)
    for seed, kind, semantics in RARE:
        whole.add(answer(seed, seed, [semantics], ROLLING, [kind], covered=True))
    return whole


@pytest.mark.long
def test_random_groups_whose_brokers_are_rolled_break_no_invariant_and_come_to_rest(answered: Answer) -> None:
    assert answered.runs == len(KINDS) * (SEEDS[1] - SEEDS[0] + 1) + len(RARE)
    assert answered.found == []
    assert sum(answered.unknown.values()) < answered.runs / 5


@pytest.mark.parametrize(("kind", "rules"), KINDS)
@pytest.mark.long
def test_every_step_of_brokers_and_what_comes_of_it_is_reached(
    answered: Answer, kind: str, rules: str
) -> None:
    usual = expected(Semantics(rules)) if kind == Groups.CONSUMER else expected_of(kind)
    wanted = expected(Semantics(rules), ROLLING) if kind == Groups.CONSUMER else expected_of(kind, ROLLING)
    counts = answered.counts[name_of(kind, rules)]
    assert {f"verb {verb}" for verb in OF_BROKERS} < set(wanted)
    assert set(usual) < set(wanted), "and all that is drawn without"
    assert [name for name in wanted if name not in usual and not counts[name]] == []


DRAWN = "e27514cb54a76c93e1ca1473dc55a0673f9b41cf010622ef22c3ac41f27a1563"
"""Of the first scenarios of each kind, a digest."""


def test_seeds_that_were_kept_draw_what_they_drew() -> None:
    """Where this changes, fixtures and mutations that name a seed have to be looked for anew."""
    digest = hashlib.sha256()
    for kind, rules in KINDS:
        for seed in range(40):
            digest.update(text_of(document_of(seed, rules, groups=kind)).encode())
    assert digest.hexdigest() == DRAWN


def without_brokers(document: Document, usual: Document) -> tuple[Document, list[Line]]:
    """The document as it would be if nothing happened to brokers, and the lines that are more than in the usual one."""
    left = list(usual["script"])
    more = []
    for line in document["script"]:
        if left and line == left[0]:
            del left[0]
        else:
            more.append(line)
    assert left == [], "every usual line is there, in its order"
    plain: Document = {**document, "script": usual["script"], "title": usual["title"]}
    plain["config"] = {key: value for key, value in plain["config"].items() if key != "group_version"}
    del plain["brokers"]
    return plain, more


@settings(deadline=None)
@given(seed=st.integers(0, 2**53), kind=st.sampled_from(KINDS))
def test_a_seed_draws_its_usual_run_and_steps_of_brokers_that_the_controller_accepts(
    seed: int, kind: tuple[str, str]
) -> None:
    groups, rules = kind
    document = document_of(seed, rules, ROLLING, groups)
    usual = document_of(seed, rules, PRESETS, groups)
    plain, more = without_brokers(document, usual)
    assert {**plain, "until": ""} == {**usual, "until": ""}
    verbs = {list(line)[1] for line in more}
    assert verbs & set(OF_BROKERS)
    assert verbs <= {*OF_BROKERS, Verb.RESTART}
    # It reads the script, and refuses what a controller or an operator could not do.
    scenario = scenario_of(seed, rules, ROLLING, groups)
    assert scenario.until_ms > max(action.at_ms for action in scenario.script)
    assert document == document_of(seed, rules, ROLLING, groups)


def test_without_its_name_nothing_happens_to_brokers() -> None:
    for kind, rules in KINDS:
        for seed in range(100):
            document = document_of(seed, rules, groups=kind)
            assert "brokers" not in document
            assert not {list(line)[1] for line in document["script"]} & set(OF_BROKERS)


def test_the_command_draws_steps_of_brokers_where_they_are_asked_for_and_counts_them() -> None:
    out = StringIO()
    words = ("--seeds", "0-9", "--presets", "rolling", "--protocols", "mixed", "--coverage")
    call_command("fuzz", *words, stdout=out, stderr=StringIO())
    told = json.loads(out.getvalue())
    assert told["violations"] == []
    assert told["coverage"]["mixed"]["verb roll"] > 0


@pytest.mark.parametrize("mutation", BROKER_MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_patch_applies_to_the_present_source(mutation: Mutation) -> None:
    compile(applied(mutation), mutation.file, "exec")


@pytest.mark.long
def test_every_mistake_in_what_happens_to_brokers_is_found() -> None:
    assert sorted(rolled.known()) == sorted(each.name for each in BROKER_MUTATIONS)
    assert rolled.missed() == [], "find their seeds anew with python -m tests.simulations.mutations.rolled"
