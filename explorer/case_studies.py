"""The case studies as stored timelines: recorded once, and again when what makes them has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from groups import storage
from groups.history.entries import ENTRY_FORMAT
from groups.history.passes.recorder import RecordedBatch
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.group import Semantics
from groups.jobs.children import ChildFailed, run_child
from groups.models import Timeline
from simulations.jobs.run_tasks import engine_digest
from simulations.world import studies

WORKER: Final = "simulations.jobs.studies"


def missing() -> list[str]:
    """Names of the case studies that are not stored as this version would record them."""
    stored = {
        timeline.id: timeline
        for timeline in Timeline.objects.filter(
            source=Timeline.Source.CASE_STUDY,
            status=Timeline.Status.COMPLETE,
            engine=engine_digest(),
            entry_format=ENTRY_FORMAT,
            fold_version=FOLD_VERSION,
        )
    }
    return [
        name for name in studies.names() if name not in stored or stored[name].scenario != studies.text(name)
    ]


def load_missing() -> list[str]:
    """Record what is missing and remove what is no case study any more; the names that were recorded."""
    names = missing()
    engine = engine_digest()
    for name, batches in recorded(names):
        study = studies.load(name)
        storage.replace_timeline(
            name,
            batches,
            title=study.title,
            source=Timeline.Source.CASE_STUDY,
            semantics=study.semantics,
            release=str(study.settings.release) if study.semantics is Semantics.KAFKA else "",
            scenario=study.text,
            seed=study.seed,
            engine=engine,
        )
    Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).exclude(pk__in=studies.names()).delete()
    return names


def recorded(names: Iterable[str]) -> Iterator[tuple[str, list[RecordedBatch]]]:
    """Each study's batches, from one child for all of them. ``ChildFailed`` shows what is wrong with which."""
    asked = list(names)
    if not asked:
        return
    name, batches = "", list[RecordedBatch]()
    for message in run_child(WORKER, question={"names": asked}):
        match message["type"]:
            case "study":
                name, batches = str(message["name"]), []
            case "batch":
                batches.append(RecordedBatch.from_line(message))
            case "error":
                raise ChildFailed(f"{name}: {message['message']}" if name else str(message["message"]))
            case "done":
                yield name, batches
