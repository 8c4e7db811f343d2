"""Scenarios that lie in a package as YAML files, each by its fixed name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Final

from simulations.world.scenario import Scenario, load

_SUFFIX: Final = ".yaml"


@dataclass(frozen=True, slots=True)
class Bundled:
    """The scenarios of one package."""

    package: str

    def names(self) -> tuple[str, ...]:
        """The names of all, sorted."""
        files = resources.files(self.package).iterdir()
        return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX)))

    def text(self, name: str) -> str:
        """A scenario's YAML; ``KeyError`` if there is none of that name."""
        if name not in self.names():
            raise KeyError(name)
        return resources.files(self.package).joinpath(name + _SUFFIX).read_text(encoding="utf-8")

    def load(self, name: str) -> Scenario:
        """The scenario; ``KeyError`` if there is none of that name."""
        return load(self.text(name), name)
