"""Starting a proof: what the API and the pages have in common."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from explorer.pages.imports.uploading import printable, safe_path, title_of
from explorer.pages.runs.starting import asked_run
from explorer.web.endpoint import BadRequest, check_room
from groups import storage
from groups.imports import lifecycle
from simulations import samples
from simulations.jobs import proof_runs
from simulations.jobs.question_tasks import run_proof
from simulations.models import Proof
from simulations.proof.conformance import BadSetting, settings_of
from simulations.proof.exploration import NotExplorable, Plan
from simulations.proof.exploration.actions import BUDGETS

OPEN_MOST: Final = 5
"""Proofs that wait or run at once: each takes a processor for up to minutes."""

BUDGET_MOST: Final = 9
"""Each fault more multiplies the worlds; nobody has seen the end of this many."""

STATES_MOST: Final = 200_000
"""States of an exploration here: some minutes and 60 MB. The command goes further."""


def start_exploration(given: Mapping[str, Any]) -> Proof:
    """``scenario``, ``semantics``, ``release``, how many of each fault, and ``unhurried``."""
    text, loaded, semantics, release = asked_run(
        given.get("scenario"), given.get("semantics") or None, given.get("release")
    )
    try:
        Plan(loaded, semantics)
    except NotExplorable as error:
        message = str(error)
        raise BadRequest(f"{message[:1].upper()}{message[1:]}.", field="scenario") from error
    return _queue(
        f"{loaded.title}, by {semantics}",
        {
            "scenario": text,
            "semantics": semantics,
            "release": release,
            "budgets": {name: _budget(given.get(name), name) for name in BUDGETS},
            "unhurried": given.get("unhurried") in (True, "on"),
            "states_most": STATES_MOST,
        },
    )


def _budget(given: object, name: str) -> int:
    text = str(given or 0)
    if isinstance(given, bool) or text not in map(str, range(BUDGET_MOST + 1)):
        raise BadRequest(f"{name} must be a whole number from 0 to {BUDGET_MOST}.", field=name)
    return int(text)


def start_sample(name: object) -> Proof:
    if name not in samples.names():
        raise BadRequest(f"sample must be one of {', '.join(samples.names())}.", field="sample")
    return _queue(str(name), {"sample": name})


def start_conformance(request: HttpRequest, asked: str) -> Proof:
    """``asked``: ``upload``, or a bundled recording."""
    return start_upload(request) if asked == "upload" else start_sample(asked)


def start_upload(request: HttpRequest) -> Proof:
    """A request log, and segments of the broker that wrote it."""
    requests: list[Any] = request.FILES.getlist("requests")
    files: list[Any] = request.FILES.getlist("files")
    if len(requests) != 1 or not files:
        raise BadRequest("Send one request log as `requests`, and segments as `files`.", field="requests")
    lines = [line for line in request.POST.get("settings", "").splitlines() if line.strip()]
    try:
        broker = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
        settings_of(broker)
    except BadSetting as error:
        raise BadRequest(f"{error}.", field="settings") from error
    if sum(file.size or 0 for file in (*requests, *files)) > settings.UPLOAD_BYTES_MOST:
        raise BadRequest(
            f"More than {settings.UPLOAD_BYTES_MOST} bytes came; use `manage.py conform` on the server.",
            status=413,
        )
    proof_id, shown = storage.new_id(), request.POST.getlist("paths")
    folder = lifecycle.uploads() / f"proof-{proof_id}"
    try:
        for number, file in enumerate(files):
            inside = safe_path(printable(shown[number] if number < len(shown) else file.name or ""), number)
            # A browser sends names without folders, and each first segment has the same one.
            place = folder / "segments" if len(inside.parts) > 1 else folder / "segments" / str(number)
            target = place / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            file.place.replace(target)
        name = printable(requests[0].name or "requests")
        log = folder / safe_path(name, 0).name
        requests[0].place.replace(log)
        question = {"requests": str(log), "paths": [str(folder / "segments")], "settings": broker}
        return _queue(title_of([name]), {**question, "folder": str(folder)}, proof_id)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _queue(title: str, question: Mapping[str, Any], proof_id: str = "") -> Proof:
    check_room(proof_runs.proofs.open_count(), OPEN_MOST, "proofs")
    with transaction.atomic():
        proof = proof_runs.create(title, question, proof_id=proof_id)
        transaction.on_commit(lambda: run_proof.delay(proof.id), robust=True)
    return proof
