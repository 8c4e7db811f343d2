"""What tests of every room share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from groups import storage
from groups.models import Timeline
from groups.pipeline.spark.java import NoJava, find_java
from groups.pipeline.spark.session import CACHE
from groups.spark_ready import missing_packages
from tests.services.servers import Absent, services
from tests.serving import ROOT, environment_for
from tests.stories import GROUP, Story

# A property is true or false, not fast or slow: how long an example takes is the benchmarks' business.
# The same examples each time, so that a change is judged by what it changed; ``make properties`` draws others.
hypothesis_settings.register_profile(
    "drawn", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
hypothesis_settings.register_profile("settled", hypothesis_settings.get_profile("drawn"), derandomize=True)
hypothesis_settings.load_profile("settled")

INNER = ("history", "simulations", "wire")
"""Rooms whose tests need nothing but Python: half of all, so ``make test`` runs them in a process of their own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        needs = {"broker", "browser", "spark", "services"}
        if item.path.relative_to(here).parts[0] in INNER and not any(map(item.get_closest_marker, needs)):
            item.add_marker(pytest.mark.inner)


IMPORT_SAMPLE = ("import_log", "groups/samples/orders-enrich")
"""The command by which the docs show an import."""

COMMAND_MOST_S = 300
"""Seconds: a command that takes longer hangs, however busy the machine is."""

PLAIN_STATIC_FILES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Connections of threads that are still there end before the test database does: PostgreSQL drops none that is in use."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def _static_files_under_their_own_names() -> Iterator[None]:
    """Pages are rendered without collecting static files first."""
    with override_settings(STORAGES=PLAIN_STATIC_FILES):
        yield


@pytest.fixture
def stored(transactional_db: None) -> Callable[..., Timeline]:
    """Stores a story as a whole timeline."""

    def store(story: Story, *, units_a_batch: int = 1, **facts: Any) -> Timeline:
        facts = {"title": "Orders", "source": "import", "group": GROUP, **facts}
        timeline = storage.create_timeline(**facts)
        writer = storage.open_writer(timeline.id, "the test")
        for batch in story.batches(units_a_batch):
            writer.append(batch)
        writer.finish("complete")
        return storage.get(timeline.id)

    return store


@pytest.fixture(scope="session")
def service_settings() -> Iterator[dict[str, str]]:
    """PostgreSQL and Redis for tests that start processes of their own: those that run already, or new ones."""
    given = {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    with ExitStack() as stack:
        if not given["REDIS_URL"] or not given["DATABASE_URL"].startswith("postgresql"):
            try:
                given = stack.enter_context(services())
            except Absent as absent:
                missing(str(absent))
        yield given


def missing(reason: str) -> Any:
    """Skip a test for want of a program, unless everything is required."""
    if os.environ.get("REQUIRE_ALL"):
        pytest.fail(f"{reason}, and REQUIRE_ALL is set")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def migrated_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a migrated database with the case studies, for the commands that the docs show."""
    environment = environment_for(tmp_path_factory.mktemp("var"))
    manage("migrate", "--verbosity", "0", environment=environment).check_returncode()
    manage("case_studies", environment=environment).check_returncode()
    return environment


@pytest.fixture(scope="session")
def imported_sample(
    migrated_environment: dict[str, str], spark_can_start: None
) -> subprocess.CompletedProcess[str]:
    """``IMPORT_SAMPLE``, run once: Spark's start is most of what it costs."""
    return manage(*IMPORT_SAMPLE, environment=migrated_environment)


def manage(*words: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """``manage.py`` as a process of its own."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_MOST_S,
        check=False,
    )


@pytest.fixture(scope="session")
def spark_can_start() -> None:
    """Skips where Spark's packages or Java are missing."""
    if packages := missing_packages():
        missing(f"Spark's packages are not installed ({', '.join(packages)})")
    try:
        find_java(CACHE)
    except NoJava as error:
        missing(str(error))


@pytest.fixture(scope="session")
def spark(spark_can_start: None) -> Iterator[Any]:
    """One session for all tests: starting one is most of what they would cost."""
    from groups.pipeline.spark.session import close_session, open_session

    session = open_session(master="local[2]")
    yield session
    close_session(session)
