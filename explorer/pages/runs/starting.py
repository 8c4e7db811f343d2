"""Starting a run: what the API and the page have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from django.conf import settings
from django.db import transaction

from explorer.web.endpoint import BadRequest, check_room
from groups import storage
from groups.history.state.group import Semantics
from groups.models import Timeline
from groups.releases import release_of
from simulations.jobs import run_tasks
from simulations.world import studies
from simulations.world.scenario import Scenario, ScenarioError, load, with_release

SCENARIO_BYTES_MOST = 256 * 1024
"""A scenario is a page of text; the largest that makes sense names some thousand members."""

SEED_MOST = 2**53 - 1
"""The largest whole number that JavaScript keeps exactly, since a seed travels in links."""

SEMANTICS = ("kafka", "kip")

NUL = "The scenario has the character U+0000 in it, which no name has."


def start_run(
    scenario: object,
    semantics: object = None,
    seed: object = None,
    release: object = None,
    *,
    title: str = "",
    parent: Timeline | None = None,
    fork_sequence: int | None = None,
) -> Timeline:
    """Store a run of a scenario (YAML text, or a case study's name) and queue it. ``BadRequest`` contains what is wrong."""
    text, loaded, chosen_semantics, chosen = asked_run(scenario, semantics, release)
    _room_for_one_more()
    with transaction.atomic():
        timeline = storage.create_timeline(
            title=title or loaded.title,
            source=Timeline.Source.SIMULATION,
            group=loaded.group,
            semantics=chosen_semantics,
            release=chosen,
            scenario=text,
            seed=_seed(seed, loaded.seed),
            engine=run_tasks.engine_digest(),
            parent_id=parent.pk if parent is not None else None,
            fork_sequence=fork_sequence,
        )
        # Where the queue cannot be reached, the sweep queues what is stored as soon as it can: nothing is lost.
        transaction.on_commit(lambda: run_tasks.run.delay(timeline.id), robust=True)
    return timeline


def asked_run(scenario: object, semantics: object, release: object) -> tuple[str, Scenario, str, str]:
    """A scenario's text, the scenario, the semantics and the release. ``BadRequest`` contains what is wrong."""
    text, name = _text(scenario)
    try:
        loaded = load(text, name)
    except ScenarioError as error:
        raise BadRequest(str(error), line=error.line, field=error.field) from error
    if _has_nul(loaded):
        raise BadRequest(NUL, field="scenario")
    if semantics is None:
        semantics = loaded.semantics
    if semantics not in SEMANTICS:
        raise BadRequest(f"semantics={semantics!r} must be kafka or kip.", field="semantics")
    return text, loaded, str(semantics), _release(release, str(semantics), loaded)


def _text(scenario: object) -> tuple[str, str]:
    """The scenario's text, and what messages call it."""
    if not isinstance(scenario, str) or not scenario.strip():
        raise BadRequest("The scenario is missing: YAML text, or a case study's name.", field="scenario")
    if len(scenario.encode()) > SCENARIO_BYTES_MOST:
        raise BadRequest(
            message=f"The scenario is longer than {SCENARIO_BYTES_MOST // 1024} KB.",
            field="scenario",
            status=413,
        )
    if "\0" in scenario:
        raise BadRequest(
            message=NUL,
            line=scenario.partition("\0")[0].count("\n") + 1,
            field="scenario",
        )
    name = scenario.strip()
    if name in studies.names():
        return studies.text(name), name
    if "\n" not in name and ":" not in name:
        raise BadRequest(
            message=f"There is no case study {name[:100]!r}. There are: {', '.join(studies.names())}.",
            field="scenario",
        )
    return scenario, "scenario"


def _has_nul(value: object) -> bool:
    """Whether a text in it has the character U+0000, which YAML writes as an escape and PostgreSQL keeps nowhere."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(_has_nul(key) or _has_nul(each) for key, each in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return any(_has_nul(each) for each in value)
    if is_dataclass(value):
        return any(_has_nul(getattr(value, part.name)) for part in fields(value))
    return False


def _release(given: object, semantics: str, scenario: Scenario) -> str:
    """What the brokers begin with, by name: the scenario's own where none is ``given``."""
    if given is None or given == "":
        return str(scenario.settings.release) if semantics == Semantics.KAFKA else ""
    if semantics != Semantics.KAFKA:
        raise BadRequest(
            message=f"release={given!r}: a release has rules in kafka semantics alone.", field="release"
        )
    try:
        release = release_of(str(given))
        with_release(scenario, release)
    except ValueError as error:
        raise BadRequest(f"release={given!r}: {error}.", field="release") from None
    return str(release)


def _seed(given: object, of_the_scenario: int) -> int:
    if given is None or given == "":
        return of_the_scenario
    try:
        seed = int(given) if isinstance(given, int | str) and not isinstance(given, bool) else -1
    except ValueError:
        seed = -1
    if not 0 <= seed <= SEED_MOST:
        raise BadRequest(f"seed={given!r} must be a whole number from 0 to {SEED_MOST}.", field="seed")
    return seed


def _room_for_one_more() -> None:
    waiting = Timeline.objects.filter(
        source=Timeline.Source.SIMULATION, status=Timeline.Status.RUNNING
    ).count()
    check_room(waiting, settings.RUNS_WAITING_MOST, "runs")
    held = storage.bytes_of_runs()
    if held + (waiting + 1) * settings.RUN_BYTES_MOST > settings.RUNS_BYTES_MOST:
        raise BadRequest(
            message=f"The runs that are stored take {held / 1024**2:,.1f} MiB, and each that waits may take {settings.RUN_BYTES_MOST / 1024**2:,.0f}: "
            f"together more than the {settings.RUNS_BYTES_MOST / 1024**2:,.0f} MiB that runs may have here (RUNS_BYTES_MOST). Delete runs first.",
            status=507,
        )
