"""The fuzzer finds every seeded mistake: each patch applies to the present source, and its recorded seed kills it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulations.mutations import hunting
from tests.simulations.mutations.mutated import DoesNotApply, applied
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.patches import MUTATIONS

LEAST = 40
"""Mistakes that the list has at least."""

ELSEWHERE = 40
"""Seeds that are tried where a recorded one does not find its mutation any more: the drawing may have changed."""


def test_there_are_enough_and_each_has_a_name_and_a_seed_of_its_own() -> None:
    names = [mutation.name for mutation in MUTATIONS]
    assert len(set(names)) == len(names) >= LEAST
    assert sorted(hunting.recorded()) == sorted(names)
    for area in ("consumer/released", "consumer/proposal", "client/", "assignors/", "engine/"):
        assert any(area in mutation.file for mutation in MUTATIONS)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_patch_applies_to_the_present_source(mutation: Mutation) -> None:
    changed = applied(mutation)
    assert mutation.old != mutation.new
    compile(changed, mutation.file, "exec")


def test_a_patch_that_does_not_apply_says_which_one_and_where() -> None:
    lost = Mutation(name="lost", file=MUTATIONS[0].file, old="no such text", new="", breaks="nothing")
    with pytest.raises(
        DoesNotApply, match=f"lost: its text is 0 times in {Path(lost.file).as_posix()}, not once"
    ):
        applied(lost)


@pytest.mark.long
def test_every_mutation_is_found() -> None:
    """Each in a process of its own, since its module is imported anew: half a minute on two cores."""
    known = hunting.recorded()
    found = hunting.all_hunted(
        lambda mutation: hunting.hunted_again(mutation, known[mutation.name], ELSEWHERE)
    )
    missed = [mutation.name for mutation, by in zip(MUTATIONS, found, strict=True) if by is None]
    assert missed == [], "find their seeds anew with python -m tests.simulations.mutations --record"
