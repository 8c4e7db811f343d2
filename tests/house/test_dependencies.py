"""Every package that is asked for has a reason in the docs, and every reason has a package."""

import re
import tomllib

from tests.house import ROOT


def test_the_docs_give_a_reason_for_exactly_the_packages_that_are_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"]]
    for group in project["dependency-groups"].values():
        asked += group
    names = {re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() for requirement in asked}

    page = (ROOT / "docs/explanation/dependencies.md").read_text()
    explained = set(re.findall(r"^\| `([a-z0-9-]+)` \| \S", page, re.MULTILINE))

    assert explained == names
