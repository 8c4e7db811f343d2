"""Static files as a server hands them out: hashed, complete, and nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import Client, override_settings

from explorer.server.staticfiles import package_data

pytestmark = pytest.mark.once

IMPORTED = re.compile(r"""^(?:import|export)\s[^;]*?from\s*['"](\.[^'"]+)['"]""", re.MULTILINE)
HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("static")
    hashed = {"staticfiles": {"BACKEND": "explorer.server.staticfiles.HashedStorage"}}
    with override_settings(STORAGES=hashed, STATIC_ROOT=str(folder)):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield folder


def test_every_module_that_a_hashed_module_imports_is_there_under_its_hash(collected: Path) -> None:
    modules = [
        path for path in collected.rglob("*.js") if HASHED.search(path.name) and "vendor" not in path.parts
    ]
    assert len(modules) > 5
    wrong = [
        f"{path.relative_to(collected)} imports {target}"
        for path in modules
        for target in IMPORTED.findall(path.read_text())
        if not HASHED.search(target) or not (path.parent / target).is_file()
    ]
    assert wrong == []


def test_a_hashed_file_may_be_kept_for_good_and_comes_compressed(collected: Path) -> None:
    address = staticfiles_storage.url("vendor/plotly.min.js")
    assert HASHED.search(address)
    answer = Client().get(address, headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert not answer.streaming
    assert answer["Content-Type"].startswith("text/javascript")
    assert "immutable" in answer["Cache-Control"]
    assert answer["Content-Encoding"] == "gzip"
    assert len(answer.content) < 2_000_000
    assert Client().get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_of_others_only_plotlys_script_its_smaller_build_and_the_editor_are_served(collected: Path) -> None:
    assert {path.name.split(".")[0] for path in (collected / "vendor").iterdir()} == {
        "plotly",
        "plotly-basic",
        "editor",
    }


def test_the_smaller_build_is_of_the_release_that_the_package_has() -> None:
    whole = (package_data() / "plotly.min.js").read_text()[:200]
    smaller = Path("static/vendor/plotly-basic.min.js").read_text()[:200]
    [release] = re.findall(r"plotly\.js v([\d.]+)", whole)
    assert f"plotly.js (basic - minified) v{release}" in smaller


def test_what_a_browser_gets_of_our_modules_and_styles_has_no_comments(collected: Path) -> None:
    hashed = [path for path in collected.rglob("*.*") if re.search(r"\.[0-9a-f]{12}\.(js|css)$", path.name)]
    with_comments = {
        path.name
        for path in hashed
        if path.parent.name != "vendor" and re.search(r"^\s*(/\*|//)|/\*\* ", path.read_text(), re.MULTILINE)
    }
    assert len(hashed) > 100
    assert with_comments == set()
