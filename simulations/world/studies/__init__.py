"""The bundled case studies: a YAML scenario each, by its fixed name."""

from __future__ import annotations

from typing import Final

from simulations.world.scenario.bundled import Bundled

_BUNDLED: Final = Bundled(__name__)
names, text, load = _BUNDLED.names, _BUNDLED.text, _BUNDLED.load
