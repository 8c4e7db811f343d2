"""What tests of every room share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import connection, connections, transaction
from django.test import TransactionTestCase, override_settings

from groups import storage
from groups.models import Timeline
from groups.pipeline.spark.java import NoJava, find_java
from groups.pipeline.spark.session import CACHE
from groups.spark_ready import missing_packages
from tests.leaks import Leaks
from tests.services.servers import Absent, services
from tests.serving import ROOT, environment_for
from tests.stories import GROUP, Story
from tests.tiers import load_profile, selected

load_profile()

INNER = ("history", "simulations", "wire")
"""Rooms whose tests need nothing but Python: half of all, so they run in processes of their own."""


def pytest_configure(config: pytest.Config) -> None:
    if Path("/proc/self/task").exists():
        config.pluginmanager.register(Leaks(), "leaks")


REAL_PARTS = ("broker", "browser", "spark", "services")
"""Markers of tests that need a real part. They take seconds each, so all are long but those marked ``quick``."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if any(map(item.get_closest_marker, REAL_PARTS)):
            if item.get_closest_marker("quick") is None:
                item.add_marker(pytest.mark.long)
        elif item.path.relative_to(here).parts[0] in INNER:
            item.add_marker(pytest.mark.inner)
    left_out = [item for item in items if not selected(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if selected(item)]


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


MADE_BY_MIGRATIONS: Final = ("django_content_type", "auth_permission")
"""Tables whose rows name the models: no test changes them."""


def _emptied(case: TransactionTestCase) -> None:
    """Deletes all rows after a test that commits; Django's flush would also write again what ``MADE_BY_MIGRATIONS`` has."""
    for alias in case._databases_names(include_mirrors=False):
        database = connections[alias]
        tables = database.introspection.django_table_names(only_existing=True, include_views=False)
        with transaction.atomic(alias), database.cursor() as cursor:
            # Django checks foreign keys when a transaction ends, so the order is no matter.
            for table in sorted({*tables} - {*MADE_BY_MIGRATIONS}):
                cursor.execute(f"DELETE FROM {database.ops.quote_name(table)}")


@pytest.fixture(scope="session", autouse=True)
def _databases_are_emptied_cheaply() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", _emptied)
        yield


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
            given = stack.enter_context(services())
        yield given


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, Any, Any]:
    """A fixture for which the machine lacks a server skips its test, or fails it, with the package to install."""
    try:
        return (yield)
    except Absent as absent:
        return missing(str(absent))


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
