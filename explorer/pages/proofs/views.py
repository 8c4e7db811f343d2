"""Explorations and judged recordings: a page for each, and their API."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from explorer.pages.proofs.starting import start_exploration, start_sample, start_upload
from explorer.web.endpoint import (
    BadRequest,
    created_response,
    json_body,
    json_response,
    listed_page,
    shown_on_a_page,
)
from simulations.jobs.proof_runs import KEPT_MOST, proofs
from simulations.models import Proof

RECENT_MOST: Final = 10
"""Proofs on the pages that begin one."""


@require_safe
@ensure_csrf_cookie
def show(request: HttpRequest, proof_id: str) -> HttpResponse:
    """A proof while it runs, and its report."""
    proof = shown_on_a_page(proofs.get, proof_id)
    return render(request, "proofs/proof.html", {"proof": proof, "asks": described(proof)["asks"]})


def api_list(request: HttpRequest) -> HttpResponse:
    return listed_page(request, Proof.objects.defer("answer"), KEPT_MOST, summary)


def api_start(request: HttpRequest) -> HttpResponse:
    """``POST /api/proofs``: 201 with its id and address; it has only been queued."""
    if request.content_type != "application/json":
        proof = start_upload(request)
    else:
        body = json_body(request)
        proof = start_sample(body["sample"]) if "sample" in body else start_exploration(body)
    return created_response("proof", proof.id, page="proof", api="api-proof")


def api_detail(request: HttpRequest, proof_id: str) -> HttpResponse:
    return json_response(described(proofs.get(proof_id)))


def api_cancel(request: HttpRequest, proof_id: str) -> HttpResponse:
    """409 if it had ended."""
    if not proofs.cancel(proof_id):
        raise BadRequest(f"The proof has ended: it is {proofs.get(proof_id).status}.", status=409)
    return json_response(described(proofs.get(proof_id)))


def described(proof: Proof) -> dict[str, Any]:
    return {**summary(proof), "answer": proof.answer}


def recent(asks: str) -> list[dict[str, Any]]:
    """The newest that ``explore``, or that ``conform``."""
    listed = map(summary, Proof.objects.defer("answer"))
    return [each for each in listed if each["asks"] == asks][:RECENT_MOST]


def summary(proof: Proof) -> dict[str, Any]:
    return {
        "id": proof.id,
        "title": proof.title,
        "asks": "explore" if "scenario" in proof.question else "conform",
        "status": proof.status,
        "stage": proof.stage,
        "problem": proof.problem,
    }
