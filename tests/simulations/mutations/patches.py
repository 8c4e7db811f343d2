"""The list. ``old`` stands exactly once in its file; a test says so, and names the patch that no longer applies."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.beyond_assignments import BEYOND
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_consumption import CONSUMING
from tests.simulations.mutations.of_reconciliation import RECONCILING, STATIC_MEMBERS
from tests.simulations.mutations.of_targets import ASSIGNING
from tests.simulations.mutations.of_the_rest import AROUND, CLIENTS

MUTATIONS: Final[tuple[Mutation, ...]] = (
    *RECONCILING,
    *STATIC_MEMBERS,
    *ASSIGNING,
    *AROUND,
    *CLIENTS,
    *BEYOND,
    *CONSUMING,
)
