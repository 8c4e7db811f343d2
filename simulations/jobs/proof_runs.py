"""Proofs as they are stored: explorations, and recordings that are put to the simulated coordinator."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any, Final

from groups.models import TITLE_LENGTH_MOST
from simulations.jobs.long_questions import OPEN, LongQuestions
from simulations.models import Proof

KEPT_MOST: Final = 100
"""Proofs that are kept; a new one removes the oldest that has ended."""

proofs: Final = LongQuestions(Proof, "proof", "simulations.jobs.proof_child", lambda proof: proof.question)


def create(title: str, question: Mapping[str, Any], *, proof_id: str = "") -> Proof:
    """A proof that waits."""
    own_id = {"id": proof_id} if proof_id else {}
    return proofs.create(KEPT_MOST, {}, title=title[:TITLE_LENGTH_MOST], question=dict(question), **own_id)


def perform(proof_id: str) -> Proof:
    """Runs a waiting proof to its end, and removes the files that it was given."""
    proof = proofs.perform(proof_id)
    if proof.status not in OPEN:
        _forget(proof)
    return proof


def interrupt(proof_id: str) -> None:
    proofs.interrupt(proof_id)
    _forget(proofs.get(proof_id))


def _forget(proof: Proof) -> None:
    if folder := proof.question.get("folder"):
        shutil.rmtree(folder, ignore_errors=True)
