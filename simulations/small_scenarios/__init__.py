"""Small scenarios, each with a fixed name, of which ``manage.py explore`` walks every interleaving."""

from __future__ import annotations

from importlib import resources

from simulations.world.scenario import Scenario
from simulations.world.scenario import load as load_scenario

_SUFFIX = ".yaml"


def names() -> tuple[str, ...]:
    """The names of all small scenarios, sorted."""
    files = resources.files(__package__).iterdir()
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX)))


def text(name: str) -> str:
    """The scenario's YAML; ``KeyError`` if there is none of that name."""
    if name not in names():
        raise KeyError(name)
    return resources.files(__package__).joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def load(name: str) -> Scenario:
    """The scenario; ``KeyError`` if there is none of that name."""
    return load_scenario(text(name), name)
