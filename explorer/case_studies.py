"""The case studies as stored timelines: recorded once, and anew when what makes them has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from groups import storage
from groups.history.entries import ENTRY_FORMAT
from groups.history.fold import FOLD_VERSION
from groups.models import Timeline
from simulations import studies
from simulations.tasks import engine_digest, record

AT_ONCE = 2
"""Children at once: the smallest machine that runs this has two cores, and a page waits for it."""


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
    with ThreadPoolExecutor(AT_ONCE) as pool:
        recordings = pool.map(record, names)
        for name, batches in zip(names, recordings, strict=True):
            study = studies.load(name)
            storage.replace_timeline(
                name,
                batches,
                title=study.title,
                source=Timeline.Source.CASE_STUDY,
                semantics=study.semantics,
                scenario=study.text,
                seed=study.seed,
                engine=engine_digest(),
            )
    Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).exclude(pk__in=studies.names()).delete()
    return names
