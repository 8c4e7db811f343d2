"""Each seeded mistake in the classic coordinator and in migration makes some recorded exchange come out otherwise."""

from __future__ import annotations

import pytest

from tests.simulations.mutations import fuzzed
from tests.simulations.mutations.mutated import applied
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_classic import CLASSIC_MUTATIONS
from tests.simulations.mutations.repeated import all_found, known

LEAST = 30


def test_there_are_enough_and_each_has_a_name_and_an_exchange_of_its_own() -> None:
    names = [mutation.name for mutation in CLASSIC_MUTATIONS]
    assert len(set(names)) == len(names) >= LEAST
    assert sorted(known()) == sorted(names)


@pytest.mark.parametrize("mutation", CLASSIC_MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_patch_applies_to_the_present_source(mutation: Mutation) -> None:
    changed = applied(mutation)
    assert mutation.old != mutation.new
    compile(changed, mutation.file, "exec")


@pytest.mark.long
def test_every_mutation_is_found() -> None:
    """Each in a process of its own, since its module is imported anew."""
    missed = [name for name, by in all_found(known()).items() if by is None]
    assert missed == [], (
        "find their exchanges anew with python -m tests.simulations.mutations.repeated --record"
    )


FUZZED_LEAST = 30
"""Of the mistakes, those that runs of drawn groups are seen to break; the exchanges find all."""


@pytest.mark.long
def test_the_fuzzer_finds_what_a_run_can_be_seen_to_break() -> None:
    """A sample each time; ``python -m tests.simulations.mutations.fuzzed`` hunts all of them."""
    found = fuzzed.known()
    by_name = {mutation.name: mutation for mutation in CLASSIC_MUTATIONS}
    assert found.keys() <= by_name.keys()
    assert len(found) >= FUZZED_LEAST
    assert {by["protocols"] for by in found.values()} == {"classic", "mixed"}
    assert not found.keys() & fuzzed.NEVER_ASKED
    sample = sorted(found)[::8]
    missed = [name for name in sample if fuzzed.found_again(by_name[name], found[name]["seed"]) is None]
    assert missed == [], "find their seeds anew with python -m tests.simulations.mutations.fuzzed"
