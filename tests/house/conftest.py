"""A migrated database with the case studies, for the commands that the docs show."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import ROOT
from tests.serving import environment_for


@pytest.fixture(scope="session")
def migrated_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("var")
    environment = environment_for(folder)
    prepare = (
        "import os, django; os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'explorer.settings'); django.setup();"
        "from django.core.management import call_command; call_command('migrate', verbosity=0);"
        "from explorer import case_studies; case_studies.load_missing()"
    )
    subprocess.run([sys.executable, "-c", prepare], cwd=ROOT, env=environment, check=True, timeout=120)
    return environment
